"""The founding run, written as the tester writes one: half an hour on a 128 GiB machine, two slots.

The figures are those of a published qualification record of August 2026: 1,820.47 s; 10 structured JSON,
10 isolation, 10 cache pairs, 10 cancel-and-recover, 3 long prose; 1,832 memory samples. What the record
does not tell (single times, texts, names) is made up around them.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from golden.traffic import CHECKS, MIX, traffic

from soakproof.clock import nanoseconds
from soakproof.plan import Threshold
from soakproof.raw import raw_result
from soakproof.records import Exchange, KernelEvent, Record
from soakproof.run import Run
from soakproof.testing.evidence import event, kernel, opened, sample, trace

GIB = 2**30
WATCHED, LED, DURATION = 1832, 6.0, 1820.47  # seconds of watch, of which so many before the load
THRESHOLD = Threshold(
    name="prose-rate",
    that="generation_rate{long_prose} each >= 17 tokens/s",
    why="long prose on the speculative profile",
)
OURS, THEIRS = (12.27, 12.29, 12.31), (11.83, 11.86, 11.88)  # tokens/s of the three long answers


@dataclass(frozen=True)
class Facts:
    """What one variant of the run is made of; the defaults are the published run."""

    id: str = "founding"
    rates: tuple[float, ...] = OURS
    build: str = "b11434"
    model_file: str = "Qwen4-Exp-Q8_0"
    foreign: bool = False  # whether one isolation check failed
    kernel: tuple[KernelEvent, ...] = ()
    kernel_log: str = "value"  # state of that source
    least_available: float = 45.64 * GIB


def write_run(runs: Path, facts: Facts = Facts(), *, seal: bool = True) -> Path:
    """The run directory; unsealed and without raw.json where the tester is to have been killed."""
    run = Run.create(runs, "soak", document(facts))
    load = list(traffic(facts))
    closed = [r for r in load if isinstance(r, Exchange)]
    writer = run.writer("load")
    for record in load:
        if isinstance(record, Exchange):
            writer.write(opened(record))
        writer.write(record)
    for record in tester(closed):
        writer.write(record)
    for record in sorted(watch(facts, closed), key=lambda r: r.t_ns):
        run.writer("watch").write(record)
    run.document["locust"] = {"requests": len(closed), "failures": 0}
    if seal:
        run.document.update(state="ended", ended={"why": "time", "reason": ""})
        run.seal(raw_result([THRESHOLD], load, ended=run.document["ended"]))
    else:
        run.save()
    return run.path


def document(facts: Facts) -> dict[str, Any]:
    """run.json as it stands while the run is written."""
    return {
        "format": 1,
        "id": facts.id,
        "program": "soakproof",
        "state": "running",
        "started_at": "2026-08-28T09:00:00Z",
        "zero_ns": 1_000_000_000,
        "boot_id": "7b1c9a52",
        "plan": {
            "name": "soak",
            "duration_s": 1800.0,
            "users": 2,
            "seed": 1,
            "kinds": [kind(name, count) for name, count in MIX.items()],
            "watch": {"interval_s": 1.0, "slots_every_s": 2.5},
            "thresholds": [{"name": THRESHOLD.name, "that": THRESHOLD.that, "why": THRESHOLD.why}],
        },
        "target": {
            "kind": "lemonade",
            "base_url": "http://127.0.0.1:13305",
            "prefix": "/v1",
            "model": "llm",
            "model_resolved": "user.Qwen4-Exp",
            "version": "11.8.0",
            "build": facts.build,
            "slots": 2,
            "slot_context": 262_144,
            "backend_pid": 4242,
            "launch_command": [
                "/opt/llama/llama-server",
                *("-m", f"/models/{facts.model_file}.gguf", "--ctx-size", "524288", "-np", "2"),
                *("-ctk", "q8_0", "-ctv", "q8_0", "--cache-ram", "8192", "--port", "8001"),
            ],
        },
        "host": {
            "os": "Linux",
            "kernel": "6.18.4",
            "cpu": "AMD Ryzen AI MAX+ 395",
            "cores": 32,
            "memory_bytes": 131_000_000 * 1024,
            "machine": "5f2d",
        },
        "digests": {"plan": "aa", "prompts": {"prose.txt": "bb"}, "scenarios": {"long_prose.py": "cc"}},
        "load_started_ns": nanoseconds(LED),
        "load_ended_ns": nanoseconds(LED + DURATION),
    }


def kind(name: str, count: int) -> dict[str, Any]:
    return {"name": name, "scenario": name, "count": count, "checks": list(CHECKS[name]), "options": {}}


# -- what was seen


def tester(closed: list[Exchange]) -> Iterator[Record]:
    yield from trace(
        "tester",
        DURATION,
        start=LED,
        node="load",
        cpu_percent=6.0,
        loop_lag_max_ms=4.0,
        in_flight=lambda t: len(working(closed, t)),
        permits_waiting=0,
    )
    yield event("final_slots", LED + DURATION + 0.5, node="load", busy=0, seeds=[], waited_s=0.5)


def working(closed: list[Exchange], at: float) -> list[Exchange]:
    return [e for e in closed if e.sent_ns <= nanoseconds(at) < e.done_ns]


def watch(facts: Facts, closed: list[Exchange]) -> Iterator[Record]:
    """1,832 readings of each source at 1 Hz, the slots every 2.5 s, and the kernel log."""

    def busy(at: float) -> list[int]:
        return [e.seed for e in working(closed, at)][:2]

    yield event("watch_started", 0.0)
    if facts.kernel_log == "value":
        yield sample("kernel_log", 0.0, reader="/dev/kmsg")
    else:
        yield sample("kernel_log", 0.0, state=facts.kernel_log, reason="EPERM")
    yield from trace(
        "memory",
        WATCHED,
        total_bytes=131_000_000 * 1024,
        available_bytes=lambda t: facts.least_available if t == 900 else 47 * GIB + (t % 60) * 2**20,
        swap_used_bytes=0,
        swap_total_bytes=0,
    )
    yield from trace(
        "amdgpu:card1",
        WATCHED,
        gtt_used_bytes=lambda t: 70.91 * GIB if t == 901 else 70.4 * GIB,
        gtt_total_bytes=103_079_215_104,
    )
    for role, pid, rss in (("backend", 4242, 900), ("front", 4100, 60)):
        yield from trace(
            f"process:{role}",
            WATCHED,
            pid=pid,
            created=1.0,
            rss_anon_bytes=lambda t, rss=rss: (rss + t % 7) * 2**20,
            swap_bytes=0,
        )
    yield from trace(
        "slots",
        WATCHED,
        every=2.5,
        total=2,
        busy=lambda t: len(busy(t)),
        seeds=busy,
        decoded=lambda t: [5] * len(busy(t)),
    )
    yield from facts.kernel
    yield event(
        "watch_ended", float(WATCHED), ticks_due=WATCHED, ticks_had=WATCHED, ticks_missed=0, late_max_ms=9
    )


def page_fault(process: str = "llama-server", pid: int = 4242) -> KernelEvent:
    """One fault line of the GPU's, as the watch records it."""
    return kernel(
        "amdgpu 0000:c6:00.0: amdgpu: [gfxhub] page fault (src_id:0 ring:153 vmid:8 pasid:32770)",
        700.0,
        incident=1,
        signature="A9",
        fault_class="gpu_page_fault",
        severity="fatal",
        process=process,
        pid=pid,
    )
