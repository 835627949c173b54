"""What a healthy server is said to have done wrong: nothing, whatever the load and the weather.

    python benchmarks/false_alarms.py [--minutes 6] [--seed N] [--only NAME …] [--write]

soaks the healthy testbed under each condition for so many minutes and judges it by the default policy. A FAIL
or an ERROR is a false alarm, and ends the command with 1. INCONCLUSIVE is none where it says that the machine
could not carry the load: that is what it has to say. Each condition has a seed of its own, counted from
--seed, so that no two ask the same. With --write the results go to docs/false-alarms.md.
"""

import argparse
import json
import math
import os
import platform
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from tabulate import tabulate

from soakproof.testbed.launch import Testbed

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "false-alarms.md"
BUSY = "import sys, time\nend = time.monotonic() + float(sys.argv[1])\nwhile time.monotonic() < end: pass"


@dataclass(frozen=True)
class Condition:
    """One way in which a server may be healthy."""

    name: str
    users: int = 4
    plants: tuple[str, ...] = ()
    plan: str = "soak"
    more: str = ""  # TOML before the plan's own
    busy: int = 0  # processes that take a core each


CONDITIONS = (
    Condition("one user", users=1),
    Condition("two users", users=2),
    Condition("four users", users=4),
    Condition("eight users on two slots", users=8),
    Condition("every kind there is", plan="everything"),
    Condition("slow prefill, with pings", plants=("slow-prefill",)),
    Condition("one-byte chunks", plants=("one-byte-chunks",)),
    Condition("temperature 0.8", plants=("temperature",)),
    Condition("a long queue in the server", users=8, more="queueing = true\n"),
    Condition("both cores loaded by others", busy=2),
)


@dataclass(frozen=True)
class Result:
    condition: str
    minutes: float
    iterations: int
    exchanges: int
    checks: int
    raw: str
    verdict: str
    told: Sequence[str]  # findings that are no PASS and could decide

    @property
    def false_alarm(self) -> bool:
        return self.verdict in ("FAIL", "ERROR") or self.raw != "clean"


@contextmanager
def contention(processes: int, seconds: float) -> Iterator[None]:
    """So many cores kept busy by others, as long as the block lasts and no longer than so many seconds."""
    others = [subprocess.Popen([sys.executable, "-c", BUSY, str(seconds)]) for _ in range(processes)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def soak(condition: Condition, minutes: float, seed: int, folder: Path) -> Result:
    """Soak and judge one condition, on a testbed of its own."""
    plan = folder / "plan.toml"
    plan.write_text(condition.more + (ROOT / "scenarios" / f"{condition.plan}.toml").read_text())
    arguments = ["--plantable", *(word for plant in condition.plants for word in ("--plant", plant))]
    locust = [sys.executable, "-m", "locust", "-f", str(ROOT / "locustfiles" / "soak.py"), "--headless"]
    locust += ["-t", f"{round(minutes * 60)}s", "-u", str(condition.users), "--plan", str(plan)]
    locust += ["--seed", str(seed)]
    judge = [sys.executable, "-m", "soakproof", "adjudicate", "latest"]
    with (
        Testbed.start(folder / "logs", arguments=arguments) as pair,
        contention(condition.busy, minutes * 60 + 120),
        (folder / "output.txt").open("wb") as output,
    ):
        asked = [*locust, "--host", pair.url, "--model", "llm"]
        subprocess.run(asked, cwd=folder, stdout=output, stderr=output, check=False)
        subprocess.run(judge, cwd=folder, stdout=output, stderr=output, check=False)
    return result(condition.name, minutes, folder)


def result(name: str, minutes: float, folder: Path) -> Result:
    (run,) = (folder / "runs").iterdir()
    raw = json.loads((run / "raw.json").read_text())
    (entry,) = (run / "verdicts").iterdir()
    verdict = json.loads((entry / "verdict.json").read_text())
    return Result(
        name,
        minutes,
        sum(kind["completed"] for kind in raw["iterations"].values()),
        raw["exchanges"]["closed"],
        sum(check["pass"] for check in raw["checks"].values()),
        raw["outcome"],
        verdict["outcome"],
        [
            f"{f['outcome']} {f['adjudicator']}: {f['subject']}"
            for f in verdict["findings"]
            if f["outcome"] != "PASS" and f["critical"]
        ],
    )


def table(results: Sequence[Result]) -> str:
    rows = [
        (
            r.condition,
            f"{r.minutes:g}",
            r.iterations,
            r.exchanges,
            r.checks,
            r.raw,
            r.verdict,
            "; ".join(r.told),
        )
        for r in results
    ]
    headers = ("condition", "minutes", "iterations", "exchanges", "checks", "raw", "verdict", "what was told")
    return tabulate(rows, headers=headers, tablefmt="pipe", disable_numparse=True)


def page(results: Sequence[Result], command: str, code: str) -> str:
    """The page that keeps the last result."""
    alarms = sum(r.false_alarm for r in results)
    minutes = sum(r.minutes for r in results)
    return f"""# False alarms

The healthy testbed, soaked under each condition below and judged by the default policy. Written by
`python {command}` on {datetime.now(UTC):%Y-%m-%d}, of the code as of `{code}`, on {os.cpu_count()} cores
({platform.machine()}): {alarms} false alarms in {minutes:g} minutes.{bound(alarms, minutes)}

{table(results)}
"""


def bound(alarms: int, minutes: float) -> str:
    """What so long without an alarm says of their rate; exact for alarms that come by chance (Poisson)."""
    if alarms:
        return ""
    most = -math.log(0.05) / minutes * 60
    return f" By that alone the rate is at most {most:.2g} an hour (95 % confidence)."


def revision() -> str:
    """The last commit, as git says it."""
    git = ["git", "-C", str(ROOT), "describe", "--always", "--dirty"]
    told = subprocess.run(git, capture_output=True, text=True, check=False)
    return told.stdout.strip() or "no repository"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=6.0, help="of each condition")
    parser.add_argument("--seed", type=int, default=1, help="of the first condition")
    parser.add_argument("--only", nargs="+", metavar="NAME", choices=[c.name for c in CONDITIONS])
    parser.add_argument("--write", action="store_true", help="write docs/false-alarms.md")
    options = parser.parse_args()
    results, code = [], revision()
    with tempfile.TemporaryDirectory() as scratch:
        for n, condition in enumerate(CONDITIONS):
            if options.only and condition.name not in options.only:
                continue
            folder = Path(scratch) / str(n)
            folder.mkdir()
            began = time.monotonic()
            results.append(soak(condition, options.minutes, options.seed + n, folder))
            print(f"{condition.name}: {results[-1].verdict}, {time.monotonic() - began:.0f} s", flush=True)
    print(table(results))
    if options.write:
        PAGE.write_text(page(results, shlex.join(["benchmarks/false_alarms.py", *sys.argv[1:]]), code))
    return int(any(r.false_alarm for r in results))


if __name__ == "__main__":
    sys.exit(main())
