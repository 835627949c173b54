"""Seals: SHA-256 manifests of folders, written and verified.

A SEAL is a text of `sha256  size  path` lines, in the order of the paths, under a header line. It may come
from anybody: whatever its paths say, only plain files inside the run are read.
"""

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from soakproof.formats import FORMAT, NewerError, newer_than
from soakproof.run.files import digest, write_atomic

SEAL = "SEAL"
TORN = ".torn"  # behind the name of a file: its last line, without an end, as a recovery moved it aside
RUN, RAW, EVIDENCE = "run.json", "raw.json", "evidence"
MANIFEST = "BUNDLE.json"  # of a bundle
KEPT = "kept"  # the folder of a bundle without text, so that nobody takes it for the run
RECOVERED, HOST_LOST = "recovered", "recovered after a restart of the host"  # notes in a seal's header
_HEADER = f"soakproof seal {FORMAT}"
_OF_A_SEAL = re.compile(r"soakproof seal (\d{1,9})(?: (.*))?")
LARGEST = 1 << 20  # bytes of a seal; a run has about twenty lines
_UNSEALED = "missing, so {} is not sealed"


def seal_folder(folder: Path, names: Iterable[str] | None = None, *, note: str = "") -> None:
    """Write a SEAL over ``names`` (default: every file directly in the folder but SEAL)."""
    chosen = (
        names if names is not None else (p.name for p in folder.iterdir() if is_own(p) and p.name != SEAL)
    )
    lines = [f"{_HEADER} {note}".rstrip()]
    for name in sorted(n for n in chosen if not Path(n).name.startswith(".")):
        summed, size = digest(folder / name)
        lines.append(f"{summed}  {size}  {name}")
    write_atomic(folder / SEAL, ("\n".join(lines) + "\n").encode())


def seal_run(run: Path, *, note: str = "") -> None:
    """The seal over run.json, raw.json and the nodes' seals."""
    names = [name for name in (RUN, RAW) if is_own(run / name)]
    names += [f"{node.relative_to(run)}/{SEAL}" for node in nodes(run) if is_own(node / SEAL)]
    seal_folder(run, names, note=note)


Stamp = tuple[int, ...]  # by which a file is known to be the same; empty where there is none


@dataclass(frozen=True, slots=True)
class SealState:
    """What verifying found: nothing in ``problems`` means that the run is as it was sealed."""

    sealed: bool
    recovered: bool
    files: int
    bytes: int
    problems: tuple[str, ...]
    host_lost: bool = False  # it was recovered after the host had been restarted
    newer: bool = False  # a seal of it is of a later version, so nothing is proven either way
    stamps: Mapping[Path, Stamp] = field(default_factory=dict, compare=False)  # of what was verified

    @property
    def changed(self) -> str:
        """The first file that is not the one that was verified, by inodes and times; "" where all are."""
        return next((str(path) for path, stamp in self.stamps.items() if _stamp(path) != stamp), "")


def seal_digest(run: Path) -> str | None:
    """The SHA-256 of a run's own seal; None where it has none."""
    return digest(run / SEAL)[0] if is_own(run / SEAL) else None


def is_own(path: Path) -> bool:
    """A plain file: no link to somewhere else, no pipe, no device."""
    return path.is_file() and not path.is_symlink()


def is_own_folder(path: Path) -> bool:
    """A folder, and no link to one."""
    return path.is_dir() and not path.is_symlink()


def verify(run: Path) -> SealState:
    """Check every seal of a run against its files: changed, missing, added, unsealed."""
    problems: list[str] = []
    files = size = 0
    recovered, host_lost, sealed, newer = False, False, True, False
    stamps: dict[Path, Stamp] = {}
    for folder in [run, *nodes(run)]:
        where = "" if folder == run else f"{folder.relative_to(run)}/"
        try:
            note, entries = read_seal(folder / SEAL)
        except FileNotFoundError:
            problems.append(f"{where}{SEAL}: {_UNSEALED.format(where or 'the run')}")
            sealed = False
            continue
        except (ValueError, OSError) as error:
            problems.append(f"{where}{SEAL}: {in_words(error)}")
            newer |= isinstance(error, NewerError)
            continue
        recovered |= "recovered" in note
        host_lost |= note == HOST_LOST
        for summed, length, name in entries:
            stamps[folder / name] = _stamp(folder / name)  # before it is read
            problem = compare(folder, name, summed, length)
            if problem:
                problems.append(f"{where}{name}: {problem}")
            files, size = files + 1, size + length
        problems += [f"{where}{name}: not in the seal" for name in _unknown(run, folder, entries)]
    return SealState(sealed, recovered, files, size, tuple(problems), host_lost, newer, stamps)


def _stamp(path: Path) -> Stamp:
    try:
        found = path.stat()
    except (OSError, ValueError):  # or a name that no file can have
        return ()
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def nodes(run: Path) -> list[Path]:
    """The folders of a run's evidence; a link to a folder is none."""
    evidence = run / EVIDENCE
    return sorted(p for p in evidence.iterdir() if is_own_folder(p)) if is_own_folder(evidence) else []


def read_seal(seal: Path) -> tuple[str, list[tuple[str, int, str]]]:
    """Its note and its entries. Raises FileNotFoundError, OSError and ValueError, NewerError among these."""
    if os.path.lexists(seal) and not is_own(seal):
        raise ValueError("no plain file")
    with seal.open("rb") as file:
        data = file.read(LARGEST + 1)
    return parse_seal(data)


def parse_seal(data: bytes) -> tuple[str, list[tuple[str, int, str]]]:
    """The note and the entries of a seal's bytes. Raises ValueError, and NewerError for a later version's."""
    if len(data) > LARGEST:
        raise ValueError(f"a seal of more than {LARGEST:,} bytes")
    header, *lines = data.decode("utf-8", "replace").removesuffix("\n").split("\n")
    match = _OF_A_SEAL.fullmatch(header)
    if not match or int(match[1]) < 1:
        raise ValueError("not a seal of this program")
    if int(match[1]) > FORMAT:
        raise NewerError(newer_than(match[1]))
    entries = []
    for line in lines:
        parts = line.split("  ", 2)
        if len(parts) != 3 or not parts[1].isdigit():
            raise ValueError(f"a broken line: {line[:80]!r}")
        entries.append((parts[0], int(parts[1][:19]), parts[2]))
    return (match[2] or "").strip(), entries


def compare(folder: Path, name: str, summed: str, length: int) -> str:
    """What is wrong with a file of the seal; empty when nothing is."""
    try:
        problem = _elsewhere(folder, name)
        found, size = ("", 0) if problem else digest(folder / name)
    except FileNotFoundError:
        return "missing"
    except (OSError, ValueError) as error:
        return f"cannot be read: {in_words(error)}"
    if problem:
        return problem
    if size != length:
        return f"changed: {length} bytes were sealed, {size} are there"
    return "" if found == summed else "changed: its digest is not the sealed one"


def _elsewhere(folder: Path, name: str) -> str:
    """Why a name must not be followed: it leads out of the folder, or to what is no plain file."""
    parts = name.split("/")
    if any(part in ("", ".", "..") for part in parts) or Path(name).anchor or "\\" in name:
        return "not looked at: it is no path inside the run"
    at = folder
    for part in parts:
        at /= part
        if at.is_symlink():
            return "not looked at: it is a link to somewhere else"
    return "not looked at: it is no file" if at.exists() and not at.is_file() else ""


def _unknown(run: Path, folder: Path, entries: list[tuple[str, int, str]]) -> list[str]:
    """What is in a node's folder, or documents and nodes of a run, that its seal does not know."""
    known = {name for _, _, name in entries}
    if folder != run:
        return sorted({p.name for p in folder.iterdir() if not p.name.startswith(".")} - known - {SEAL})
    own = nodes(run)
    there = {name for name in (RUN, RAW) if (run / name).exists()}
    there |= {f"{node.relative_to(run)}/{SEAL}" for node in own}
    evidence = run / EVIDENCE
    beside = set(evidence.iterdir()) - set(own) if is_own_folder(evidence) else set()
    return sorted((there | {str(path.relative_to(run)) for path in beside}) - known)


def in_words(error: Exception) -> str:
    """The system's or our own words for what is wrong with a file."""
    return getattr(error, "strerror", None) or str(error)
