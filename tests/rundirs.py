"""Small runs on disk, for tests of run directories."""

from pathlib import Path

from soakproof.records import Event
from soakproof.run import Run

RAW = {"outcome": "clean", "exit_code": 0}


def event(n: int = 0, node: str = "load", text: str = "") -> Event:
    return Event(node=node, t_ns=n, what="tick", details={"n": n, "text": text})


def begun(runs: Path, *nodes: str, records: int = 3) -> Run:
    """A run that is being written, with a few records in each node."""
    run = Run.create(runs, "hand", {"format": 1, "id": "hand", "state": "running"})
    for node in nodes or ("load", "watch"):
        for n in range(records):
            run.writer(node).write(event(n, node))
    return run


def sealed(runs: Path, *nodes: str, records: int = 3) -> Path:
    run = begun(runs, *nodes, records=records)
    run.seal(RAW)
    return run.path
