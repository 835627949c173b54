"""The run's own outcome as a report's first section: copied from raw.json, never judged again. No I/O."""

from collections.abc import Mapping, Sequence
from typing import Any

from soakproof.judge.finding import Reconsidered, Verdict
from soakproof.judge.rawfindings import failed_beside, failed_of, failures_of, thresholds
from soakproof.judge.telling import counted
from soakproof.quantities import KNOWN
from soakproof.report.page import Column, Raw, RawFailures, Table
from soakproof.report.quantity import quantity

_SHOWN = 20
_WORDS = {
    "clean": "Nothing failed",
    "failed": "Raw thresholds or checks failed",
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
    failed = (*_failed_thresholds(told), *failed_beside(raw))
    return Raw(outcome.upper(), _sentence(raw, outcome, told), table, failures, failed)


def _failed_thresholds(told: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """Those that were not kept: a threshold that could not be measured fails a run too."""
    words = {"fail": "", "unknown": " could not be measured"}
    return tuple(
        f"threshold {t.get('name')}{words[outcome]}"
        for t in told
        if (outcome := str(t.get("outcome"))) in words
    )


def _row(threshold: Mapping[str, Any], entry: Reconsidered | None) -> tuple[str, ...]:
    n = threshold.get("n")
    return (
        str(threshold.get("outcome", "unknown")),
        str(threshold.get("name", "")),
        str(threshold.get("that", "")),
        quantity(threshold.get("observed"), str(threshold.get("unit") or "")),
        "unknown" if n is None else f"{n:,}",
        _failed(threshold),
        _beside(threshold, entry),
    )


def _failed(threshold: Mapping[str, Any]) -> str:
    """How many failed; "" where the threshold failed as a whole, such as a count or a percentile."""
    failed = failed_of(threshold)
    return f"{failed:,}" if failed or threshold.get("outcome") == "pass" else ""


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
    failed = sum(t.get("outcome") == "fail" for t in judged)
    parts = [_WORDS.get(outcome, "An outcome that this version does not know")]
    parts.append(f"{failed} of {counted(len(judged), 'raw threshold')} failed" if judged else "no thresholds")
    parts += [_checks(raw.get("checks")), _exchanges(raw.get("exchanges")), _ended(raw.get("ended"))]
    return "; ".join(part for part in parts if part)


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
    if not isinstance(ended, Mapping):
        return "how it ended is not known"
    reason = f" ({ended['reason']})" if ended.get("reason") else ""
    return f"ended by {ended.get('why', 'an unknown cause')}{reason}"
