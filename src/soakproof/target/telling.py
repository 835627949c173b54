"""What servers tell of themselves beside health and slots, in a shape that two runs can be compared by.

Tolerant: a document of another shape tells less, and never raises. Only `command_of` looks at this host.
"""

import os
import re
from collections.abc import Mapping
from typing import Any

import psutil

from soakproof.target.health import count

_BUILD = re.compile(r"b?(\d{1,9})(?:-([0-9a-f]{3,40}))?")
_META = ("n_params", "size", "n_vocab", "n_ctx_train", "n_embd", "vocab_type", "ftype")
_SYSTEM = ("OS Version", "Processor", "Physical Memory", "BIOS Version", "Power Profile")
_DEVICE = ("name", "driver_version", "family", "vram_gb", "virtual_mem_gb")
_MOST = 16  # devices
_LONGEST = 200  # characters of one value


def build_parts(build: Any) -> dict[str, Any]:
    """{build_number, build_commit} of a build such as b11434-6c0fe2a; what is not there is None."""
    found = _BUILD.fullmatch(build) if isinstance(build, str) else None
    return {"build_number": int(found[1]) if found else None, "build_commit": found[2] if found else None}


def model_meta(entry: Any) -> dict[str, Any] | None:
    """What llama.cpp's list of models says of the loaded one: its size, parameters, vocabulary."""
    meta = entry.get("meta") if isinstance(entry, Mapping) else None
    if not isinstance(meta, Mapping):
        return None
    return {name: meta[name] for name in _META if _is_short(meta.get(name))} or None


def system_info(document: Any) -> dict[str, Any] | None:
    """What Lemonade's /system-info says of its host: system, processor, memory, devices that are there."""
    if not isinstance(document, Mapping):
        return None
    found: dict[str, Any] = {name: document[name] for name in _SYSTEM if _is_short(document.get(name))}
    devices = document.get("devices")
    for kind, device in list(devices.items() if isinstance(devices, Mapping) else ())[:_MOST]:
        entries = device if isinstance(device, list) else [device]
        told = [text for text in map(_device, entries[:_MOST]) if text]
        if told and isinstance(kind, str):
            found[kind[:_LONGEST]] = "; ".join(told)
    return found or None


def driver_of(info: Mapping[str, Any] | None) -> str | None:
    """The versions of GPU drivers among what a host's system info says."""
    told = [
        f"{kind}: {text}"
        for kind, text in (info or {}).items()
        if "driver" in str(text) and "npu" not in kind
    ]
    return "; ".join(told) or None


def command_of(pid: int | None) -> list[str] | None:
    """The words that llama.cpp's own server was started with, by its process; None for any other program.

    A port may belong to something that passes connections on, whose arguments tell nothing of the model.
    """
    try:
        words = psutil.Process(pid).cmdline() if pid else []
    except (psutil.Error, ValueError, OverflowError, OSError):
        return None
    return words if words and os.path.basename(words[0]).startswith("llama") else None


def _device(device: Any) -> str:
    if not isinstance(device, Mapping) or device.get("available") is False:
        return ""
    told = {name: device[name] for name in _DEVICE if _is_short(device.get(name))}
    named = str(told.pop("name", ""))
    rest = [f"{name.removesuffix('_version')} {value}" for name, value in told.items()]
    return ", ".join([*([named] if named else []), *rest])


def _is_short(value: Any) -> bool:
    return (isinstance(value, str) and 0 < len(value) <= _LONGEST) or count(value) is not None
