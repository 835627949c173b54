"""Small runs on disk, for tests of run directories and of the commands that read them."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from soakproof.raw import raw_result
from soakproof.records import Event, Record
from soakproof.run import Run
from soakproof.testing import evidence as judging

RAW: dict[str, Any] = {
    "outcome": "clean",
    "exit_code": 0,
    "thresholds": [],
    "checks": {},
    "exchanges": {"opened": 2, "closed": 2, "ok": 2, "fail": 0, "unknown": 0, "by_failure": {}},
    "iterations": {},
    "ended": {"why": "time", "reason": ""},
}


def event(n: int = 0, node: str = "load", text: str = "") -> Event:
    return Event(node=node, t_ns=n, what="tick", details={"n": n, "text": text})


def begun(runs: Path, *nodes: str, records: int = 3) -> Run:
    """A run that is being written, with a few records in each node."""
    run = Run.create(runs, "hand", {"format": 1, "id": "hand", "state": "running"})
    for node in nodes or ("load", "watch"):
        for n in range(records):
            run.writer(node).write(event(n, node))
    return run


def orphaned(run: Path) -> Path:
    """The run as if every process that writes it were gone."""
    for held in run.rglob(".writer"):
        held.unlink()
    return run


def sealed(runs: Path, *nodes: str, records: int = 3) -> Path:
    run = begun(runs, *nodes, records=records)
    run.seal(RAW)
    return run.path


def judgeable(
    runs: Path, *records: Record | Iterable[Record], raw: dict[str, Any] | None = None, **more: Any
) -> Path:
    """A sealed run with what `judging.evidence` makes of these records; ``more`` is for its run.json."""
    evidence = judging.evidence(*records, **more)
    run = Run.create(runs, str(evidence.plan.get("name")), {})
    run.document = {
        **evidence.run,
        "id": run.path.name,
        "zero_ns": run.path.stat().st_mtime_ns,
        "boot_id": "boot",
    }
    for record in evidence.records:
        run.writer(record.node).write(record)
    for node in ("load", "watch"):
        run.writer(node)
    run.seal(raw or raw_result((), evidence.records, ended=run.document["ended"]))
    return run.path
