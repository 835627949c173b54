"""GPU memory of each server process, as the kernel's DRM drivers tell it in fdinfo.

Buffers that two clients of a process share are counted for each of them. A driver that is not a DRM driver,
as NVIDIA's own, tells nothing here.
"""

import errno
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from soakproof.watch.files import Files, read_text
from soakproof.watch.known import Known
from soakproof.watch.per_process import PerProcess, ProcessGone
from soakproof.watch.source import FILES_BOUND_S, Reading

OPEN_FILES_LIMIT = 4096  # that are looked at
_GPUS_LIMIT = 16
_DEVICES = "/dev/dri/"
_UNITS = {"": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
_KEY = re.compile(r"drm-(memory|resident|total)-(.+)")
# Regions by what they are; a card may number them (vram0), and drivers have names of their own.
_KINDS = {"vram": "vram", "local": "vram", "gtt": "gtt", "system": "system", "cpu": "system"}

Client = Mapping[str, str]  # the lines of one fdinfo


class GpuMemory:
    """``gpu_memory:<role>``: bytes that are resident (``gtt_bytes``), and that were allocated and may be
    elsewhere now (``gtt_allocated_bytes``); None for what the driver does not tell.
    """

    name = "gpu_memory"
    bound_s = 3 * FILES_BOUND_S

    def __init__(self, proc_root: str, known: Known) -> None:
        self._proc = Path(proc_root)
        self._known = known
        self._processes = PerProcess(self.name, self._read)

    async def read(self) -> Sequence[Reading]:
        return await self._processes.readings(self._known.processes)

    def _read(self, pid: int | None) -> tuple[dict[str, Any], str]:
        files = Files()
        try:
            clients = distinct(_clients(self._proc / str(pid), files))
        except (FileNotFoundError, ProcessLookupError):
            if (self._proc / str(pid) / "stat").exists():  # as in a recording of another user's process
                raise OSError(errno.ENODEV, "its open files are not shown", f"process {pid}") from None
            raise ProcessGone from None
        if not clients:
            raise OSError(errno.ENODEV, "it has no GPU open that tells of its memory", f"process {pid}")
        gpus = _by_gpu(clients)
        total = {name: _sum(gpu[name] for gpu in gpus) for name in _NAMES}
        values = {"pid": pid, "clients": len(clients), **total, "gpus": gpus[:_GPUS_LIMIT]}
        return values, files.reason


def _clients(process: Path, files: Files) -> Iterable[Client]:
    """Of every open file that is a GPU. Where links cannot be read, as in a written tree, of every file."""
    names = os.listdir(process / "fdinfo")
    if len(names) > OPEN_FILES_LIMIT:
        files.refuse("fdinfo", f"only {OPEN_FILES_LIMIT} of {len(names)} open files were looked at")
    for name in islice(names, OPEN_FILES_LIMIT):
        if not _may_be_gpu(process / "fd" / name):
            continue
        try:
            client = parse_fdinfo(read_text(process / "fdinfo" / name))
        except FileNotFoundError:
            continue  # it was closed
        if "drm-driver" in client:
            yield client


def _may_be_gpu(link: Path) -> bool:
    try:
        return os.readlink(link).startswith(_DEVICES)
    except OSError:
        return True


def parse_fdinfo(text: str) -> dict[str, str]:
    """``key: value`` a line."""
    pairs = (line.partition(":") for line in text.splitlines())
    return {key.strip(): value.strip() for key, _, value in pairs}


def distinct(clients: Iterable[Client]) -> list[Client]:
    """Each client once, however many of its descriptors are open. Ids count within one device."""
    found: dict[object, Client] = {}
    for number, client in enumerate(clients):
        identity = client.get("drm-client-id")
        found.setdefault((_gpu(client), identity) if identity else number, client)
    return list(found.values())


_NAMES = ("gtt_bytes", "vram_bytes", "system_bytes", "gtt_allocated_bytes", "vram_allocated_bytes")


def _by_gpu(clients: Sequence[Client]) -> list[dict[str, Any]]:
    gpus = sorted({_gpu(client) for client in clients})
    return [{"gpu": name, **_sizes([c for c in clients if _gpu(c) == name])} for name in gpus]


def _gpu(client: Client) -> str:
    """Driver and PCI address."""
    return f"{client.get('drm-driver', '')} {client.get('drm-pdev', '')}".strip()[:80]


def _sizes(clients: Sequence[Client]) -> dict[str, int | None]:
    sizes = [client_sizes(client) for client in clients]
    return {name: _sum(size.get(name) for size in sizes) for name in _NAMES}


def client_sizes(client: Client) -> dict[str, int]:
    """Bytes of one client. ``drm-memory-*`` is the old name of ``drm-resident-*``; with both, the new one."""
    found: dict[tuple[str, str], int] = {}
    for key, value in client.items():
        match = _KEY.fullmatch(key)
        size = _bytes(value) if match else None
        if match and size is not None:
            found[match[1], match[2]] = size
    resident = {region: size for (what, region), size in found.items() if what == "memory"}
    resident |= {region: size for (what, region), size in found.items() if what == "resident"}
    allocated = {region: size for (what, region), size in found.items() if what == "total"}
    return _of_kinds(resident, "bytes") | _of_kinds(allocated, "allocated_bytes")


def _of_kinds(regions: Mapping[str, int], suffix: str) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for region, size in regions.items():
        kind = _KINDS.get(region.rstrip("0123456789"))
        if kind:
            sizes[f"{kind}_{suffix}"] = sizes.get(f"{kind}_{suffix}", 0) + size
    return sizes


def _bytes(value: str) -> int | None:
    number, _, unit = value.partition(" ")
    return int(number) * _UNITS[unit.strip()] if number.isdecimal() and unit.strip() in _UNITS else None


def _sum(sizes: Iterable[int | None]) -> int | None:
    known = [size for size in sizes if size is not None]
    return sum(known) if known else None
