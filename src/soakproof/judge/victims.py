"""One cause, many victims: failures that one event explains are told together. Pure; no I/O.

What the tester itself did wrong is no victim of anything, and a failure without a cause that was seen stays
by itself.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from soakproof.clock import NS
from soakproof.judge.causes import Cause
from soakproof.judge.telling import counted
from soakproof.records import Exchange

MANY = 2  # victims that are told as one; one alone is told where it failed


@dataclass(frozen=True, slots=True)
class Burst:
    """Failures with one cause, in order of their ends."""

    cause: Cause
    victims: tuple[Exchange, ...]

    @property
    def classes(self) -> Mapping[str, int]:
        """How many failed in which way, the commonest first."""
        return dict(Counter(str(v.failure) for v in self.victims).most_common())

    @property
    def span(self) -> tuple[float, float]:
        """Seconds of the run."""
        return self.victims[0].done_ns / NS, self.victims[-1].done_ns / NS

    @property
    def told(self) -> str:
        ways = ", ".join(f"{n} {failure}" for failure, n in self.classes.items())
        return f"{counted(len(self.victims), 'exchange')} failed {self.cause.told}: {ways}"


def bursts(failed: Iterable[Exchange], causes: Mapping[str, Cause | None]) -> list[Burst]:
    """Causes that have many victims, by when the first failed. ``causes`` are by the exchange's id."""
    found: dict[Cause, list[Exchange]] = {}
    for exchange in sorted(failed, key=lambda e: e.done_ns):
        cause = causes.get(exchange.id)
        if cause is not None:
            found.setdefault(cause, []).append(exchange)
    return [Burst(cause, tuple(victims)) for cause, victims in found.items() if len(victims) >= MANY]


def told_elsewhere(group: Sequence[Exchange], among: Sequence[Burst]) -> bool:
    """Whether each of these failures is a victim of one of the causes."""
    victims = {v.id for burst in among for v in burst.victims}
    return all(e.id in victims for e in group)
