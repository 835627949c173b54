"""Thresholds about a role that no request has: told while the run goes on, not at its end only. No I/O."""

from collections.abc import Collection, Iterator, Mapping

from soakproof.plain import listed
from soakproof.plan import Plan
from soakproof.quantities import COUNTED
from soakproof.thresholds import parse

AFTER = 3  # completed iterations of a kind: some roles do not come in each
_SHOWN = 10


class MissingRoles:
    """Filters ``kind.role`` of a plan's thresholds, each told of once."""

    def __init__(self, plan: Plan) -> None:
        kinds = {kind.name for kind in plan.kinds}
        parsed = (parse(threshold) for threshold in plan.thresholds)
        filters = (p.filter.partition(".") for p in parsed if not _counts_checks(p.quantity))
        self._due = {(kind, role) for kind, _, role in filters if role and kind in kinds}

    def told(self, roles: Mapping[str, Collection[str]], completed: Mapping[str, int]) -> Iterator[str]:
        """In a sentence each, those that should have been seen by now. ``roles`` and ``completed``: by kind,
        the roles that requests had so far, and its iterations.
        """
        for kind, role in sorted(self._due):
            if role in roles.get(kind, ()):
                self._due.discard((kind, role))
            elif completed.get(kind, 0) >= AFTER:
                self._due.discard((kind, role))
                there = listed(sorted(roles.get(kind, ())), _SHOWN)
                yield (
                    f"a threshold is about {kind}.{role}, and no request of {kind} has that role so far; "
                    f"there are: {there}. It will not be measured: stop the run if the role is misspelt"
                )


def _counts_checks(quantity: str) -> bool:
    """Whether its filter may name a check, which has a dot as well."""
    return quantity in COUNTED and COUNTED[quantity].what == "check"
