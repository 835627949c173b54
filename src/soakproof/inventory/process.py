"""The program of a server's process, and the libraries that it has loaded: where llama.cpp's code really is.

Linux tells both; elsewhere only the program's path is known.
"""

import contextlib
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil

# llama-server itself is small: its code is in these, which a release changes with it or without.
_OWN = re.compile(r"(?:lib)?(?:llama|ggml|mtmd|xllamacpp)[\w.+-]*")
# What they reach a GPU by; a server may bring its own, whatever the host has installed.
_RUNTIME = re.compile(
    r"lib(?:amdhip64|hsa-runtime64|hipblas|hipblaslt|rocblas|vulkan|vulkan_radeon|cuda|cudart|cublas|OpenCL|ze_loader)"
    r"(?:-[0-9a-f]{8})?\.so[\w.]*"
)
_MOST = 40


def program(pid: int) -> tuple[str, str] | None:
    """(where to read it, its path). A file that was replaced since its start is still the one that runs."""
    try:
        path = psutil.Process(pid).exe()
    except (psutil.Error, ValueError, OverflowError, OSError):
        return None
    running = f"/proc/{pid}/exe"
    return (running if sys.platform == "linux" and os.path.exists(running) else path, path) if path else None


def seen_by(pid: int | None, path: str, proc: Path = Path("/proc")) -> str:
    """A path that the process named, as it is found from here: its folder or container may be another."""
    if pid is None or (os.path.isabs(path) and os.path.exists(path)):
        return path
    inside = proc / str(pid) / ("root" if os.path.isabs(path) else "cwd") / path.lstrip("/")
    with contextlib.suppress(OSError):
        if inside.exists():
            return str(inside)
    return path


def own_libraries(pid: int, proc: Path = Path("/proc")) -> list[str]:
    """Paths of llama.cpp's own libraries that the process has loaded, as they are on the disk now."""
    return [path for path in _mapped(pid, proc) if _OWN.fullmatch(os.path.basename(path)) and ".so" in path][
        :_MOST
    ]


def runtime_libraries(pid: int, proc: Path = Path("/proc")) -> list[str]:
    """Paths of libraries by which it reaches a GPU; names such as libamdhip64.so.7.0.51831 tell a version."""
    return [path for path in _mapped(pid, proc) if _RUNTIME.fullmatch(os.path.basename(path))][:_MOST]


def _mapped(pid: int, proc: Path) -> Iterator[str]:
    """Files that the process has in its memory, each once, by path."""
    seen: set[str] = set()
    with contextlib.suppress(OSError):
        text = (proc / str(pid) / "maps").read_text(encoding="utf-8", errors="replace")
        for line in text.splitlines():
            path = line[line.index("/") :] if "/" in line else ""
            if path and not path.endswith(" (deleted)") and path not in seen:
                seen.add(path)
    yield from sorted(seen)
