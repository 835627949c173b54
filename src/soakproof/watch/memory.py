"""Memory of the host: /proc/meminfo, swap, and pressure stall information (PSI)."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from soakproof.watch.files import count, read_text
from soakproof.watch.portable import is_without_proc, read_memory
from soakproof.watch.source import FILES_BOUND_S, BlockingReader, Reading, read_values

_FIELDS = {
    "available_bytes": "MemAvailable",
    "total_bytes": "MemTotal",
    "free_bytes": "MemFree",
    "cached_bytes": "Cached",
    "shmem_bytes": "Shmem",
    "dirty_bytes": "Dirty",
    "swap_total_bytes": "SwapTotal",
}


class Memory:
    """``memory``: sizes in bytes; None for a field that this kernel does not have."""

    name = "memory"
    bound_s = 2 * FILES_BOUND_S

    def __init__(self, proc_root: str) -> None:
        self._root = Path(proc_root)
        self._reader = BlockingReader()

    async def read(self) -> Sequence[Reading]:
        return [await read_values(self.name, self._reader, self._values)]

    def _values(self) -> dict[str, Any]:
        if is_without_proc(self._root):
            return read_memory()
        return parse_meminfo(read_text(self._root / "meminfo"))


def parse_meminfo(text: str) -> dict[str, Any]:
    """The fields that are kept, in bytes. Raises ValueError for a text that is no meminfo."""
    found: dict[str, int] = {}
    for line in text.splitlines():
        key, _, rest = line.partition(":")
        number = rest.split()
        if number and number[0].isdigit():
            found[key.strip()] = int(number[0]) * (1024 if number[1:] == ["kB"] else 1)
    if "MemTotal" not in found:
        raise ValueError("expected meminfo with a MemTotal")
    total, free = found.get("SwapTotal"), found.get("SwapFree")
    values: dict[str, Any] = {name: found.get(key) for name, key in _FIELDS.items()}
    values["swap_used_bytes"] = None if total is None or free is None or free > total else total - free
    return values


class Pressure:
    """``psi``: share of the last ten seconds in which some, or all, tasks waited; totals in microseconds."""

    name = "psi"
    bound_s = 2 * FILES_BOUND_S

    def __init__(self, proc_root: str) -> None:
        self._folder = Path(proc_root) / "pressure"
        self._reader = BlockingReader()

    async def read(self) -> Sequence[Reading]:
        return [await read_values(self.name, self._reader, self._values)]

    def _values(self) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for resource in ("memory", "cpu", "io"):
            values |= parse_pressure(resource, read_text(self._folder / resource))
        return values


def parse_pressure(resource: str, text: str) -> dict[str, Any]:
    """``some avg10=0.12 avg60=0.00 avg300=0.00 total=1234`` as ``memory_some_avg10_percent`` and the like.

    Raises ValueError for what is none.
    """
    values: dict[str, Any] = {}
    for line in text.splitlines():
        kind, *pairs = line.split() or [""]
        if kind not in ("some", "full"):
            raise ValueError(f"expected pressure of some or full, found {kind[:40]!r}")
        fields = dict(pair.split("=", 1) for pair in pairs if "=" in pair)
        values[f"{resource}_{kind}_avg10_percent"] = _share(fields.get("avg10"))
        values[f"{resource}_{kind}_total_us"] = count(fields["total"]) if "total" in fields else None
    return values


def _share(text: str | None) -> float | None:
    """Raises ValueError for what is no number."""
    share = None if text is None else float(text)
    return share if share is not None and math.isfinite(share) and share >= 0 else None
