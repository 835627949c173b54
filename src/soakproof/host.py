"""This host, as run.json tells it: what must match before two runs are compared, and what is noted."""

import hashlib
import os
import platform
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import psutil

from soakproof import __version__
from soakproof.errors import UsageError

PROVENANCE = {
    "os": "the operating system",
    "kernel": "uname",
    "architecture": "uname",
    "cpu": "/proc/cpuinfo",
    "cores": "the operating system",
    "memory_bytes": "/proc/meminfo",
    "machine": "/etc/machine-id, digested",
    "power_profile": "/sys/firmware/acpi/platform_profile",
    "governor": "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
    "gpu_driver": "/sys/module, /proc/driver/nvidia/version",
}  # of each field of `describe_host`, on Linux


def describe_host() -> dict[str, Any]:
    """Operating system, processor, memory; the machine's id only as a digest."""
    return {
        "os": platform.system(),
        "kernel": platform.release(),
        "architecture": platform.machine(),
        "cpu": _cpu_name(),
        "cores": psutil.cpu_count(logical=True),
        "memory_bytes": psutil.virtual_memory().total,
        "machine": machine_digest(),
        "power_profile": _line("/sys/firmware/acpi/platform_profile"),
        "governor": _line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        "gpu_driver": gpu_driver(),
    }


def refuse_more_than_there_is(option: str, size: int | None) -> None:
    """Raises UsageError for bytes of available memory that this host can never have."""
    total = psutil.virtual_memory().total
    if size is not None and size >= total:
        raise UsageError(
            f"{option}: {size / 2**30:,.1f} GiB can never be available on this host",
            f"it has {total / 2**30:,.1f} GiB in all",
        )


def gpu_driver(root: str = "/") -> str | None:
    """The kernel's GPU drivers with their versions; None where none is seen.

    A driver that comes with the kernel has no version of its own: it is the kernel's.
    """
    found = []
    for name in ("amdgpu", "xe", "i915"):
        module = os.path.join(root, "sys/module", name)
        if os.path.isdir(module):
            version = _line(os.path.join(module, "version"))
            found.append(f"{name} {version}" if version else f"{name} of kernel {platform.release()}")
    nvidia = (_text(os.path.join(root, "proc/driver/nvidia/version")) or "").partition("\n")[0].strip()
    return "; ".join([*found, *([nvidia] if nvidia else [])]) or None


def describe_versions() -> dict[str, str]:
    """This program, Python and the libraries that carry traffic."""
    found = {"soakproof": __version__, "python": platform.python_version()}
    for name in ("locust", "gevent", "geventhttpclient", "trio", "httpx", "xllamacpp"):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def boot_id() -> str | None:
    """Changes when the host restarts; None where the system does not tell."""
    return _line("/proc/sys/kernel/random/boot_id")


def _cpu_name() -> str:
    for line in (_text("/proc/cpuinfo") or "").split("\n"):
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor()


def machine_digest() -> str | None:
    """A digest of the machine's own id; None where it has none."""
    machine = _line("/etc/machine-id") if sys.platform == "linux" else platform.node()
    return hashlib.sha256(f"soakproof {machine}".encode()).hexdigest()[:16] if machine else None


def _line(path: str) -> str | None:
    text = _text(path)
    return text.strip() or None if text else None


def _text(path: str) -> str | None:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
