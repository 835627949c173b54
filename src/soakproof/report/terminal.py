"""A verdict as a table for a terminal: bounded in width, with nothing in it that could drive the terminal."""

import re
from collections.abc import Sequence
from textwrap import wrap

from tabulate import tabulate

from soakproof.judge.finding import Finding, Outcome, Verdict
from soakproof.report.raw import raw_section
from soakproof.report.verdicts import groups, overruled, sentence
from soakproof.report.visible import line

_HEADS = ("adjudicator", "subject", "outcome", "answer", "n")
_COLOURS = {"PASS": 32, "CLEAN": 32, "FAIL": 31, "FAILED": 31, "ERROR": 35, "INCONCLUSIVE": 33}
_FIXED = (16, 28, 12, 9)  # adjudicator, subject, outcome, n: the widest they become
_GAP = 2  # between two columns
_PADDING = 2  # that tabulate gives a head
_COLOUR = re.compile(r"\x1b\[\d+m")
LEAST, WIDTH = 80, 110


def terminal_table(verdict: Verdict, *, width: int = WIDTH, colour: bool = False) -> str:
    """The raw outcome, what overruled it, the findings and the verdict, at most ``width`` columns wide
    (80 at the least, for characters of one column). ``colour`` adds ANSI colours to outcomes.
    """
    width = max(width, LEAST)
    raw = raw_section(verdict)
    parts = [f"raw outcome: {_told(raw.outcome, colour)}", _wrapped(raw.sentence, width)]
    if raw.thresholds.rows:
        parts.append(_raw_table(raw.thresholds.rows, width, colour))
    if verdict.reconsidered:
        parts.append(_wrapped(overruled(verdict), width))
        parts += [
            _wrapped(f"  {r.threshold}: {_entry(r.applied, r.reason, r.who, r.expires, r.why_not)}", width)
            for r in verdict.reconsidered
        ]
    parts += ["", _findings_table(verdict, width, colour), ""]
    parts += [
        f"verdict: {_told(verdict.outcome, colour)}",
        _wrapped(
            f"{sentence(verdict)} Policy {verdict.policy}, baseline {verdict.baseline or 'none'}.", width
        ),
    ]
    return "\n".join(parts)


def _entry(applied: bool, reason: str, who: str, expires: str, why_not: str) -> str:
    return f"by {who}, until {expires}: {reason}" if applied else f"overruled nothing: {why_not}"


def _raw_table(rows: Sequence[tuple[str, ...]], width: int, colour: bool) -> str:
    """Name, source text, outcome, observed, n, failures."""
    shown = [[_cell(r[0]), _cell(r[1]), _told(r[2], colour), _cell(r[3], 40), r[4], r[5]] for r in rows]
    heads = ("threshold", "as written", "raw", "observed", "n", "failures")
    return _table(shown, heads, (_FIXED[0], 0, _FIXED[2], 16, _FIXED[3], _FIXED[3]), width)


def _findings_table(verdict: Verdict, width: int, colour: bool) -> str:
    rows = [
        [_cell(g.adjudicator), _cell(f.subject, 120), _told(f.outcome, colour), _cell(f.answer, 400), _n(f)]
        for g in groups(verdict.findings)
        for f in g.findings
    ]
    return _table(rows, _HEADS, (*_FIXED[:3], 0, _FIXED[3]), width) if rows else "no findings"


def _table(rows: Sequence[Sequence[str]], heads: Sequence[str], most: Sequence[int], width: int) -> str:
    """A table of at most ``width``; ``most`` are the columns' widest, and one that is 0 takes the rest."""
    widest = [max(len(_COLOUR.sub("", text)) for text in column) for column in zip(*rows, strict=True)]
    taken = [
        max(min(found, limit), len(head) + _PADDING) if limit else 0
        for head, found, limit in zip(heads, widest, most, strict=True)
    ]
    rest = width - sum(taken) - _GAP * (len(most) - 1)
    widths = [limit or rest for limit in taken]
    shown = [[_folded(text, limit) for text, limit in zip(row, widths, strict=True)] for row in rows]
    return tabulate(shown, headers=heads, tablefmt="simple", disable_numparse=True)


def _folded(text: str, width: int) -> str:
    """The text on lines of at most ``width``; an outcome with its colour is one line already."""
    return text if "\x1b" in text else "\n".join(wrap(text, width))


def _n(finding: Finding) -> str:
    """The number that the finding's first counted figure rests on."""
    found = next((f.n for f in finding.figures if f.n is not None), None)
    return "" if found is None else f"{found:,}"


def _cell(text: str, limit: int = 200) -> str:
    return line(text, limit)


def _wrapped(text: str, width: int) -> str:
    return "\n".join(wrap(line(text), width, break_on_hyphens=False))


def _told(outcome: str | Outcome, colour: bool) -> str:
    shown = line(str(outcome), 20)
    code = _COLOURS.get(shown.upper())
    return f"\x1b[{code}m{shown}\x1b[0m" if colour and code else shown
