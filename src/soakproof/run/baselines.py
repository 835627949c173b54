"""Baselines: names for sealed runs, in a file beside them. A baseline is a reference, by the digest of a
run's seal; the run stays where it is.

    runs/baselines/<name>.json
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from soakproof.errors import RecorderError, UsageError, words
from soakproof.plain import plain
from soakproof.run.files import to_json, write_atomic
from soakproof.run.naming import runs_option
from soakproof.run.seal import seal_digest

FOLDER = "baselines"
RESERVED = ("auto", "latest")
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}")
_FORM = "up to 60 letters, digits, dots, dashes and underlines"


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """A run under a name: its folder's name, and the SHA-256 of its seal when it was added."""

    name: str
    run: str
    seal: str
    added_at: str  # UTC, ISO
    note: str = ""


def baselines(runs: Path) -> Iterator[Baseline]:
    """All of a folder of runs, by their names. Raises UsageError for a file that cannot be read."""
    folder = runs / FOLDER
    for path in sorted(folder.glob("*.json")) if folder.is_dir() else []:
        yield read_baseline(runs, path.stem)


def read_baseline(runs: Path, name: str) -> Baseline:
    """The one of that name. Raises UsageError where there is none, or where it cannot be read."""
    path = _file(runs, name)
    try:
        found = msgspec.json.decode(path.read_bytes(), type=Baseline)
    except FileNotFoundError:
        hint = f"`soakproof baseline list{runs_option(runs)}` lists those that there are"
        raise UsageError(f"no baseline is called {plain(name, 100)!r}", hint) from None
    except (OSError, msgspec.DecodeError) as error:
        told = words(error) if isinstance(error, OSError) else str(error)
        hint = f"remove it, and add the run again: soakproof baseline remove {path.stem}{runs_option(runs)}"
        raise UsageError(f"{path} cannot be read: {told}", hint) from error
    if found.name != name:
        raise UsageError(f"{path} is the file of another baseline, {plain(found.name, 60)!r}", "name it back")
    return found


def has_baseline(runs: Path, name: str) -> bool:
    return bool(NAME.fullmatch(name)) and os.path.lexists(runs / FOLDER / f"{name}.json")


def add_baseline(runs: Path, name: str, run: Path, *, added_at: str, note: str = "") -> Baseline:
    """Name a sealed run that lies in ``runs``. Raises UsageError for a name that is taken or none."""
    path = _file(runs, name)
    if os.path.lexists(path):
        hint = f"choose another, or first: soakproof baseline remove {name}{runs_option(runs)}"
        raise UsageError(f"there is a baseline {name!r} already", hint)
    if run.resolve().parent != runs.resolve():
        raise UsageError(f"{plain(run, 200)} is not in {runs}", "name its folder: --runs DIR")
    seal = seal_digest(run)
    if seal is None:
        raise UsageError(f"{plain(run, 200)} is not sealed", "only a sealed run can be a baseline")
    made = Baseline(name=name, run=run.name, seal=seal, added_at=added_at, note=note)
    try:
        path.parent.mkdir(exist_ok=True)
    except OSError as error:
        raise RecorderError(f"cannot write {path.parent}: {words(error)}") from error
    write_atomic(path, to_json(msgspec.to_builtins(made)))
    return made


def remove_baseline(runs: Path, name: str) -> None:
    """Forget the name; the run stays. Raises UsageError where there is none."""
    path = _file(runs, name)
    try:
        path.unlink()
    except FileNotFoundError:
        read_baseline(runs, name)  # says so
    except OSError as error:
        raise RecorderError(f"cannot remove {path}: {words(error)}") from error


def state(runs: Path, baseline: Baseline) -> str:
    """What became of its run; "" where it has the seal that it had. Its files are not compared."""
    run = runs / baseline.run
    if not run.is_dir():
        return "gone"
    seal = seal_digest(run)
    if seal is None:
        return "its seal is gone"
    return "" if seal == baseline.seal else "sealed anew since it was added"


def _file(runs: Path, name: str) -> Path:
    if not NAME.fullmatch(name):
        raise UsageError(f"a baseline's name: expected {_FORM}, found {plain(name, 80)!r}")
    if name in RESERVED:
        raise UsageError(f"a baseline cannot be called {name!r}", f"{name} has a meaning of its own")
    return runs / FOLDER / f"{name}.json"
