"""Reading runs for judgement and reports: only what is sealed and untouched is read."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from soakproof.errors import UsageError
from soakproof.plain import listed
from soakproof.run import (
    SEAL,
    VERDICT,
    EntryState,
    Loaded,
    VerdictFolder,
    being_written,
    find,
    is_own,
    load,
    read_run,
    typed,
)

EDITED, UNSEALED, UNREADABLE = "EDITED", "without a seal", "unreadable"  # in the place of an outcome
_TOLD = 5  # touched files that an error names


def sealed_run(runs: Path, name: str, what: str = "RUN") -> Loaded:
    """The run of a name, read whole. Raises UsageError for one that is unsealed or was touched."""
    path = find(runs, name)
    try:
        read_run(path)
    except UsageError as error:
        raise UsageError(f"{what}: {error.problem}", error.hint) from error
    if not (path / SEAL).is_file():
        raise _unsealed(path, what)
    loaded = load(path)
    refuse_guard(path, loaded.run, what)
    problems = loaded.seal.problems
    if problems:
        raise UsageError(
            f"{what}: {path.name} is not as it was sealed: {listed(problems, _TOLD, '; ', limit=1000)}",
            "it is no evidence any more: judge an untouched copy of it, or run again",
        )
    return loaded


def document(path: Path) -> Mapping[str, Any]:
    """The JSON object of a file; nothing where there is none that can be read."""
    try:
        found = orjson.loads(path.read_bytes()) if is_own(path) else {}
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def entry_outcome(entry: VerdictFolder, state: EntryState) -> str:
    """What a judgement says, if it is as it was written; else what it is instead."""
    if state.problems:
        return EDITED
    if not state.sealed:
        return UNSEALED
    return str(document(entry.path / VERDICT).get("outcome") or UNREADABLE)


def is_guard(document: Mapping[str, Any]) -> bool:
    """Whether a run.json is that of `soakproof guard`."""
    return document.get("kind") == "guard"


def refuse_guard(path: Path, document: Mapping[str, Any], what: str) -> None:
    """Raises UsageError for the record of a guard."""
    if is_guard(document):
        raise UsageError(
            f"{what}: {path.name} is the record of a guard: no load is in it that could be judged"
        )


def _unsealed(path: Path, what: str) -> UsageError:
    if being_written(path):
        return UsageError(
            f"{what}: {path.name} is still being written",
            "wait for the run to end, or end it with Ctrl-C where it runs",
        )
    return UsageError(
        f"{what}: {path.name} is not sealed: the process that wrote it ended before it could",
        how_to_recover(path),
    )


def how_to_recover(path: Path) -> str:
    """What to do about a run that its writer left unsealed."""
    return f"`soakproof recover {typed(path)}` seals what is there, marked as recovered"
