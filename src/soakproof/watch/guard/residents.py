"""Other backends on this host: llama-server and Lemonade, by the names of their programs. Linux only.

A process that only mentions one, an editor of its log say, is none.
"""

import re
from collections.abc import Sequence
from pathlib import PurePath

from soakproof.watch.guard.processes import Process, command_of, everything

SHIM = "soakproof.watch.guard.shim"
_PROGRAM = re.compile(r"(lib)?(llama-server|lemond\b|lemonade)")
_INTERPRETER = re.compile(r"python[\d.]*|bash|sh|node")


def is_backend(name: str, command: Sequence[str]) -> bool:
    """Whether the process of this name and command serves models. Pure."""
    if SHIM in command:  # what a guard is about to launch
        command = command[command.index(SHIM) + 3 :]
    words = [name, *(PurePath(word).name for word in command[:1])]
    if len(words) > 1 and _INTERPRETER.fullmatch(words[1]):
        words += [PurePath(word).name for word in command[1:] if not word.startswith("-")][:1]
    return any(_PROGRAM.match(word) for word in words)


def residents() -> list[tuple[Process, list[str]]]:
    """Each backend that is there now, with its command."""
    found = [(process, command_of(process.pid)) for process in everything() if not process.is_dead]
    return [(process, command) for process, command in found if is_backend(process.name, command)]
