"""A whole comparison: every arm against the first. No I/O."""

from collections.abc import Sequence
from dataclasses import dataclass

from soakproof.judge.comparing.answers import Answers, answers
from soakproof.judge.comparing.arms import Arm
from soakproof.judge.comparing.checks import Check, checks
from soakproof.judge.comparing.drafts import Drafts, drafts
from soakproof.judge.comparing.identities import Difference, identities, within
from soakproof.judge.comparing.order import Order, order
from soakproof.judge.comparing.outcome import outcome
from soakproof.judge.comparing.remarks import more_failures, remarks
from soakproof.judge.comparing.request import Request
from soakproof.judge.comparing.rows import Row, rows
from soakproof.judge.finding import Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What came of it; ``arms`` are in the order given, the first is what the others are compared with."""

    request: Request
    arms: tuple[Arm, ...]
    rows: tuple[Row, ...]
    differences: tuple[Difference, ...]
    against: tuple[str, ...]  # why arms are not comparable, in words
    order: Order
    answers: tuple[Answers, ...]
    drafts: tuple[Drafts, ...]
    checks: tuple[Check, ...]
    remarks: tuple[str, ...]
    outcome: Outcome
    sentence: str


def compare_arms(arms: Sequence[Arm], request: Request) -> Comparison:
    """Every arm against the first. Speeds of arms that are not comparable are withheld."""
    first, others = arms[0], arms[1:]
    sides = [identities(first, arm) for arm in others]
    own = [told for arm in arms for told in within(arm)]
    against = (*own, *(told for side in sides for told in side.against))
    shown = not against or request.anyway
    found = [r for arm in others for r in rows(first, arm, request.metrics, request.margin)] if shown else []
    greedy_answers = tuple(answers(first, arm) for arm in others)
    failures = [told for arm in others if (told := more_failures(first, arm))]
    made = tuple(checks(arms, greedy_answers, request))
    ended, sentence = outcome(arms, found, () if shown else against, made, failures, request)
    return Comparison(
        request=request,
        arms=tuple(arms),
        rows=tuple(found),
        differences=tuple(one for side in sides for one in side.differences),
        against=against,
        order=order(arms),
        answers=greedy_answers,
        drafts=tuple(one for arm in arms for one in drafts(arm)),
        checks=made,
        remarks=(
            *failures,
            *remarks(arms, found),
            *dict.fromkeys(r for side in sides for r in side.remarks),
        ),
        outcome=ended,
        sentence=sentence,
    )
