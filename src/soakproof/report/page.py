"""What a report says, before it is Markdown or HTML: sections of plain values in reading order. No I/O.

Texts here are as they were recorded, hostile ones included; each renderer neutralises what it prints.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from soakproof.judge.finding import WORST_FIRST, Finding, Outcome, Reconsidered

Style = Literal["text", "number", "code", "outcome"]


@dataclass(frozen=True, slots=True)
class Column:
    """A column's head, and how its cells are set."""

    head: str
    style: Style = "text"


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of texts under columns; ``empty`` says why there are none, ``note`` how they are to be read."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    empty: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class RawFailures:
    """The exchanges that failed one raw threshold, each with its value."""

    threshold: str
    exchanges: tuple[tuple[str, str], ...]  # id, value with unit
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Raw:
    """The run's own outcome, as it was written."""

    outcome: str  # CLEAN, FAILED, NOTHING, ERROR, UNKNOWN
    sentence: str
    thresholds: Table
    failures: tuple[RawFailures, ...]
    failed: tuple[str, ...] = ()  # everything that failed, in words: thresholds, checks, exchanges, scenarios
    unmeasured: tuple[str, ...] = ()  # thresholds that could not be judged: they keep a run from being clean


@dataclass(frozen=True, slots=True)
class Group:
    """One adjudicator's findings. ``outcome`` is that of those which decide; of all, where none does."""

    adjudicator: str
    outcome: Outcome
    findings: tuple[Finding, ...]

    @property
    def question(self) -> str:
        """The question that all its findings answer; "" where they differ."""
        asked = {f.question for f in self.findings}
        return asked.pop() if len(asked) == 1 else ""

    @property
    def decides(self) -> bool:
        """Whether any of its findings is one that the verdict rests on."""
        return any(f.critical for f in self.findings)

    @property
    def note(self) -> str:
        """What its outcome does not tell: findings other than PASS that decide nothing."""
        if not self.decides:
            return "cannot decide the verdict"
        beside = Counter(f.outcome for f in self.findings if not f.critical)
        told = ", ".join(f"{beside[o]} {o}" for o in WORST_FIRST if beside[o] and o is not Outcome.PASS)
        return f"beside it {told} that cannot decide the verdict" if told else ""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A bounded piece of one exchange of a failing check."""

    check: str
    about: str  # whose check it was and how the exchange ended
    exchange: str
    text: str
    what: str  # "answer", "reasoning", "error", or why there is no text


@dataclass(frozen=True, slots=True)
class Drawing:
    """A figure: ``svg`` is a whole document, safe to stand inside a page; ``table`` tells it in numbers."""

    name: str
    title: str
    caption: str
    svg: str
    png: Callable[[], bytes]  # drawn when it is called: it takes as long as the SVG does
    table: Table | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A whole report, in reading order."""

    run: str
    facts: tuple[tuple[str, str], ...]  # what was judged, by what, when
    raw: Raw
    reconsidered: tuple[Reconsidered, ...]
    overruled: str  # one sentence on what overruled the raw outcome
    verdict: Outcome
    sentence: str
    rests_on: str  # one sentence, "" where an older program did not tell
    caveats: tuple[str, ...]  # the main things that the verdict says nothing of
    groups: tuple[Group, ...]
    checks: Table
    excerpts: tuple[Excerpt, ...]
    excerpts_left_out: str  # what of the failing checks is not shown, in a sentence
    traffic: Table
    drawings: tuple[Drawing, ...]
    baseline: str | None
    changed: Table
    compared: Table
    identity: tuple[tuple[str, Table], ...]
    evidence: tuple[str, ...]
    schedule: Table  # of the watch
    coverage: Table
    not_proven: tuple[str, ...]
    versions: Table
