"""A verdict as a table for a terminal: bounded in width, with nothing in it that could drive the terminal."""

from collections.abc import Iterator, Sequence

from soakproof.judge.finding import Finding, Outcome, Verdict
from soakproof.judge.telling import counted
from soakproof.plain import listed
from soakproof.report.quantity import quantity
from soakproof.report.raw import raw_section
from soakproof.report.verdicts import limit_beside, overruled, passes, ranked, sentence
from soakproof.report.visible import line
from soakproof.tables import fitted, paragraph

_COLOURS = {"PASS": 32, "CLEAN": 32, "FAIL": 31, "FAILED": 31, "ERROR": 35, "INCONCLUSIVE": 33}
_MOST = {"adjudicator": 16, "subject": 28, "finding": 24, "threshold": 24, "n": 9, "failures": 9}  # columns
_NARROW = 100  # below it a finding's name stands in one column, and its answer alone tells how many
LEAST, WIDTH = 80, 110
_IDS = 20
BESIDE = "Outcomes in brackets cannot decide the verdict."
PASSED = "PASS, by adjudicator (--all shows each finding):"


def terminal_table(verdict: Verdict, *, width: int = WIDTH, colour: bool = False, every: bool = False) -> str:
    """The raw outcome, what failed in it, what overruled it, the findings and the verdict, at most ``width``
    columns wide (80 at the least, for characters of one column). ``colour`` adds ANSI colours to outcomes.
    Findings that are PASS are counted by adjudicator; ``every`` shows each.
    """
    width = max(width, LEAST)
    raw = raw_section(verdict)
    parts = [f"raw outcome: {_told(raw.outcome, colour)}", _wrapped(raw.sentence, width)]
    if raw.failed:
        parts.append(_wrapped(f"failed: {'; '.join(raw.failed)}", width))
    if raw.unmeasured:
        parts.append(_wrapped(f"not measured: {'; '.join(raw.unmeasured)}", width))
    if raw.thresholds.rows:
        parts.append(_raw_table(raw.thresholds.rows, width, colour))
    if verdict.reconsidered:
        parts.append(_wrapped(overruled(verdict), width))
        parts += [
            _wrapped(f"  {r.threshold}: {_entry(r.applied, r.reason, r.who, r.expires, r.why_not)}", width)
            for r in verdict.reconsidered
        ]
    shown = [f for f in ranked(verdict.findings) if every or f.outcome is not Outcome.PASS]
    parts += ["", *_findings(shown, verdict.findings, width, colour)]
    parts += [
        f"verdict: {_told(verdict.outcome, colour)}",
        _wrapped(
            f"{sentence(verdict)} Policy {verdict.policy}, baseline {verdict.baseline or 'none'}.", width
        ),
        *_basis(verdict, width),
    ]
    return "\n".join(parts)


def _basis(verdict: Verdict, width: int) -> Iterator[str]:
    """What it rests on, and what it says nothing of."""
    if verdict.rests_on:
        yield from ("", _wrapped(f"It rests on {verdict.rests_on}", width))
    yield from (paragraph(f"- {line(told)}", width, "  ") for told in verdict.caveats)
    if verdict.not_proven:
        yield f"- The report tells in {counted(len(verdict.not_proven), 'point')} what it does not prove."


def _entry(applied: bool, reason: str, who: str, expires: str, why_not: str) -> str:
    return f"by {who}, until {expires}: {reason}" if applied else f"overruled nothing: {why_not}"


def _raw_table(rows: Sequence[tuple[str, ...]], width: int, colour: bool) -> str:
    """Outcome, name, source text, observed, n, and failures where there are any."""
    heads = ["raw", "threshold", "as written", "observed", "n", "failures"]
    shown = [[_told(r[0], colour), _cell(r[1]), _cell(r[2]), _cell(r[3], 40), r[4], r[5]] for r in rows]
    if all(r[5] in ("", "0") for r in rows):
        heads, shown = heads[:-1], [row[:-1] for row in shown]
    return fitted(heads, shown, width, whole=("raw",), most=_MOST)


def findings_shown(findings: Sequence[Finding], *, width: int = WIDTH, colour: bool = False) -> str:
    """Findings alone, the gravest first, each in full with its figures and where to look."""
    width = max(width, LEAST)
    parts = []
    for finding in ranked(findings):
        told = _told(finding.outcome, colour) if finding.critical else f"({finding.outcome})"
        parts.append(f"{told}  {_cell(finding.subject)}")
        parts += [paragraph(f"  {line(text)}", width, "    ") for text in _details(finding)]
    return "\n".join(parts)


def _details(finding: Finding) -> Iterator[str]:
    """Answer, figures, limit, strength, and where to look."""
    yield f"{finding.answer} {limit_beside(finding)}".rstrip()
    for figure in finding.figures:
        beside = "" if figure.baseline is None else f", baseline {quantity(figure.baseline, figure.unit)}"
        n = "" if figure.n is None else f" (n {figure.n:,})"
        yield f"{figure.name}: {quantity(figure.value, figure.unit)}{beside}{n} {figure.note}".rstrip()
    if finding.strength:
        yield f"rests on: {finding.strength}"
    if finding.fault:
        yield f"at fault: {finding.fault}"
    if finding.exchanges:
        yield f"exchanges: {listed(finding.exchanges, _IDS)}"
    if finding.span:
        yield f"from {finding.span[0]:,.1f} to {finding.span[1]:,.1f} s"


def _findings(
    shown: Sequence[Finding], findings: Sequence[Finding], width: int, colour: bool
) -> Iterator[str]:
    """Those that are shown, in full, and the others counted."""
    if not findings:
        yield from ("no findings", "")
    if shown:
        yield from (_findings_table(shown, width, colour), "")
    if len(shown) < len(findings):
        yield PASSED
        yield from (paragraph(f"  {line(told)}", width, "    ") for told in passes(findings))
        yield ""
    if not all(f.critical for f in findings):
        yield from (BESIDE, "")


def _findings_table(findings: Sequence[Finding], width: int, colour: bool) -> str:
    narrow = width < _NARROW
    heads = (
        ("finding", "outcome", "answer") if narrow else ("adjudicator", "subject", "outcome", "answer", "n")
    )
    rows = [_row(f, narrow, colour) for f in findings]
    return fitted(heads, rows, width, whole=("outcome",), most=_MOST)


def _row(finding: Finding, narrow: bool, colour: bool) -> list[str]:
    name = [_cell(finding.adjudicator), _cell(finding.subject, 120)]
    told = _told(finding.outcome, colour) if finding.critical else f"({finding.outcome})"
    answer = f"{_cell(finding.answer, 400)} {_cell(limit_beside(finding))}".rstrip()
    return [" ".join(name), told, answer] if narrow else [*name, told, answer, _n(finding)]


def _n(finding: Finding) -> str:
    """The number that the finding's first counted figure rests on."""
    found = next((f.n for f in finding.figures if f.n is not None), None)
    return "" if found is None else f"{found:,}"


def _cell(text: str, limit: int = 200) -> str:
    return line(text, limit)


def _wrapped(text: str, width: int) -> str:
    return paragraph(line(text), width)


def _told(outcome: str | Outcome, colour: bool) -> str:
    shown = line(str(outcome), 20)
    code = _COLOURS.get(shown.upper())
    return f"\x1b[{code}m{shown}\x1b[0m" if colour and code else shown
