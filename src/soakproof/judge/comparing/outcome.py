"""The outcome of a comparison, and what keeps it from being a better one. No I/O."""

from collections.abc import Iterator, Sequence

from soakproof.judge.comparing.arms import Arm
from soakproof.judge.comparing.checks import Check
from soakproof.judge.comparing.judged import Result
from soakproof.judge.comparing.request import Request
from soakproof.judge.comparing.rows import Row
from soakproof.judge.finding import Outcome
from soakproof.plain import listed, plain

_TOLD = 5
_REPEAT = "That may be the run and not the arm: give each arm more runs, or let one decide by --accept-few."


def outcome(
    arms: Sequence[Arm],
    found: Sequence[Row],
    against: Sequence[str],
    checks: Sequence[Check],
    failures: Sequence[str],
    request: Request,
) -> tuple[Outcome, str]:
    """FAIL for what is worse, INCONCLUSIVE for what cannot be told, PASS where nothing is material."""
    failed = [c.told for c in checks if c.outcome is Outcome.FAIL]
    if failed:
        return Outcome.FAIL, f"A check failed: {listed(failed, 2, '; ', 300)}"
    if against:
        return Outcome.INCONCLUSIVE, f"Not comparable: {listed(against, _TOLD, '; ', 160)}."
    deciding = [row for row in found if row.decides]
    worse = [r for r in deciding if r.judged.result is Result.WORSE and (request.accept_few or not r.few)]
    single = () if request.accept_few else _single(arms)
    if sure := [row for row in worse if row.arm not in single]:
        return Outcome.FAIL, f"Worse by more than {request.margin:.1%}: {_named(sure)}."
    if worse:
        told = f"Worse by more than {request.margin:.1%}, in one run of each arm: {_named(worse)}."
        return Outcome.INCONCLUSIVE, f"{told} {_REPEAT}"
    open_ = list(_open(arms, deciding, request))
    open_ += [*failures, *(c.told for c in checks if c.outcome is Outcome.INCONCLUSIVE)]
    if open_:
        return Outcome.INCONCLUSIVE, f"Too little to say: {listed(open_, _TOLD, '; ', 300)}."
    few = ", by medians alone" if any(r.few for r in deciding) else ""
    better = [r for r in deciding if r.judged.result is Result.BETTER]
    told = f"; better: {_named(better)}" if better else ""
    return Outcome.PASS, f"Nothing is worse by more than {request.margin:.1%}{few}{told}."


def _single(arms: Sequence[Arm]) -> frozenset[str]:
    """Arms of one run where the first has but one as well: how much runs of one arm differ is not known."""
    first, *others = arms
    return frozenset(arm.name for arm in others if len(first.runs) == len(arm.runs) == 1)


def _open(arms: Sequence[Arm], deciding: Sequence[Row], request: Request) -> Iterator[str]:
    """What keeps a comparison from PASS."""
    for arm in arms:
        if arm.is_empty:
            yield f"the arm {plain(arm.name, 60)} is empty"
        yield from arm.doubts
    judged = {row.arm for row in deciding}
    if alone := [arm.name for arm in arms[1:] if arm.name not in judged and not arm.is_empty]:
        yield f"nothing of {listed(alone, _TOLD, limit=60)} could be compared"
    for result, words in ((Result.MISSING, "not measured in both"), (Result.UNCLEAR, "unclear")):
        if there := [r for r in deciding if r.judged.result is result]:
            yield f"{words}: {_named(there)}"
    few = [r for r in deciding if r.few]
    if few and not request.accept_few:
        yield f"descriptive only: {_named(few)}"


def _named(found: Sequence[Row]) -> str:
    several = len({row.arm for row in found}) > 1
    names = [f"{f'{r.arm}: ' if several else ''}{r.workload} {r.metric}" for r in found]
    return listed(list(dict.fromkeys(names)), _TOLD, limit=80)
