"""Versions of what drives a GPU, from files that packages leave: ROCm, Mesa, Vulkan, firmware.

Each is {value, from}. ``root`` is where the host's files begin. No program is started.
"""

import contextlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_PACKAGES = {  # names in Debian's, then in Arch's terms
    "mesa": ("mesa-vulkan-drivers", "vulkan-radeon"),
    "vulkan_loader": ("libvulkan1", "vulkan-icd-loader"),
    "linux_firmware": ("linux-firmware", "linux-firmware"),
    "amdgpu_dkms": ("amdgpu-dkms", "amdgpu-dkms"),
    "rocm": ("rocm-core", "rocm-core"),
    "lemonade_package": ("lemonade-server", "lemonade-server"),
}
_SHORT = 4096  # bytes of a version file
_LONG = 64 << 20  # bytes of the list of packages
_ICDS = 50


def software(root: Path = Path("/")) -> dict[str, dict[str, Any]]:
    """What could be told, by name; what could not is absent."""
    found = {**_of_arch(root), **_of_debian(root), **_of_loader(root), **_of_rocm(root)}
    drivers = dict(_icds(root))
    if drivers:
        told = ", ".join(f"{name} {version}" for name, version in sorted(drivers.items()))
        found["vulkan_drivers"] = {"value": told, "from": str(root / "usr/share/vulkan/icd.d")}
    return found


def _of_rocm(root: Path) -> dict[str, dict[str, Any]]:
    """The version of /opt/rocm, else of the newest /opt/rocm-VERSION."""
    with contextlib.suppress(OSError):
        folders = [root / "opt/rocm", *sorted((root / "opt").glob("rocm-*"), reverse=True)]
        for file in (folder / ".info/version" for folder in folders):
            if version := _text(file, _SHORT).strip().partition("\n")[0]:
                return {"rocm": {"value": version[:100], "from": str(file)}}
    return {}


def _of_loader(root: Path) -> dict[str, dict[str, Any]]:
    """The Vulkan loader's version as its file is named, where no package tells it."""
    with contextlib.suppress(OSError):
        for pattern in (
            "usr/lib/libvulkan.so.1.*",
            "usr/lib64/libvulkan.so.1.*",
            "usr/lib/*/libvulkan.so.1.*",
        ):
            for file in sorted(root.glob(pattern), reverse=True):
                if re.fullmatch(r"[\d.]+", version := file.name.removeprefix("libvulkan.so.")):
                    return {"vulkan_loader": {"value": version, "from": str(file)}}
    return {}


def _icds(root: Path) -> Iterator[tuple[str, str]]:
    """Vulkan's drivers, each with the version of the API that it has."""
    for folder in ("usr/share/vulkan/icd.d", "etc/vulkan/icd.d"):
        with contextlib.suppress(OSError):
            for file in sorted((root / folder).glob("*.json"))[:_ICDS]:
                with contextlib.suppress(ValueError, AttributeError, RecursionError):
                    told = json.loads(_text(file, 1 << 16)).get("ICD")
                    yield file.stem[:100], str(told.get("api_version"))[:100]


def _of_debian(root: Path) -> dict[str, dict[str, Any]]:
    """From the list of packages of dpkg."""
    file = root / "var/lib/dpkg/status"
    wanted = {names[0]: name for name, names in _PACKAGES.items()}
    found: dict[str, dict[str, Any]] = {}
    for stanza in re.split(r"\n\s*\n", _text(file, _LONG)):
        name = wanted.get(_line(stanza, "Package"))
        if name and _line(stanza, "Status").endswith(" installed") and (version := _line(stanza, "Version")):
            found[name] = {"value": version[:100], "from": str(file)}
    return found


def _of_arch(root: Path) -> dict[str, dict[str, Any]]:
    """From pacman's folders, which are named PACKAGE-VERSION-RELEASE."""
    folder = root / "var/lib/pacman/local"
    wanted = {names[1]: name for name, names in _PACKAGES.items()}
    found: dict[str, dict[str, Any]] = {}
    with contextlib.suppress(OSError):
        for entry in folder.iterdir():
            package, *version = entry.name.rsplit("-", 2)
            if package in wanted and len(version) == 2:
                found[wanted[package]] = {"value": "-".join(version)[:100], "from": str(entry)}
    return found


def _line(stanza: str, name: str) -> str:
    found = re.search(rf"^{name}: *(.*)$", stanza, re.MULTILINE)
    return found[1].strip() if found else ""


def _text(file: Path, limit: int) -> str:
    try:
        with file.open("rb") as opened:
            return opened.read(limit).decode("utf-8", "replace")
    except OSError:
        return ""
