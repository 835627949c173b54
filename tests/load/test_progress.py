"""The line that says how a run goes: it counts as the raw result does."""

from pathlib import Path
from types import SimpleNamespace
from typing import cast

from soakproof.clock import RunClock
from soakproof.context import Checked
from soakproof.iteration import Result
from soakproof.load.progress import progress_line
from soakproof.load.recorder import Recorder
from soakproof.load.transport import Sweeper
from soakproof.plan import Kind
from soakproof.raw import raw_result, summary_lines
from soakproof.run import NodeWriter, read_records
from soakproof.scenario import Scenario

IDLE = cast("Sweeper", SimpleNamespace(flights=(), oldest_s=lambda: None))


def test_a_known_limit_is_told_as_one_and_not_as_a_failure(tmp_path: Path) -> None:
    clock = RunClock.start()
    writer = NodeWriter(tmp_path, "load")
    recorder = Recorder(writer, clock, lambda **_: None)
    checked = [
        Checked("cancel.released", False, "known:unstreamed_never_cancelled", "", ()),
        Checked("cancel.released", True, "", "", ()),
        Checked("cancel.released", False, "leaked", "", ()),
        Checked("cancel.released", None, "", "no slots are shown", ()),
    ]
    recorder.iteration(
        Kind("cancellation", cast("Scenario", None), 1), 0, 0, Result("completed", "", checked, {})
    )
    told = progress_line(61.0, recorder.counts, IDLE)
    checks = "1 passed, 1 failed, 1 unknown, 1 met a known limit"
    assert told.endswith(f"checks: {checks}")
    records = [r for r in read_records(writer.folder / "checks.jsonl") if not isinstance(r, str)]
    assert f"  checks: {checks}" in summary_lines(
        raw_result([], records, ended={"why": "time", "reason": ""})
    )


def test_where_none_was_met_none_is_told(tmp_path: Path) -> None:
    recorder = Recorder(NodeWriter(tmp_path, "load"), RunClock.start(), lambda **_: None)
    assert progress_line(1.0, recorder.counts, IDLE).endswith("checks: 0 passed, 0 failed, 0 unknown")
