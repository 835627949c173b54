"""Memory: floors, ceilings, swap, and figures that contradict each other on unified memory."""

import pytest
from msgspec import structs

from soakproof.judge import Outcome
from soakproof.testing.evidence import adjudicate, evidence, sample, trace

GIB = 2**30
HOST = {"total_bytes": 125 * GIB, "available_bytes": 46 * GIB, "swap_used_bytes": 0, "swap_total_bytes": 0}


def host(**over):
    return trace("memory", 60, **{**HOST, **over})


def test_a_host_with_room_passes_and_shows_its_floor() -> None:
    dips = host(available_bytes=lambda t: (45.64 if t == 30 else 60) * GIB)
    found = adjudicate("memory", evidence(dips), floor="18 GiB")
    assert {f.outcome for f in found.values()} == {Outcome.PASS}
    assert "45.64 GiB available, at 30 s" in found["available"].answer
    assert found["available"].figures[0].value == 45.64
    assert found["available"].figures[0].n == 60


def test_one_reading_under_the_floor_fails() -> None:
    dips = host(available_bytes=lambda t: (17.9 if t == 30 else 60) * GIB)
    found = adjudicate("memory", evidence(dips), floor="18 GiB")["available"]
    assert found.outcome is Outcome.FAIL
    assert found.critical
    assert found.fault == "host"


def test_without_a_floor_memory_is_reported_and_decides_nothing() -> None:
    found = adjudicate("memory", evidence(host(available_bytes=1)))["available"]
    assert found.outcome is Outcome.PASS
    assert not found.critical
    assert found.limit == ""


def test_the_baselines_floor_is_shown_beside() -> None:
    before = evidence(host(available_bytes=50 * GIB), id="before")
    found = adjudicate("memory", evidence(host()), before)["available"]
    assert found.figures[0].baseline == 50.0


def test_swap_that_grows_fails_and_swap_that_was_in_use_before_does_not() -> None:
    grows = host(swap_used_bytes=lambda t: 2 * GIB if t > 30 else 0)
    assert adjudicate("memory", evidence(grows))["swap"].outcome is Outcome.FAIL
    steady = host(swap_used_bytes=9 * GIB)
    assert adjudicate("memory", evidence(steady))["swap"].outcome is Outcome.PASS


def test_a_kill_inside_a_control_group_fails_though_the_host_has_plenty() -> None:
    group = {"path": "/system.slice/lemonade.service", "memory_max_bytes": 32 * GIB}
    killed = trace("cgroup:backend", 60, **group, oom_kills=lambda at: 3 if at < 30 else 4)
    found = adjudicate("memory", evidence(host(), killed))["cgroup:backend"]
    assert (found.outcome, found.fault) == (Outcome.FAIL, "host")
    assert found.answer.startswith(
        "1 process of this control group was killed for memory within its limit of"
    )
    ours = [structs.replace(sample, source="cgroup:tester") for sample in killed]
    assert adjudicate("memory", evidence(host(), ours))["cgroup:tester"].outcome is Outcome.INCONCLUSIVE
    both = adjudicate("memory", evidence(host(), killed, ours))
    assert both["cgroup:backend"].outcome is Outcome.INCONCLUSIVE  # started from the same terminal


def test_kills_of_before_and_of_another_group_do_not_count() -> None:
    before = trace("cgroup:backend", 60, path="/a", oom_kills=3)
    other = {"path": lambda at: "/a" if at < 30 else "/b", "oom_kills": lambda at: at // 30}
    moved = trace("cgroup:front", 60, **other)
    found = adjudicate("memory", evidence(host(), before, moved))
    assert found["cgroup:backend"].outcome is found["cgroup:front"].outcome is Outcome.PASS


@pytest.mark.parametrize("card", ["amdgpu:card0", "nvidia:0"])
def test_vram_over_the_ceiling_fails(card: str) -> None:
    run = evidence(host(), trace(card, 60, vram_used_bytes=21 * GIB, vram_total_bytes=24 * GIB))
    assert adjudicate("memory", run, vram_ceiling="22 GiB")[f"vram: {card}"].outcome is Outcome.PASS
    over = adjudicate("memory", run, vram_ceiling="20 GiB")[f"vram: {card}"]
    assert (over.outcome, over.critical, over.fault) == (Outcome.FAIL, True, "host")
    assert not adjudicate("memory", run)[f"vram: {card}"].critical


def test_a_vram_ceiling_without_a_gpu_that_tells_is_inconclusive() -> None:
    silent = trace("nvidia:0", 60, vram_used_bytes=None, busy_percent=90)
    for run in (evidence(host()), evidence(host(), silent)):
        (found,) = [
            f for f in adjudicate("memory", run, vram_ceiling="20 GiB").values() if "vram" in f.subject
        ]
        assert (found.outcome, found.critical) == (Outcome.INCONCLUSIVE, True)


def test_gtt_over_the_ceiling_fails() -> None:
    gtt = trace("amdgpu:card1", 60, gtt_used_bytes=70.91 * GIB, gtt_total_bytes=96 * GIB)
    run = evidence(host(), gtt)
    assert adjudicate("memory", run, gtt_ceiling="90 GiB")["gtt: amdgpu:card1"].outcome is Outcome.PASS
    assert adjudicate("memory", run, gtt_ceiling="70 GiB")["gtt: amdgpu:card1"].outcome is Outcome.FAIL
    assert not adjudicate("memory", run)["gtt: amdgpu:card1"].critical


def test_a_ceiling_without_a_gpu_to_read_is_inconclusive() -> None:
    none = sample("amdgpu", 0.0, state="unsupported", reason="no AMD GPU")
    found = adjudicate("memory", evidence(host(), none), gtt_ceiling="90 GiB")["gtt"]
    assert found.outcome is Outcome.INCONCLUSIVE
    assert found.critical


@pytest.mark.parametrize(
    "source", [[], trace("memory", 3)], ids=["never sampled", "sampled without the value"]
)
def test_what_could_not_be_read_is_inconclusive_and_decides_where_it_is_required(source) -> None:
    for required in (False, True):
        found = adjudicate("memory", evidence(source), required=required)
        assert {f.outcome for f in found.values()} == {Outcome.INCONCLUSIVE}
        assert {f.critical for f in found.values()} == {required}


def test_denied_memory_says_why() -> None:
    denied = sample("memory", 0.0, state="denied", reason="Permission denied")
    found = adjudicate("memory", evidence(denied), required=True)
    assert "denied: Permission denied" in found["available"].answer


# One instant of a 128 GiB machine with unified memory, as /proc/meminfo and sysfs told it.
GTT = {"gtt_total_bytes": 103_079_215_104, "gtt_used_bytes": 82_463_372_083}
CONTAINER = {"total_bytes": 70_000_000 * 1024, "available_bytes": 68_157_440 * 1024}
REAL_HOST = {"total_bytes": 131_000_000 * 1024, "available_bytes": 21_000_000 * 1024}


def test_a_containers_meminfo_is_not_taken_for_the_hosts() -> None:
    run = evidence(host(**CONTAINER), trace("amdgpu:card1", 60, **GTT))
    found = adjudicate("memory", run, floor="18 GiB")["available"]
    assert found.outcome is Outcome.INCONCLUSIVE
    assert "a container's" in found.answer


def test_the_hosts_own_figures_are_judged_and_never_summed_with_the_gpus() -> None:
    run = evidence(host(**REAL_HOST), trace("amdgpu:card1", 60, **GTT))
    found = adjudicate("memory", run, floor="18 GiB", gtt_ceiling="90 GiB")
    assert {f.outcome for f in found.values()} == {Outcome.PASS}
    assert found["available"].figures[0].value == 20.027
    assert adjudicate("memory", run, floor="21 GiB")["available"].outcome is Outcome.FAIL


@pytest.mark.parametrize(
    ("subject", "source", "value", "limit"),
    [
        ("available", "memory", "available_bytes", {"floor": "18 GiB"}),
        ("swap", "memory", "swap_used_bytes", {"swap_growth": "1 GiB"}),
        ("gtt: amdgpu:card0", "amdgpu:card0", "gtt_used_bytes", {"gtt_ceiling": "70 GiB"}),
        ("vram: amdgpu:card0", "amdgpu:card0", "vram_used_bytes", {"vram_ceiling": "4 GiB"}),
        ("headroom", "amdgpu:card0", "gtt_used_bytes", {"headroom": "1 GiB"}),
        ("headroom", "memory", "available_bytes", {"headroom": "1 GiB"}),
        ("cgroup:backend", "cgroup:backend", "oom_kills", {}),
    ],
)
def test_a_bound_is_kept_only_where_the_value_was_known(
    subject: str, source: str, value: str, limit: dict[str, str]
) -> None:
    card = {"gtt_used_bytes": 40 * GIB, "gtt_total_bytes": 96 * GIB, "vram_used_bytes": GIB}
    whole = {
        "memory": host(),
        "amdgpu:card0": trace("amdgpu:card0", 60, **card),
        "cgroup:backend": trace("cgroup:backend", 60, path="/a", oom_kills=3, memory_max_bytes=None),
    }

    def judged(first_unknown: int):
        holes = [
            structs.replace(s, values={**s.values, value: None}) if n >= first_unknown else s
            for n, s in enumerate(whole[source])
        ]
        return adjudicate("memory", evidence(*{**whole, source: holes}.values()), **limit)[subject]

    assert judged(60).outcome is judged(57).outcome is Outcome.PASS
    assert "not known" not in judged(57).answer
    found = judged(6)
    assert (found.outcome, found.critical) == (Outcome.INCONCLUSIVE, True)
    assert found.answer.endswith(" It was not known in 54 of 60 readings.")


def test_a_breach_that_was_seen_fails_though_most_was_not_known() -> None:
    dips = host(available_bytes=lambda t: 17 * GIB if t == 3 else None if t > 5 else 60 * GIB)
    found = adjudicate("memory", evidence(dips), floor="18 GiB")["available"]
    assert found.outcome is Outcome.FAIL
    unlimited = adjudicate("memory", evidence(dips))["available"]
    assert (unlimited.outcome, unlimited.critical) == (Outcome.INCONCLUSIVE, False)
