"""Answers that came later than they were made fire; what the server or the tester explains does not."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from soakproof.clock import NS
from soakproof.judge import Finding, Outcome
from soakproof.records import Exchange, Sample
from soakproof.testing.evidence import adjudicate, evidence, exchange, sample


def answered(
    n: int, made_s: float | None, came_s: float, gap_s: float = 0.1, at: float | None = None, **more: Any
) -> Exchange:
    """An answer of 40 tokens, the first of which came after 0.1 s."""
    timings = None if made_s is None else {"predicted_n": 40, "predicted_ms": made_s * 1000, "prompt_n": 20}
    took = came_s + 0.1
    values: dict[str, Any] = {
        "timings": timings,
        "usage": {"prompt_tokens": 20, "completion_tokens": 40, "total_tokens": 60},
        "prompt_tokens": 20,
        "completion_tokens": 40,
        "token_events": 40,
        "done_marker": True,
        "widest_gap_ns": round(gap_s * NS),
        "widest_gap_at": 20,
    }
    return exchange(
        f"x{n}", at=40.0 * n if at is None else at, took=took, first=0.1 / took, **{**values, **more}
    )


def judged(*records: Exchange | Sample) -> dict[str, Finding]:
    return adjudicate("protocol", evidence(list(records), target={"build": None}))


def stalled(n: int, gap_s: float = 9.0, made_s: float | None = 1.0, **more: Any) -> Exchange:
    return answered(n, made_s, (made_s or 1.0) + gap_s, gap_s, **more)


@pytest.mark.parametrize(("many", "outcome"), [(1, Outcome.INCONCLUSIVE), (3, Outcome.FAIL)])
def test_a_stall_on_the_way_is_doubtful_once_and_a_failure_from_three(many: int, outcome: Outcome) -> None:
    rest = [answered(n, 1.0, 1.0) for n in range(many, 30)]
    found = judged(*(stalled(n) for n in range(many)), *rest)["stalled_on_its_way"]
    assert found.outcome is outcome
    assert found.critical
    assert found.exchanges == tuple(f"x{n}" for n in range(many))
    assert "9.0 s without a token, of an answer made in 1000 ms" in found.answer
    assert found.fault == ("front" if outcome is Outcome.FAIL else "")


@pytest.mark.parametrize(
    "healthy",
    [
        answered(0, 10.0, 10.0, 9.0),  # a neighbour's long prompt: the slot stood still
        stalled(0, 4.9),
        answered(0, 1.0, 6.5, 0.5),  # slow, and no stall
        stalled(0, cancelled_ns=20 * NS),
        stalled(0, made_s=None),  # one of a server that tells no times
    ],
    ids=["in the server's time", "short", "no gap", "cancelled", "no times"],
)
def test_a_gap_for_a_reason_is_no_stall(healthy: Exchange) -> None:
    assert not {"stalled_on_its_way", "stalled_alone"} & set(judged(healthy, answered(1, 1.0, 1.0)))


def test_what_the_tester_slept_through_is_no_stall() -> None:
    deaf = sample("tester", 10.0, node="load", loop_lag_max_ms=9000.0, cpu_percent=10.0)
    assert "stalled_on_its_way" not in judged(stalled(0), deaf)
    assert "stalled_on_its_way" in judged(stalled(1), deaf)


@pytest.mark.parametrize(("many", "outcome"), [(2, Outcome.PASS), (3, Outcome.INCONCLUSIVE)])
def test_pauses_of_some_seconds_that_come_again_are_doubtful(many: int, outcome: Outcome) -> None:
    rest = [answered(n, 1.0, 1.0) for n in range(many, 30)]
    found = judged(*(stalled(n, 3.0) for n in range(many)), *rest)["paused_on_its_way"]
    assert (found.outcome, found.critical) == (outcome, outcome is not Outcome.PASS)
    assert "stalled_on_its_way" not in judged(*(stalled(n, 3.0) for n in range(many)), *rest)


@pytest.mark.parametrize("gap_s", [1.9, 3.0])
def test_pauses_that_are_short_or_within_the_servers_time_are_none(gap_s: float) -> None:
    made = 1.0 if gap_s < 2 else 4.0
    assert "paused_on_its_way" not in judged(*(answered(n, made, 4.0, gap_s) for n in range(20)))


def ended(n: int, late_s: float, made_s: float = 1.0, at: float | None = None) -> Exchange:
    """An answer that came over 1 s, and whose end came so much later."""
    made = answered(n, made_s, 1.0 + late_s, at=at)
    return replace(made, last_token_ns=made.done_ns - round(late_s * NS))


@pytest.mark.parametrize(("many", "outcome"), [(2, Outcome.PASS), (3, Outcome.INCONCLUSIVE)])
def test_ends_that_come_long_after_the_last_token_are_doubtful(many: int, outcome: Outcome) -> None:
    rest = [ended(n, 0.1) for n in range(many, 30)]
    found = judged(*(ended(n, 4.0) for n in range(many)), *rest)["ended_late"]
    assert (found.outcome, found.critical) == (outcome, outcome is not Outcome.PASS)


@pytest.mark.parametrize(
    "healthy",
    [
        [ended(n, 2.5) for n in range(20)],
        [ended(n, 4.0, made_s=5.0) for n in range(20)],  # it went on to make what nobody sees
        [
            x for n in range(20) for x in (ended(n, 4.0), ended(100 + n, 0.1, at=40.0 * n + 3))
        ],  # a prompt beside it
    ],
)
def test_an_end_that_is_late_for_a_reason_is_none(healthy: list[Exchange]) -> None:
    assert "ended_late" not in judged(*healthy)


def beside(n: int, gap_s: float = 0.2) -> Exchange:
    """An answer that goes on while the one of the same number stalls."""
    return answered(100 + n, None, 12.0, gap_s, at=40.0 * n)


@pytest.mark.parametrize(
    ("many", "gap_s", "outcome"),
    [(3, 0.2, Outcome.INCONCLUSIVE), (2, 0.2, Outcome.PASS), (3, 9.0, None)],
    ids=["three", "two", "all stand still"],
)
def test_without_times_a_stall_shows_beside_answers_that_go_on(
    many: int, gap_s: float, outcome: Outcome | None
) -> None:
    found = judged(*(stalled(n, made_s=None) for n in range(many)), *(beside(n, gap_s) for n in range(many)))
    assert (found["stalled_alone"].outcome if "stalled_alone" in found else None) is outcome


def test_a_stream_of_few_and_slow_tokens_does_not_stall() -> None:
    slow = [answered(n, None, 30.0, 6.0, token_events=6, widest_gap_at=3) for n in range(4)]
    assert "stalled_alone" not in judged(*slow, *(beside(n) for n in range(4)))


@pytest.mark.parametrize("many", [5, 15])
def test_a_stream_that_is_slowed_down_for_the_rest_of_the_run_is_doubtful(many: int) -> None:
    well = [answered(n, 0.5, 0.5) for n in range(60)]
    slowed = [answered(n, 0.5, 4.0) for n in range(60, 60 + many)]
    found = judged(*well, *slowed)["came_slower"]
    assert found.outcome is Outcome.INCONCLUSIVE
    assert set(found.exchanges) == {e.id for e in slowed}
    assert "made in 500 ms, came over 4000 ms" in found.answer


def test_a_rate_that_is_told_tenfold_is_doubtful() -> None:
    assert judged(*(answered(n, 0.05, 0.5) for n in range(9)))["came_slower"].outcome is Outcome.INCONCLUSIVE


@pytest.mark.parametrize(
    "healthy",
    [
        [answered(n, 0.5, 4.0) for n in range(4)],  # too few
        [answered(n, 0.5, 4.0 if n >= 56 or n == 50 else 0.5) for n in range(60)],  # at the end as well
        [answered(n, 0.02, 0.06) for n in range(50)],  # short answers on a busy host
        [answered(n, 0.5, 4.0 if n % 4 == 0 else 0.5) for n in range(50)],  # now and then
        [answered(n, 5.0, 7.0) for n in range(50)],  # half as long again is not reached
        [answered(n, None, 4.0) for n in range(50)],
    ],
    ids=["few", "few at the end", "short", "seldom", "little", "no times"],
)
def test_lateness_that_is_small_or_seldom_is_none(healthy: list[Exchange]) -> None:
    assert "came_slower" not in judged(*healthy)


def test_what_the_tester_was_late_by_was_not_held_back() -> None:
    slow = [answered(n, 0.5, 2.0) for n in range(9)]
    late = [sample("tester", 40.0 * n + 2, node="load", loop_lag_max_ms=1500.0) for n in range(9)]
    assert "came_slower" in judged(*slow)
    assert "came_slower" not in judged(*slow, *late)


@given(
    made=st.lists(
        st.tuples(st.floats(0.005, 30), st.floats(0.5, 1.0), st.floats(0, 0.15)), min_size=5, max_size=60
    )
)
def test_answers_that_come_as_they_are_made_are_never_late(made: list[tuple[float, float, float]]) -> None:
    """Whatever their length: each comes in the time in which it was made, and a little jitter."""
    run = [answered(n, m, m * share + min(jitter, m / 3)) for n, (m, share, jitter) in enumerate(made)]
    assert not {"came_slower", "stalled_on_its_way"} & set(judged(*run))
