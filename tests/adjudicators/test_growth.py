"""Growth: a leak is found from two hours on, half an hour never convicts, a cache that fills is no leak."""

from collections.abc import Callable, Iterable
from typing import Any

import pytest
from msgspec import structs

from soakproof.clock import NS
from soakproof.judge import Finding, Outcome
from soakproof.records import Sample
from soakproof.testing.evidence import adjudicate, evidence, exchange, sample, trace

MIB = 2**20
HOUR = 3600.0


def server(
    mib: Callable[[float], float], seconds: float, *, every: float = 10, role: str = "backend"
) -> list[Sample]:
    """The server's process by its RssAnon; a third of it lies in swap."""
    return trace(
        f"process:{role}",
        seconds,
        every=every,
        pid=7,
        created=1.0,
        rss_anon_bytes=lambda t: mib(t) * MIB * 2 / 3,
        swap_bytes=lambda t: mib(t) * MIB / 3,
    )


def judged(records: Iterable[Sample], *command: str, duration: float = 1800, **options: Any) -> Finding:
    target = {"launch_command": list(command)} if command else {}
    return adjudicate("growth", evidence(records, target=target, duration=duration), **options)[
        "process:backend"
    ]


@pytest.mark.parametrize(("role", "outcome"), [("front", Outcome.INCONCLUSIVE), ("backend", Outcome.PASS)])
def test_a_front_has_no_cache_to_fill_so_less_growth_is_doubtful(role: str, outcome: Outcome) -> None:
    """By 2 MiB with each of some 150 requests of a minute."""
    grows = server(lambda t: 20 + 5 * t, 60, every=1, role=role)
    target = {"launch_command": ["llama-server", "--cache-ram", "0"]}
    run = evidence(grows, duration=60, target=target)
    assert adjudicate("growth", run)[f"process:{role}"].outcome is outcome
    level = server(lambda t: 20 + min(5 * t, 150), 60, every=1, role=role)
    assert adjudicate("growth", evidence(level, duration=60))[f"process:{role}"].outcome is Outcome.PASS


def test_a_level_process_passes_and_says_that_half_an_hour_shows_no_leak() -> None:
    found = judged(server(lambda t: 5000 + t % 100, 1800))
    assert found.outcome is Outcome.PASS
    assert "can neither prove nor exclude a leak" in found.strength


def test_growth_that_goes_on_is_inconclusive_after_half_an_hour_and_never_a_failure() -> None:
    found = judged(server(lambda t: 900 + 3 * t, 1800))
    assert found.outcome is Outcome.INCONCLUSIVE
    assert "still grows" in found.answer
    assert "not known" in found.answer


def test_memory_of_the_processes_below_counts() -> None:
    """A server that serves each model by a child holds little itself."""

    def below(mib: Callable[[float], float], swapped: int | None = 0) -> list[Sample]:
        child = {"children_rss_anon_bytes": lambda t: mib(t) * MIB, "children_swap_bytes": swapped}
        own = {"pid": 7, "created": 1.0, "rss_anon_bytes": 50 * MIB, "swap_bytes": 0, "children": 1}
        return trace("process:backend", 3 * HOUR, every=30, **own, **child)

    assert judged(below(lambda t: 900 + t / 10), duration=3 * HOUR).outcome is Outcome.FAIL
    assert judged(below(lambda t: 900 + t % 100), duration=3 * HOUR).outcome is Outcome.PASS
    untold = judged(below(lambda t: 900 + t / 10, swapped=None), duration=3 * HOUR)
    assert untold.outcome is Outcome.INCONCLUSIVE


def test_swapped_memory_counts() -> None:
    def swapping(t: float) -> float:
        return 1000 + 2 * t

    moved = trace(
        "process:backend",
        1800,
        every=10,
        pid=7,
        rss_anon_bytes=1000 * MIB,
        swap_bytes=lambda t: (swapping(t) - 1000) * MIB,
    )
    assert judged(moved).outcome is Outcome.INCONCLUSIVE


def test_growth_that_came_to_rest_passes() -> None:
    assert judged(server(lambda t: 900 + 3 * min(t, 1000), 1800)).outcome is Outcome.PASS


def test_growth_within_the_prompt_caches_limit_passes_and_beyond_it_does_not() -> None:
    grows = server(lambda t: 900 + 3 * t, 1800)
    assert judged(grows, "llama-server", "--cache-ram", "8192").outcome is Outcome.PASS
    assert judged(grows, "llama-server").outcome is Outcome.PASS  # llama.cpp's own limit is 8,192 MiB
    assert judged(grows, "llama-server", "--cache-ram=256").outcome is Outcome.INCONCLUSIVE
    assert judged(grows, "llama-server", "-cram", "0").outcome is Outcome.INCONCLUSIVE
    assert judged(grows, "llama-server", "--cache-ram", "-1").outcome is Outcome.INCONCLUSIVE


def test_a_quarter_of_a_large_server_is_capped() -> None:
    large = server(lambda t: 60_000 + 5 * t, 1800)  # 6 GiB over the first third: a tenth of what it holds
    assert judged(large).outcome is Outcome.INCONCLUSIVE
    assert judged(large, most="8 GiB").outcome is Outcome.PASS


def test_idle_readings_are_used_where_there_are_enough() -> None:
    """What requests hold while they run is no growth: it is gone whenever the slots are free."""

    # Ever longer requests: 900 s of work and 100 s of rest each 1,000 s.
    def level(t: float) -> float:
        return 1000 + (t if t % 1000 < 900 else 0)

    def busy(t: float) -> int:
        return int(t % 1000 < 900)

    process = server(level, 6000)
    slots = trace("slots", 6000, every=2.5, total=2, busy=busy)
    assert judged(process, duration=6000).outcome is Outcome.INCONCLUSIVE
    found = judged([*process, *slots], duration=6000)
    assert found.outcome is Outcome.PASS
    assert "all slots free" in found.strength


def test_six_hours_find_a_leak_and_clear_a_level_process() -> None:
    leaks = judged(
        server(lambda t: 5000 + 400 * t / HOUR + t % 90, 6 * HOUR, every=30), "llama-server", "-cram", "0"
    )
    assert leaks.outcome is Outcome.FAIL
    assert leaks.fault == "backend"
    assert "400 MiB an hour" in leaks.answer
    front = server(lambda t: 5000 + 400 * t / HOUR + t % 90, 6 * HOUR, every=30, role="front")
    assert adjudicate("growth", evidence(front, duration=6 * HOUR))["process:front"].fault == "front"
    level = judged(server(lambda t: 5000 + t % 90, 6 * HOUR, every=30), "llama-server")
    assert level.outcome is Outcome.PASS
    assert "no leak in 6.0 h" in level.answer


def test_a_leak_that_the_prompt_cache_could_be_is_inconclusive() -> None:
    found = judged(server(lambda t: 5000 + 400 * t / HOUR, 6 * HOUR, every=30), "llama-server")
    assert found.outcome is Outcome.INCONCLUSIVE
    assert "prompt cache of 8.00 GiB can explain" in found.answer


def plateau(t: float) -> float:
    """A reported server: its prompt cache fills by 680 MiB each ten minutes to 8,192 MiB, and stays."""
    return min(900 + 680 * t / 600, 9092)


@pytest.mark.parametrize(("hours", "command"), [(6.5, ()), (6.5, ("llama-server",)), (2, ("llama-server",))])
def test_the_reported_plateau_is_never_called_a_leak(hours: float, command: tuple[str, ...]) -> None:
    found = judged(server(plateau, hours * HOUR, every=60), *command, duration=hours * HOUR)
    assert found.outcome is (Outcome.PASS if hours > 6 else Outcome.INCONCLUSIVE)


def test_processes_that_were_not_seen_are_inconclusive() -> None:
    for required in (False, True):
        found = judged([], required=required)
        assert found.outcome is Outcome.INCONCLUSIVE
        assert found.critical is required
    denied = sample("process:backend", 0.0, state="denied", reason="Permission denied")
    assert "Permission denied" in judged([denied]).answer


def test_each_backend_and_the_gpu_are_judged_by_themselves() -> None:
    second = server(lambda t: 900 + 3 * t, 1800, role="backend-2")
    gtt = trace("amdgpu:card1", 1800, every=10, gtt_used_bytes=lambda t: (30_000 + 10 * t) * MIB)
    found = adjudicate("growth", evidence(server(lambda t: 900, 1800), second, gtt, duration=1800))
    assert found["process:backend"].outcome is Outcome.PASS
    assert found["process:backend-2"].outcome is Outcome.INCONCLUSIVE
    assert found["amdgpu:card1"].outcome is Outcome.INCONCLUSIVE


def test_after_a_restart_only_one_process_is_followed() -> None:
    first = server(lambda t: 5000, 1200)
    second = trace(
        "process:backend", 600, start=1200, every=10, pid=8, rss_anon_bytes=100 * MIB, swap_bytes=0
    )
    found = judged([*first, *second])
    assert found.outcome is Outcome.PASS
    assert "longest-lived of 2 processes" in found.strength
    assert {f.value for f in found.figures} == {round(5000 / 1024, 3)}


def handles(
    count: Callable[[float], float], seconds: float = 600, pid: int = 7, start: float = 0
) -> list[Sample]:
    """A process with level memory and ever so many open files; its threads are half of them."""
    return trace(
        "process:front",
        seconds,
        start=start,
        pid=pid,
        rss_anon_bytes=500 * MIB,
        swap_bytes=0,
        fds=lambda t: int(count(t)),
        threads=lambda t: int(count(t)) // 2,
    )


def test_open_files_that_climb_with_the_work_are_a_leak() -> None:
    requests = [exchange(f"x{n}", at=5.0 * n, took=1.0) for n in range(120)]
    found = adjudicate("growth", evidence(requests, handles(lambda t: 20 + t / 5), duration=600))
    leak = found["process:front fds"]
    assert (leak.outcome, leak.fault) == (Outcome.FAIL, "server")
    assert "90 more so far and more to the end: a leak, 1 for each of 90 requests" in leak.answer
    assert found["process:front threads"].outcome is Outcome.FAIL
    assert found["process:front"].outcome is Outcome.PASS


def test_level_handles_pass_and_a_policy_says_how_many() -> None:
    level = adjudicate("growth", evidence(handles(lambda t: 20 + t % 5), duration=600))
    assert {f.outcome for f in level.values()} == {Outcome.PASS}
    climbs = evidence(handles(lambda t: 20 + t / 5), duration=600)
    assert adjudicate("growth", climbs, handles=500)["process:front fds"].outcome is Outcome.PASS


def test_handles_are_followed_within_one_process() -> None:
    """A restart gives all of them back; what was there before the load and comes after it is none of it."""
    run = evidence(handles(lambda t: 20 + t % 3, 300), handles(lambda t: 300, 300, 8, 300), duration=600)
    assert adjudicate("growth", run)["process:front fds"].outcome is Outcome.PASS
    before = evidence(handles(lambda t: 20 + 10 * max(0, t - 300)), run={"load_ended_ns": 300 * NS})
    assert adjudicate("growth", before)["process:front fds"].outcome is Outcome.PASS


def test_values_that_were_mostly_not_read_prove_no_standstill() -> None:
    level = [*handles(lambda t: 20), *trace("amdgpu:card0", 600, every=1, gtt_used_bytes=100 * MIB)]

    def judged(holes: int) -> dict[str, Finding]:
        """Of each minute so many seconds are without values."""
        dark = [structs.replace(s, values={"pid": 7}) for s in level]
        part = [d if s.t_ns % (60 * NS) < holes * NS else s for s, d in zip(level, dark, strict=True)]
        return adjudicate("growth", evidence(part, duration=600))

    assert {f.outcome for f in judged(2).values()} == {Outcome.PASS}
    found = judged(54)
    assert set(found) == {"process:front", "process:front fds", "process:front threads", "amdgpu:card0"}
    assert {f.outcome for f in found.values()} == {Outcome.INCONCLUSIVE}
    assert all(f.critical and " It was not known in " in f.answer for f in found.values()), found


def test_open_files_of_another_users_process_are_told_and_decide_nothing() -> None:
    denied = sample(
        "process:front", 1.0, pid=7, fds=None, threads=3, reason="fds: it belongs to another user"
    )
    found = adjudicate("growth", evidence(denied))["process:front fds"]
    assert (found.outcome, found.critical) == (Outcome.INCONCLUSIVE, False)
    assert "another user" in found.answer
