"""Baselines: names for sealed runs, in a file beside them. A baseline is a reference by the digest of a run's
seal, or several, to runs of one configuration that was soaked again; the runs stay where they are.

    runs/baselines/<name>.json
"""

import contextlib
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import orjson

from soakproof.errors import RecorderError, UsageError, words
from soakproof.formats import UPDATE, newer
from soakproof.nesting import bounded
from soakproof.plain import plain
from soakproof.run.files import to_json, write_atomic
from soakproof.run.loading import all_of
from soakproof.run.naming import runs_option
from soakproof.run.references import Reference, refer
from soakproof.run.seal import is_own

FOLDER = "baselines"
RESERVED = ("auto", "latest")
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}")
_FORM = "up to 60 letters, digits, dots, dashes and underlines"


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """Runs under a name: one, or several of the same configuration."""

    name: str
    runs: tuple[Reference, ...]
    added_at: str  # UTC, ISO
    note: str = ""


def baselines(runs: Path) -> Iterator[Baseline]:
    """All of a folder of runs that can be read, by their names."""
    for name in _names(runs):
        with contextlib.suppress(UsageError):
            yield read_baseline(runs, name)


def broken_baselines(runs: Path) -> Iterator[tuple[str, str]]:
    """Those that cannot be read: their names, and why."""
    for name in _names(runs):
        try:
            read_baseline(runs, name)
        except UsageError as error:
            yield name, error.problem


def _names(runs: Path) -> list[str]:
    """Of the files that can be a baseline's; what else lies there is none of ours."""
    stems = (path.stem for path in (runs / FOLDER).glob("*.json"))
    return sorted(stem for stem in stems if NAME.fullmatch(stem) and stem not in RESERVED)


def read_baseline(runs: Path, name: str) -> Baseline:
    """The one of that name. Raises UsageError where there is none, or where it cannot be read."""
    path = _file(runs, name)
    if os.path.lexists(path) and not is_own(path):
        raise UsageError(f"{path} is no plain file", _anew(path, runs))
    try:
        document = bounded(orjson.loads(path.read_bytes()))
        if told := newer(document):
            raise UsageError(f"{path} was {told}", UPDATE)
        found = msgspec.convert(_of_today(document), Baseline)
    except FileNotFoundError:
        hint = f"`soakproof baseline list{runs_option(runs)}` lists those that there are"
        raise UsageError(f"no baseline is called {plain(name, 100)!r}", hint) from None
    except (OSError, ValueError) as error:
        told = words(error) if isinstance(error, OSError) else str(error)
        raise UsageError(f"{path} cannot be read: {told}", _anew(path, runs)) from error
    if found.name != name:
        raise UsageError(f"{path} is the file of another baseline, {plain(found.name, 60)!r}", "name it back")
    if not found.runs:
        raise UsageError(f"{path} names no run", _anew(path, runs))
    return found


def _of_today(document: Any) -> Any:
    """The document of a file; earlier builds wrote one run a baseline, beside the name."""
    if isinstance(document, dict) and "runs" not in document:
        return {**document, "runs": [document]}
    return document


def _anew(path: Path, runs: Path) -> str:
    return f"remove it, and add the run again: soakproof baseline remove {path.stem}{runs_option(runs)}"


def has_baseline(runs: Path, name: str) -> bool:
    return bool(NAME.fullmatch(name)) and os.path.lexists(runs / FOLDER / f"{name}.json")


def add_baseline(runs: Path, name: str, named: Sequence[Path], *, added_at: str, note: str = "") -> Baseline:
    """Name sealed runs that lie in ``runs``. Raises UsageError for a name that is taken or none, and for a
    run that stands there twice.
    """
    path = _file(runs, name)
    if meant := next((p.name for p in all_of(runs) if name in (p.name, p.name.rpartition("-")[2])), None):
        raise UsageError(f"{name!r} is a name of the run {meant}, which it would hide", "choose another")
    _refuse_taken(path, runs)
    references = tuple(refer(runs, run, "a baseline") for run in named)
    if twice := next((r for r in references if references.count(r) > 1), None):
        raise UsageError(f"{plain(twice.run, 100)} stands there twice", "each run counts once")
    made = Baseline(name=name, runs=references, added_at=added_at, note=note)
    try:
        path.parent.mkdir(exist_ok=True)
    except OSError as error:
        raise RecorderError(f"cannot write {path.parent}: {words(error)}") from error
    try:
        path.open("xb").close()  # of two that add at once, one has the name
    except FileExistsError:
        _refuse_taken(path, runs)
    except OSError as error:
        raise RecorderError(f"cannot write {path}: {words(error)}") from error
    write_atomic(path, to_json(msgspec.to_builtins(made)))
    return made


def _refuse_taken(path: Path, runs: Path) -> None:
    if os.path.lexists(path):
        hint = f"choose another, or first: soakproof baseline remove {path.stem}{runs_option(runs)}"
        raise UsageError(f"there is a baseline {path.stem!r} already", hint)


def remove_baseline(runs: Path, name: str) -> None:
    """Forget the name; the run stays. Raises UsageError where there is none."""
    path = _file(runs, name)
    try:
        path.unlink()
    except FileNotFoundError:
        read_baseline(runs, name)  # says so
    except OSError as error:
        raise RecorderError(f"cannot remove {path}: {words(error)}") from error


def _file(runs: Path, name: str) -> Path:
    if not NAME.fullmatch(name):
        raise UsageError(f"a baseline's name: expected {_FORM}, found {plain(name, 80)!r}")
    if name in RESERVED:
        raise UsageError(f"a baseline cannot be called {name!r}", f"{name} has a meaning of its own")
    return runs / FOLDER / f"{name}.json"
