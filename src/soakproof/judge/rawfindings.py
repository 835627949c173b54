"""What the run's own judgement (raw.json) means for the verdict. It is shown and never changed. No I/O."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from soakproof.amounts import number
from soakproof.endings import GUARD, UNGUARDED
from soakproof.judge.finding import Figure, Finding, Outcome, Reconsidered
from soakproof.judge.telling import counted, ids
from soakproof.plain import clause, listed, plain
from soakproof.thresholds import extreme

RAW = "raw"
_RECONSIDERED = {
    True: "the policy overrules it",
    False: "whether the policy overrules it could not be judged",
}
_OUTCOMES = {"pass": Outcome.PASS, "fail": Outcome.FAIL}


def thresholds(raw: Mapping[str, Any] | None) -> tuple[Mapping[str, Any], ...]:
    """The raw thresholds as the run judged them."""
    return _mappings((raw or {}).get("thresholds"))


def outcome_of(threshold: Mapping[str, Any]) -> Outcome:
    """What the run made of a threshold; INCONCLUSIVE where it was not measured."""
    return _OUTCOMES.get(str(threshold.get("outcome")), Outcome.INCONCLUSIVE)


def failures_of(threshold: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    """The failures of a threshold that raw.json lists: the first of many."""
    return _mappings(threshold.get("failures"))


def failed_of(threshold: Mapping[str, Any]) -> int:
    """How many failures a threshold had, those that are not listed included."""
    return max(len(failures_of(threshold)), _count(threshold, "failed"))


def raw_findings(
    raw: Mapping[str, Any] | None,
    run: Mapping[str, Any],
    reconsidered: Iterable[Reconsidered],
    *,
    functional: bool,
    recovered: bool = False,
) -> tuple[Finding, ...]:
    """The raw outcome and each raw threshold as findings; a reconsidered failure decides nothing.

    ``functional``: whether an adjudicator that decides judges the checks and exchanges again. If none
    does, their raw failures count here. ``recovered``: whether the run was sealed after its process had died.
    """
    if raw is None:
        return (_outcome(Outcome.INCONCLUSIVE, f"The run has no raw outcome: {_unjudged(run, recovered)}."),)
    entries = {r.threshold: r for r in reconsidered if r.applied or r.undecided}
    found = [_threshold(t, entries.get(str(t.get("name")))) for t in thresholds(raw)]
    return (_whole(raw, found, functional), *found)


def _unjudged(run: Mapping[str, Any], recovered: bool) -> str:
    """Why a run has no outcome of its own."""
    state = run.get("state")
    if recovered:
        return "it was killed before it could judge itself, and what it left was sealed later"
    return (
        "it was killed, or still runs" if state in (None, "preparing", "running") else f"its state is {state}"
    )


def _whole(raw: Mapping[str, Any], found: list[Finding], functional: bool) -> Finding:
    outcome = raw.get("outcome")
    reason = _reason(raw)
    if outcome == "clean":
        return _outcome(Outcome.PASS, "The run itself found nothing wrong.")
    if outcome == "nothing":
        return _outcome(Outcome.INCONCLUSIVE, f"Nothing completed in the run{reason}.")
    if outcome == "error":
        return _outcome(Outcome.ERROR, f"The run could not be carried out{reason}.", fault="ours")
    if outcome != "failed":
        return _outcome(Outcome.INCONCLUSIVE, f"The raw outcome is {outcome!r}, which says nothing.")
    failures, by_threshold = list(failed_beside(raw)), any(f.outcome is Outcome.FAIL for f in found)
    if failures or by_threshold:
        return _failed(failures, functional)
    return _outcome(Outcome.INCONCLUSIVE, _unfailed(raw, found, reason))


def _unfailed(raw: Mapping[str, Any], found: list[Finding], reason: str) -> str:
    """Why a run in which nothing failed is not clean."""
    why = _mapping(raw.get("ended")).get("why")
    if why == GUARD:
        return f"The guard ended the load before its time{reason}."
    if why == UNGUARDED:
        return f"The load was ended before its time, since its guard was lost{reason}."
    unmeasured = [f.subject for f in found if f.outcome is Outcome.INCONCLUSIVE]
    if unmeasured:
        told = f"{counted(len(unmeasured), 'threshold')} could not be measured"
        return f"Nothing failed in the run, but {told}: {listed(unmeasured, 10)}."
    return "The run says that it failed, and names no failure."


def _failed(failures: list[str], functional: bool) -> Finding:
    if not failures:
        return _outcome(Outcome.FAIL, "The run itself failed, by its thresholds alone.", critical=False)
    told = f"The run itself failed: {', '.join(failures)}."
    if functional:
        return _outcome(Outcome.FAIL, f"{told} Each is judged again by functional.", critical=False)
    return _outcome(Outcome.FAIL, f"{told} No adjudicator that decides judges them again.")


def failed_beside(raw: Mapping[str, Any]) -> Iterator[str]:
    """Raw failures other than thresholds, in words: ``57 x roll.order``, ``3 failed exchanges (3 stall)``."""
    for name, counts in sorted(_mapping(raw.get("checks")).items()):
        if _count(counts, "fail"):
            yield f"{_count(counts, 'fail')} x {name}"
    failed = _count(raw.get("exchanges"), "fail")
    if failed:
        classes = _mapping(_mapping(raw.get("exchanges")).get("by_failure"))
        told = ", ".join(f"{_count(classes, name)} {plain(name, 40)}" for name in sorted(classes))
        yield f"{counted(failed, 'failed exchange')}{f' ({told})' if told else ''}"
    for kind, ends in sorted(_mapping(raw.get("iterations")).items()):
        if _count(ends, "broken"):
            yield f"{counted(_count(ends, 'broken'), 'broken iteration')} of {kind}"


def _mappings(value: Any) -> tuple[Mapping[str, Any], ...]:
    return tuple(v for v in value if isinstance(v, Mapping)) if isinstance(value, (list, tuple)) else ()


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _count(counts: Any, name: str) -> int:
    found = number(_mapping(counts).get(name))
    return int(found) if found is not None and found < 2**53 else 0


def _threshold(told: Mapping[str, Any], entry: Reconsidered | None) -> Finding:
    name, that = str(told.get("name")), str(told.get("that"))
    n = number(told.get("n"))
    return Finding(
        adjudicator=RAW,
        subject=name,
        question=f"Did the run keep its own threshold {name}?",
        outcome=outcome_of(told),
        answer=_told(told, entry),
        figures=(
            Figure(
                name=name,
                value=number(told.get("observed")),
                unit=str(told.get("unit") or ""),
                n=None if n is None else int(n),
                note=extreme(that),
            ),
        ),
        limit=that,
        limit_source="plan",
        exchanges=ids(str(f["exchange"]) for f in failures_of(told) if f.get("exchange")),
        critical=entry is None,
    )


def _told(told: Mapping[str, Any], entry: Reconsidered | None) -> str:
    outcome, failed = outcome_of(told), failed_of(told)
    reason = clause(told.get("reason") or "")
    if outcome is Outcome.PASS:
        return f"It was kept{_seen(told)}."
    if outcome is Outcome.INCONCLUSIVE:
        return f"It could not be judged: {reason or 'no reason is told'}."
    count = f": {counted(failed, 'failure')}" if failed else ""
    seen = _seen(told).replace(":", ";", 1) if count else _seen(told)
    return f"It failed{count}{seen}{f' ({reason})' if reason else ''}." + (
        f" The failure stands; {_RECONSIDERED[entry.applied]}." if entry else ""
    )


def _seen(told: Mapping[str, Any]) -> str:
    """What the run observed of a threshold, and how many it looked at."""
    observed, n = number(told.get("observed")), number(told.get("n"))
    if observed is None:
        return ""
    value = f"{observed:,.4g} {plain(told.get('unit') or '', 30)}".rstrip()
    which = extreme(str(told.get("that")))
    of = f", the {which}" if which else ""
    return f": {value} observed{of}{'' if n is None else f', n {n:,.0f}'}"


def _outcome(outcome: Outcome, answer: str, *, critical: bool = True, fault: str = "") -> Finding:
    return Finding(
        adjudicator=RAW,
        subject="outcome",
        question="What did the run say of itself?",
        outcome=outcome,
        answer=answer,
        limit="clean",
        limit_source="plan",
        critical=critical,
        fault=fault,
    )


def _reason(raw: Mapping[str, Any]) -> str:
    reason = _mapping(raw.get("ended")).get("reason")
    return f": {clause(reason)}" if reason else ""
