"""AMD GPUs by what their driver shows in sysfs: GTT and VRAM, load, clocks, power, temperature.

Every card has a reader of its own. Files are read one by one: what was read before one that hangs is kept.
No tool of the vendor is run: those have hung with the driver.
"""

import re
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import trio

from soakproof.watch.files import Files, count, read_text
from soakproof.watch.source import FILES_BOUND_S, BlockingReader, HungError, Reading, refusal

_AMD = "0x1002"
_CARD = re.compile(r"card\d+")
_PRIMARY = ("gtt_used_bytes", "vram_used_bytes")
_DEVICE_FILES = {
    "gtt_used_bytes": "mem_info_gtt_used",
    "gtt_total_bytes": "mem_info_gtt_total",
    "vram_used_bytes": "mem_info_vram_used",
    "vram_total_bytes": "mem_info_vram_total",
    "busy_percent": "gpu_busy_percent",
}
# Files of the card's hwmon folder, the first that is there, with what one unit of theirs is worth.
_SENSORS: tuple[tuple[str, tuple[str, ...], float], ...] = (
    ("power_watts", ("power1_average", "power1_input"), 1e-6),
    ("temperature_celsius", ("temp1_input",), 1e-3),
    ("gpu_clock_hz", ("freq1_input",), 1),
    ("memory_clock_hz", ("freq2_input",), 1),
)
_TEMPERATURES = {"edge": "edge_celsius", "junction": "junction_celsius", "mem": "vram_celsius"}
_TEMPERATURES_LIMIT = 8
_SETTINGS_EVERY_S = 30.0  # the driver asks the card's firmware for each of its profiles
# A line or a column a profile, the active one with a star: "  5        COMPUTE*:" or "5 COMPUTE       * ".
_ACTIVE = re.compile(r"\b\d+[ \t]+(\w+)[ \t]*\*")


class AmdGpu:
    """``amdgpu:<card>``: {gtt_used_bytes, gtt_total_bytes, vram_used_bytes, vram_total_bytes, busy_percent,
    power_watts, temperature_celsius, gpu_clock_hz, performance_level, power_profile, …}; ``amdgpu`` alone
    says that there is none, or why none was found.
    """

    name = "amdgpu"
    bound_s = 3 * FILES_BOUND_S

    def __init__(self, sys_root: str) -> None:
        self._folder = Path(sys_root) / "class" / "drm"
        self._finder = BlockingReader()
        self._cards: dict[Path, tuple[BlockingReader, CardSettings]] | None = None

    async def read(self) -> Sequence[Reading]:
        if self._cards is None:
            try:
                cards = await self._finder.run(self._find)
            except HungError as error:
                return [Reading(self.name, "timeout", reason=str(error))]
            self._cards = {card: (BlockingReader(), CardSettings(card / "device")) for card in cards}
        if not self._cards:
            return [Reading(self.name, "unsupported", reason=self._none_found())]
        readings: list[Reading] = []
        async with trio.open_nursery() as nursery:
            for card, (reader, settings) in self._cards.items():
                nursery.start_soon(self._read_card, card, reader, settings, readings)
        return sorted(readings, key=lambda r: r.source)

    def _none_found(self) -> str:
        if sys.platform != "linux":
            return "an AMD GPU is seen on Linux only"
        return f"no AMD GPU in {self._folder}"

    def _find(self) -> list[Path]:
        """The cards whose device is AMD's; a card that shows no vendor is none."""
        cards = self._folder.iterdir() if self._folder.is_dir() else ()
        return [card for card in sorted(cards) if _CARD.fullmatch(card.name) and _vendor(card) == _AMD]

    async def _read_card(
        self, card: Path, reader: BlockingReader, settings: "CardSettings", readings: list[Reading]
    ) -> None:
        source, found = f"{self.name}:{card.name}", CardValues()
        try:
            await reader.run(lambda: found.fill(card / "device", settings))
        except HungError as error:
            values = dict(found.values)  # the thread that was left behind may still add to it
            readings.append(Reading(source, "timeout", values, f"{found.reading or 'the card'}: {error}"))
            return
        readings.append(found.reading_of(source))


def _vendor(card: Path) -> str:
    try:
        return read_text(card / "device" / "vendor").strip()
    except OSError:
        return ""


class CardValues:
    """What one pass over a card's files found."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.reading = ""  # the file that is being read
        self._failed: OSError | None = None  # why the first primary value is missing
        self._refused: list[str] = []

    def fill(self, device: Path, settings: "CardSettings") -> None:
        """Read every file; blocking."""
        for name, file in _DEVICE_FILES.items():
            self._read(name, [device / file], 1)
        hwmon = next(iter(sorted((device / "hwmon").glob("hwmon*"))), device / "hwmon")
        for name, files, scale in _SENSORS:
            self._read(name, [hwmon / file for file in files], scale)
        self._temperatures(hwmon)
        self.reading = "settings"
        self.values |= settings.read()

    def _temperatures(self, hwmon: Path) -> None:
        """Those with a label; an integrated GPU has only the one at its edge."""
        self.values |= dict.fromkeys(_TEMPERATURES.values())
        for label in sorted(hwmon.glob("temp*_label"))[:_TEMPERATURES_LIMIT]:
            self.reading = label.name
            name = _TEMPERATURES.get(Files().text(label) or "")
            if name:
                self._read(name, [hwmon / label.name.replace("_label", "_input")], 1e-3)

    def _read(self, name: str, files: Sequence[Path], scale: float) -> None:
        for file in files:
            self.reading = file.name
            try:
                number = count(read_text(file))
                self.values[name] = number if scale == 1 else round(number * scale, 3)
                return
            except FileNotFoundError as error:
                self._note(name, error)
            except (OSError, ValueError) as error:  # such as EBUSY while the GPU is being reset
                self._note(name, error)
                self._refused.append(f"{file.name}: {getattr(error, 'strerror', None) or error}")
        self.values[name] = None

    def _note(self, name: str, error: Exception) -> None:
        if name in _PRIMARY and self._failed is None and isinstance(error, OSError):
            self._failed = error

    def reading_of(self, source: str) -> Reading:
        """A value as long as some memory figure is known; the reason names what refused."""
        refused = "; ".join(self._refused)
        if any(self.values.get(name) is not None for name in _PRIMARY):
            return Reading(source, "value", self.values, refused)
        state, reason = refusal(self._failed) if self._failed else ("error", refused)
        return Reading(source, state, self.values, reason)


class CardSettings:
    """How a card is told to run: performance level and power profile. Looked up anew every 30 s."""

    def __init__(self, device: Path) -> None:
        self._device = device
        self._values: dict[str, str | None] = {}
        self._due = 0.0

    def read(self) -> dict[str, str | None]:
        """None for what the driver does not show. Blocking."""
        if time.monotonic() >= self._due:
            files = Files()
            level = files.text(self._device / "power_dpm_force_performance_level")
            profiles = files.text(self._device / "pp_power_profile_mode")
            self._values = {
                "performance_level": (level or "")[:40] or None,
                "power_profile": active_profile(profiles or ""),
            }
            self._due = time.monotonic() + _SETTINGS_EVERY_S
        return self._values


def active_profile(text: str) -> str | None:
    """The name of the profile with the star, such as COMPUTE."""
    found = _ACTIVE.search(text)
    return found[1][:40] if found else None
