"""Which files of a machine a recording has, and what it keeps of each. No I/O.

What is not named here is never copied: no command lines, environments, addresses, or names of open files.
"""

from collections.abc import Mapping, Sequence

_CARD = "class/drm/card[0-9]*/device"
_SENSORS = f"{_CARD}/hwmon/hwmon[0-9]*"

# Patterns below /proc and below /sys; each part is read in time by itself.
PROC: Mapping[str, Sequence[str]] = {
    "memory": ("meminfo", "pressure/memory", "pressure/cpu", "pressure/io"),
    "processor": ("stat", "loadavg"),
    "tester": ("self/cgroup",),
}
SYS: Mapping[str, Sequence[str]] = {
    "clocks": (
        "devices/system/cpu/cpu[0-9]*/cpufreq/scaling_cur_freq",
        "devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor",
    ),
    "temperatures": (
        "class/thermal/thermal_zone[0-9]*/type",
        "class/thermal/thermal_zone[0-9]*/temp",
        "class/hwmon/hwmon[0-9]*/name",
        "class/hwmon/hwmon[0-9]*/temp1_input",
        "firmware/acpi/platform_profile",
    ),
    "GPUs": (
        f"{_CARD}/vendor",
        f"{_CARD}/uevent",
        *(f"{_CARD}/mem_info_{what}" for what in ("gtt_used", "gtt_total", "vram_used", "vram_total")),
        f"{_CARD}/gpu_busy_percent",
        f"{_CARD}/power_dpm_force_performance_level",
        f"{_CARD}/pp_power_profile_mode",
        *(f"{_SENSORS}/{name}" for name in ("power1_average", "power1_input", "freq1_input", "freq2_input")),
        f"{_SENSORS}/temp*_label",
        f"{_SENSORS}/temp*_input",
    ),
}
PROCESS = ("stat", "status", "cgroup")  # of each server process
CGROUP = (  # of each group that one of the processes is in, and of those above it
    "cgroup.controllers",
    "memory.max",
    "memory.high",
    "memory.swap.max",
    "memory.current",
    "memory.swap.current",
    "memory.events",
    "cpu.max",
    "cpu.stat",
)
# Of a file with such a name at such a place, the lines that are kept, by how they begin.
_KEPT: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("proc", "stat"): ("cpu", "btime"),
    ("process", "status"): ("Name:", "State:", "Threads:", "Vm", "Rss"),
    ("sys", "uevent"): ("DRIVER=",),
    ("process", "fdinfo"): ("drm-",),
}


def kept(place: str, name: str, text: str) -> str:
    """What a recording keeps of a file: ``place`` is ``proc``, ``process`` or ``sys``."""
    beginnings = _KEPT.get((place, name))
    if beginnings is None:
        return text
    return "".join(line for line in text.splitlines(keepends=True) if line.startswith(beginnings))
