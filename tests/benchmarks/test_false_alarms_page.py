"""What the page on false alarms says of a rate. The soaks themselves are not tried here."""

import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    monkeypatch.delitem(sys.modules, "false_alarms", raising=False)
    import false_alarms

    return false_alarms.bound


def test_an_hour_without_an_alarm_bounds_their_rate_by_three_an_hour(said) -> None:
    assert "at most 3 an hour" in said(0, 60)
    assert "at most 0.3 an hour" in said(0, 600)
    assert said(1, 60) == ""
