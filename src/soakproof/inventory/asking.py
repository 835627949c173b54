"""Asking for an inventory: a process reads it, and whoever asks waits for a bounded time.

Blocking; under gevent pass ``gevent.subprocess.Popen``, and the thread that reads is a greenlet.
"""

import contextlib
import json
import subprocess
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from soakproof import children
from soakproof.records import carriable

HASHING_S = 15.0  # that all digests of a run may take; what is not read by then is told by its ends
_MORE_S = 15.0  # for all else, such as a disk that hangs


@dataclass(frozen=True, slots=True)
class Inventory:
    """What was found, by dotted names of run.json such as ``target.executable``, and where."""

    values: dict[str, Any] = field(default_factory=dict)
    provenance: dict[str, str] = field(default_factory=dict)
    whole: bool = True  # False: its time was over before all was read

    def under(self, part: str) -> dict[str, Any]:
        """The fields of one part of run.json, by their own names."""
        return {n.removeprefix(f"{part}."): v for n, v in self.values.items() if n.startswith(f"{part}.")}


def take(
    files: Mapping[str, str],
    pid: int | None,
    *,
    whole: bool = False,
    root: str = "/",
    progress: Callable[[str], None] = lambda told: None,
    popen: Callable[..., "subprocess.Popen[bytes]"] = subprocess.Popen,
) -> Inventory:
    """Digests of these files, of the program of a process and of its libraries; the host's drivers and GPUs.

    ``whole`` reads every byte of them, however long that takes; ``progress`` is told how far it is.
    """
    question = {"files": dict(files), "pid": pid, "whole": whole, "within_s": HASHING_S, "root": root}
    child = children.spawn(children.python("soakproof.inventory", json.dumps(question)), popen=popen)
    found = Inventory()
    reader = threading.Thread(target=_read, args=(child, found, progress), daemon=True)
    reader.start()
    try:
        reader.join(None if whole else HASHING_S + _MORE_S)
        ended = not reader.is_alive()
    finally:
        children.end(child, patience=1.0)
    return Inventory(dict(found.values), dict(found.provenance), ended)


def _read(child: "subprocess.Popen[bytes]", found: Inventory, progress: Callable[[str], None]) -> None:
    assert child.stdout is not None
    with contextlib.suppress(OSError, ValueError):
        for line in child.stdout:
            told = json.loads(line)
            if "progress" in told:
                progress(told["progress"])
                continue
            found.values[told["name"]] = carriable(told["value"])
            found.provenance[told["name"]] = carriable(told["from"])
