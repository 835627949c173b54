"""Where a run's verdicts are: numbered folders beside its evidence, outside its seal, each with its own.

An entry's seal names in its header the entry and the digest of the run's seal, ``1-default of <sha256>``: one
that was renamed, or copied into another run, is not what was written.
"""

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from soakproof.formats import NewerError
from soakproof.plain import plain
from soakproof.run.seal import (
    SEAL,
    compare,
    in_words,
    is_own,
    is_own_folder,
    read_seal,
    seal_digest,
    seal_folder,
)

VERDICTS, VERDICT = "verdicts", "verdict.json"
TAKEN = re.compile(r"\.?(\d{1,9})(?:-.*)?")  # names of entries, and of the claims of those being written
_LISTED = 5
_NAME = re.compile(r"(\d+)-(.+)")


@dataclass(frozen=True, slots=True)
class VerdictFolder:
    """One judgement of a run, with its reports."""

    number: int
    policy: str
    path: Path


@dataclass(frozen=True, slots=True)
class EntryState:
    """What verifying an entry found: ``sealed`` and no ``problems`` mean that it is as it was written."""

    sealed: bool  # not so: an older version wrote it, or its seal is gone
    problems: tuple[str, ...]
    has_verdict: bool  # whether verdict.json itself is as it was sealed, of this entry and this run
    newer: bool = False  # its seal is of a later version, so nothing is proven either way


def verdict_folders(run: Path) -> list[VerdictFolder]:
    """The run's judgements, the newest last. What a link leads to is none of the run's."""
    folder = run / VERDICTS
    there = list(folder.iterdir()) if is_own_folder(folder) else []
    matches = [(_NAME.fullmatch(path.name), path) for path in there if is_own_folder(path)]
    found = [VerdictFolder(int(match[1]), match[2], path) for match, path in matches if match]
    return sorted(found, key=lambda verdict: verdict.number)


def missing_verdicts(run: Path) -> list[int]:
    """Numbers of judgements that are gone: those below the newest that nothing has, not even a claim that a
    killed judgement left. Where the newest is gone, nothing shows it.
    """
    gone: list[int] = []
    due = 1
    for number in sorted(_taken(run)):
        gone += range(due, min(number, due + _LISTED))
        due = max(due, number + 1)
    return gone[:_LISTED]


def unfinished_verdicts(run: Path) -> list[int]:
    """Numbers below the newest judgement's that only a claim stands for: it was killed, or taken away."""
    written = {verdict.number for verdict in verdict_folders(run)}
    return sorted(n for n in set(_taken(run)) - written if n < max(written, default=0))[:_LISTED]


def _taken(run: Path) -> list[int]:
    """Numbers of the run's judgements, and of those that were begun."""
    folder = run / VERDICTS
    there = list(folder.iterdir()) if is_own_folder(folder) else []
    entries = [TAKEN.fullmatch(path.name) for path in there if is_own_folder(path)]
    return [int(entry[1]) for entry in entries if entry]


def has_no_verdict_folder(run: Path) -> bool:
    """Whether something else stands where the run's verdicts belong: a file, or a link."""
    folder = run / VERDICTS
    return os.path.lexists(folder) and not is_own_folder(folder)


def seal_entry(folder: Path, run: Path, name: str, files: Iterable[str]) -> None:
    """Seal the files of a new entry of a run, which will have this name; ``folder`` is where it is now."""
    seal_folder(folder, files, note=f"{name} of {_run_seal(run)}")


def reseal_entry(folder: Path, made: Iterable[str]) -> None:
    """Seal an entry with the files that were made again, and those that are as they were sealed before.

    An entry without a seal gets none: nobody can know what was written first.
    """
    if is_own(folder / SEAL):
        note, entries = read_seal(folder / SEAL)
        kept = [name for summed, size, name in entries if not compare(folder, name, summed, size)]
        seal_folder(folder, {*kept, *made}, note=note)


def verify_entry(entry: VerdictFolder) -> EntryState:
    """Check an entry's seal against its files, its name and its run's seal."""
    try:
        note, entries = read_seal(entry.path / SEAL)
    except FileNotFoundError:
        return EntryState(False, (), False)
    except (OSError, ValueError) as error:
        return EntryState(True, (f"{SEAL}: {in_words(error)}",), False, isinstance(error, NewerError))
    elsewhere = [f"{SEAL}: {problem}" for problem in _elsewhere(entry.path, note)]
    compared = {name: compare(entry.path, name, summed, size) for summed, size, name in entries}
    added = dict.fromkeys(sorted(_files(entry.path) - set(compared)), "not in the seal")
    touched = {name: problem for name, problem in {**compared, **added}.items() if problem}
    has_verdict = not elsewhere and VERDICT in compared and VERDICT not in touched
    return EntryState(True, (*elsewhere, *(f"{n}: {p}" for n, p in touched.items())), has_verdict)


def _elsewhere(folder: Path, note: str) -> Iterator[str]:
    """Whether a seal is of another entry, or of a judgement of other evidence."""
    name, _, run_seal = note.rpartition(" of ")
    if name != folder.name:
        yield f"it is of an entry {plain(name, 80) or 'without a name'}"
    if run_seal != _run_seal(folder.parent.parent):
        yield "the run's own seal was another one when this was judged"


def _run_seal(run: Path) -> str:
    return seal_digest(run) or "unsealed"


def _files(folder: Path) -> set[str]:
    """What is in an entry, hidden files left out, by its path inside."""
    there = (p for p in folder.rglob("*") if p.is_symlink() or not p.is_dir())
    return {p.relative_to(folder).as_posix() for p in there if not p.name.startswith(".")} - {SEAL}
