"""When a run's records can have been made, and whether its end explains what is missing. No I/O."""

from typing import TYPE_CHECKING

from soakproof import __version__
from soakproof.clock import NS

if TYPE_CHECKING:
    from soakproof.judge.evidence import Evidence

AFTERWARDS = 600 * NS  # the slots are awaited and the watch ends after the load; this is ample


def crashed(evidence: "Evidence") -> bool:
    """Whether the run did not come to its own end: then its last records may be missing, and that is told."""
    why = (evidence.run.get("ended") or {}).get("why")
    return evidence.recovered or evidence.run.get("state") != "ended" or why == "error"


def of_this_program(evidence: "Evidence") -> bool:
    """Whether run.json tells the program that wrote it: then what that always writes must be there."""
    return bool(evidence.run.get("program"))


def of_this_version(evidence: "Evidence") -> bool:
    """Whether the run was judged by the same rules as are in force here."""
    return (evidence.run.get("versions") or {}).get("soakproof") == __version__


def is_load(node: str) -> bool:
    """``load``, or one of several such as ``load-1``."""
    return node == "load" or node.startswith("load-")


def limits(evidence: "Evidence", node: str) -> tuple[int, int | None]:
    """The first and the last time that a node's record may have; None where the load's end is not known."""
    run = evidence.run
    ended = run.get("load_ended_ns")
    last = None if ended is None else ended + AFTERWARDS
    return (run.get("load_started_ns") or 0) if is_load(node) else 0, last
