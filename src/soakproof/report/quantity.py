"""Numbers as a report prints them: with their unit, and in words when there is none. No I/O."""

import math

NOT_MEASURED = "not measured"
_BYTES = ("B", "KiB", "MiB", "GiB", "TiB")


def number(value: float) -> str:
    """The number with thousands separators and about four digits; whole numbers stay whole."""
    if not math.isfinite(value):
        return str(float(value))
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    size = abs(value)
    if size >= 1e6 or size < 0.001:
        return f"{value:.4g}"
    return f"{value:,.{1 if size >= 100 else 2 if size >= 1 else 3}f}"


def quantity(value: float | None, unit: str = "") -> str:
    """A number with its unit; bytes in binary units; None as "not measured"."""
    if value is None:
        return NOT_MEASURED
    if unit in ("bytes", "B") and math.isfinite(value):
        return _binary(value)
    if unit == "GiB" and abs(value) < 1:  # as findings tell sizes
        return f"{value * 1024:.0f} MiB"
    return f"{number(value)} {unit}".rstrip()


def _binary(value: float) -> str:
    scaled, step = float(value), 0
    while abs(scaled) >= 1024 and step < len(_BYTES) - 1:
        scaled, step = scaled / 1024, step + 1
    return f"{number(round(scaled, 2))} {_BYTES[step]}"


def change(was: float | None, now: float | None) -> str:
    """How much a number moved, as a signed share: "+3.6 %"; "" where that means nothing."""
    if was is None or now is None or not was or not math.isfinite(now / was):
        return ""
    return f"{(now / was - 1) * 100:+.1f} %"
