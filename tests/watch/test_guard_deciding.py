"""The guard's decision and pace, to the last branch, by the limits of the founding machine."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soakproof.clock import NS
from soakproof.watch.guard.deciding import BLIND_S, FRESH_S, Decision, decide
from soakproof.watch.guard.limits import NAMES, Limits, Measured, in_words
from soakproof.watch.guard.lookout import refused
from soakproof.watch.guard.pacing import CLOSEST_S, FILL_BYTES_S, SLOWEST_S, UNLIMITED_S, next_poll_s

GIB = 2**30
FOUNDING = Limits(available_floor_bytes=18 * GIB, gtt_ceiling_bytes=90 * GIB, kernel=True)
ALL = Limits(
    available_floor_bytes=18 * GIB,
    gtt_ceiling_bytes=90 * GIB,
    vram_ceiling_bytes=4 * GIB,
    swap_growth_bytes=GIB,
    kernel=True,
    restart=True,
)
WELL = {
    "available_bytes": 46 * GIB,
    "gtt_used_bytes": 71 * GIB,
    "vram_used_bytes": GIB,
    "swap_growth_bytes": 0,
    "fatal_incidents": 0,
    "restarts": 0,
}
BEYOND = {
    "available_bytes": 18 * GIB - 1,
    "gtt_used_bytes": 90 * GIB + 1,
    "vram_used_bytes": 4 * GIB + 1,
    "swap_growth_bytes": GIB + 1,
    "fatal_incidents": 1,
    "restarts": 1,
}
AT = {"available_bytes": 18 * GIB, "gtt_used_bytes": 90 * GIB, "vram_used_bytes": 4 * GIB} | {
    "swap_growth_bytes": GIB
}


def look(t_s: float, **told: int | None) -> Measured:
    return Measured(t_ns=round(t_s * NS), **told)


def decided(limits: Limits, *samples: Measured, now_s: float | None = None) -> Decision:
    """At the time of the newest look, unless another is given."""
    now_ns = samples[-1].t_ns if now_s is None else round(now_s * NS)
    return decide(limits, samples, now_ns)


def trace(field: str, values_gib: Sequence[float]) -> list[str]:
    """What is decided after each look of a trace of one a second."""
    samples = [look(n, **{field: round(value * GIB)}) for n, value in enumerate(values_gib)]
    return [decided(FOUNDING, *samples[: n + 1]).action for n in range(len(samples))]


def test_the_founding_run_went_on() -> None:
    """Available memory was never under 45.64 GiB, GTT never over 70.91 GiB."""
    assert set(trace("available_bytes", [61.2, 50, 45.64, 47, 45.64])) == {"go on"}
    assert set(trace("gtt_used_bytes", [0.3, 48.4, 70.91, 70.91])) == {"go on"}


def test_memory_that_runs_out_trips_at_its_second_look() -> None:
    assert trace("available_bytes", [30, 18.0, 17.99, 17.5]) == ["go on", "go on", "measure again", "trip"]
    assert trace("gtt_used_bytes", [71, 90.0, 90.2, 91]) == ["go on", "go on", "measure again", "trip"]


def test_a_moment_beyond_a_limit_is_no_reason() -> None:
    assert trace("available_bytes", [30, 17, 30, 17, 30]) == [
        "go on", "measure again", "go on", "measure again", "go on",
    ]  # fmt: skip


def test_the_reason_and_the_looks_that_caused_it_are_told() -> None:
    first, second = look(1, available_bytes=17 * GIB), look(1.1, available_bytes=16 * GIB)
    between = look(1.05, gtt_used_bytes=70 * GIB)
    assert decided(FOUNDING, look(0, available_bytes=40 * GIB), first, between, second) == Decision(
        "trip", ("16 GiB of memory are available, less than 18 GiB",), (first, second)
    )


@pytest.mark.parametrize("field", WELL)
def test_each_quantity_trips_alone_when_two_looks_agree(field: str) -> None:
    well, beyond = {field: WELL[field]}, {field: BEYOND[field]}
    assert decided(ALL, look(0, **well), look(1, **well)).action == "go on"
    assert decided(ALL, look(0, **well), look(1, **beyond)).action == "measure again"
    tripped = decided(ALL, look(0, **beyond), look(1, **beyond))
    assert tripped.action == "trip"
    assert len(tripped.reasons) == 1
    if field in AT:
        assert decided(ALL, look(0, **{field: AT[field]}), look(1, **{field: AT[field]})).action == "go on"


def test_two_quantities_beyond_once_each_do_not_confirm_each_other() -> None:
    samples = look(0, available_bytes=17 * GIB), look(0.1, gtt_used_bytes=91 * GIB)
    assert decided(FOUNDING, *samples).action == "measure again"


def test_several_reasons_are_all_told() -> None:
    samples = look(0, **BEYOND), look(1, **BEYOND)
    assert len(decided(ALL, *samples).reasons) == len(NAMES)
    assert decided(ALL, *samples).samples[0] is samples[0]


def test_a_limit_that_is_not_set_is_none() -> None:
    assert decided(Limits(), look(0, **BEYOND), look(1, **BEYOND)) == Decision("go on")


def test_what_is_not_known_trips_nothing() -> None:
    assert decided(ALL, look(0), look(1)) == Decision("go on")
    assert decide(ALL, (), 0) == Decision("go on")


def test_a_look_from_before_a_standstill_confirms_nothing() -> None:
    old, new = look(0, available_bytes=17 * GIB), look(FRESH_S + 1, available_bytes=17 * GIB)
    assert decided(FOUNDING, old, new).action == "measure again"
    assert decided(FOUNDING, old, now_s=FRESH_S + 1).action == "go on"
    assert decided(FOUNDING, look(9, available_bytes=1), now_s=0).action == "go on"  # from the future


def test_a_required_limit_may_be_unknown_for_half_a_minute_only() -> None:
    limits = Limits(gtt_ceiling_bytes=90 * GIB, required=("gtt",))
    known = look(0, gtt_used_bytes=GIB)
    blind = [look(t) for t in range(1, int(BLIND_S) + 1)]
    assert decided(limits, known, *blind[:-1]).action == "go on"
    told = decided(limits, known, *blind)
    assert (told.action, told.reasons) == ("trip", ("gtt is required, and has not been known for 30 s",))
    assert decided(limits, *blind, look(BLIND_S + 1)).action == "trip"  # never known at all
    assert decided(Limits(gtt_ceiling_bytes=1), known, *blind).action == "go on"  # not required
    assert decided(limits, known, now_s=BLIND_S).action == "go on"  # not looked for: the guard stood still
    assert decided(limits, known, *blind, look(BLIND_S + 1, gtt_used_bytes=1)).action == "go on"


def test_only_required_limits_refuse() -> None:
    unknown = {"gtt": "no AMD GPU", "kernel": "denied"}
    assert refused(Limits(kernel=True, required=("kernel",)), unknown) == {"kernel": "denied"}
    assert refused(ALL, unknown) == {}


values = st.none() | st.integers(0, 200 * GIB)
looks = st.lists(
    st.builds(
        Measured,
        t_ns=st.integers(0, 60 * NS),
        available_bytes=values,
        gtt_used_bytes=values,
        vram_used_bytes=values,
        swap_growth_bytes=values,
        fatal_incidents=st.none() | st.integers(0, 2),
        restarts=st.none() | st.integers(0, 2),
    ),
    max_size=12,
).map(lambda found: sorted(found, key=lambda s: s.t_ns))


@given(looks, st.integers(0, 70 * NS), st.lists(st.sampled_from(NAMES)).map(tuple))
def test_a_trip_is_always_confirmed_and_always_explained(
    samples: list[Measured], now_ns: int, required: tuple[str, ...]
) -> None:
    limits = Limits(
        available_floor_bytes=18 * GIB,
        gtt_ceiling_bytes=90 * GIB,
        kernel=True,
        restart=True,
        required=required,
    )
    decision = decide(limits, samples, now_ns)
    assert bool(decision.reasons) is (decision.action == "trip")
    for limit in limits.each():
        known = [s for s in samples if limit.value(s) is not None and 0 <= now_ns - s.t_ns <= FRESH_S * NS]
        confirmed = len(known) >= 2 and all(limit.is_crossed(s) for s in known[-2:])
        if confirmed:
            assert limit.told(known[-1]) in decision.reasons
        elif decision.action == "trip":
            assert not known or limit.told(known[-1]) not in decision.reasons


@given(looks, st.sampled_from(sorted(WELL)))
def test_the_pace_stays_within_its_bounds(samples: list[Measured], field: str) -> None:
    assert CLOSEST_S <= next_poll_s(ALL, samples, [field]) <= SLOWEST_S


@given(st.integers(0, 20 * GIB), st.integers(0, 20 * GIB))
def test_less_headroom_is_never_polled_slower(one: int, other: int) -> None:
    less, more = sorted((one, other))
    pace = [
        next_poll_s(FOUNDING, [look(0, available_bytes=18 * GIB + h)], ["available_bytes"])
        for h in (less, more)
    ]
    assert pace[0] <= pace[1]


def test_the_pace_follows_headroom_and_rate() -> None:
    def pace(*samples: Measured) -> float:
        return next_poll_s(FOUNDING, samples, ("available_bytes",))

    assert pace() == pace(look(0)) == SLOWEST_S
    assert pace(look(0, available_bytes=46 * GIB)) == SLOWEST_S
    assert pace(look(0, available_bytes=21 * GIB)) == pytest.approx(3 * GIB / FILL_BYTES_S)
    assert pace(look(0, available_bytes=17 * GIB)) == CLOSEST_S
    fast = look(0, available_bytes=51 * GIB), look(1, available_bytes=21 * GIB)  # 30 GiB/s, 3 GiB left
    assert pace(*fast) == CLOSEST_S
    assert pace(look(1, available_bytes=51 * GIB), look(1, available_bytes=21 * GIB)) == pytest.approx(0.5)
    assert next_poll_s(FOUNDING, [look(0, gtt_used_bytes=89 * GIB)], ("gtt_used_bytes",)) < 0.2
    assert next_poll_s(FOUNDING, [look(0, gtt_used_bytes=89 * GIB)], ("available_bytes",)) == SLOWEST_S


def test_what_no_limit_is_on_is_looked_at_for_the_record_alone() -> None:
    assert next_poll_s(FOUNDING, [look(0, vram_used_bytes=1)], ("vram_used_bytes",)) == UNLIMITED_S


def test_what_happens_is_looked_at_again_soon() -> None:
    assert next_poll_s(FOUNDING, [look(0, fatal_incidents=0)], ("fatal_incidents",)) == SLOWEST_S
    assert next_poll_s(FOUNDING, [look(0, fatal_incidents=1)], ("fatal_incidents",)) == CLOSEST_S


def test_sizes_that_round_to_the_same_are_told_apart() -> None:
    (limit,) = Limits(available_floor_bytes=18 * GIB).each()
    told = limit.told(Measured(t_ns=0, available_bytes=18 * GIB - 1))
    assert told == "19,327,352,831 bytes of memory are available, less than 19,327,352,832 bytes"


def test_sizes_in_words() -> None:
    assert (in_words(18 * GIB), in_words(500 * 2**20), in_words(-GIB)) == ("18 GiB", "500 MiB", "-1024 MiB")


def test_what_is_guarded_is_told_without_what_cannot_be_measured() -> None:
    both = Limits(available_floor_bytes=18 * GIB, gtt_ceiling_bytes=90 * GIB, kernel=True)
    assert "at most 90 GiB of GTT" in both.in_words()
    assert both.in_words({"gtt"}) == "at least 18 GiB of memory available, no fatal fault in the kernel's log"
    unmeasured = both.in_words({"gtt", "available"})
    assert unmeasured == "no fatal fault in the kernel's log, and no limit of memory can be measured"
