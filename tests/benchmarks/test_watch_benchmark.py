"""What the watch's benchmark reads from a run: a recorded one. The soak itself is not tried here."""

import sys
from pathlib import Path

import pytest

from soakproof.run import load

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
RECORDED = Path(__file__).parents[1] / "run" / "recorded"


def test_ticks_and_lateness_of_a_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    monkeypatch.delitem(sys.modules, "watch", raising=False)
    import watch

    cheap = watch.Cost(cpu_s=0.1, lasted_s=10.0, rss_bytes=40 << 20)
    assert not watch.report(load(RECORDED), cheap, 99.0)  # it was recorded on a busy machine: 113 ms late
    out = capsys.readouterr().out
    (memory,) = [line.split() for line in out.splitlines() if line.startswith("memory ")]
    assert memory[1:4] == ["6", "6", "0"]
    assert float(memory[-1]) == pytest.approx(113.3, abs=1)
    assert "1.00 % of a core over 10 s, at most 40.0 MiB" in out
    assert watch.percentile([1.0, 2.0, 3.0], 0.5) == 2.0
