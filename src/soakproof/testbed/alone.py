"""`soakproof testbed`: the pair in the foreground, for someone who wants a target to try things on."""

import contextlib
import signal
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from soakproof.errors import EXIT_ERROR, EXIT_OK
from soakproof.testbed.launch import Testbed

_LOOK = 0.5  # seconds between two looks at the pair


def run_alone(
    *,
    model: Path | None = None,
    slots: int = 2,
    port: int = 0,
    log_dir: Path | None = None,
    plants: Sequence[str] = (),
    say: Callable[[str], None] = print,
) -> int:
    """Serve until Ctrl-C or SIGTERM; the exit code. Port 0 takes a free one.

    Raises what `Testbed.start` raises.
    """
    logs = log_dir or Path(tempfile.mkdtemp(prefix="soakproof-testbed-"))
    with (
        _ended_by_signal() as ended,
        Testbed.start(logs, model=model, slots=slots, port=port, arguments=_planted(plants)) as pair,
    ):
        say(how_to_reach(pair))
        if plants:
            say(f"planted: {', '.join(plants)}; {pair.url}/internal/plants tells and changes what is planted")
        while not ended.wait(_LOOK):
            if not pair.alive:
                say(f"The gateway ended by itself; {logs / 'gateway.log'} may say why.")
                return EXIT_ERROR
    return EXIT_OK


def _planted(plants: Sequence[str]) -> list[str]:
    return [word for plant in plants for word in ("--plant", plant)]


def how_to_reach(pair: Testbed) -> str:
    """What to type to use the pair."""
    body = '{"model": "llm", "messages": [{"role": "user", "content": "Repeat exactly: hello world 12"}]}'
    return "\n".join(
        [
            f"{pair.model} (also as llm) is served at {pair.url}",
            f"  llama.cpp alone: {pair.backend_url}    logs: {pair.log_dir}",
            "",
            f"  curl {pair.url}/v1/chat/completions -H 'Content-Type: application/json' -d '{body}'",
            f"  locust -f locustfiles/soak.py --headless -t 2m --host {pair.url} --model llm",
            "",
            "Ctrl-C ends it.",
        ]
    )


@contextlib.contextmanager
def _ended_by_signal() -> Iterator[threading.Event]:
    """An event that Ctrl-C and SIGTERM set instead of what they did before."""
    ended = threading.Event()
    kinds = (signal.SIGINT, signal.SIGTERM)
    before = {kind: signal.signal(kind, lambda *_: ended.set()) for kind in kinds}
    try:
        yield ended
    finally:
        for kind, handler in before.items():
            signal.signal(kind, handler)
