"""What a run says while it runs."""

import contextlib
import sys
from collections import Counter
from collections.abc import Sequence
from typing import TextIO

from soakproof.load.transport import Sweeper
from soakproof.plain import plain
from soakproof.quantities import KNOWN

_LONGEST = 2000  # characters of a line


def say(text: str, stream: TextIO | None = None) -> None:
    """A line to the user, at once. Nobody who may read it, and nothing in it, can end the run.

    What a terminal cannot show, or could be steered by, is shown as its escape.
    """
    shown = "\n".join(plain(line, _LONGEST) for line in text.split("\n"))
    stream = stream or sys.stdout
    with contextlib.suppress(OSError, ValueError):  # closed, or a full disk
        try:
            print(shown, file=stream, flush=True)
        except UnicodeEncodeError:
            print(shown.encode("ascii", "backslashreplace").decode(), file=stream, flush=True)


def progress_line(elapsed_s: float, counts: Counter[str], sweeper: Sweeper) -> str:
    """How the run stands, in one line."""
    minutes, seconds = divmod(int(elapsed_s), 60)
    oldest = sweeper.oldest_s()
    flying = f", {len(sweeper.flights)} in flight (oldest {oldest:.0f} s)" if oldest is not None else ""
    known = counts[f"check {KNOWN}"]
    limits = f", {known} met a known limit" if known else ""
    return (
        f"[{minutes:02d}:{seconds:02d}] {counts['iterations']} iterations, "
        f"{counts['ok']} exchanges ok, {counts['fail']} failed{flying}; "
        f"checks: {counts['check pass']} passed, {counts['check fail']} failed, "
        f"{counts['check unknown']} unknown{limits}"
    )


def left_out_lines(kinds: Sequence[str]) -> list[str]:
    """That a part of the plan was not asked, where that is so."""
    return [f"  not asked, by --tags or the plan's own [short]: {', '.join(kinds)}"] if kinds else []
