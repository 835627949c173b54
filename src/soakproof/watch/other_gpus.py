"""GPUs that no source reads: neither AMD's nor NVIDIA's. They are named, lest one be taken for watched."""

import re
from collections.abc import Sequence
from pathlib import Path

from soakproof.watch.files import Files, numbered
from soakproof.watch.source import FILES_BOUND_S, BlockingReader, HungError, Reading

_READ_ELSEWHERE = ("0x1002", "0x10de")  # vendors with a source of their own
_MAKERS = {"0x8086": "Intel", "0x1af4": "virtio", "0x1234": "QEMU", "0x15ad": "VMware", "0x1a03": "ASPEED"}
_NOUVEAU = "nouveau"
_CARD = re.compile(r"card\d+")
_CARDS_LIMIT = 16


class OtherGpus:
    """``gpu:<card>`` for each, unsupported; nothing where there is none. The watch says such a state once."""

    name = "gpu"
    bound_s = 2 * FILES_BOUND_S

    def __init__(self, sys_root: str) -> None:
        self._folder = Path(sys_root) / "class" / "drm"
        self._reader = BlockingReader()

    async def read(self) -> Sequence[Reading]:
        try:
            return await self._reader.run(self._read)
        except HungError as error:
            return [Reading(self.name, "timeout", reason=str(error))]

    def _read(self) -> list[Reading]:
        if not self._folder.is_dir():
            return []
        cards = numbered(card for card in self._folder.iterdir() if _CARD.fullmatch(card.name))
        return [reading for card in cards[:_CARDS_LIMIT] if (reading := self._of(card))]

    def _of(self, card: Path) -> Reading | None:
        files = Files()
        vendor = files.text(card / "device" / "vendor")
        driver = _driver(files, card)
        if vendor in _READ_ELSEWHERE and driver != _NOUVEAU:
            return None
        maker = _MAKERS.get(vendor or "", f"of vendor {(vendor or 'unknown')[:20]}")
        told = f"{card.name} is a GPU or display of another kind ({maker}, driver {driver or 'unknown'})"
        return Reading(f"{self.name}:{card.name}", "unsupported", reason=f"{told}: nothing is read of it")


def _driver(files: Files, card: Path) -> str | None:
    """As the device's ``uevent`` names it."""
    lines = (files.text(card / "device" / "uevent") or "").splitlines()
    return next((line.removeprefix("DRIVER=")[:40] for line in lines if line.startswith("DRIVER=")), None)
