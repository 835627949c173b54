"""Seals: SHA-256 manifests of folders, written and verified.

A SEAL is a text of `sha256  size  path` lines, in the order of the paths, under a header line.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from soakproof.run.files import digest, write_atomic

SEAL = "SEAL"
RUN, RAW, EVIDENCE = "run.json", "raw.json", "evidence"
_HEADER = "soakproof seal 1"


def seal_folder(folder: Path, names: Iterable[str] | None = None, *, note: str = "") -> None:
    """Write a SEAL over ``names`` (default: every file directly in the folder but SEAL)."""
    chosen = (
        names if names is not None else (p.name for p in folder.iterdir() if p.is_file() and p.name != SEAL)
    )
    lines = [f"{_HEADER} {note}".rstrip()]
    for name in sorted(n for n in chosen if not Path(n).name.startswith(".")):
        summed, size = digest(folder / name)
        lines.append(f"{summed}  {size}  {name}")
    write_atomic(folder / SEAL, ("\n".join(lines) + "\n").encode())


def seal_run(run: Path, *, note: str = "") -> None:
    """The seal over run.json, raw.json and the nodes' seals; the writer's lock goes."""
    names = [name for name in (RUN, RAW) if (run / name).is_file()]
    names += [f"{node.relative_to(run)}/{SEAL}" for node in nodes(run) if (node / SEAL).is_file()]
    seal_folder(run, names, note=note)
    (run / ".writer").unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class SealState:
    """What verifying found: nothing in ``problems`` means that the run is as it was sealed."""

    sealed: bool
    recovered: bool
    files: int
    bytes: int
    problems: tuple[str, ...]


def verify(run: Path) -> SealState:
    """Check every seal of a run against its files: changed, missing, added, unsealed."""
    problems: list[str] = []
    files = size = 0
    recovered = False
    folders = [run, *nodes(run)]
    for folder in folders:
        where = "" if folder == run else f"{folder.relative_to(run)}/"
        seal = folder / SEAL
        if not seal.is_file():
            problems.append(f"{where}{SEAL}: missing, so {where or 'the run'} is not sealed")
            continue
        try:
            note, entries = _read_seal(seal)
        except ValueError as error:
            problems.append(f"{where}{SEAL}: {error}")
            continue
        recovered |= "recovered" in note
        for summed, length, name in entries:
            problem = _compare(folder / name, summed, length)
            if problem:
                problems.append(f"{where}{name}: {problem}")
            files, size = files + 1, size + length
        problems += [f"{where}{name}: not in the seal" for name in _unsealed(run, folder, entries)]
    return SealState(not any("not sealed" in p for p in problems), recovered, files, size, tuple(problems))


def nodes(run: Path) -> list[Path]:
    evidence = run / EVIDENCE
    return sorted(p for p in evidence.iterdir() if p.is_dir()) if evidence.is_dir() else []


def _read_seal(seal: Path) -> tuple[str, list[tuple[str, int, str]]]:
    header, *lines = seal.read_text(encoding="utf-8", errors="replace").splitlines() or [""]
    if not header.startswith(_HEADER):
        raise ValueError("not a seal of this program")
    entries = []
    for line in lines:
        parts = line.split("  ", 2)
        if len(parts) != 3 or not parts[1].isdigit():
            raise ValueError(f"a broken line: {line[:80]!r}")
        entries.append((parts[0], int(parts[1]), parts[2]))
    return header[len(_HEADER) :].strip(), entries


def _compare(path: Path, summed: str, length: int) -> str:
    try:
        found, size = digest(path)
    except FileNotFoundError:
        return "missing"
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    if size != length:
        return f"changed: {length} bytes were sealed, {size} are there"
    return "" if found == summed else "changed: its digest is not the sealed one"


def _unsealed(run: Path, folder: Path, entries: list[tuple[str, int, str]]) -> list[str]:
    """Files of a node's folder, or documents and nodes of a run, that its seal does not know."""
    known = {name for _, _, name in entries}
    if folder == run:
        there = {name for name in (RUN, RAW) if (run / name).is_file()}
        there |= {f"{node.relative_to(run)}/{SEAL}" for node in nodes(run)}
        return sorted(there - known)
    there = {p.name for p in folder.iterdir() if p.is_file() and not p.name.startswith(".")} - {SEAL}
    return sorted(there - known)
