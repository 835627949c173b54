"""The host's processor: how busy each core is, load averages, clocks and governor."""

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from soakproof.watch.files import Files, count, numbered, read_text
from soakproof.watch.source import FILES_BOUND_S, BlockingReader, Reading, read_noted

CORES_LIMIT = 256  # that are kept one by one
_CORE = re.compile(r"cpu\d+")
_IDLE, _IOWAIT, _STEAL, _FIELDS = 3, 4, 7, 8  # places in a line of /proc/stat; guests are in the first two

Ticks = Mapping[str, Sequence[int]]


class Cpu:
    """``cpu``: {cores, busy_percent, stolen_percent, cores_busy_percent, load_1min, clock_mean_hz,
    cores_clock_hz, governor, …}. Shares are of the time since the reading before; the first has none.
    """

    name = "cpu"
    bound_s = 2 * FILES_BOUND_S

    def __init__(self, proc_root: str, sys_root: str) -> None:
        self._proc = Path(proc_root)
        self._cores = Path(sys_root) / "devices" / "system" / "cpu"
        self._reader = BlockingReader()
        self._before: Ticks = {}
        self._frequencies: list[
            tuple[Path, Path]
        ] = []  # of each core, the files of its clock and its governor

    async def read(self) -> Sequence[Reading]:
        return [await read_noted(self.name, self._reader, self._read)]

    def _read(self) -> tuple[dict[str, Any], str]:
        files = Files()
        now = parse_ticks(read_text(self._proc / "stat"))
        if self._before.keys() != now.keys():
            self._frequencies = self._find()
        values = shares(self._before, now)
        self._before = now
        values |= parse_load(files.text(self._proc / "loadavg"))
        values |= self._clocks(files)
        return values, files.reason

    def _clocks(self, files: Files) -> dict[str, Any]:
        """Clock and governor of each core that has them; a virtual machine's have none."""
        clocks = [files.count(clock) for clock, _ in self._frequencies]
        governors = {files.text(governor) for _, governor in self._frequencies} - {None}
        known = [clock * 1000 for clock in clocks if clock is not None]
        if not self._frequencies:
            files.refuse("cpufreq", "no core is shown")
        return {
            "clock_mean_hz": round(sum(known) / len(known)) if known else None,
            "cores_clock_hz": [None if clock is None else clock * 1000 for clock in clocks]
            if known
            else None,
            "governor": ", ".join(sorted(str(name)[:40] for name in governors)) or None,
        }

    def _find(self) -> list[tuple[Path, Path]]:
        """Looked for again when a core comes or goes."""
        cores = numbered(path for path in self._cores.glob("cpu[0-9]*") if _CORE.fullmatch(path.name))
        folders = [core / "cpufreq" for core in cores[:CORES_LIMIT]]
        return [(folder / "scaling_cur_freq", folder / "scaling_governor") for folder in folders]


def parse_ticks(text: str) -> dict[str, list[int]]:
    """Ticks of all cores (``cpu``) and of each. Raises ValueError for a text that is no /proc/stat."""
    found = {}
    for line in text.splitlines():
        name, *fields = line.split() or [""]
        if name == "cpu" or _CORE.fullmatch(name):
            ticks = [count(field) for field in fields[:_FIELDS]]
            found[name] = ticks + [0] * (_FIELDS - len(ticks))  # an old kernel has no steal
    if "cpu" not in found:
        raise ValueError("expected a line of all cores in /proc/stat")
    return found


def shares(before: Ticks, now: Ticks) -> dict[str, Any]:
    """Busy and stolen shares between two readings, in percent; None where no time has passed for a core."""
    cores = [name for name in now if name != "cpu"]
    busy = [_share(before.get(name), now[name])[0] for name in cores[:CORES_LIMIT]]
    all_busy, stolen = _share(before.get("cpu"), now["cpu"])
    return {
        "cores": len(cores),
        "busy_percent": all_busy,
        "stolen_percent": stolen,
        "cores_busy_percent": None if all(share is None for share in busy) else busy,
    }


def _share(before: Sequence[int] | None, now: Sequence[int]) -> tuple[float | None, float | None]:
    """The busy and the stolen share. Waiting for a disk is idle; a count that went back is no time."""
    if before is None:
        return None, None
    passed = [max(0, new - old) for old, new in zip(before, now, strict=True)]
    total = sum(passed)
    if not total:
        return None, None
    busy = total - passed[_IDLE] - passed[_IOWAIT] - passed[_STEAL]
    return round(100 * busy / total, 1), round(100 * passed[_STEAL] / total, 1)


def parse_load(text: str | None) -> dict[str, float | None]:
    """The three load averages; None for one that is no finite number from 0 on."""
    fields = (text or "").split()[:3]
    names = ("load_1min", "load_5min", "load_15min")
    try:
        told = [float(field) for field in fields]
    except ValueError:
        told = []
    known = told if len(told) == len(names) else [math.nan] * len(names)
    return {
        name: load if math.isfinite(load) and load >= 0 else None
        for name, load in zip(names, known, strict=True)
    }
