"""Power settings and clocks: what is switched or moves is told, what stays or cannot be told is no alarm."""

from typing import Any

from soakproof.judge import Finding, Outcome
from soakproof.records import Sample
from soakproof.testing.evidence import adjudicate, evidence, sample, trace


def judged(*samples: Sample, seconds: float = 600.0, **options: Any) -> dict[str, Finding]:
    return adjudicate("conditions", evidence(list(samples), duration=seconds), **options)


def card(clock: Any, busy: Any = 97.0, seconds: float = 600.0, **more: Any) -> list[Sample]:
    return trace("amdgpu:card1", seconds, gpu_clock_hz=clock, busy_percent=busy, **more)


def test_settings_that_stay_pass() -> None:
    found = judged(
        *trace("thermal", 600.0, platform_profile="performance"),
        *card(2.9e9, performance_level="auto"),
    )
    assert found["settings"].outcome is Outcome.PASS
    assert "platform profile performance" in found["settings"].answer


def test_a_profile_that_is_switched_in_the_load_is_told_with_its_time() -> None:
    found = judged(*trace("thermal", 600.0, platform_profile=lambda at: "balanced" if at < 300 else "quiet"))
    (finding,) = found.values()
    assert (finding.outcome, finding.critical, finding.fault) == (Outcome.INCONCLUSIVE, True, "host")
    assert "from balanced to quiet at 300 s" in finding.answer


def test_one_that_was_switched_before_the_load_is_not() -> None:
    before = sample("thermal", -5.0, platform_profile="balanced")
    found = judged(before, *trace("thermal", 600.0, platform_profile="performance"))
    assert found["settings"].outcome is Outcome.PASS


def test_a_reading_that_failed_is_no_switch() -> None:
    gap = sample("thermal", 100.5, state="timeout", platform_profile=None)
    found = judged(*trace("thermal", 600.0, platform_profile="performance"), gap)
    assert found["settings"].outcome is Outcome.PASS


def test_without_settings_it_is_not_known_and_decides_only_where_it_must() -> None:
    found = judged(*trace("memory", 600.0, available_bytes=1 << 34))
    assert (found["settings"].outcome, found["settings"].critical) == (Outcome.INCONCLUSIVE, False)
    required = judged(*trace("memory", 600.0, available_bytes=1 << 34), required=True)
    assert required["settings"].critical


def test_a_clock_that_stays_passes_with_what_was_beside_it() -> None:
    found = judged(*card(lambda at: 2.9e9 - at * 1e5, temperature_celsius=lambda at: 60 + at / 60))
    finding = found["clock: amdgpu:card1"]
    assert finding.outcome is Outcome.PASS
    assert [f.name for f in finding.figures][2:] == ["temperature, first half", "temperature, second half"]


def test_a_clock_that_falls_with_the_heat_is_the_hosts() -> None:
    found = judged(*card(lambda at: 2.9e9 if at < 250 else 2.1e9))
    finding = found["clock: amdgpu:card1"]
    assert (finding.outcome, finding.fault) == (Outcome.INCONCLUSIVE, "host")
    assert "-27.6%" in finding.answer


def test_an_idle_gpu_may_clock_down() -> None:
    found = judged(*card(lambda at: 2.9e9 if at < 250 else 0.2e9, busy=lambda at: 97.0 if at < 250 else 0.0))
    assert "clock: amdgpu:card1" not in found


def test_pauses_between_requests_are_left_out() -> None:
    found = judged(*card(lambda at: 2.9e9 if at % 3 else 0.2e9, busy=lambda at: 95.0 if at % 3 else 3.0))
    assert found["clock: amdgpu:card1"].outcome is Outcome.PASS


def test_a_short_run_says_nothing_of_clocks() -> None:
    found = judged(*card(lambda at: 2.9e9 if at < 20 else 1e9, seconds=40.0), seconds=40.0)
    assert set(found) == {"settings"}


def test_clocks_of_a_card_that_does_not_tell_them_are_left_out() -> None:
    assert set(judged(*trace("nvidia:0", 600.0, busy_percent=90.0, gpu_clock_hz=None))) == {"settings"}
