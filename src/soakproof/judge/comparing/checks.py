"""What may be asked for beside speed: the same answers, and greedy ones without drafts. No I/O."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from soakproof.judge.comparing.answers import Answers
from soakproof.judge.comparing.arms import Arm
from soakproof.judge.comparing.drafts import Greedy, greedy
from soakproof.judge.comparing.request import Request
from soakproof.judge.finding import Outcome
from soakproof.judge.telling import counted


@dataclass(frozen=True, slots=True)
class Check:
    """Something that was asked for beside speed."""

    name: str
    outcome: Outcome
    told: str


def checks(arms: Sequence[Arm], found: Sequence[Answers], request: Request) -> Iterator[Check]:
    """Those that were asked for, an arm each."""
    if request.same_answers:
        yield from map(_same, found)
    if request.greedy_undrafted:
        yield from (_undrafted(greedy(arm)) for arm in arms)


def _same(found: Answers) -> Check:
    name = "same answers"
    if found.published is not None and not found.compared:
        outcome = Outcome.PASS if found.published else Outcome.FAIL
        return Check(
            name, outcome, f"{found.arm}: {'the same' if found.published else 'another'} output, as published"
        )
    told = f"{found.arm}: {found.identical:,} of {counted(found.compared, 'greedy prompt')} answered alike"
    if not found.compared:
        return Check(name, Outcome.INCONCLUSIVE, f"{found.arm}: no greedy prompt was asked of both arms")
    return Check(name, Outcome.PASS if found.identical == found.compared else Outcome.FAIL, told)


def _undrafted(found: Greedy) -> Check:
    name = "greedy requests without drafts"
    told = f"{found.arm}: {len(found.drafting):,} of {counted(found.answers, 'greedy answer')} had drafts"
    if found.drafting:
        return Check(name, Outcome.FAIL, told)
    if not found.answers or found.told < found.answers:
        unknown = "of some the server told nothing of its work" if found.answers else "none was asked for"
        return Check(name, Outcome.INCONCLUSIVE, f"{told}: {unknown}")
    return Check(name, Outcome.PASS, told)
