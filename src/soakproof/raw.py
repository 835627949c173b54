"""The run's own judgement of its thresholds, checks and exchanges: the raw result. Pure; no I/O.

It is written once, at the end of the run, and never changed by any later judgement. A run is clean only
when something completed, no exchange or check failed, no scenario broke, and every threshold was measured
and met. A plan that has a threshold of its own on `failed_exchanges` or `failed_checks` says by it how
many may fail; without one, none may.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from soakproof.endings import EARLY, NEVER_CLEAN, how_ended
from soakproof.errors import EXIT_ERROR, EXIT_FAIL, EXIT_OK
from soakproof.plain import listed, plain
from soakproof.quantities import KNOWN, outcome_of
from soakproof.records import Check, Exchange, Iteration, Opened, Record
from soakproof.thresholds import ParsedThreshold, ThresholdResult, evaluate, extreme, parse

if TYPE_CHECKING:
    from soakproof.columns import Table
    from soakproof.plan import Threshold

RawOutcome = Literal["clean", "failed", "nothing", "error"]
EXIT: Mapping[str, int] = {"clean": EXIT_OK, "failed": EXIT_FAIL, "nothing": EXIT_ERROR, "error": EXIT_ERROR}
KEPT = 100  # failures of one threshold that raw.json lists; `failed` has how many there were
SHOWN = 10  # sorts of failures that are told, each by its first


@dataclass(frozen=True, slots=True)
class Seen:
    """What the raw result looks at, each in the order in which it was written."""

    exchanges: "Table[Exchange]"
    unclosed: "Table[Opened]"
    checks: "Table[Check]"
    iterations: "Table[Iteration]"


def raw_result(
    thresholds: "Sequence[Threshold]", records: Iterable[Record], *, ended: Mapping[str, Any]
) -> dict[str, Any]:
    """The document of raw.json. ``ended`` is {why, reason}, as in run.json."""
    return raw_result_of(thresholds, _sorted(records), ended=ended)


def raw_result_of(
    thresholds: "Sequence[Threshold]", seen: Seen, *, ended: Mapping[str, Any]
) -> dict[str, Any]:
    """The same of columns."""
    parsed = [parse(t) for t in thresholds]
    results = [evaluate(p, seen.exchanges, seen.checks, seen.iterations, seen.unclosed) for p in parsed]
    outcome = _outcome(seen, results, str(ended.get("why", "")))
    return {
        "outcome": outcome,
        "exit_code": EXIT[outcome],
        "thresholds": [_threshold(r) for r in results],
        "checks": _checks(seen.checks),
        "exchanges": _exchanges(seen),
        "iterations": _iterations(seen.iterations),
        "ended": {"why": ended.get("why", ""), "reason": ended.get("reason", "")},
        "first_failures": _first_failures(seen),
    }


def _sorted(records: Iterable[Record]) -> Seen:
    from soakproof.columns import Table  # numpy, which a process that only writes a run can do without

    opened: dict[str, Opened] = {}
    kept: dict[type, list[Any]] = {Exchange: [], Check: [], Iteration: []}
    for record in records:
        if type(record) is Opened:
            opened[record.id] = record
        elif type(record) in kept:
            kept[type(record)].append(record)
    closed = {e.id for e in kept[Exchange]}
    unclosed = tuple(o for id, o in opened.items() if id not in closed)
    return Seen(
        Table(Exchange, kept[Exchange]),
        Table(Opened, unclosed),
        Table(Check, kept[Check]),
        Table(Iteration, kept[Iteration]),
    )


def _outcome(seen: Seen, results: Sequence[ThresholdResult], why: str) -> RawOutcome:
    if why == "error":
        return "error"
    if _nothing(seen):
        return "nothing"
    parsed = [r.threshold for r in results]
    bad = (
        why in NEVER_CLEAN
        or any(r.outcome != "pass" for r in results)
        or any(not _governed(e, "failed_exchanges", parsed) for e in _failed_exchanges(seen).records)
        or any(not _governed(c, "failed_checks", parsed) for c in _failed_checks(seen).records)
        or "broken" in seen.iterations["end"].tolist()
    )
    return "failed" if bad else "clean"


def _failed_exchanges(seen: Seen) -> "Table[Exchange]":
    return seen.exchanges.where(seen.exchanges["outcome"] == "fail")


def _failed_checks(seen: Seen) -> "Table[Check]":
    failed = seen.checks.where(seen.checks["outcome"] == "fail")
    return failed.of([outcome != KNOWN for outcome in _graded(failed)])


def _graded(checks: "Table[Check]") -> list[str]:
    return list(map(outcome_of, checks["outcome"].tolist(), checks["grade"].tolist()))


def _nothing(seen: Seen) -> bool:
    """No exchange has a known outcome, or none was ok and no iteration completed."""
    outcomes = set(seen.exchanges["outcome"].tolist())
    completed = "completed" in seen.iterations["end"].tolist()
    return outcomes <= {"unknown"} or ("ok" not in outcomes and not completed)


def _governed(record: Exchange | Check, quantity: str, thresholds: Iterable[ParsedThreshold]) -> bool:
    """Whether a threshold of the plan's own says how many of these may fail."""
    part = record.role if isinstance(record, Exchange) else ""
    names = ("", record.scenario, f"{record.scenario}.{part}", getattr(record, "name", ""))
    return any(t.quantity == quantity and t.filter in names for t in thresholds)


def _threshold(result: ThresholdResult) -> dict[str, Any]:
    asked = result.threshold
    return {
        "name": asked.name,
        "that": asked.that,
        "why": asked.why,
        "outcome": result.outcome,
        "observed": result.observed,
        "unit": asked.unit,
        "n": result.n,
        "failed": len(result.failures),
        "failures": [{"exchange": id, "value": value} for id, value in result.failures[:KEPT]],
        "reason": result.reason,
    }


def _checks(checks: "Table[Check]") -> dict[str, dict[str, int]]:
    counts = Counter(zip(checks["name"].tolist(), _graded(checks), strict=True))
    names = sorted({name for name, _ in counts})
    return {n: {o: counts[n, o] for o in ("pass", "fail", "unknown", KNOWN)} for n in names}


def _exchanges(seen: Seen) -> dict[str, Any]:
    outcomes = Counter(seen.exchanges["outcome"].tolist())
    failures = Counter(str(f or "unclassified") for f in _failed_exchanges(seen)["failure"].tolist())
    return {
        "opened": len(seen.exchanges) + len(seen.unclosed),
        "closed": len(seen.exchanges),
        "ok": outcomes["ok"],
        "fail": outcomes["fail"],
        "unknown": outcomes["unknown"] + len(seen.unclosed),
        "by_failure": dict(sorted(failures.items())),
    }


def _iterations(iterations: "Table[Iteration]") -> dict[str, dict[str, int]]:
    counts = Counter(zip(iterations["scenario"].tolist(), iterations["end"].tolist(), strict=True))
    kinds = sorted({kind for kind, _ in counts})
    ends = ("completed", "failed", "stopped", "broken")
    return {kind: {end: counts[kind, end] for end in ends} for kind in kinds}


def _first_failures(seen: Seen) -> list[str]:
    """The first failure of each check, of each class of exchanges and of each scenario, in words."""
    checks = [
        (c.name, f"check {c.name} failed in {c.scenario} {c.iteration}{_where(c)}{_why(c.grade, c.reason)}")
        for c in _failed_checks(seen).records
    ]
    exchanges = [
        (str(e.failure), f"exchange {e.id} failed: {e.failure or 'unclassified'}{_why(e.reason)}")
        for e in _failed_exchanges(seen).records
    ]
    iterations = seen.iterations
    broken = [
        (i.scenario, f"scenario {i.scenario} broke in iteration {i.number}{_why(i.reason)}")
        for i in iterations.where(iterations["end"] == "broken").records
    ]
    sorts = (("checks", checks), ("classes of failed exchanges", exchanges), ("scenarios", broken))
    return [line for what, failures in sorts for line in _first_of_each(what, failures)]


def _first_of_each(what: str, failures: Sequence[tuple[str, str]]) -> Iterator[str]:
    """``failures`` are (sort, words); of each sort the first, with how many more there are."""
    counts = Counter(sort for sort, _ in failures)
    first = dict(reversed(failures))
    for sort in list(counts)[:SHOWN]:
        more = f" (and {counts[sort] - 1:,} more)" if counts[sort] > 1 else ""
        yield f"{plain(first[sort], 300)}{more}"
    left_out = list(counts.values())[SHOWN:]
    if left_out:
        yield f"and {len(left_out):,} more {what}, {sum(left_out):,} failures"


def _where(check: Check) -> str:
    """The exchanges that a check looked at: where to look on."""
    return f" ({listed(check.exchanges, 3)})" if check.exchanges else ""


def _why(*parts: str) -> str:
    told = ": ".join(part for part in parts if part)
    return f": {told}" if told else ""


def summary_lines(raw: Mapping[str, Any]) -> list[str]:
    """The raw result for a terminal: its outcome, what was done, each threshold, the first failures."""
    lines = [f"raw result: {_headline(raw)}", *_totals(raw)]
    lines += [f"  {plain(_told(threshold), 400)}" for threshold in raw.get("thresholds", ())]
    lines += [f"  {plain(line, 400)}" for line in raw.get("first_failures", ())]
    return lines


def _headline(raw: Mapping[str, Any]) -> str:
    outcome = str(raw.get("outcome"))
    ended = raw.get("ended") or {}
    words = {
        "clean": "clean",
        "failed": "FAILED",
        "nothing": "NOTHING was completed, so nothing was shown",
        "error": f"ERROR: {ended.get('reason') or 'the run could not be carried out'}",
    }
    early = f" ({how_ended(ended)})" if ended.get("why") in EARLY else ""
    if ended.get("why") in NEVER_CLEAN:
        early = f" (the load was ended early: {ended.get('reason')})"
    return plain(words.get(outcome, outcome) + early, 400)


def _totals(raw: Mapping[str, Any]) -> list[str]:
    exchanges, checks = raw.get("exchanges") or {}, (raw.get("checks") or {}).values()
    iterations = raw.get("iterations") or {}
    done = ", ".join(f"{count['completed']} {plain(kind, 40)}" for kind, count in iterations.items())
    failures = ", ".join(f"{n} {name}" for name, n in (exchanges.get("by_failure") or {}).items())
    counted = {end: sum(check.get(end, 0) for check in checks) for end in ("pass", "fail", "unknown", KNOWN)}
    known = f", {counted[KNOWN]} met a known limit" if counted[KNOWN] else ""
    return [
        f"  iterations completed: {done or 'none'}",
        f"  exchanges: {exchanges.get('ok', 0)} ok, {exchanges.get('fail', 0)} failed"
        f"{f' ({failures})' if failures else ''}, {exchanges.get('unknown', 0)} unknown",
        f"  checks: {counted['pass']} passed, {counted['fail']} failed, {counted['unknown']} unknown{known}",
    ]


def _told(threshold: Mapping[str, Any]) -> str:
    if threshold["outcome"] == "unknown":
        return f"threshold {threshold['name']} not measured: {threshold['that']}: {threshold['reason']}"
    which = f"{extreme(threshold['that'])} observed ".lstrip()
    if threshold["failures"]:
        which = f"{threshold['failed']} of {threshold['n']} fail, worst "
    observed = f"{which}{threshold['observed']:.4g} {threshold['unit']}".rstrip()
    end = "met" if threshold["outcome"] == "pass" else "failed"
    but = f"; {threshold['reason']}" if threshold["reason"] else ""
    return f"threshold {threshold['name']} {end}: {threshold['that']}: {observed} (n={threshold['n']}{but})"
