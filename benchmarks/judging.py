"""What it takes to judge a day: `soakproof adjudicate` on a run of 24 hours, its time and its memory.

    python benchmarks/judging.py [--hours 24] [--from RUN] [--keep DIR]

The day is a short soak, of the testbed unless --from names one, repeated until it is as long: each copy with
times, ids, iterations, seeds and codes of its own, sealed like any other run. Adjudicating it, with its
reports, must take at most 5 s and 500 MiB on two cores; else the command ends with 1. --keep leaves the run
in DIR.
"""

import argparse
import hashlib
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
from false_alarms import ROOT
from tabulate import tabulate

from soakproof.catalog import Catalog
from soakproof.plan import load_plan
from soakproof.raw import raw_result
from soakproof.run import EVIDENCE, Run, find, read_records, seal_folder

SECONDS, MIB = 5.0, 500.0
NS = 1_000_000_000
LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
TIMES = ("t_ns", "due_ns", "sent_ns", "done_ns", "started_ns", "ended_ns", "cancelled_ns")
TIMES += (
    "headers_ns",
    "first_byte_ns",
    "first_token_ns",
    "first_content_ns",
    "first_visible_ns",
    "last_token_ns",
)
Line = dict[str, Any]


@dataclass
class Soak:
    """A short soak's lines, node by node."""

    document: dict[str, Any]
    nodes: dict[str, list[Line]]

    @classmethod
    def read(cls, run: Path) -> "Soak":
        nodes = {
            folder.name: [
                orjson.loads(line) | {"file": path.name}
                for path in sorted(folder.glob("*.jsonl"), key=lambda path: path.name == "events.jsonl")
                for line in path.read_bytes().splitlines()
            ]
            for folder in sorted((run / EVIDENCE).iterdir())
        }
        return cls(orjson.loads((run / "run.json").read_bytes()), nodes)

    @property
    def span(self) -> tuple[int, int]:
        """The load's, in whole seconds: samples stay on their schedule."""
        start, end = self.document["load_started_ns"], self.document["load_ended_ns"]
        return start, start + -(-(end - start) // NS) * NS

    @property
    def iterations(self) -> Counter[str]:
        return Counter(line["scenario"] for line in self.nodes["load"] if line["record"] == "iteration")


def when(line: Line) -> int:
    return int(next(line[name] for name in ("due_ns", "started_ns", "t_ns") if name in line))


def code(text: str, copy: int) -> str:
    """A code of the same shape for another copy."""
    tail = "".join(LETTERS[copy // len(LETTERS) ** i % len(LETTERS)] for i in range(3))
    return text[:-3] + tail if copy else text


def shifted(line: Line, copy: int, by: int, iterations: Counter[str]) -> Line:
    """The same line in a later copy."""
    line = line | {name: line[name] + by for name in TIMES if line.get(name) is not None}
    kind = line["record"]
    if kind == "sample":
        if seeds := line["values"].get("seeds"):
            line["values"] = line["values"] | {"seeds": [s if s is None else s + (copy << 32) for s in seeds]}
        return line
    if "scenario" in line:
        number = "number" if kind == "iteration" else "iteration"
        line[number] += copy * iterations[line["scenario"]]
    if kind == "check":
        line["exchanges"] = [f"{name}-{copy}" for name in line["exchanges"]]
    if kind in ("opened", "closed"):
        line |= {"id": f"{line['id']}-{copy}", "seed": line["seed"] + (copy << 32)}
        if line.get("answer_id"):
            line["answer_id"] = f"{line['answer_id']}-{copy}"
        line["prompt_digest"] = f"{copy:08x}{line['prompt_digest'][8:]}"
        for secret in line["secrets"] if kind == "closed" else ():
            line["text"] = line["text"].replace(secret, code(secret, copy))
        if kind == "closed" and line["text_digest"]:
            line["text_digest"] = hashlib.sha256(line["text"].encode()).hexdigest()
        line["secrets"] = [code(secret, copy) for secret in line["secrets"]]
    return line


def day(soak: Soak, hours: float) -> Iterator[tuple[str, Line]]:
    """Every node's lines of the long run, in the order in which they would have been written."""
    start, end = soak.span
    copies, middle = how_many(soak, hours), (start + end) // 2
    for node, lines in soak.nodes.items():
        for copy in range(copies):
            for line in lines:
                is_late = when(line) >= (middle if line["record"] == "event" else end)
                is_early = when(line) < start or (line["record"] == "event" and not is_late)
                if (is_early and copy > 0) or (is_late and copy < copies - 1):
                    continue
                own = 0 if is_early else copy
                yield node, shifted(line, own, own * (end - start), soak.iterations)


def how_many(soak: Soak, hours: float) -> int:
    start, end = soak.span
    return max(1, round(hours * 3600 * NS / (end - start)))


def written(soak: Soak, hours: float, runs: Path) -> tuple[Path, Counter[str]]:
    """The long run, sealed, and how many lines of each record it has."""
    start, end = soak.span
    later = (how_many(soak, hours) - 1) * (end - start)
    run = Run.create(runs, "day", dict(soak.document))
    counts: Counter[str] = Counter()
    had: Counter[str] = Counter()
    files: dict[Path, Any] = {}
    for node, line in day(soak, hours):
        path = run.path / EVIDENCE / node / line.pop("file")
        if path not in files:
            path.parent.mkdir(exist_ok=True)
            files[path] = path.open("wb")
        if line["record"] == "sample" and node == "watch":
            had[line["source"]] += 1
        if line.get("what") == "watch_ended":
            line["details"] = line["details"] | ticks(line["details"], had)
        counts[line["record"]] += 1
        files[path].write(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE))
    for file in files.values():
        file.close()
    for node in soak.nodes:
        seal_folder(run.path / EVIDENCE / node)
    run.document |= {
        "id": run.path.name,
        "load_stopping_ns": soak.document["load_stopping_ns"] + later,
        "load_ended_ns": soak.document["load_ended_ns"] + later,
        "plan": soak.document["plan"] | {"duration_s": hours * 3600},
        "locust": {"requests": counts["closed"], "failures": 0},
    }
    evidence = (r for path in sorted(files) for r in read_records(path) if not isinstance(r, str))
    thresholds = load_plan(Catalog(ROOT), soak.document["plan"]["name"]).thresholds
    run.seal(raw_result(thresholds, evidence, ended=soak.document["ended"]))
    return run.path, counts


def ticks(told: Line, had: Counter[str]) -> Line:
    """The watch's own account of so many readings."""
    most = max(had.values())
    sources = {
        name: source | {"due": had[name], "had": had[name]} if had[name] else source
        for name, source in told["sources"].items()
    }
    states = {
        source: counts | {"value": had[source]} if "value" in counts else counts
        for source, counts in told["states"].items()
    }
    return {"ticks_due": most, "ticks_had": most, "sources": sources, "states": states}


def short_soak(folder: Path, seconds: int, users: int) -> Path:
    """A soak of the healthy testbed."""
    command = [sys.executable, "-m", "locust", "-f", str(ROOT / "locustfiles" / "soak.py"), "--headless"]
    command += ["-t", f"{seconds}s", "-u", str(users), "--runs", str(folder)]
    subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return find(folder, "latest")


def adjudicate(run: Path) -> tuple[int, float, float]:
    """Exit code, seconds, and the most MiB of memory that judging and reporting took."""
    began = time.monotonic()
    process = subprocess.Popen([sys.executable, "-P", "-m", "soakproof", "adjudicate", str(run)])
    _, status, used = os.wait4(process.pid, 0)
    return os.waitstatus_to_exitcode(status), time.monotonic() - began, used.ru_maxrss / 1024


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--hours", type=float, default=24.0)
    parser.add_argument("--from", dest="run", type=Path, help="a short soak to repeat")
    parser.add_argument("--seconds", type=int, default=60, help="of the soak that is repeated")
    parser.add_argument("--users", type=int, default=1, help="of the soak that is repeated")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="leave the long run there")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="judging-") as scratch:
        short = given.run or short_soak(Path(scratch) / "short", given.seconds, given.users)
        run, counts = written(Soak.read(short), given.hours, given.keep or Path(scratch) / "long")
        size = sum(path.stat().st_size for path in run.rglob("*") if path.is_file())
        code, seconds, mib = adjudicate(run)
    print(
        tabulate(
            [(kind, f"{n:,}") for kind, n in counts.items()], ("record", "lines"), colalign=("left", "right")
        )
    )
    print(f"\n{size / 2**20:,.0f} MiB of evidence; adjudicated with exit code {code}")
    print(f"{seconds:.1f} s of at most {SECONDS:g} s; {mib:.0f} MiB of at most {MIB:g} MiB")
    return int(seconds > SECONDS or mib > MIB)


if __name__ == "__main__":
    sys.exit(main())
