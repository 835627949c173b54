"""Whether the watch keeps its schedule on a machine that has nothing left, and what it costs.

    python benchmarks/watch.py [--minutes 1] [--streams 64] [--busy 0]

A testbed with as many slots as streams is soaked by as many users, which loads every core of a small machine;
--busy adds processes that take a core each. Told are the watch's ticks, how late it began to read, by source,
and the CPU time and memory of its process. It must miss no tick, have a 99th percentile of lateness under
50 ms, and cost under 2 % of a core and 60 MiB; else the command ends with 1. A source that asks the server
waits for its answer: the ticks that a slow server costs it are told, and are not the schedule's.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil
from false_alarms import ROOT, contention
from tabulate import tabulate

from soakproof.records import Event, Sample
from soakproof.run import Loaded, load
from soakproof.testbed.launch import Testbed

LATE_P99_MS, CPU_PERCENT, RSS_MIB = 50.0, 2.0, 60.0
CONTEXT = 4096  # tokens of each slot
MIB = 2**20
ASKING = ("health", "live", "slots", "metrics", "metrics:front")


@dataclass
class Cost:
    """Of the watch's process: CPU seconds over how many seconds, and the most memory that it held."""

    cpu_s: float = 0.0
    lasted_s: float = 0.0
    rss_bytes: int = 0

    @property
    def percent(self) -> float:
        return 100 * self.cpu_s / self.lasted_s if self.lasted_s else float("nan")


def soak(seconds: float, streams: int, busy: int, folder: Path) -> tuple[Loaded, Cost, float]:
    """The run, what its watch cost, and how busy the machine's cores were, in percent."""
    plan = folder / "plan.toml"
    plan.write_text("queueing = true\n" + (ROOT / "scenarios" / "quick.toml").read_text())
    locust = [sys.executable, "-m", "locust", "-f", str(ROOT / "locustfiles" / "soak.py"), "--headless"]
    locust += ["-t", f"{round(seconds)}s", "-u", str(streams), "-r", str(streams), "--plan", str(plan)]
    with (
        Testbed.start(folder / "logs", slots=streams, context=streams * CONTEXT) as pair,
        contention(busy, seconds + 120),
        (folder / "output.txt").open("wb") as output,
    ):
        asked = [*locust, "--host", pair.url, "--model", "llm"]
        with subprocess.Popen(asked, cwd=folder, stdout=output, stderr=output) as load_process:
            cost, cores = observe(load_process, seconds)
            load_process.wait(seconds + 300)
    (run,) = (folder / "runs").iterdir()
    return load(run), cost, cores


def observe(load_process: "subprocess.Popen[bytes]", seconds: float) -> tuple[Cost, float]:
    """The watch's cost while the load runs: from its first tick until the load's time is up."""
    watch = None
    while watch is None and load_process.poll() is None:
        time.sleep(0.2)
        watch = find_watch(load_process.pid)
    if watch is None:
        raise SystemExit("the soak ended before its watch began; see its output")
    time.sleep(2.0)  # imports are no cost of watching
    began, cpu, cost = time.monotonic(), cpu_seconds(watch), Cost()
    psutil.cpu_percent()
    while (lasted := time.monotonic() - began) < seconds - 5 and load_process.poll() is None:
        cost = Cost(cpu_seconds(watch) - cpu, lasted, max(cost.rss_bytes, watch.memory_info().rss))
        time.sleep(1.0)
    return cost, psutil.cpu_percent()


def find_watch(parent: int) -> psutil.Process | None:
    try:
        children = psutil.Process(parent).children()
        return next((child for child in children if "soakproof.watch" in child.cmdline()), None)
    except psutil.NoSuchProcess:
        return None


def cpu_seconds(process: psutil.Process) -> float:
    times = process.cpu_times()
    return times.user + times.system


def lateness_ms(samples: Sequence[Sample]) -> list[float]:
    """How late each reading began, in order of size."""
    return sorted((s.t_ns - s.took_ns - s.due_ns) / 1e6 for s in samples)


def percentile(ordered: Sequence[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, round(share * (len(ordered) - 1)))]


def report(run: Loaded, cost: Cost, cores: float) -> bool:
    """Print what was measured; whether it is good enough."""
    ended = next(r for r in run.records if isinstance(r, Event) and r.what == "watch_ended").details
    rows, worst = [], 0.0
    for name, figures in ended["sources"].items():
        late = lateness_ms([s for s in run.samples if is_of(s.source, name)])
        told = [f"{percentile(late, share):.1f}" for share in (0.5, 0.95, 0.99, 1)] if late else ["-"] * 4
        worst = max(worst, percentile(late, 0.99) if late else 0.0)
        rows.append((name, figures["due"], figures["had"], figures["missed"], *told))
    rows.insert(0, ("(the watch's own tick)", *(ended[f"ticks_{k}"] for k in ("due", "had", "missed"))))
    heads = ("source", "due", "had", "missed", "late p50 ms", "p95", "p99", "max")
    print(tabulate(rows, headers=heads, disable_numparse=True))
    own = {name: figures for name, figures in ended["sources"].items() if name not in ASKING}
    missed = ended["ticks_missed"] + sum(figures["missed"] for figures in own.values())
    rss = cost.rss_bytes / MIB
    print(f"cores {cores:.0f} % busy; the watch's own tick at most {ended['late_max_ms']} ms late")
    print(f"the watch: {cost.percent:.2f} % of a core over {cost.lasted_s:.0f} s, at most {rss:.1f} MiB")
    return not missed and worst < LATE_P99_MS and cost.percent < CPU_PERCENT and rss < RSS_MIB


def is_of(source: str, name: str) -> bool:
    return source == name or source.startswith(f"{name}:")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--streams", type=int, default=64)
    parser.add_argument("--busy", type=int, default=0, help="processes beside it that take a core each")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        good = report(*soak(60 * options.minutes, options.streams, options.busy, Path(scratch)))
    print("good enough" if good else "not good enough")
    return int(not good)


if __name__ == "__main__":
    sys.exit(main())
