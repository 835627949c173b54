"""The gateway's child: one engine process, from its start to its end."""

import asyncio
import contextlib
import json
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from soakproof import children
from soakproof.testbed.options import EngineOptions
from soakproof.testbed.upstream import Lost, fetch

PATIENCE = 3.0  # seconds that an engine has after SIGTERM: with a stream open it would take 30
_START = 60.0  # seconds that an engine has to load its model


class LoadFailed(Exception):
    """The engine did not come up; says how it ended."""


class Backend:
    """A running engine. ``reset_reason`` is set by whoever declares it unusable."""

    def __init__(self, child: "subprocess.Popen[bytes]", url: str, trained_context: int, log: Path) -> None:
        self.child = child
        self.url = url
        self._log = log
        self.trained_context = trained_context  # tokens, from the model file
        self.reset_reason = ""

    @classmethod
    async def start(cls, model: Path, options: EngineOptions, log: Path) -> "Backend":
        """Start an engine and wait until it answers. Call from the main thread: the kernel's death
        signal is tied to the thread that starts the child.
        """
        command = children.python("soakproof.testbed.engine", "--model", str(model), "--log", str(log))
        child = children.spawn([*command, *options.arguments()], log=log)
        try:
            url = await asyncio.wait_for(_ready_line(child), _START)
            return cls(child, url, await _trained_context(url), log)
        except BaseException as error:
            children.end(child, 0.0)
            if isinstance(error, TimeoutError):
                raise LoadFailed(f"no answer within {_START:.0f} s") from error
            raise

    @property
    def pid(self) -> int:
        return self.child.pid

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    def log(self, lines: Iterable[str]) -> None:
        """Append to the engine's own log, as it does."""
        with self._log.open("a", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in lines)

    def alive(self) -> bool:
        return not self.reset_reason and self.child.poll() is None

    async def exited(self, within: float) -> bool:
        """Whether the process is gone, giving a killed one a moment to be reaped."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            await asyncio.to_thread(self.child.wait, within)
        return self.child.poll() is not None

    async def end(self) -> None:
        """SIGTERM, SIGKILL after `PATIENCE` seconds; reaped when this returns."""
        if self.child.poll() is None:
            self.child.terminate()
            await self.exited(PATIENCE)
        await asyncio.to_thread(children.end, self.child, 0.2)


async def _ready_line(child: "subprocess.Popen[bytes]") -> str:
    assert child.stdout is not None
    line = await asyncio.to_thread(child.stdout.readline)
    if not line:
        status = await asyncio.to_thread(child.wait)
        raise LoadFailed(f"llama-server process has terminated with exit code: {status}")
    try:
        return str(json.loads(line)["url"])
    except (ValueError, TypeError, KeyError):
        raise LoadFailed(f"the engine said {line[:200]!r} in place of its address") from None


async def _trained_context(url: str) -> int:
    try:
        _, body = await fetch(url, "GET", "/v1/models")
    except Lost as error:
        raise LoadFailed(str(error)) from error
    document: Any = json.loads(body)
    return int(document["data"][0]["meta"]["n_ctx_train"])
