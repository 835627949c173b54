"""The run's own outcome as a report's first section: copied from raw.json, never judged again. No I/O."""

from collections.abc import Mapping, Sequence
from typing import Any

from soakproof.amounts import amount
from soakproof.endings import GUARD, UNGUARDED, how_ended
from soakproof.judge.finding import Outcome, Reconsidered, Verdict
from soakproof.judge.rawfindings import failed_beside, failed_of, failures_of, outcome_of, thresholds
from soakproof.judge.telling import counted
from soakproof.quantities import KNOWN
from soakproof.report.page import Column, Raw, RawFailures, Table
from soakproof.report.quantity import quantity
from soakproof.thresholds import extreme, failures_counted

_SHOWN = 20
_NOTHING = "–"  # where there is nothing to count
_WORDS = {
    "clean": "Nothing failed",
    "nothing": "Nothing was completed",
    "error": "The run could not be carried out",
}
_COLUMNS = (
    Column("Raw outcome", "outcome"),
    Column("Threshold"),
    Column("As written", "code"),
    Column("Observed", "number"),
    Column("n", "number"),
    Column("Failures", "number"),
    Column("Beside it"),
)


def raw_section(verdict: Verdict) -> Raw:
    """What raw.json says; a run without one has an unknown raw outcome."""
    raw = verdict.raw
    if raw is None:
        why = "The run wrote no raw.json, so what it made of its own thresholds is not known"
        return Raw("UNKNOWN", why, Table(_COLUMNS, (), "Not known."), ())
    outcome = str(raw.get("outcome") or "unknown")
    told = thresholds(raw)
    overruled = {r.threshold: r for r in verdict.reconsidered}
    rows = tuple(_row(t, overruled.get(str(t.get("name")))) for t in told)
    table = Table(_COLUMNS, rows, "The plan has no raw thresholds.")
    failures = tuple(_failures(t) for t in told if t.get("failures"))
    failed = (*_thresholds(told, Outcome.FAIL), *failed_beside(raw))
    unmeasured = _thresholds(told, Outcome.INCONCLUSIVE)
    return Raw(outcome.upper(), _sentence(raw, outcome, told), table, failures, failed, unmeasured)


def _thresholds(told: Sequence[Mapping[str, Any]], outcome: Outcome) -> tuple[str, ...]:
    return tuple(f"threshold {t.get('name')}" for t in told if outcome_of(t) is outcome)


def _row(threshold: Mapping[str, Any], entry: Reconsidered | None) -> tuple[str, ...]:
    n = threshold.get("n")
    return (
        str(threshold.get("outcome", "unknown")),
        str(threshold.get("name", "")),
        str(threshold.get("that", "")),
        observed(threshold),
        "unknown" if n is None else f"{n:,}",
        _failed(threshold),
        _beside(threshold, entry),
    )


def observed(threshold: Mapping[str, Any]) -> str:
    """The value that a threshold was judged by, and of an `each` which of them that is."""
    value = threshold.get("observed")
    which = extreme(str(threshold.get("that"))) if value is not None else ""
    return f"{quantity(value, str(threshold.get('unit') or ''))}{f' ({which})' if which else ''}"


def _failed(threshold: Mapping[str, Any]) -> str:
    """How many failed: values of an `each`, or what a count of failures came to. A dash where a threshold is
    kept or failed as a whole, such as a percentile.
    """
    that, failed = str(threshold.get("that")), failed_of(threshold)
    if failed or (extreme(that) and outcome_of(threshold) is Outcome.PASS):
        return f"{failed:,}"
    seen, n = amount(threshold.get("observed")), amount(threshold.get("n"))
    counted = None if seen is None or n is None else failures_counted(that, seen, n)
    return _NOTHING if counted is None else f"{counted:,}"


def _beside(threshold: Mapping[str, Any], entry: Reconsidered | None) -> str:
    notes = [str(threshold.get(key) or "") for key in ("why", "reason")]
    if entry is not None:
        notes.append("overruled, see below" if entry.applied else f"not overruled: {entry.why_not}")
    return "; ".join(note for note in notes if note)


def _failures(threshold: Mapping[str, Any]) -> RawFailures:
    unit = str(threshold.get("unit") or "")
    shown = tuple(
        (str(f.get("exchange", "")), quantity(f.get("value"), unit)) for f in failures_of(threshold)[:_SHOWN]
    )
    return RawFailures(str(threshold.get("name", "")), shown, failed_of(threshold) - len(shown))


def _sentence(raw: Mapping[str, Any], outcome: str, judged: Sequence[Mapping[str, Any]]) -> str:
    failed = len(_thresholds(judged, Outcome.FAIL))
    unmeasured = len(_thresholds(judged, Outcome.INCONCLUSIVE))
    parts = [_headline(raw, outcome, failed, unmeasured)]
    parts.append(f"{failed} of {counted(len(judged), 'raw threshold')} failed" if judged else "no thresholds")
    parts.append(f"{unmeasured} could not be measured" if unmeasured else "")
    parts += [_checks(raw.get("checks")), _exchanges(raw.get("exchanges")), _ended(raw.get("ended"))]
    return "; ".join(part for part in parts if part)


def _headline(raw: Mapping[str, Any], outcome: str, failed: int, unmeasured: int) -> str:
    """The outcome in words; of a run that failed, by what."""
    if outcome != "failed":
        return _WORDS.get(outcome, "An outcome that this version does not know")
    if failed or any(failed_beside(raw)):
        return "Raw thresholds or checks failed"
    if unmeasured:
        return "Nothing failed, but not every raw threshold could be measured"
    if _why(raw) == GUARD:
        return "Nothing failed, but the guard ended the load before its time"
    if _why(raw) == UNGUARDED:
        return "Nothing failed, but the load was ended before its time, since its guard was lost"
    return "The run says that it failed, and names no failure"


def _why(raw: Mapping[str, Any]) -> str:
    ended = raw.get("ended")
    return str(ended.get("why")) if isinstance(ended, Mapping) else ""


def _checks(checks: Any) -> str:
    if not isinstance(checks, Mapping) or not checks:
        return "checks not known"
    names = {"pass": "passed", "fail": "failed", "unknown": "unknown", KNOWN: "known limits"}
    total = {k: sum(int(c.get(k) or 0) for c in checks.values()) for k in names}
    return (
        f"checks: {', '.join(f'{total[k]:,} {name}' for k, name in names.items() if total[k] or k != KNOWN)}"
    )


def _exchanges(exchanges: Any) -> str:
    if not isinstance(exchanges, Mapping) or not exchanges:
        return "exchanges not known"
    parts = [f"{exchanges.get(k) or 0:,} {k}" for k in ("ok", "fail", "unknown")]
    return f"exchanges: {', '.join(parts)}"


def _ended(ended: Any) -> str:
    reason = f" ({ended['reason']})" if isinstance(ended, Mapping) and ended.get("reason") else ""
    return f"{how_ended(ended) or 'how it ended is not known'}{reason}"
