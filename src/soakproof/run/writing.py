"""A run that is being written: its directory, and one writer a node."""

import os
import re
import secrets
import shutil
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from soakproof.errors import RecorderError, UsageError, words
from soakproof.records import FILES, Record, encode
from soakproof.redaction import without_key
from soakproof.run.files import to_json, write_atomic
from soakproof.run.holding import hold, let_go
from soakproof.run.seal import EVIDENCE, RAW, RUN, SEAL, seal_folder, seal_run


class NodeWriter:
    """Appends one node's records, each flushed to the kernel as it is written, so a crash loses none.

    Unbuffered: one write a record (about 20 us). ``sync=True`` also waits for the disk. A folder that
    somebody else has sealed, while this process was stopped, say, is left as it was sealed.
    """

    def __init__(self, run: Path, node: str) -> None:
        self.node = node
        self.folder = run / EVIDENCE / node
        self._files: dict[str, IO[bytes]] = {}
        self._sealed = False
        self._broken = False
        try:
            self.folder.mkdir(parents=True, exist_ok=False)
            hold(self.folder)
        except FileExistsError:
            raise RecorderError(f"{self.folder} exists: two nodes of one run cannot share a name") from None
        except OSError as error:
            raise RecorderError(f"cannot create {self.folder}: {words(error)}") from error

    def write(self, record: Record, *, sync: bool = False) -> None:
        if self._sealed or self._broken:  # what follows a torn line would be lost with it
            raise RecorderError(f"{self.folder} {'is sealed' if self._sealed else 'has a torn line'}")
        self._refuse_foreign_seal()
        try:
            file = self._open(FILES[type(record)])
            self._append(file, encode(record))
            if sync:
                os.fsync(file.fileno())
        except OSError as error:
            raise RecorderError(f"cannot write evidence in {self.folder}: {words(error)}") from error

    def _append(self, file: IO[bytes], line: bytes) -> None:
        """The whole line. What a disk that fills in mid-line leaves is a torn tail, cut when loading."""
        done = 0
        try:
            while done < len(line):  # the write after a short one says what is in its way
                done += file.write(line[done:])
        except OSError:
            self._broken = done > 0
            raise

    def _open(self, name: str) -> IO[bytes]:
        if name not in self._files:
            self._files[name] = (self.folder / name).open("ab", buffering=0)
        return self._files[name]

    def _refuse_foreign_seal(self) -> None:
        if (self.folder / SEAL).exists():
            raise RecorderError(f"{self.folder} was sealed by another process: nothing is added to it")

    def seal(self) -> None:
        """Close every file, wait for the disk and seal the folder. Doing it twice does nothing more."""
        if self._sealed:
            return
        self._refuse_foreign_seal()
        self._sealed = True
        try:
            for file in self._files.values():
                os.fsync(file.fileno())
                file.close()
        except OSError as error:
            raise RecorderError(f"cannot close evidence in {self.folder}: {words(error)}") from error
        seal_folder(self.folder)
        let_go(self.folder)


@dataclass
class Run:
    """A run that is being written by this process."""

    path: Path
    document: dict[str, Any]
    key: str | None = field(default=None, repr=False)  # the API key, which no document may hold
    _writers: dict[str, NodeWriter] = field(default_factory=dict)

    @classmethod
    def create(cls, runs: Path, plan: str, document: dict[str, Any], key: str | None = None) -> "Run":
        """A new directory under ``runs``, with its run.json and the lock that says who writes it.

        Raises UsageError, and leaves no directory, where it cannot be written.
        """
        stamp = time.strftime("%Y-%m-%dT%H-%M-%SZ", time.gmtime())
        named = re.sub(r"[^\w.-]+", "-", plan)[:60].strip(".-") or "plan"
        path = runs / f"{stamp}-{named}-{secrets.token_hex(2)}"
        run = cls(path, document, key)
        try:
            path.mkdir(parents=True)
            hold(path)
            run.save()
            (path / EVIDENCE).mkdir()  # a folder with evidence and without run.json is a damaged run
        except (OSError, RecorderError) as error:
            shutil.rmtree(path, ignore_errors=True)
            why = words(error) if isinstance(error, OSError) else error
            raise UsageError(
                f"cannot create a run in {runs}: {why}", "choose a folder that can be written: --runs DIR"
            ) from error
        return run

    def save(self) -> None:
        """Write run.json as it now stands, without the API key wherever a server has repeated it."""
        write_atomic(self.path / RUN, to_json(without_key(self.document, self.key)))

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
        write_atomic(self.path / RAW, to_json(without_key(raw, self.key)))
        self.save()
        seal_run(self.path)
        let_go(self.path)
