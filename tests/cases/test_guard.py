"""What ends a load at once, before worse: a fatal line of the kernel's, or too little memory left."""

import pytest
from judging import exchange
from kernel_lines import CATALOGUE, kmsg

from soakproof.load.guard import reason_to_end
from soakproof.plan import GuardSettings
from soakproof.raw import raw_result, summary_lines
from soakproof.units import Bytes
from soakproof.watch.incidents import Incidents

MIB = 2**20


def fatal(name: str) -> int:
    """Fatal incidents that the watch tells of these lines."""
    incidents = Incidents(CATALOGUE, "watch")
    for n, line in enumerate(kmsg(name)):
        incidents.event(line, n * 10**7)
    return incidents.fatal


@pytest.mark.case(55, 61)
@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("55-oom-global.kmsg", 1),
        ("55-oom-memcg.kmsg", 1),
        ("61-pagefault-mes-reset.kmsg", 1),
        ("62-ring-reset-recovered.kmsg", 1),
        ("66-other-process-guilty.kmsg", 1),
        ("65-command-submission.kmsg", 0),  # one refusal is a warning
        ("64-silent-hang.kmsg", 0),
    ],
)
def test_a_fatal_incident_ends_the_load_and_a_warning_does_not(name: str, count: int) -> None:
    assert fatal(name) == count
    told = {"fatal": fatal(name), "incidents": 1, "available_bytes": 10**10}
    assert bool(reason_to_end(GuardSettings(), told)) is bool(count)
    assert reason_to_end(GuardSettings(kernel=False), told) == ""


@pytest.mark.case(55)
def test_the_load_ends_before_memory_does() -> None:
    guard = GuardSettings(memory=Bytes(512 * MIB))
    assert reason_to_end(guard, {"available_bytes": 600 * MIB}) == ""
    assert reason_to_end(guard, {"available_bytes": 500 * MIB}) == (
        "500 MiB of memory are available, less than 512 MiB"
    )
    assert reason_to_end(guard, {"available_bytes": None}) == ""  # what is not known ends nothing
    assert reason_to_end(guard, {}) == ""
    assert reason_to_end(GuardSettings(), {"available_bytes": 1}) == ""


@pytest.mark.case(55, 61)
def test_a_run_that_its_guard_ended_is_not_clean() -> None:
    raw = raw_result([], [exchange("a")], ended={"why": "guard", "reason": "500 MiB of memory are available"})
    assert (raw["outcome"], raw["exit_code"]) == ("failed", 1)
    assert "the load was ended early: 500 MiB" in summary_lines(raw)[0]
