"""Reading runs for judgement and reports: only what is sealed and untouched is read."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from soakproof.errors import UsageError
from soakproof.formats import UPDATE, newer
from soakproof.nesting import bounded
from soakproof.plain import listed, plain
from soakproof.run import (
    SEAL,
    VERDICT,
    EntryState,
    Loaded,
    SealState,
    VerdictFolder,
    being_written,
    find,
    is_own,
    load,
    read_run,
    typed,
    verify,
)

EDITED, UNSEALED, UNREADABLE = "EDITED", "without a seal", "unreadable"  # in the place of an outcome
NEWER = "of a newer version"  # the same
_TOLD = 5  # touched files that an error names


def is_run_name(runs: Path, name: str) -> bool:
    """Whether a run is called so, or a part of the name of one is, or the newest is asked for."""
    try:
        find(runs, name)
    except UsageError:
        return False
    return True


def sealed_run(runs: Path, name: str, what: str = "RUN", seal: SealState | None = None) -> Loaded:
    """The run of a name, read whole; ``seal`` where it was verified already. Raises UsageError for one that
    is unsealed or was touched.
    """
    refuse_file(name, what)
    path = find(runs, name)
    try:
        read_run(path)
    except UsageError as error:
        raise UsageError(f"{what}: {error.problem}", error.hint) from error
    if not os.path.lexists(path / SEAL):
        raise unsealed(path, what)
    loaded = load(path, seal)
    refuse_guard(path, loaded.run, what)
    _refuse_altered(path, what, loaded.seal)
    return loaded


def verified(path: Path, what: str) -> SealState:
    """The state of a sealed run whose records are not asked for. Raises UsageError as `sealed_run` does."""
    if not os.path.lexists(path / SEAL):
        raise unsealed(path, what)
    state = verify(path)
    _refuse_altered(path, what, state)
    return state


def _refuse_altered(path: Path, what: str, state: SealState) -> None:
    if state.newer:
        raise of_newer(path, what, state.problems)
    if state.problems:
        raise touched(path, what, state.problems)


def is_file(name: str) -> bool:
    """Whether a name is that of something which is no folder, and so of no run."""
    try:
        return os.path.lexists(name) and not Path(name).is_dir()
    except (OSError, ValueError):  # a name that no file can have
        return False


def refuse_file(name: str, what: str = "RUN") -> None:
    """Raises UsageError for a file in the place of a run: it may be a bundle."""
    if is_file(name):
        raise UsageError(
            f"{what}: {plain(name, 300)} is a file, and no run",
            "of a bundle, name the folder that it unpacks to: tar -xf FILE -C runs",
        )


def document(path: Path) -> Mapping[str, Any]:
    """The JSON object of a file; nothing where there is none that can be read."""
    try:
        found = bounded(orjson.loads(path.read_bytes())) if is_own(path) else {}
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def entry_outcome(entry: VerdictFolder, state: EntryState) -> str:
    """What a judgement says, if it is as it was written; else what it is instead."""
    if state.newer:
        return NEWER
    if state.problems:
        return EDITED
    if not state.sealed:
        return UNSEALED
    found = document(entry.path / VERDICT)
    return NEWER if newer(found) else str(found.get("outcome") or UNREADABLE)


def is_guard(document: Mapping[str, Any]) -> bool:
    """Whether a run.json is that of `soakproof guard`."""
    return document.get("kind") == "guard"


def refuse_guard(path: Path, document: Mapping[str, Any], what: str) -> None:
    """Raises UsageError for the record of a guard."""
    if is_guard(document):
        raise UsageError(
            f"{what}: {path.name} is the record of a guard: no load is in it that could be judged"
        )


def touched(path: Path, what: str, problems: Sequence[str]) -> UsageError:
    """The error of a run that is not as it was sealed."""
    return UsageError(
        f"{what}: {path.name} is not as it was sealed: {listed(problems, _TOLD, '; ', limit=1000)}",
        "it is no evidence any more: take an untouched copy of it, or run again",
    )


def of_newer(path: Path, what: str, problems: Sequence[str]) -> UsageError:
    """The error of a run that a later version sealed."""
    told = listed(problems, _TOLD, "; ", limit=1000)
    return UsageError(f"{what}: {path.name} cannot be verified by this version: {told}", UPDATE)


def unsealed(path: Path, what: str) -> UsageError:
    """The error of a run that is not sealed, or not yet."""
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
