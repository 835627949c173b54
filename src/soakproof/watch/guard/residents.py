"""Other backends on this host: llama-server and Lemonade, by the names of their programs. Linux only.

A process that only mentions one, an editor of its log say, is none.
"""

import os
import re
from collections.abc import Sequence
from pathlib import PurePath

from soakproof.watch.guard.processes import Process, below, command_of, everything, is_there

SHIM = "soakproof.watch.guard.shim"
_PROGRAM = re.compile(r"(lib)?(llama-server|lemond\b|lemonade(?!_))")
_INTERPRETER = re.compile(r"python[\d.]*|bash|sh|node")


def is_backend(name: str, command: Sequence[str]) -> bool:
    """Whether the process of this name and command serves models. Pure."""
    if SHIM in command:  # what a guard is about to launch
        command = command[command.index(SHIM) + 3 :]
    words = [name, *(PurePath(word).name for word in command[:1])]
    if len(words) > 1 and _INTERPRETER.fullmatch(words[1]):
        words += [PurePath(word).name for word in command[1:] if not word.startswith("-")][:1]
    return any(_PROGRAM.match(word) for word in words)


def _ancestors(processes: Sequence[Process]) -> set[int]:
    """Those that have started this one, such as a shell whose script names what is to be launched."""
    parents = {process.pid: process.parent for process in processes}
    found: set[int] = set()
    at = os.getpid()
    while at in parents and at not in found:
        found.add(at)
        at = parents[at]
    return found


def residents(wanted: Sequence[Process] = ()) -> list[tuple[Process, list[str]]]:
    """Each backend that is there now, with its command, but for those wanted and what runs below them."""
    processes = [process for process in everything() if not process.is_dead]
    roots = {process.pid for process in wanted if is_there(process)}
    allowed = _ancestors(processes) | roots.union(
        *({p.pid for p in below(root, processes)} for root in roots)
    )
    found = [(process, command_of(process.pid)) for process in processes if process.pid not in allowed]
    return [(process, command) for process, command in found if is_backend(process.name, command)]
