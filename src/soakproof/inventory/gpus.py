"""AMD GPUs as they were made and set up: the memory they may use, versions of firmware. By sysfs alone."""

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_CARD = re.compile(r"card\d+")
_AMD = "0x1002"
_MOST = 16  # cards, and twice as many versions of firmware of each
_BYTES = {"gtt_bytes": "mem_info_gtt_total", "vram_bytes": "mem_info_vram_total"}


def gpus(root: Path = Path("/")) -> dict[str, dict[str, Any]]:
    """{gpu, gtt_bytes, vram_bytes, vbios, firmware}, each {value, from}; of several cards, by their names."""
    cards = list(_cards(root))[:_MOST]
    if len(cards) == 1:
        return _card(cards[0])
    found: dict[str, dict[str, Any]] = {}
    for card in cards:
        for name, told in _card(card).items():
            one = found.setdefault(name, {"value": {}, "from": str(root / "sys/class/drm")})
            one["value"][card.name] = told["value"]
    return found


def _cards(root: Path) -> Iterator[Path]:
    folder = root / "sys/class/drm"
    with contextlib.suppress(OSError):
        for card in sorted(folder.iterdir()):
            if _CARD.fullmatch(card.name) and _line(card / "device/vendor") == _AMD:
                yield card


def _card(card: Path) -> dict[str, dict[str, Any]]:
    device = card / "device"
    found: dict[str, dict[str, Any]] = {}
    for name, file in {"gpu": "device", "vbios": "vbios_version"}.items():
        if line := _line(device / file):
            found[name] = {"value": line, "from": str(device / file)}
    for name, file in _BYTES.items():
        line = _line(device / file)
        if line.isdecimal():
            found[name] = {"value": int(line), "from": str(device / file)}
    if firmware := dict(_firmware(device / "fw_version")):
        found["firmware"] = {"value": firmware, "from": str(device / "fw_version")}
    return found


def _firmware(folder: Path) -> Iterator[tuple[str, str]]:
    """Versions of the GPU's processors, such as ("mec", "0x0000001f"); those that are not there are 0."""
    with contextlib.suppress(OSError):
        for file in sorted(folder.iterdir())[: 2 * _MOST]:
            line = _line(file)
            if line and line.strip("0x"):
                yield file.name.removesuffix("_fw_version"), line


def _line(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            return opened.read(200).decode("utf-8", "replace").strip()
    except OSError:
        return ""
