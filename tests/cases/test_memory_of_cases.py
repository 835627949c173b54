"""Memory of the cases: a prompt cache that fills is no leak, and what is safe is the least that is left."""

import json
import re
from itertools import pairwise

import pytest
from caseinputs import INPUTS
from hypothesis import given, settings
from hypothesis import strategies as st

from soakproof.cli.symptoms import Symptom, of_cache
from soakproof.judge import Evidence, Outcome
from soakproof.records import Sample
from soakproof.target import Target
from soakproof.target.hostcache import cache_bytes
from soakproof.testing.evidence import adjudicate, evidence, sample, trace
from soakproof.watch.memory import parse_meminfo
from soakproof.watch.source import Reading

MIB, GIB = 2**20, 2**30
PLATEAU = [json.loads(line) for line in (INPUTS / "54-cache-ram-plateau.proc.jsonl").open()]
(LIMIT_MIB,) = re.findall(
    r"limits: ([\d.]+) MiB", (INPUTS / "54-cache-ram-plateau.server-log.txt").read_text()
)
LAUNCHED = ["llama-server", "-m", "m.gguf", "--cache-ram", str(round(float(LIMIT_MIB)))]
UMA = json.loads((INPUTS / "56-uma-numbers.json").read_text())


def server(rows: list[dict[str, float]], speed: float = 1.0, base: float = 0) -> list[Sample]:
    """The process of these readings; each is repeated until the next, as the watch reads more often."""
    made = []
    for before, after in pairwise(rows):
        for part in range(10):
            held = before["rss_anon_swap_mib"] + part / 10 * (
                after["rss_anon_swap_mib"] - before["rss_anon_swap_mib"]
            )
            at = (before["t_s"] + part / 10 * (after["t_s"] - before["t_s"])) / speed
            made.append(
                sample("process:backend", at, pid=7, rss_anon_bytes=(base + held) * MIB, swap_bytes=0)
            )
    return made


def run(samples: list[Sample], command: list[str]) -> Evidence:
    return evidence(samples, target={"launch_command": command}, duration=samples[-1].t_ns / 1e9)


@pytest.mark.case(54)
@given(rows=st.integers(4, len(PLATEAU)), speed=st.sampled_from([0.5, 1, 4]), base=st.integers(0, 60_000))
@settings(max_examples=6)
def test_a_cache_that_fills_is_never_called_a_leak_however_long_one_looks(
    rows: int, speed: float, base: int
) -> None:
    for command in (
        LAUNCHED,
        ["llama-server", "-m", "m.gguf"],
    ):  # the limit that was given is its own as well
        found = adjudicate("growth", run(server(PLATEAU[:rows], speed, base), command))["process:backend"]
        assert found.outcome in (Outcome.PASS, Outcome.INCONCLUSIVE)
        assert not re.search(r": a leak\b", found.answer)


@pytest.mark.case(54)
def test_the_whole_series_passes_and_the_same_slope_without_an_end_does_not() -> None:
    assert adjudicate("growth", run(server(PLATEAU), LAUNCHED))["process:backend"].outcome is Outcome.PASS
    slope = PLATEAU[1]["rss_anon_swap_mib"] - PLATEAU[0]["rss_anon_swap_mib"]
    leaks = [{**row, "rss_anon_swap_mib": 900 + n * slope} for n, row in enumerate(PLATEAU)]
    found = adjudicate("growth", run(server(leaks), LAUNCHED))["process:backend"]
    assert found.outcome is Outcome.FAIL


def looked(available_gib: float, *command: str) -> list[Symptom]:
    """What doctor says of the cache of a server that was launched so."""
    target = Target(
        kind="lemonade",
        base_url="http://localhost:13305",
        prefix="/v1",
        model="m",
        local=True,
        slots=1,
        slot_context=4096,
        chars_per_token=4,
        slots_url=None,
        identity={"recipe": "llamacpp", "launch_command": list(command)},
    )
    readings = [Reading("memory", values={"available_bytes": round(available_gib * GIB)})]
    return list(of_cache(target, readings))


@pytest.mark.case(54)
def test_the_cache_counts_against_the_memory_that_is_safe_before_a_run() -> None:
    assert cache_bytes({"recipe": "llamacpp", "launch_command": LAUNCHED}) == float(LIMIT_MIB) * MIB
    (tight,), (roomy,) = looked(9.5, *LAUNCHED), looked(40, *LAUNCHED)
    assert (tight.state, roomy.state) == ("limited", "ok")
    assert "may take up to 8.00 GiB; 9.50 GiB of memory are available" in tight.told
    assert "--cache-ram" in tight.advice
    assert looked(9.5, "llama-server", "--cache-ram", "0") == []


HOST, CONTAINER = (parse_meminfo(UMA[f"{name}_meminfo"]) for name in ("host", "container"))
CARD = {f"gtt_{n}_bytes": UMA["sysfs"][f"mem_info_gtt_{n}"] for n in ("total", "used")}


def instant(meminfo: dict[str, int | None], card: dict[str, int] | None = CARD) -> Evidence:
    return evidence(trace("memory", 60, **meminfo), trace("amdgpu:card1", 60, **card) if card else [])


@pytest.mark.case(56)
def test_what_is_safe_is_the_least_that_host_and_pool_have_left_with_the_raw_numbers() -> None:
    found = adjudicate("memory", instant(HOST), headroom="18 GiB", floor="18 GiB")["headroom"]
    left = {f.name: f.value for f in found.figures}
    assert found.outcome is Outcome.PASS
    assert left == {"least left": 19.2, "of the host": 20.027, "of amdgpu:card1": 19.2}
    assert adjudicate("memory", instant(HOST), headroom="19.5 GiB")["headroom"].outcome is Outcome.FAIL
    assert not adjudicate("memory", instant(HOST))["headroom"].critical  # without a bound it is only told
    summed = UMA["rocm_smi_sum_total_bytes"] / GIB
    assert all((f.value or 0) < summed for f in found.figures)


@pytest.mark.case(56)
def test_a_pool_shrinks_not_when_others_take_the_hosts_memory() -> None:
    taken = {**HOST, "available_bytes": 3 * GIB}
    found = adjudicate("memory", instant(taken), headroom="18 GiB")["headroom"]
    assert found.outcome is Outcome.FAIL
    assert "3.00 GiB of the host" in found.answer


@pytest.mark.case(56)
def test_a_containers_figures_and_unread_ones_are_unknown() -> None:
    for options in ({"floor": "18 GiB"}, {"headroom": "18 GiB", "floor": "18 GiB"}):
        found = adjudicate("memory", instant(CONTAINER), **options)
        assert {found[name].outcome for name in ("available", "headroom")} == {Outcome.INCONCLUSIVE}
    unread = evidence(sample("memory", 0.0, state="denied", reason="Permission denied"))
    blind = adjudicate("memory", unread, floor="18 GiB", required=True)["available"]
    assert blind.outcome is Outcome.INCONCLUSIVE
    assert blind.critical
