"""Start and end the testbed from another process: synchronous, and as good under gevent as without.

The load room passes ``gevent.subprocess.Popen``; waiting is done with threads and sockets of the standard
library, which gevent has patched there.
"""

import importlib.util
import json
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from soakproof import children
from soakproof.errors import SoakproofError, UsageError, did_you_mean
from soakproof.plain import plain
from soakproof.target.hostcache import PROBE_BYTES_A_TOKEN
from soakproof.testbed.data import PROBE_MODEL
from soakproof.testbed.names import ALIAS, MODEL, Names
from soakproof.testbed.options import EngineOptions

CONTEXT = EngineOptions().context  # tokens in all slots together
_TOLD = {"url": str, "backend_url": str, "model": str, "pid": int, "backend_pid": int}  # once it serves
_READY_WITHIN = 90.0  # seconds; two are usual, a busy host takes longer
_STOP_WITHIN = 5.0  # the engine has three seconds of its own
_NEEDED = ("xllamacpp", "starlette", "uvicorn", "httptools")
_MAGIC = b"GGUF"
_LOG_LINES = 12
_PROBE_CACHE_TOKENS = (EngineOptions().cache_ram << 20) // PROBE_BYTES_A_TOKEN

Popen = Callable[..., "subprocess.Popen[bytes]"]


@dataclass
class Testbed:
    """A running pair. ``backend_url`` and ``backend_pid`` are those of the start: the gateway reloads a
    lost engine by itself, and its health document has what is true now.
    """

    __test__ = False  # not a class of tests, whatever pytest makes of its name

    url: str  # of the gateway, without a prefix
    backend_url: str  # of the engine, without /v1
    model: str
    pid: int
    backend_pid: int
    log_dir: Path
    process: "subprocess.Popen[bytes]"
    cache_tokens: int | None = None  # what the engine's host-memory prompt cache holds, when known

    @classmethod
    def start(
        cls,
        log_dir: Path,
        *,
        model: Path | None = None,
        slots: int = 2,
        context: int = CONTEXT,
        port: int = 0,
        popen: Popen = subprocess.Popen,
        arguments: Sequence[str] = (),
    ) -> "Testbed":
        """Start the pair and wait until it answers. Logs go to gateway.log and engine.log in ``log_dir``.

        ``context`` counts the tokens of all slots together; ``arguments`` are more of the gateway's own.
        Raises UsageError for missing packages and what is no model file, SoakproofError, with the last
        lines of the logs, when the pair does not come up.
        """
        check_packages()
        path = checked_model(model or PROBE_MODEL)
        _make(log_dir)
        _refuse_taken(port)
        own = ["--model", str(path), "--log-dir", str(log_dir), "--port", str(port)]
        own += ["--parallel", str(slots), "--ctx-size", str(context)]
        process = children.spawn(
            children.python("soakproof.testbed", *own, *arguments), log=log_dir / "gateway.log", popen=popen
        )
        deadline = time.monotonic() + _READY_WITHIN
        try:
            told = _ready_line(process, deadline)
            cached = _PROBE_CACHE_TOKENS if path == PROBE_MODEL.resolve() else None
            pair = cls(**told, log_dir=log_dir, process=process, cache_tokens=cached)
            pair._await_answer(deadline)
        except _NotUp as error:
            children.end(process, 0.5)
            raise SoakproofError(_explained(str(error), log_dir)) from None
        except BaseException:
            children.end(process, 0.5)
            raise
        return pair

    @property
    def pids(self) -> tuple[int, int]:
        """Gateway and engine, as started."""
        return self.pid, self.backend_pid

    @property
    def logs(self) -> tuple[Path, ...]:
        """The engine's and the gateway's."""
        return tuple((self.log_dir / name).absolute() for name in ("engine.log", "gateway.log"))

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    def stop(self) -> None:
        """End the pair: the gateway cuts its streams and ends its engine, at the latest by SIGKILL."""
        if self.alive:
            self.process.terminate()
            _wait(self.process, _STOP_WITHIN)
        children.end(self.process, 0.5)

    def __enter__(self) -> "Testbed":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _await_answer(self, deadline: float) -> None:
        """Ask for the health document until it tells of the model."""
        while True:
            try:
                if _get(f"{self.url}/v1/health")["all_models_loaded"]:
                    return
            except (OSError, ValueError, KeyError):
                pass
            if not self.alive:
                raise _NotUp("it ended while it was starting")
            if time.monotonic() > deadline:
                raise _NotUp(f"it did not answer within {_READY_WITHIN:.0f} s")
            time.sleep(0.05)


class _NotUp(Exception):
    """The pair did not come up; says how it showed."""


def check_packages() -> None:
    """Raises UsageError when a package of the testbed extra is missing."""
    missing = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise UsageError(
            f"the testbed needs {' and '.join(missing)}, which {sys.executable} does not have",
            'install soakproof with its extra: pip install -e ".[testbed]" in its clone, or '
            'pip install "FOLDER_OF_THE_CLONE[testbed]"',
        )


def checked_model(path: Path) -> Path:
    """The path of a model file, absolute. Raises UsageError for what is none."""
    hint = "give a .gguf file, or nothing for the built-in probe model"
    if path.exists() and not path.is_file():  # a pipe would be waited for
        raise UsageError(f"{path} is no regular file", hint)
    try:
        with path.open("rb") as file:
            magic = file.read(len(_MAGIC))
    except OSError as error:
        raise UsageError(f"cannot read the model file {path}: {error.strerror}", hint) from error
    if magic != _MAGIC:
        raise UsageError(f"{path} is not a GGUF file: it begins with {magic!r}, not {_MAGIC!r}", hint)
    return path.resolve()


def check_model_name(name: str) -> None:
    """Raises UsageError for a name that the testbed, started without names of its own, does not know."""
    names = Names(MODEL)
    names.add(ALIAS, f"user.{MODEL}")
    if not names.known(names.resolve(name)):
        near = did_you_mean(name, (MODEL, ALIAS))
        raise UsageError(
            f"--model: the testbed has no model {name!r}", f"{near}leave it out, or give {MODEL} or {ALIAS}"
        )


def _ready_line(process: "subprocess.Popen[bytes]", deadline: float) -> dict[str, Any]:
    """What the gateway tells once it serves. It is read by a thread, so that the wait has an end."""
    lines: list[bytes] = []
    output = process.stdout
    assert output is not None
    reader = threading.Thread(target=lambda: lines.append(output.readline()), daemon=True)
    reader.start()
    reader.join(max(0.0, deadline - time.monotonic()))
    if not lines:
        raise _NotUp(f"it was not ready within {_READY_WITHIN:.0f} s")
    if not lines[0]:
        raise _NotUp(f"it ended with status {children.end(process, 1.0)} before it was ready")
    try:
        told = json.loads(lines[0])
    except ValueError:
        told = None
    if not isinstance(told, dict) or {name: type(value) for name, value in told.items()} != _TOLD:
        raise _NotUp(f"it said {plain(lines[0].decode(errors='replace'), 200)!r} in place of its address")
    return told


def _explained(problem: str, log_dir: Path) -> str:
    """The problem with the last lines of both logs below it."""
    parts = [f"the testbed did not start: {problem}"]
    for name in ("gateway.log", "engine.log"):
        log = log_dir / name
        if log.is_file():
            last = log.read_text(encoding="utf-8", errors="replace").splitlines()[-_LOG_LINES:]
            parts += [f"  {log}, its end:", *(f"    {line}" for line in last)]
    return "\n".join(parts)


def _get(url: str) -> Any:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # loopback: past any proxy
    with opener.open(url, timeout=5) as answer:
        return json.load(answer)


def _wait(process: "subprocess.Popen[bytes]", within: float) -> None:
    deadline = time.monotonic() + within
    while process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)


def _make(log_dir: Path) -> None:
    try:
        log_dir.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=log_dir):
            pass
    except OSError as error:
        raise UsageError(
            f"cannot make the folder for logs {log_dir}: {error.strerror}", "choose another: --logs DIR"
        ) from error


def _refuse_taken(port: int) -> None:
    """Raises UsageError for a port on which somebody listens, or that this user may not take."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            told = f"port {port} cannot be taken: {error.strerror}"
            raise UsageError(told, "choose another port, or leave it out for a free one") from error
