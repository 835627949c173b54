"""Books that agree are told apart from books that do not; what a healthy run does is never held against it.

Each way in which a run's files may be changed is tried on a recorded run, in tests/run/test_fuzzed_runs.py.
Here are the kinds of runs that must not be held for changed ones, and what is told of those that were.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest
from msgspec import structs

from soakproof import __version__
from soakproof.judge import Evidence
from soakproof.raw import raw_result
from soakproof.records import Record
from soakproof.testing.evidence import (
    check,
    event,
    evidence,
    exchange,
    iteration,
    kernel,
    opened,
    plan_kind,
    sample,
    trace,
)

ENDED = {"why": "time", "reason": ""}
CHECKS = ("prose.length", "prose.stall")


def of_load(node: str = "load", n: int = 4, seed: int = 100) -> list[Record]:
    """A node's iterations one after the other, two seconds each, with one request and two checks in each."""
    made: list[Record] = []
    for number in range(n):
        at = 1.0 + 2 * number
        ask = exchange(f"{node}-{number}", at=at, iteration=number, node=node, seed=seed + number)
        done = at + 1.5
        checks = [check(name, at=done, iteration=number, exchanges=(ask.id,), node=node) for name in CHECKS]
        made += [opened(ask), ask, *checks, iteration(number=number, at=at, took=1.5, node=node)]
    return made


def of_tester(node: str = "load", seconds: int = 10) -> list[Any]:
    own = list(trace("tester", seconds, start=1.0, node=node, cpu_percent=5.0))
    return [*own, event("final_slots", seconds + 0.1, node=node, busy=0, seeds=[])]


def of_watch(seconds: int = 10, **account: Any) -> list[Any]:
    states = {"memory": {"value": seconds}, **account}
    readings = trace("memory", seconds, available_bytes=1)
    return [
        event("watch_started", 0.0),
        *readings,
        event("watch_ended", seconds + 0.5, states=states, incidents=0),
    ]


def run(*records: Iterable[Record], nodes: tuple[str, ...] = ("load", "watch"), **more: Any) -> Evidence:
    """A run as this program writes it, ten seconds long, judged by itself."""
    document = {"program": __version__, "versions": {"soakproof": __version__}, "ended": ENDED, **more}
    plan = {"kinds": [plan_kind("long_prose", checks=CHECKS)]}
    made = evidence(*records, duration=10.0, plan=plan, run=document, nodes=nodes, unopened=True)
    return replace(made, raw=raw_result((), made.records, ended=made.run["ended"] or {}))


def told(run: Evidence) -> list[str]:
    return [f"{d.subject}: {d.told}" for d in run.disagreements]


def test_a_healthy_run_agrees_with_itself() -> None:
    assert told(run(of_load(), of_tester(), of_watch())) == []


def test_two_load_nodes_count_for_themselves() -> None:
    two = [*of_load("load-1"), *of_load("load-2", seed=900)]
    both = run(two, of_tester("load-1"), of_tester("load-2"), of_watch(), nodes=("load-1", "load-2", "watch"))
    assert told(both) == []


def test_a_killed_run_that_was_recovered_may_lack_its_end() -> None:
    """The last request has no end and its iteration is not told; nor are the last words of load and watch."""
    killed = run(of_load()[:-4], of_tester()[:4], of_watch()[:5], state="running", ended=None)
    assert told(replace(killed, recovered=True, raw=None)) == []


def test_an_interrupted_run_has_cut_and_unknown_ends() -> None:
    """The checks of the iteration that was stopped are told as not reached."""
    ask = exchange("load-3", at=7, iteration=3, seed=9, outcome="unknown", failure="stopped", first=None)
    unreached = [check(name, "unknown", at=8.0, iteration=3, grade="unreached") for name in CHECKS]
    last = [opened(ask), ask, *unreached, iteration(number=3, at=7.0, end="stopped")]
    assert (
        told(run(of_load(n=3), last, of_tester(), of_watch(), ended={"why": "interrupt", "reason": ""})) == []
    )


def test_a_tester_that_was_deaf_for_a_while_has_no_gap() -> None:
    """Its next sample is due in the whole second after the one that it came too late for."""
    *samples, final = of_tester()
    late = structs.replace(samples[2], t_ns=samples[6].t_ns)
    assert told(run(of_load(), samples[:2], late, samples[7:], final, of_watch())) == []
    assert "some are missing after" in told(run(of_load(), samples[:3], samples[7:], final, of_watch()))[0]


def test_an_older_program_may_have_judged_by_other_rules() -> None:
    older = run(of_load(), of_tester(), of_watch(), versions={"soakproof": "0.0.1"})
    assert older.raw is not None
    known = {name: {"pass": 3, "fail": 0, "unknown": 1} for name in CHECKS}
    assert told(replace(older, raw={**older.raw, "checks": known})) == []
    gone = {name: {"pass": 3, "fail": 0, "unknown": 0} for name in CHECKS}
    assert "raw.json says checks" in told(replace(older, raw={**older.raw, "checks": gone}))[0]


def test_a_source_that_is_not_there_is_said_once_and_counted_each_time() -> None:
    silent = sample("amdgpu", 0.5, state="unsupported", reason="no GPU")
    both = sorted([*of_watch(amdgpu={"unsupported": 10}), silent], key=lambda r: r.t_ns)
    assert told(run(of_load(), of_tester(), both)) == []


def test_another_runs_watch_is_told_by_the_wall_clock() -> None:
    begun = {"started_at": "2026-11-30T14:48:25Z"}
    zero = 1796050105.0

    def watched(wall: float, *steps: float) -> list[str]:
        started, *rest = of_watch()
        own = structs.replace(started, details={"wall_unix_s": wall})
        stepped = [event("clock_step", 0.5, step_s=step) for step in steps]
        return told(run(of_load(), of_tester(), [own, *stepped, *rest], **begun))

    assert watched(zero + 0.9) == watched(zero - 30) == watched(zero + 3600, -3590.0) == []
    assert watched(zero + 3600) == [
        "watch: watch began 3,600 s later by the wall clock than its place in the run"
    ]


def test_a_fault_that_was_taken_out_of_the_kernel_log_is_missed() -> None:
    fault = kernel(at=5.0, incident=1)
    watched = of_watch()
    watched[-1] = structs.replace(watched[-1], details={**watched[-1].details, "incidents": 1})
    assert told(run(of_load(), of_tester(), watched, fault)) == []
    assert "counted 1 incident in the kernel log; 0 are told" in told(run(of_load(), of_tester(), watched))[0]


def without(name: str, value: str) -> list[Record]:
    return [r for r in (*of_load(), *of_tester(), *of_watch()) if getattr(r, name, "") != value]


@pytest.mark.parametrize(
    ("records", "what"),
    [
        (without("what", "final_slots"), "tester: load told its last look at the slots 0 times"),
        (without("what", "watch_ended"), "watch: watch told 1 start and 0 ends"),
        (without("id", "load-2"), "requests: 1 request missing between others by number, first load-2"),
        (
            without("name", CHECKS[0]),
            "checks: 4 declared checks not told, first prose.length of long_prose 0",
        ),
        (without("source", "memory"), "watch: 1 source with another number of readings than it counted"),
        (without("scenario", "long_prose")[::-1], "order: "),
    ],
)
def test_what_disagrees_is_told_with_its_place(records: list[Record], what: str) -> None:
    assert any(what in line for line in told(run(records)))


def of_processes(*pids: int, role: str = "backend", **created: float) -> list[Any]:
    """A second of each of these processes in one role, each with its own start time unless it is given."""
    return [
        sample(f"process:{role}", at, pid=pid, created=created.get(f"p{at}", 100.0 * pid))
        for at, pid in enumerate(pids, 1)
    ]


def restart(at: float, pid: int, role: str = "backend", created: float | None = None) -> Any:
    return event("restart", at, role=role, was_pid=1, is_pid=pid, is_created=created or 100.0 * pid)


NO_EVENT = "of a process of the server's that no event tells, first process:backend at"


def test_a_process_that_changes_in_its_samples_has_an_event() -> None:
    assert told(evidence(of_processes(7, 7, 7))) == []
    assert told(evidence(of_processes(7, 7, 8), restart(3.0, 8))) == []
    lost = told(evidence(of_processes(7, 7, 8, 8)))
    assert lost == [f"watch: 1 change {NO_EVENT} 3.0 s"]
    back = told(evidence(of_processes(7, 8, 7), restart(2.0, 8)))
    assert back == [f"watch: 1 change {NO_EVENT} 3.0 s"]
    other_role = told(evidence(of_processes(7, 8), restart(2.0, 8, "front")))
    assert other_role == [f"watch: 1 change {NO_EVENT} 2.0 s"]


def test_a_pid_that_was_used_again_has_another_start_time() -> None:
    assert told(evidence(of_processes(7, 7, p2=701.5))) == []  # the host's clock was set
    assert told(evidence(of_processes(7, 7, p2=730.0), restart(2.0, 7, created=730.0))) == []
    for said in ([], [restart(2.0, 7, created=700.0)]):
        assert told(evidence(of_processes(7, 7, p2=730.0), said)) == [f"watch: 1 change {NO_EVENT} 2.0 s"]


def test_each_backend_has_processes_of_its_own() -> None:
    """One that is loaded later, gone for a while, or whose start time is not known, is no other."""
    gone = sample("process:backend", 2, state="error", pid=8, reason="process 8 is gone")
    untold = [sample("process:front", at, pid=5, created=made) for at, made in ((1, None), (3, 3.0))]
    later = of_processes(7, 7, 9, 9, role="backend-2")[2:]
    records = [*of_processes(7, 7, 7)[::2], gone, *untold, *later]
    assert told(evidence(sorted(records, key=lambda s: s.t_ns))) == []


def test_what_is_wrong_with_requests_is_told_in_the_order_of_its_lines() -> None:
    first, second, third, fourth = (exchange(f"load-{n}", at=n, seed=n) for n in range(4))
    lines = [
        *(opened(first), first, first),
        *(second, opened(second)),
        *(opened(third), structs.replace(third, role="b", temperature=0.5)),
        *(opened(fourth), opened(fourth), structs.replace(fourth, temperature=0.5)),
    ]
    assert [line for line in told(run(lines)) if line.startswith("requests")] == [
        "requests: 1 request closed twice, first load-0",
        "requests: 1 request closed before opened, or never opened, first load-1",
        "requests: 1 request closed with another role than opened, first load-2",
        "requests: 1 request opened twice, first load-3",
        "requests: 1 request closed with another temperature than opened, first load-3",
    ]


def test_times_that_no_float_tells_apart_are_told_apart() -> None:
    far = 2**60
    ask = exchange("load-0", at=1)
    cut = structs.replace(ask, sent_ns=far + 1, done_ns=far + 1, cancelled_ns=far + 1)
    early = structs.replace(cut, cancelled_ns=far)
    assert not any("when not under way" in line for line in told(run([opened(ask), cut])))
    assert any("when not under way" in line for line in told(run([opened(ask), early])))


def test_of_two_iterations_with_one_number_the_later_counts() -> None:
    twice = [iteration(number=0, at=1.0, took=1.0), iteration(number=0, at=5.0, took=1.0)]
    checks = [check(name, at=5.5, iteration=0) for name in CHECKS]
    found = told(run(twice, checks))
    assert "iterations: 1 iteration told twice, first long_prose 0" in found
    assert not any(line.startswith("checks") for line in found)
