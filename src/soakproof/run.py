"""A run directory: create, append, seal, load, verify, recover. The only room that writes evidence.

    runs/<utc>-<plan>-<id>/
      run.json                 what was run, on what
      evidence/<node>/*.jsonl  one writer a folder, then its SEAL
      raw.json                 the run's own judgement of its thresholds and checks
      SEAL                     of run.json, raw.json and every node's SEAL
      verdicts/                judgements; outside the seal

A SEAL is a text of `sha256  size  path` lines, in the order of the paths, under a header line.
"""

import contextlib
import hashlib
import os
import secrets
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Literal

import orjson
import psutil

from soakproof.errors import RecorderError, UsageError
from soakproof.records import FILES, Record, decode, encode

SEAL = "SEAL"
RUN, RAW, EVIDENCE, VERDICTS, TORN = "run.json", "raw.json", "evidence", "verdicts", ".torn"
_HEADER = "soakproof seal 1"


def write_atomic(path: Path, data: bytes) -> None:
    """Write a whole file or none of it; on disk when this returns."""
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        with partial.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)
        raise RecorderError(f"cannot write {path}: {error.strerror}") from error


def to_json(document: Any) -> bytes:
    """Indented JSON with sorted keys, as every document of a run is written."""
    return orjson.dumps(
        document,
        option=orjson.OPT_INDENT_2
        | orjson.OPT_SORT_KEYS
        | orjson.OPT_NON_STR_KEYS
        | orjson.OPT_APPEND_NEWLINE,
    )


class NodeWriter:
    """Appends one node's records, each flushed to the kernel as it is written, so a crash loses none.

    Unbuffered: one write a record (about 20 us). ``sync=True`` also waits for the disk.
    """

    def __init__(self, run: Path, node: str) -> None:
        self.node = node
        self.folder = run / EVIDENCE / node
        self._files: dict[str, IO[bytes]] = {}
        self._sealed = False
        try:
            self.folder.mkdir(parents=True, exist_ok=False)
        except FileExistsError:
            raise RecorderError(f"{self.folder} exists: two nodes of one run cannot share a name") from None
        except OSError as error:
            raise RecorderError(f"cannot create {self.folder}: {error.strerror}") from error

    def write(self, record: Record, *, sync: bool = False) -> None:
        if self._sealed:
            raise RecorderError(f"{self.folder} is sealed")
        try:
            file = self._open(FILES[type(record)])
            line = encode(record)
            written = file.write(line)
            if written != len(line):  # a disk that filled in mid-line: the torn tail is cut when loading
                raise OSError(28, "no space left on device")
            if sync:
                os.fsync(file.fileno())
        except OSError as error:
            raise RecorderError(
                f"cannot write evidence in {self.folder}: {error.strerror or error}"
            ) from error

    def _open(self, name: str) -> IO[bytes]:
        if name not in self._files:
            self._files[name] = (self.folder / name).open("ab", buffering=0)
        return self._files[name]

    def seal(self) -> None:
        """Close every file, wait for the disk and seal the folder. Doing it twice does nothing more."""
        if self._sealed:
            return
        self._sealed = True
        try:
            for file in self._files.values():
                os.fsync(file.fileno())
                file.close()
        except OSError as error:
            raise RecorderError(f"cannot close evidence in {self.folder}: {error.strerror}") from error
        seal_folder(self.folder)


def digest(path: Path) -> tuple[str, int]:
    """SHA-256 and size of a file."""
    summed, size = hashlib.sha256(), 0
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            summed.update(block)
            size += len(block)
    return summed.hexdigest(), size


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
    folders = [run, *_nodes(run)]
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


def _nodes(run: Path) -> list[Path]:
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
        there |= {f"{node.relative_to(run)}/{SEAL}" for node in _nodes(run)}
        return sorted(there - known)
    there = {p.name for p in folder.iterdir() if p.is_file() and not p.name.startswith(".")} - {SEAL}
    return sorted(there - known)


@dataclass(frozen=True, slots=True)
class Loaded:
    """Everything that a run holds, read and decoded; judging starts from this."""

    path: Path
    id: str
    run: dict[str, Any]  # run.json
    raw: dict[str, Any] | None  # raw.json; None when the run never wrote it
    records: tuple[Record, ...]  # node by node, each in the order it was written
    nodes: tuple[str, ...]
    problems: tuple[str, ...]  # torn tails and lines that are no records
    seal: SealState


def load(run: Path) -> Loaded:
    """Read a run directory. Lines that are no records become problems, never an exception."""
    document = read_run(run)
    records: list[Record] = []
    problems: list[str] = []
    for node in _nodes(run):
        for name in sorted(set(FILES.values())):
            if (node / name).is_file():
                for item in read_records(node / name):
                    if isinstance(item, str):
                        problems.append(f"{node.relative_to(run)}/{name}: {item}")
                    else:
                        records.append(item)
    raw = _json(run / RAW) if (run / RAW).is_file() else None
    return Loaded(
        run,
        run.name,
        document,
        raw,
        tuple(records),
        tuple(n.name for n in _nodes(run)),
        tuple(problems),
        verify(run),
    )


def read_run(run: Path) -> dict[str, Any]:
    """run.json, or a UsageError that says why this is not a run."""
    if not run.is_dir():
        raise UsageError(f"{run} is not a directory", "`soakproof runs` lists the runs that are here")
    if not (run / RUN).is_file():
        raise UsageError(
            f"{run} is not a run: it has no {RUN}", "`soakproof runs` lists the runs that are here"
        )
    return _json(run / RUN)


def _json(path: Path) -> dict[str, Any]:
    try:
        document = orjson.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise UsageError(
            f"{path} cannot be read: {error}", "`soakproof verify` says what was touched"
        ) from error
    if not isinstance(document, dict):
        raise UsageError(f"{path} is not a JSON object", "`soakproof verify` says what was touched")
    return document


def read_records(path: Path) -> Iterator[Record | str]:
    """Each line's record, or, for a line that is none, what is wrong with it. Lines end at LF only."""
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                yield f"line {number} is torn ({len(line)} bytes without an end)"
                return
            try:
                yield decode(line)
            except ValueError as error:
                yield f"line {number} is not a record: {str(error)[:200]}"


@dataclass
class Run:
    """A run that is being written by this process."""

    path: Path
    document: dict[str, Any]
    _writers: dict[str, NodeWriter] = field(default_factory=dict)

    @classmethod
    def create(cls, runs: Path, plan: str, document: dict[str, Any]) -> "Run":
        """A new directory under ``runs``, with its run.json and the lock that says who writes it."""
        stamp = time.strftime("%Y-%m-%dT%H-%M-%SZ", time.gmtime())
        path = runs / f"{stamp}-{plan}-{secrets.token_hex(2)}"
        try:
            path.mkdir(parents=True)
            (path / EVIDENCE).mkdir()
        except OSError as error:
            raise UsageError(
                f"cannot create a run in {runs}: {error.strerror}",
                "choose a folder that can be written: --runs DIR",
            ) from error
        run = cls(path, document)
        owner = psutil.Process()
        write_atomic(path / ".writer", to_json({"pid": owner.pid, "created": owner.create_time()}))
        run.save()
        return run

    def save(self) -> None:
        """Write run.json as it now stands."""
        write_atomic(self.path / RUN, to_json(self.document))

    def writer(self, node: str) -> NodeWriter:
        """This process's writer for a node; the same one each time."""
        if node not in self._writers:
            self._writers[node] = NodeWriter(self.path, node)
        return self._writers[node]

    def seal_nodes(self) -> None:
        """Seal this process's own nodes."""
        for writer in self._writers.values():
            writer.seal()

    def seal(self, raw: dict[str, Any]) -> None:
        """Seal this process's nodes, write raw.json and seal the run. Other nodes have sealed their own."""
        self.seal_nodes()
        write_atomic(self.path / RAW, to_json(raw))
        self.save()
        seal_run(self.path)


def seal_run(run: Path, *, note: str = "") -> None:
    """The seal over run.json, raw.json and the nodes' seals; the writer's lock goes."""
    names = [name for name in (RUN, RAW) if (run / name).is_file()]
    names += [f"{node.relative_to(run)}/{SEAL}" for node in _nodes(run) if (node / SEAL).is_file()]
    seal_folder(run, names, note=note)
    (run / ".writer").unlink(missing_ok=True)


def being_written(run: Path) -> bool:
    """Whether the process that writes this run is still there, told by pid and start time."""
    try:
        owner = orjson.loads((run / ".writer").read_bytes())
        return bool(psutil.Process(owner["pid"]).create_time() == owner["created"])
    except (OSError, ValueError, KeyError, TypeError, psutil.Error):
        return False


def sealing(run: Path) -> Literal["sealed", "recovered", "being written", "unsealed"]:
    """How the run stands, by a look at its seal; `verify` proves it."""
    try:
        with (run / SEAL).open("rb") as seal:
            return "recovered" if b"recovered" in seal.readline() else "sealed"
    except OSError:
        return "being written" if being_written(run) else "unsealed"


def recover(run: Path) -> list[str]:
    """Seal what a crash left: torn tails go to ``<file>.torn``, missing seals are written, marked as
    recovered. Returns what was done, in words. A sealed run is left as it is.
    """
    read_run(run)
    if (run / SEAL).is_file():
        return []
    if being_written(run):
        raise UsageError(f"{run.name} is still being written", "wait for it to end, or stop it with Ctrl-C")
    done = seal_abandoned(run)
    seal_run(run, note="recovered")
    done.append(f"{run.name}: sealed as recovered")
    return done


def seal_abandoned(run: Path) -> list[str]:
    """Seal the nodes whose writer left without sealing them, as recovered; what was done, in words."""
    done: list[str] = []
    for node in _nodes(run):
        if (node / SEAL).is_file():
            continue
        for path in sorted(node.glob("*.jsonl")):
            cut = _cut_torn_tail(path)
            if cut:
                done.append(f"{path.relative_to(run)}: {cut} torn bytes moved to {path.name}{TORN}")
        seal_folder(node, note="recovered")
        done.append(f"{node.relative_to(run)}: sealed")
    return done


def _cut_torn_tail(path: Path) -> int:
    """Move what follows the last newline into a file of its own; how many bytes that were."""
    data = path.read_bytes()
    whole = data.rfind(b"\n") + 1
    if whole == len(data):
        return 0
    write_atomic(path.with_name(path.name + TORN), data[whole:])
    os.truncate(path, whole)
    return len(data) - whole


def find(runs: Path, name: str) -> Path:
    """The run of a path, an id, a unique part of one, or ``latest``."""
    if Path(name).is_dir():
        return Path(name)
    here = sorted(p for p in runs.iterdir() if (p / RUN).is_file()) if runs.is_dir() else []
    if not here:
        raise UsageError(
            f"no runs in {runs}", "run one first: locust -f locustfiles/soak.py --headless -t 2m"
        )
    if name == "latest":
        return here[-1]
    matches = [p for p in here if p.name == name] or [p for p in here if name in p.name]
    if len(matches) == 1:
        return matches[0]
    listed = ", ".join(p.name for p in (matches or here)[-5:])
    problem = f"{name!r} is part of {len(matches)} runs" if matches else f"no run is called {name!r}"
    raise UsageError(f"{problem} in {runs}", f"{'choose one of' if matches else 'the newest are'}: {listed}")
