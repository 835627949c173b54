"""The verdict's own part of a report: what overruled the raw outcome, and the findings in order. No I/O."""

from collections.abc import Iterable, Iterator, Sequence

from soakproof.judge.finding import WORST_FIRST, Figure, Finding, Outcome, Verdict, merge
from soakproof.judge.telling import MOST_IDS, counted
from soakproof.plain import listed
from soakproof.report.page import Group
from soakproof.report.quantity import NOT_MEASURED, change, quantity

_NAMED = 4  # findings of one outcome that the sentence names
_FAILED = (Outcome.FAIL, Outcome.ERROR)


def groups(findings: Iterable[Finding]) -> tuple[Group, ...]:
    """Findings by adjudicator, both in the order of `rank`, else as given."""
    by_name: dict[str, list[Finding]] = {}
    for finding in findings:
        by_name.setdefault(finding.adjudicator, []).append(finding)
    made = [_group(name, found) for name, found in by_name.items()]
    return tuple(sorted(made, key=lambda group: rank(group.findings[0])))


def _group(name: str, found: Sequence[Finding]) -> Group:
    decide = [f.outcome for f in found if f.critical] or [f.outcome for f in found]
    return Group(name, merge(decide), ranked(found))


def rank(finding: Finding) -> tuple[bool, int, bool]:
    """Where a finding stands: what failed, then what decides, then what cannot; the worst first."""
    failed = finding.outcome in _FAILED
    return not failed and not finding.critical, WORST_FIRST.index(finding.outcome), not finding.critical


def ranked(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Findings in the order of `rank`, else as given."""
    return tuple(sorted(findings, key=rank))


def sentence(verdict: Verdict) -> str:
    """What the verdict rests on, in numbers, with the names of what is no PASS and decides, or failed."""
    if not verdict.findings:
        return "There are no findings, so nothing could be concluded."
    decide, beside = ([f for f in verdict.findings if f.critical is c] for c in (True, False))
    adjudicators = counted(len({f.adjudicator for f in verdict.findings}), "adjudicator")
    note = f"; {_tally(beside)} that cannot decide it" if beside else ""
    total = counted(len(verdict.findings), "finding")
    return f"{total} of {adjudicators}: {_tally(decide) or 'none decides'}{note}."


def _tally(findings: Sequence[Finding]) -> str:
    """``1 FAIL (slots released), 34 PASS``."""
    told = []
    for outcome in WORST_FIRST:
        found = [f for f in findings if f.outcome is outcome]
        named = [f for f in found if outcome in _FAILED or (f.critical and outcome is not Outcome.PASS)]
        told += [f"{len(found)} {outcome}{f' ({_names(named)})' if named else ''}"] if found else []
    return ", ".join(told)


def _names(findings: Sequence[Finding]) -> str:
    return listed([f"{f.adjudicator} {f.subject}" for f in findings], _NAMED, limit=1000)


def passes(findings: Iterable[Finding]) -> Iterator[str]:
    """``coverage: 14 PASS``, an adjudicator after the other, as given; in brackets what cannot decide."""
    by_name: dict[str, list[Finding]] = {}
    for finding in findings:
        if finding.outcome is Outcome.PASS:
            by_name.setdefault(finding.adjudicator, []).append(finding)
    for name, found in by_name.items():
        decide = sum(f.critical for f in found)
        told = [f"{decide} PASS"] if decide else []
        told += [f"{len(found) - decide} (PASS)"] if decide < len(found) else []
        yield f"{name}: {', '.join(told)}"


def limit_beside(finding: Finding) -> str:
    """The limit of one that is no PASS, as a sentence, to stand beside what was observed; else ""."""
    if finding.outcome is Outcome.PASS or not finding.limit:
        return ""
    return f"Limit: {limit(finding)}."


def limit(finding: Finding) -> str:
    """The limit and where it comes from; empty where there is none."""
    source = f" (from {finding.limit_source})" if finding.limit_source else ""
    return f"{finding.limit}{source}" if finding.limit else ""


def exchanges(finding: Finding) -> str:
    """How many exchanges it names; a finding keeps the first of many."""
    n = len(finding.exchanges)
    return f"the first {n} exchanges" if n >= MOST_IDS else counted(n, "exchange")


def overruled(verdict: Verdict) -> str:
    """One sentence on what the policy overruled, who decided it and until when."""
    if not verdict.reconsidered:
        return "Nothing: the policy reconsidered no raw threshold."
    applied = [
        f"{r.threshold} (decided by {r.who}, until {r.expires})" for r in verdict.reconsidered if r.applied
    ]
    refused = [f"{r.threshold} ({r.why_not})" for r in verdict.reconsidered if not r.applied]
    told = [f"Overruled by the policy: {', '.join(applied)}."] if applied else []
    told += [f"Named by the policy and not overruled: {', '.join(refused)}."] if refused else []
    return f"{' '.join(told)} The raw outcome stands as it was recorded."


def not_comparable(verdict: Verdict) -> str:
    """Why the baseline that was given could not be used, as the verdict tells it; "" when it could."""
    if verdict.baseline is None:
        return ""
    about = (f for f in verdict.findings if (f.adjudicator, f.subject) == ("identity", "baseline"))
    return next((f"Not set side by side: {f.answer}" for f in about if f.outcome is not Outcome.PASS), "")


def figure_row(figure: Figure) -> tuple[str, ...]:
    """Name, value, n, baseline with the change from it, and note."""
    against = "" if figure.baseline is None else quantity(figure.baseline, figure.unit)
    moved = change(figure.baseline, figure.value)
    value = quantity(figure.value, figure.unit)
    return (
        figure.name,
        value,
        "" if figure.n is None else f"{figure.n:,}",
        f"{against} ({moved})" if moved else against,
        figure.note or (_unexplained(figure) if value == NOT_MEASURED else ""),
    )


def _unexplained(figure: Figure) -> str:
    return "there was nothing to measure" if figure.n == 0 else "no reason was given"


def is_plain(finding: Finding) -> bool:
    """Whether its figures fit on a line: measured, without baseline or note."""
    return all(f.value is not None and f.baseline is None and not f.note for f in finding.figures)


def on_a_line(figure: Figure) -> str:
    """Value and n of a plain figure."""
    value = quantity(figure.value, figure.unit)
    return value if figure.n is None else f"{value} (n {figure.n:,})"


def meta(finding: Finding) -> tuple[tuple[str, str], ...]:
    """Plain figures, limit, strength, fault and span of a finding, those that it has."""
    span = "" if finding.span is None else f"{finding.span[0]:,.0f} to {finding.span[1]:,.0f} s of the run"
    decides = "" if finding.critical else "not critical: cannot decide the verdict"
    told = (
        *((f.name, on_a_line(f)) for f in (finding.figures if is_plain(finding) else ())),
        ("Limit", limit(finding)),
        ("Strength", finding.strength),
        ("Whose fault", finding.fault),
        ("Weight", decides),
        ("Samples", span),
    )
    return tuple((name, text) for name, text in told if text)
