"""How much of the run its evidence covers: seals, nodes, and each source's readings and gaps. No I/O."""

import numpy as np

from soakproof.clock import NS
from soakproof.endings import how_ended
from soakproof.judge.evidence import Evidence, last_seen
from soakproof.judge.telling import counted
from soakproof.plain import listed
from soakproof.report.page import Column, Table
from soakproof.report.schedule import watch_line
from soakproof.samples import Readings

_PROBLEMS = 10


def evidence_lines(evidence: Evidence) -> tuple[str, ...]:
    """The state of the seals, the nodes, unreadable lines, unclosed requests, and how the watch ended."""
    lines = [_seal(evidence)]
    lines.append(f"Nodes: {', '.join(evidence.nodes) or 'none'}; {evidence.lines:,} records.")
    lines += [f"Not readable: {problem}." for problem in evidence.problems[:_PROBLEMS]]
    if len(evidence.problems) > _PROBLEMS:
        lines.append(f"And {len(evidence.problems) - _PROBLEMS:,} more that are not readable.")
    lines.append(_requests(evidence))
    lines.append(_load(evidence))
    return (*lines, watch_line(evidence))


def _seal(evidence: Evidence) -> str:
    if evidence.seal_problems:
        return f"NOT as it was sealed: {listed(evidence.seal_problems, _PROBLEMS, '; ', limit=1000)}."
    if evidence.host_lost:
        last = last_seen(evidence)
        at = "" if last is None else f" after {last:,.1f} s of the run"
        return f"The run ended by the loss of its host{at}; sealed later by `soakproof recover`."
    if evidence.recovered:
        return "Sealed after a crash by `soakproof recover`, and unchanged since."
    return "Sealed by the run itself, and unchanged since."


def _requests(evidence: Evidence) -> str:
    sent, unclosed = len(evidence.exchange_table) + len(evidence.unclosed), len(evidence.unclosed)
    return f"{counted(sent, 'request')} sent, {counted(unclosed, 'request')} never closed."


def _load(evidence: Evidence) -> str:
    how = how_ended(evidence.run.get("ended")) or "how it ended is not known"
    if evidence.duration is None:
        return f"How long the load lasted is not known; {how}."
    return f"The load lasted {evidence.duration:,.2f} s; {how}."


def coverage_table(evidence: Evidence) -> Table:
    """A row a source: readings, how many hold a value, what the others say, and the longest gap."""
    columns = (
        Column("Source"),
        Column("Readings", "number"),
        Column("With a value", "number"),
        Column("Without"),
        Column("From, to (s)", "number"),
        Column("Longest gap (s)", "number"),
    )
    rows = tuple(_row(source, told) for source, told in sorted(evidence.samples.items()))
    return Table(columns, rows, "No source was sampled, so memory, slots and processes are not known.")


def _row(source: str, told: Readings) -> tuple[str, ...]:
    good, bad = told.with_value(), told.without_value()
    reason = bad.reason()
    without = ", ".join(f"{n:,} {state}" for state, n in sorted(bad.states().items())) or "none"
    return (
        source,
        f"{len(told):,}",
        f"{len(good):,}",
        f"{without}: {reason}" if reason else without,
        f"{told.due_ns[0] / NS:,.0f} to {told.due_ns[-1] / NS:,.0f}",
        f"{np.diff(good.due_ns).max() / NS:,.1f}" if len(good) > 1 else "unknown",
    )
