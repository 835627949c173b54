"""Temperatures of the host by its thermal zones and its processor's sensor, and its power profile."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from soakproof.watch.files import Files, numbered
from soakproof.watch.source import FILES_BOUND_S, BlockingReader, Reading, read_noted

ZONES_LIMIT = 64
_PROCESSORS = ("k10temp", "zenpower", "coretemp", "cpu_thermal")  # sensors that are the processor's own
_SENSORS_LIMIT = 64


class Thermal:
    """``thermal``: {hottest_celsius, processor_celsius, platform_profile, zones}, a zone with its type and
    temperature. A sensor that is off, or shows less than 0 °C, has None.
    """

    name = "thermal"
    bound_s = 2 * FILES_BOUND_S

    def __init__(self, sys_root: str) -> None:
        self._root = Path(sys_root)
        self._reader = BlockingReader()

    async def read(self) -> Sequence[Reading]:
        reading = await read_noted(self.name, self._reader, self._read)
        if reading.state == "value" and not any(reading.values.values()):
            reason = "no thermal zone, no sensor of the processor and no power profile is shown"
            return [Reading(self.name, "unsupported", reason=reason)]
        return [reading]

    def _read(self) -> tuple[dict[str, Any], str]:
        files = Files()
        zones = [_zone(files, folder) for folder in self._zones()]
        known = [zone["celsius"] for zone in zones if zone["celsius"] is not None]
        profile = self._root / "firmware" / "acpi" / "platform_profile"
        values = {
            "hottest_celsius": max(known, default=None),
            "processor_celsius": self._processor(files),
            "platform_profile": (files.text(profile) or "")[:40] or None if profile.exists() else None,
            "zones": zones,
        }
        return values, files.reason

    def _zones(self) -> list[Path]:
        return numbered((self._root / "class" / "thermal").glob("thermal_zone*"))[:ZONES_LIMIT]

    def _processor(self, files: Files) -> float | None:
        """Of the first such sensor: its package or its control temperature."""
        sensors = numbered((self._root / "class" / "hwmon").glob("hwmon*"))[:_SENSORS_LIMIT]
        for folder in sensors:
            if files.text(folder / "name") in _PROCESSORS:
                return _celsius(files.number(folder / "temp1_input"))
        return None


def _zone(files: Files, folder: Path) -> dict[str, Any]:
    return {
        "zone": folder.name,
        "type": (files.text(folder / "type") or "")[:40] or None,
        "celsius": _celsius(files.number(folder / "temp")),
    }


def _celsius(thousandths: int | None) -> float | None:
    """None for what no machine at work has: firmware without a sensor tells -273 °C or the like."""
    return None if thousandths is None or thousandths < 0 else round(thousandths / 1000, 1)
