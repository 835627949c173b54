"""One cause, many victims: what one crash broke is one finding; what has another cause stays apart."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soakproof.judge import Evidence, Finding, Outcome
from soakproof.judge.causes import Cause
from soakproof.judge.victims import bursts, told_elsewhere
from soakproof.records import Exchange, Failure, Record
from soakproof.testing.evidence import adjudicate, check, event, evidence, exchange, kernel


def failed(id: str, at: float, failure: Failure = Failure.RESET, took: float = 1.0) -> Exchange:
    """A request that ended at ``at``."""
    return exchange(id, at=at - took, took=took, outcome="fail", failure=failure, reason="gone")


def crash(at: float = 20.0, back: float = 24.0, streams: int = 8) -> Iterator[Record]:
    """A backend dies under its streams, connections are refused, and it comes back."""
    yield from (exchange(f"ok{n}", at=2.0 * n, took=1.0) for n in range(5))
    ways = [Failure.RESET, Failure.BACKEND_LOST, Failure.CUT, Failure.ERROR_EVENT]
    yield from (failed(f"stream{n}", at + 0.01 * n, ways[n % 4]) for n in range(streams))
    yield event("vanished", at + 0.6, role="backend", pid=7)
    yield from (failed(f"refused{n}", at + 1 + n, Failure.CONNECT, 0.01) for n in range(round(back - at) - 1))
    yield event("restart", back, role="backend", was_pid=7, is_pid=8)
    yield from (exchange(f"after{n}", at=back + 1 + n, took=0.5) for n in range(5))


def judged(*records: object) -> dict[str, Finding]:
    return adjudicate("functional", evidence(check("some.check"), *records))  # type: ignore[arg-type]


def deciding(found: dict[str, Finding]) -> set[str]:
    return {name for name, f in found.items() if f.critical and f.outcome is not Outcome.PASS}


def test_a_crash_that_breaks_eight_streams_is_one_finding() -> None:
    found = judged(list(crash()))
    assert deciding(found) == {"victims 1"}
    one = found["victims 1"]
    assert one.outcome is Outcome.FAIL
    assert one.answer.startswith(
        "One cause, 11 victims: 11 exchanges failed when the server's backend had ended"
    )
    assert {f.name: f.value for f in one.figures} == {
        "connect": 3, "reset": 2, "backend_lost": 2, "cut": 2, "error_event": 2
    }  # fmt: skip
    assert "stream0" in one.exchanges
    assert one.span == pytest.approx((20.0, 23.0))


def test_the_raw_counts_stay_in_sight() -> None:
    found = judged(list(crash()))
    assert found["exchanges: reset"].answer.startswith("2 exchanges of 21 failed")
    assert found["exchanges: reset"].outcome is Outcome.FAIL
    assert found["exchanges: reset"].strength == "each is a victim of a cause that is told above"


def test_slots_tell_the_restarts_victims() -> None:
    found = adjudicate("slots", evidence(list(crash())))["restarted"]
    assert found.answer.endswith("11 exchanges failed of it.")
    assert "stream0" in found.exchanges


def test_what_failed_since_the_guard_ended_the_server_convicts_nobody() -> None:
    guard = [event("guard_trip", 19.9), event("guard_action", 20.5, done=True)]
    found = judged(list(crash()), guard)
    assert {found[name].outcome for name in deciding(found)} == {Outcome.INCONCLUSIVE}
    assert "after the guard had begun to end the server (at 19.9 s)" in found["victims 1"].answer
    late = [event("guard_trip", 30.0), event("guard_action", 30.5, done=True)]
    assert judged(list(crash()), late)["victims 1"].outcome is Outcome.FAIL


def test_what_fails_long_after_is_not_its_victim() -> None:
    found = judged(list(crash()), failed("late", 50.0))
    assert deciding(found) == {"victims 1", "exchanges: reset"}
    assert "late" not in found["victims 1"].exchanges


def test_a_front_that_never_comes_back_explains_all_that_follow() -> None:
    records = [
        exchange("ok", at=1.0),
        event("vanished", 10.0, role="front", pid=5),
        *(failed(f"x{n}", 9.9 + n, Failure.RESET if n == 0 else Failure.CONNECT, 0.1) for n in range(40)),
    ]
    found = judged(records)
    assert deciding(found) == {"victims 1"}
    assert found["victims 1"].answer.startswith("One cause, 40 victims")


def ended_at(front: float | None) -> list[Record]:
    """A backend that ends at 20 s; streams that are cut by that, and requests that are refused after it."""
    went = [event("vanished", front, role="front", pid=5)] if front else []
    broken = [failed(f"x{n}", 19.9, Failure.RESET) for n in range(2)]
    refused = [failed(f"y{n}", 20.2 + n, Failure.CONNECT, 0.1) for n in range(2)]
    return [exchange("ok", at=1.0), event("vanished", 20.0, role="backend", pid=7), *went, *broken, *refused]


def test_what_lost_its_connection_when_front_and_backend_ended_together_is_put_on_the_front() -> None:
    both = judged(ended_at(front=20.5))
    assert both["victims 1"].answer.startswith(
        "One cause, 4 victims: 4 exchanges failed when the server's front had ended"
    )
    for apart in (None, 30.0):
        assert "when the server's backend had ended" in judged(ended_at(front=apart))["victims 1"].answer
    told = failed("z", 20.6, Failure.BACKEND_LOST)  # by the front itself, which was there
    assert "backend had ended" in judged(ended_at(front=20.5), told)["exchanges: backend_lost"].answer


def test_a_reason_that_ends_with_a_full_stop_gets_no_second_one() -> None:
    broken = exchange("x", outcome="fail", failure=Failure.RESET, reason="Incomplete response.")
    assert judged(broken, exchange("ok"))["exchanges: reset"].answer.endswith("Incomplete response.")


def test_two_crashes_are_two_causes() -> None:
    again = [failed(f"again{n}", 40.0) for n in range(3)]
    found = judged(list(crash()), again, event("restart", 41.0, role="backend", was_pid=8, is_pid=9))
    assert deciding(found) == {"victims 1", "victims 2"}


@pytest.mark.parametrize("failure", [Failure.CONFIGURATION, Failure.GENERATOR, Failure.BUDGET, Failure.EMPTY])
def test_a_fault_of_our_own_or_of_the_model_is_no_victim(failure: Failure) -> None:
    found = judged(list(crash()), failed("own", 20.1, failure))
    assert deciding(found) == {"victims 1", f"exchanges: {failure}"}


def test_without_an_event_each_class_stands_by_itself() -> None:
    found = judged([r for r in crash() if isinstance(r, Exchange)])
    assert "victims 1" not in found
    assert len(deciding(found)) == 5


def test_one_alone_is_told_where_it_failed() -> None:
    found = judged(failed("x", 20.0), event("restart", 20.5, role="backend"), exchange("ok", at=1.0))
    assert deciding(found) == {"exchanges: reset"}


def test_a_gpu_reset_has_victims_and_another_programs_contaminates() -> None:
    def reset(**more: object) -> Evidence:
        line = kernel(
            "amdgpu: GPU reset begin!", 19.8, severity="fail", fault_class="gpu_reset", incident=1, **more
        )
        return evidence(check("some.check"), [failed(f"x{n}", 20.0) for n in range(4)], line, exchange("ok"))

    own = adjudicate("functional", reset())
    assert own["victims 1"].outcome is Outcome.FAIL
    assert "the GPU hung or faulted" in own["victims 1"].answer
    other = adjudicate("functional", reset(process="code", pid=99))
    assert (other["victims 1"].outcome, other["victims 1"].fault) == (Outcome.INCONCLUSIVE, "host")


CAUSES = st.sampled_from([None, Cause("a"), Cause("b"), Cause("b", host=True)])


@given(st.lists(st.tuples(st.floats(0, 1e4), CAUSES), max_size=30))
def test_each_failure_is_in_one_burst_at_most(found: list[tuple[float, Cause | None]]) -> None:
    exchanges = [failed(f"x{n}", at + 1) for n, (at, _) in enumerate(found)]
    causes = {f"x{n}": cause for n, (_, cause) in enumerate(found)}
    made = bursts(exchanges, causes)
    victims = [v.id for burst in made for v in burst.victims]
    assert len(victims) == len(set(victims))
    assert all(causes[id] is not None for id in victims)
    assert all(len(burst.victims) > 1 and sum(burst.classes.values()) == len(burst.victims) for burst in made)
    assert told_elsewhere([e for e in exchanges if e.id in victims], made)
