"""What judging says: findings, verdicts and how outcomes merge. No I/O."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar

from soakproof.errors import EXIT_ERROR, EXIT_FAIL, EXIT_INCONCLUSIVE, EXIT_OK
from soakproof.units import Ranges

if TYPE_CHECKING:
    from soakproof.judge.evidence import Evidence


class Outcome(StrEnum):
    """PASS only where enough was seen to say so."""

    PASS = "PASS"
    FAIL = "FAIL"
    INCONCLUSIVE = "INCONCLUSIVE"
    ERROR = "ERROR"


EXIT_CODES = {
    Outcome.PASS: EXIT_OK,
    Outcome.FAIL: EXIT_FAIL,
    Outcome.INCONCLUSIVE: EXIT_INCONCLUSIVE,
    Outcome.ERROR: EXIT_ERROR,
}
WORST_FIRST = (Outcome.FAIL, Outcome.ERROR, Outcome.INCONCLUSIVE, Outcome.PASS)


def merge(outcomes: Iterable[Outcome]) -> Outcome:
    """FAIL over ERROR over INCONCLUSIVE over PASS; nothing at all is INCONCLUSIVE."""
    there = set(outcomes)
    return next((o for o in WORST_FIRST if o in there), Outcome.INCONCLUSIVE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A number with its unit; ``value`` None means not measured, and ``note`` says why."""

    name: str
    value: float | None
    unit: str = ""
    n: int | None = None  # how many samples it rests on
    baseline: float | None = None
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One answer of one adjudicator."""

    adjudicator: str
    subject: str  # what it is about, such as "isolation.foreign" or "long_prose"
    question: str
    outcome: Outcome
    answer: str  # one sentence
    figures: tuple[Figure, ...] = ()
    limit: str = ""
    limit_source: str = ""  # where the limit comes from: policy, plan, baseline
    exchanges: tuple[str, ...] = ()  # ids, at most 20
    span: tuple[float, float] | None = None  # seconds of the run
    strength: str = ""  # what the answer rests on: "3 against 3: descriptive only"
    critical: bool = True  # whether it decides the verdict; set from the policy
    fault: str = ""  # whose: ours, front, backend, server, host, model


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconsidered:
    """A raw threshold failure that a policy entry overruled, or an entry that overruled nothing."""

    threshold: str
    applied: bool
    reason: str
    who: str
    expires: str  # ISO date
    requires: tuple[str, ...]  # adjudicators that had to pass
    why_not: str = ""  # expired, unmatched, or a required adjudicator that did not pass
    undecided: bool = False  # in force, and what it requires could not be judged: neither PASS nor FAIL


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a judgement came to. ``raw`` is the run's own raw.json, unchanged and shown first."""

    outcome: Outcome
    run: str
    policy: str
    baseline: str | None  # of several runs the newest
    judged_at: str  # UTC, ISO
    raw: dict[str, Any] | None
    findings: tuple[Finding, ...]
    reconsidered: tuple[Reconsidered, ...] = ()
    rests_on: str = ""  # how long a load, on what, how much, against what: one sentence
    caveats: tuple[str, ...] = ()  # the main things that it says nothing of, in sentences
    not_proven: tuple[str, ...] = ()  # what the run does not prove, in sentences
    identity: dict[str, Any] = field(default_factory=dict)  # of the target, from run.json
    changed: tuple[dict[str, Any], ...] = ()  # fields that the baseline differs in: field, role, was, is
    baseline_repeats: tuple[str, ...] = ()  # the other runs of the baseline
    versions: dict[str, str] = field(default_factory=dict)  # program, adjudicators' digests, policy digest


@dataclass(frozen=True)
class Adjudicator:
    """Base of every adjudicator. Subclass it in a file of its own; the file's stem is its name.

    Its fields are options that a policy may set; its docstring's first line is its question.
    """

    ranges: ClassVar[Ranges] = Ranges()  # what its options may be set to, where that is bounded

    def judge(self, evidence: "Evidence", baseline: "Evidence | None") -> Iterable[Finding]:
        """Findings; none at all counts as inconclusive. It may touch nothing but its arguments."""
        raise NotImplementedError
