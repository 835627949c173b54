"""Finding a run and reading all that it holds. Lines that are no records become problems, never errors."""

import contextlib
import ctypes
import gc
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from soakproof.errors import SoakproofError, UsageError
from soakproof.formats import UPDATE, newer
from soakproof.nesting import bounded
from soakproof.plain import plain
from soakproof.records import FILES, Record, Sample
from soakproof.run.bare import bare_among, refuse_bare
from soakproof.run.naming import GUARDS, RUNS, runs_option, typed
from soakproof.run.seal import (
    EVIDENCE,
    RAW,
    RUN,
    SEAL,
    TORN,
    SealState,
    compare,
    is_own,
    nodes,
    read_seal,
    verify,
)
from soakproof.run.shapes import shaped_raw, shaped_run
from soakproof.strictjson import doubled_key

if TYPE_CHECKING:
    from soakproof.columns import Table
    from soakproof.samples import Readings

_ARCHIVES = (".tar", ".tgz", ".gz", ".zst", ".xz", ".bz2", ".zip")  # ends of names that are files


@dataclass(frozen=True, slots=True)
class Loaded:
    """Everything that a run holds, read and decoded; judging starts from this."""

    path: Path
    id: str
    run: dict[str, Any]  # run.json
    raw: dict[str, Any] | None  # raw.json; None when the run never wrote it
    others: tuple[Record, ...]  # events and lines of the kernel's log, node by node, as they were written
    tables: "tuple[Table[Any], ...]"  # requests, exchanges, checks and iterations: a kind of a file each
    readings: "tuple[Readings, ...]"  # a source of a node each
    nodes: tuple[str, ...]
    problems: tuple[str, ...]  # torn tails, lines that are no records, parts of documents of a wrong type
    seal: SealState

    @property
    def records(self) -> tuple[Record, ...]:
        """Every record but samples, read again: a file's kinds one after the other."""
        return (*(record for table in self.tables for record in table.records), *self.others)

    @property
    def samples(self) -> Iterator[Sample]:
        """Every sample, one by one, a source after the other."""
        return (sample for part in self.readings for sample in part)


def load(run: Path, seal: SealState | None = None) -> Loaded:
    """Read a run directory; ``seal`` where it was verified already. Lines that are no records become
    problems, never an exception.
    """
    from soakproof.run.columnar import Read, read_columns  # numpy, which writing a run can do without

    document, odd = shaped_run(read_run(run))
    raw, odd_raw = shaped_raw(_json(run / RAW)) if is_own(run / RAW) else (None, ())
    seal = seal or verify(run)
    folders = nodes(run)
    names = sorted(set(FILES.values()))
    paths = [node / name for node in folders for name in names if is_own(node / name)]
    files: list[Read] = []
    with _uncollected():
        for path in paths:
            files.append(read_columns(path, sum(file.lines for file in files)))
    problems = [*odd, *odd_raw]
    for node in folders:
        for file in files:
            if file.path.parent == node:
                problems += (f"{file.path.relative_to(run)}: {problem}" for problem in file.problems())
        problems += (f"{node.relative_to(run)}/{name}: no file of evidence" for name in _foreign(node, seal))
    loaded = Loaded(
        run,
        run.name,
        document,
        raw,
        tuple(record for file in files for record in file.others),
        tuple(table for file in files for table in file.tables),
        tuple(part for file in files for part in file.readings),
        tuple(n.name for n in nodes(run)),
        tuple(problems),
        seal,
    )
    refuse_changed(loaded)
    _give_back()
    return loaded


def refuse_changed(loaded: Loaded) -> None:
    """Raises SoakproofError where a file is not the one whose seal was verified: what was read of it may be
    something else.
    """
    if changed := loaded.seal.changed:
        raise SoakproofError(f"{changed} was changed while it was read: nothing can be said of this run")


@contextlib.contextmanager
def _uncollected() -> Iterator[None]:
    """Keep what is made here from the collector of cycles: records have none, and a day of them would be
    looked through again and again, a third of the time that judging it takes.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if was_enabled:
            gc.enable()


def _give_back() -> None:
    """Hand memory that reading has freed back to the system, as far as its allocator can be told to."""
    if sys.platform == "linux":
        with contextlib.suppress(AttributeError):  # of a C library other than glibc
            ctypes.CDLL(None).malloc_trim(0)


def _foreign(node: Path, seal: SealState) -> list[str]:
    """Files in a node's folder that this program does not write there; torn tails are of a recovery."""
    own = {*FILES.values(), SEAL}
    names = (p.name for p in node.iterdir() if is_own(p) and not p.name.startswith("."))
    return sorted(n for n in names if n not in own and not (seal.recovered and n.endswith(TORN)))


def read_run(run: Path) -> dict[str, Any]:
    """run.json, or a UsageError that says why this is not a run, or a damaged one."""
    listing = f"`soakproof runs{runs_option(run.parent)}` lists the runs that are there"
    if not run.is_dir():
        raise UsageError(f"{run} is not a directory", listing)
    refuse_bare(run)
    if not is_run(run):
        raise UsageError(f"{run} is not a run: it has no {RUN}", listing)
    if not is_own(run / RUN):
        raise UsageError(f"{run} has no {RUN}: what was run, and on what, is not known", _look_at(run))
    return _json(run / RUN)


def _json(path: Path) -> dict[str, Any]:
    try:
        document = _parsed(path)
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read: {error}", _look_at(path.parent)) from error
    if not isinstance(document, dict):
        raise UsageError(f"{path} is not a JSON object", _look_at(path.parent))
    if told := newer(document):
        if changed := _changed(path):  # so no later version has written what it says
            raise UsageError(f"{path} is not as it was sealed: {changed}", _look_at(path.parent))
        raise UsageError(f"{path} was {told}", UPDATE)
    return document


def _changed(path: Path) -> str:
    """What is wrong with a document by the seal of its run; "" where nothing is, or that proves nothing."""
    try:
        _, entries = read_seal(path.parent / SEAL)
    except (OSError, ValueError):
        return ""
    told = (compare(path.parent, name, summed, size) for summed, size, name in entries if name == path.name)
    return next(told, "")


def _parsed(path: Path) -> Any:
    """The JSON of a file. Raises OSError, and ValueError also where a key has two values: which counts?"""
    data = path.read_bytes()
    document = bounded(orjson.loads(data))
    if doubled := doubled_key(data.decode()):
        raise ValueError(doubled)
    return document


def _look_at(run: Path) -> str:
    return f"`soakproof verify {typed(run)}` says what was touched; only an untouched copy of it is evidence"


def damage(run: Path, name: str = RUN) -> str:
    """What is wrong with a document of a run; "" where it can be read."""
    if not os.path.lexists(run / name):
        return f"{name}: missing"
    if not is_own(run / name):
        return f"{name}: no plain file"
    try:
        document = _parsed(run / name)
    except (OSError, ValueError) as error:
        return f"{name}: cannot be read: {error}"
    return "" if isinstance(document, dict) else f"{name}: not a JSON object"


def of_newer(run: Path) -> list[str]:
    """Which documents of a run a later version wrote, in words."""
    told = []
    for name in (RUN, RAW):
        if is_own(run / name) and not damage(run, name) and not _changed(run / name):
            told += [
                f"{name}: {words}" for words in (newer(orjson.loads((run / name).read_bytes())),) if words
            ]
    return told


def is_run(folder: Path) -> bool:
    """Whether a run was written here: it has a run.json, or anything else that only a run has."""
    return is_own(folder / RUN) or any(os.path.lexists(folder / name) for name in (RUN, RAW, SEAL, EVIDENCE))


def how_to_make_one(here: Path, runs: Path) -> str:
    """What to type for a first run: locustfiles are in a clone, and where `soakproof init` has put them. A
    folder of another name than `runs` may be for the records of guards.
    """
    elsewhere = "" if runs == GUARDS else runs_option(runs)
    guard = f"`soakproof guard{elsewhere} -- COMMAND` leaves its record there"
    if runs.name == GUARDS.name:
        return guard
    return _how_to_soak(here, runs) if runs == RUNS else f"{_how_to_soak(here, runs)}\n  or {guard}"


def _how_to_soak(here: Path, runs: Path) -> str:
    command = f"locust -f locustfiles/soak.py --headless -t 2m{runs_option(runs)}"
    if (here / "locustfiles" / "soak.py").is_file():
        return f"make one: {command}"
    return f"`soakproof init` copies locustfiles/ here; then: {command}"


def find(runs: Path, name: str) -> Path:
    """The run of a path, an id, a unique part of one, or ``latest``."""
    if name and _is_folder(name):
        return Path(name)
    here = all_of(runs)
    matches = [p for p in here if p.name == name] or [p for p in here if name and name in p.name]
    if not matches and (any(mark in name for mark in "/\\") or name.lower().endswith(_ARCHIVES)):
        told = f"no such file or folder: {plain(name, 200)}"
        raise UsageError(
            told, "RUN is a name, a part of it, or a folder; `soakproof verify` takes files as well"
        )
    if not matches and not (here and name == "latest") and (bare := bare_among(runs, name)):
        refuse_bare(bare)
    if not here:
        raise UsageError(
            f"no runs in {runs.absolute()}",
            f"name their folder: --runs DIR; or {how_to_make_one(Path.cwd(), runs)}",
        )
    if name == "latest":
        return here[-1]
    if len(matches) == 1:
        return matches[0]
    listed = ", ".join(p.name for p in (matches or here)[-5:])
    shown = plain(name, 100)
    problem = f"'{shown}' is part of {len(matches)} runs" if matches else f"no run is called '{shown}'"
    raise UsageError(f"{problem} in {runs}", f"{'choose one of' if matches else 'the newest are'}: {listed}")


def all_of(runs: Path) -> list[Path]:
    """Every run of a folder, damaged ones included, the oldest first; none where there is no such folder."""
    try:
        return sorted(p for p in runs.iterdir() if is_run(p)) if runs.exists() else []
    except (OSError, ValueError) as error:
        told = getattr(error, "strerror", None) or error
        raise UsageError(f"{plain(runs)} cannot be read: {told}", "choose another: --runs DIR") from error


def _is_folder(name: str) -> bool:
    try:
        return Path(name).is_dir()
    except (OSError, ValueError):  # a name that no file can have
        return False
