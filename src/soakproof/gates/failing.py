"""What the checks that failed in a trial come to, each by itself: always, sometimes, too early. No I/O."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from soakproof.plain import plain
from soakproof.quantities import check_outcome
from soakproof.records import Check

How = Literal["always", "sometimes", "early"]

ENOUGH = 20  # iterations that show how often a check fails
_AGAIN = f"-n {ENOUGH} shows"
_MEANS: dict[How, str] = {
    "always": "failed each time, so this model or server seems unable to do it: is the prompt clear?",
    "sometimes": "failed and passed, so it can be done and is not always{how_often}",
    "early": f"failed in the one iteration that was judged; whether it always does, {_AGAIN}",
}


@dataclass(frozen=True, slots=True)
class FailedCheck:
    """A check of which at least one result is a failure; ``decided`` results passed or failed."""

    name: str
    failed: int
    decided: int
    iterations: int  # that have a decided result

    @property
    def how(self) -> How:
        """One iteration says nothing of the next, however often it checks."""
        if self.iterations < 2:
            return "early"
        return "always" if self.failed == self.decided else "sometimes"


def failed_checks(checks: Iterable[Check]) -> list[FailedCheck]:
    """Those that failed at least once, in the order of their first results."""
    decided: dict[str, list[Check]] = {}
    for check in checks:
        if check_outcome(check) in ("pass", "fail"):
            decided.setdefault(check.name, []).append(check)
    tallied = [
        FailedCheck(
            name,
            sum(check_outcome(check) == "fail" for check in mine),
            len(mine),
            len({check.iteration for check in mine}),
        )
        for name, mine in decided.items()
    ]
    return [check for check in tallied if check.failed]


def told_failures(checks: Iterable[Check]) -> Iterator[str]:
    """A sentence for the checks that failed in the same way, each with its own count."""
    failed = failed_checks(checks)
    for how, meaning in _MEANS.items():
        mine = [check for check in failed if check.how == how]
        if mine:
            named = ", ".join(f"{plain(c.name, 60)} ({c.failed} of {c.decided})" for c in mine)
            few = min(check.iterations for check in mine) < ENOUGH
            yield f"{named}: {meaning.format(how_often=f'; {_AGAIN} how often' if few else '')}"
