"""What ends a load at once, before worse: a fatal line of the kernel's, or too little memory left."""

import pytest
from kernel_lines import CATALOGUE, kmsg

from soakproof.plan import GuardSettings
from soakproof.raw import raw_result, summary_lines
from soakproof.testing.evidence import exchange
from soakproof.units import Bytes
from soakproof.watch.guard.deciding import decide
from soakproof.watch.guard.limits import Measured
from soakproof.watch.incidents import Incidents

MIB = 2**20


def fatal(name: str) -> int:
    """Fatal incidents that the watch tells of these lines."""
    incidents = Incidents(CATALOGUE, "watch")
    for n, line in enumerate(kmsg(name)):
        incidents.event(line, n * 10**7)
    return incidents.fatal


def reasons(guard: GuardSettings, **told: int | None) -> tuple[str, ...]:
    """What ends the load when two looks in a row say this."""
    looks = [Measured(t_ns=n, **told) for n in range(2)]
    return decide(guard.limits, looks, 1).reasons


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
    assert bool(reasons(GuardSettings(), fatal_incidents=fatal(name), available_bytes=10**10)) is bool(count)
    assert reasons(GuardSettings(kernel=False), fatal_incidents=fatal(name)) == ()


@pytest.mark.case(55)
@pytest.mark.parametrize("key", ["available_floor", "memory"])
def test_the_load_ends_before_memory_does(key: str) -> None:
    guard = GuardSettings(**{key: Bytes(512 * MIB)})
    assert reasons(guard, available_bytes=600 * MIB) == ()
    told = "500 MiB of memory are available, less than 512 MiB"
    assert reasons(guard, available_bytes=500 * MIB) == (told,)
    assert reasons(guard, available_bytes=None) == ()  # what is not known ends nothing
    assert reasons(GuardSettings(), available_bytes=1) == ()


@pytest.mark.case(55, 61)
@pytest.mark.parametrize("why", ["guard", "unguarded"])
def test_a_run_that_its_guard_ended_is_not_clean(why: str) -> None:
    raw = raw_result([], [exchange("a")], ended={"why": why, "reason": "500 MiB of memory are available"})
    assert (raw["outcome"], raw["exit_code"]) == ("failed", 1)
    assert "the load was ended early: 500 MiB" in summary_lines(raw)[0]
