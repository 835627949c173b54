"""Numbers are printed with their unit, and a missing one is never 0."""

import pytest

from soakproof.judge.telling import size
from soakproof.report.quantity import change, number, quantity


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        (None, "tokens/s", "not measured"),
        (0, "", "0"),
        (12.29, "tokens/s", "12.29 tokens/s"),
        (45.64 * 2**30, "bytes", "45.64 GiB"),
        (0.0, "bytes", "0 B"),
        (-3 * 2**20, "bytes", "-3 MiB"),
        (1820.47, "s", "1,820.5 s"),
        (31012.0, "tokens", "31,012 tokens"),
        (0.683, "s", "0.683 s"),
        (0.00002, "s", "2e-05 s"),
        (float("nan"), "s", "nan s"),
        (float("inf"), "bytes", "inf bytes"),
    ],
)
def test_quantity(value: float | None, unit: str, shown: str) -> None:
    assert quantity(value, unit) == shown


def test_sizes_are_told_as_findings_tell_them() -> None:
    for count in (0, 42 << 20, 512 << 20, (1 << 30) - (1 << 20), 3 << 30):
        gib = round(count / 2**30, 3)
        assert quantity(gib, "GiB").split()[1] == size(count).split()[1]
    assert quantity(0.5, "GiB") == size(512 << 20) == "512 MiB"


def test_number_keeps_whole_numbers_whole() -> None:
    assert [number(v) for v in (3, 3.0, 3.14159, 314.159, 1e20)] == ["3", "3", "3.14", "314.2", "1e+20"]


@pytest.mark.parametrize(
    ("was", "now", "shown"),
    [(11.86, 12.29, "+3.6 %"), (12.0, 11.4, "-5.0 %"), (None, 1.0, ""), (1.0, None, ""), (0.0, 1.0, "")],
)
def test_change(was: float | None, now: float | None, shown: str) -> None:
    assert change(was, now) == shown
