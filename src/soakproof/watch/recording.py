"""Copies what the sources read of a machine into a folder, from which they can be read elsewhere."""

import json
import os
import platform
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from pathlib import Path

import trio

from soakproof import __version__
from soakproof.errors import UsageError
from soakproof.watch.cgroup import group_path, with_parents
from soakproof.watch.files import read_text
from soakproof.watch.gpu_memory import parse_fdinfo
from soakproof.watch.recorded_files import CGROUP, PROC, PROCESS, SYS, kept
from soakproof.watch.source import BlockingReader, HungError

MANIFEST = "manifest.json"
_FILE_LIMIT = 64 << 10  # characters of one file
_MATCHES_LIMIT = 2048  # files of one pattern, or open files of one process
_SIZE_LIMIT = 64 << 20  # characters of a whole recording
_README = """# A recorded machine

What soakproof's watch reads of a machine, captured by `soakproof watch record`; {manifest} says of which
kind of machine and when. `proc` and `sys` are one look; `later/0001` and so on are looks a second apart each.

`soakproof watch sources --root FOLDER` shows what each source says from it.

Copied were only files that a source reads, and of some only the lines that it needs: no command lines, no
environments, no addresses, no names of files. Names of processes (15 characters) and of control groups are.
"""


@dataclass
class Recording:
    """One recording in the making."""

    folder: Path
    proc_root: Path
    sys_root: Path
    pids: Sequence[int] = ()
    bound_s: float = 5.0  # of each part
    refused: dict[str, str] = field(default_factory=dict)  # what could not be read, and why
    size: int = 0  # characters so far

    def run(self, seconds: int) -> None:
        """A look, and one more each second for so many. Raises UsageError for a folder that is not empty."""
        if self.folder.exists() and not self.folder.is_dir():
            raise UsageError(f"{self.folder} is no folder", "name one that does not exist yet")
        if self.folder.exists() and any(self.folder.iterdir()):
            raise UsageError(f"{self.folder} is not empty", "name a folder that does not exist yet")
        trio.run(self._looks, seconds)

    async def _looks(self, seconds: int) -> None:
        await self._look(self.folder)
        looks = 1
        for number in range(1, seconds + 1):
            if self.size > _SIZE_LIMIT:
                self.refused["later looks"] = f"after {looks} looks the recording was large enough"
                break
            await trio.sleep(1.0)
            await self._look(self.folder / "later" / f"{number:04}")
            looks += 1
        self._describe(looks)

    async def _look(self, into: Path) -> None:
        """Every part of the machine once. A part that hangs is left out, and said."""
        for name, copy in self._parts(into):
            try:
                await BlockingReader(self.bound_s).run(copy)
            except HungError as error:
                self.refused[name] = str(error)

    def _parts(self, into: Path) -> Iterator[tuple[str, Callable[[], None]]]:
        for name, patterns in PROC.items():
            yield name, partial(self._copy_all, "proc", self.proc_root, patterns, into / "proc")
        for name, patterns in SYS.items():
            yield name, partial(self._copy_all, "sys", self.sys_root, patterns, into / "sys")
        for pid in self.pids:
            yield f"process {pid}", partial(self._copy_process, pid, into / "proc" / str(pid))
        yield "control groups", partial(self._copy_groups, into / "sys")

    def _copy_all(self, place: str, root: Path, patterns: Sequence[str], into: Path) -> None:
        for pattern in patterns:
            for file in islice(sorted(root.glob(pattern)), _MATCHES_LIMIT):
                self._copy(place, file, into / file.relative_to(root))

    def _copy(self, place: str, file: Path, to: Path) -> None:
        """One file, as far as it is kept. What refuses is named in the manifest, and is not there."""
        if (text := self._text(file)) is not None:
            self._write(to, kept(place, file.name, text))

    def _copy_process(self, pid: int, into: Path) -> None:
        """Its figures; of its open files their number, and what GPUs tell of theirs."""
        process = self.proc_root / str(pid)
        for name in PROCESS:
            self._copy("process", process / name, into / name)
        for name in self._names(process / "fd"):
            self._write(into / "fd" / name, "")
        for name in self._names(process / "fdinfo"):
            told = self._text(process / "fdinfo" / name)
            if told and "drm-driver" in parse_fdinfo(told):
                self._write(into / "fdinfo" / name, kept("process", "fdinfo", told))
            else:
                (into / "fdinfo").mkdir(exist_ok=True)

    def _names(self, folder: Path) -> list[str]:
        try:
            return os.listdir(folder)[:_MATCHES_LIMIT]
        except OSError as error:
            self.refused[str(folder)] = error.strerror or str(error)
            return []

    def _copy_groups(self, into: Path) -> None:
        root = self.sys_root / "fs" / "cgroup"
        for process in ("self", *map(str, self.pids)):
            text = self._text(self.proc_root / process / "cgroup")
            path = group_path(text) if text else None
            if path is None or ".." in path.parts:
                continue
            for group in with_parents(root, path):
                for name in CGROUP:
                    if (group / name).exists():
                        self._copy("sys", group / name, into / (group / name).relative_to(self.sys_root))

    def _text(self, file: Path) -> str | None:
        try:
            return read_text(file)[:_FILE_LIMIT]
        except OSError as error:
            self.refused[str(file)] = error.strerror or str(error)
            return None

    def _write(self, to: Path, text: str) -> None:
        self.size += len(text)
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_text(text, encoding="utf-8")

    def _describe(self, looks: int) -> None:
        document = {
            "captured": True,
            "by": f"soakproof {__version__}",
            "utc": datetime.now(UTC).isoformat(timespec="seconds"),
            "system": platform.system(),
            "kernel": platform.release(),
            "architecture": platform.machine(),
            "server_pids": list(self.pids),
            "looks": looks,
            "refused": dict(sorted(self.refused.items())),
        }
        self._write(self.folder / MANIFEST, json.dumps(document, indent=2) + "\n")
        self._write(self.folder / "README.md", _README.format(manifest=MANIFEST))


def recorded_pids(folder: Path) -> tuple[int, ...]:
    """The server processes that a recording names; none where it has no manifest, as one written by hand.

    Raises UsageError for a manifest that is none.
    """
    path = folder / MANIFEST
    if not path.exists():
        return ()
    try:
        if not path.is_file():  # such as a FIFO, which would be waited for
            raise ValueError(path)
        pids = json.loads(read_text(path))["server_pids"]
        return tuple(pid for pid in pids if type(pid) is int and pid > 0)
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise UsageError(
            f"{path} is no manifest of a recorded machine",
            "record it anew, or name the server's processes: --server-pid PID",
        ) from error
