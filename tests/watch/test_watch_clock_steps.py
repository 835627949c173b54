"""Steps of the wall clock: seen, and only those."""

import json

from caseinputs import INPUTS

from soakproof.clock import NS, nanoseconds
from soakproof.watch.clock_steps import ClockSteps


def test_a_correction_and_a_suspend_are_steps() -> None:
    rows = [json.loads(line) for line in (INPUTS / "70-clock-steps.jsonl").open()]
    steps = ClockSteps()
    seen = [steps.see(nanoseconds(row["wall"]), nanoseconds(row["mono"])) for row in rows]
    assert [s and round(s) for s in seen] == [None, None, -3600, None, 103596]


def test_a_slewed_clock_is_none() -> None:
    steps = ClockSteps()
    assert not any(steps.see(n * (NS + 500_000), n * NS) for n in range(3600))  # 500 ppm for an hour
