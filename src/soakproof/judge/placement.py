"""Which slot served which exchange, as far as the watch saw it, and whether failures cluster in one. Pure.

A slot is looked at every few seconds, so short answers are mostly not placed: what is said is of the others.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from soakproof.failures import fault_of
from soakproof.judge.evidence import Evidence
from soakproof.judge.slotwork import seeds_of, sightings
from soakproof.judge.telling import counted
from soakproof.plain import listed
from soakproof.quantities import check_outcome
from soakproof.records import Check, Exchange, Sample

CHANCE = 0.01  # at most, that failures fall into one slot like this by themselves


@dataclass(frozen=True)
class Placement:
    """A run's exchanges by the slot that served them."""

    evidence: Evidence

    @cached_property
    def slots(self) -> dict[str, int]:
        """Exchange id to slot. One that was seen in two slots is left out."""
        seen: dict[int, set[int]] = {}
        for sample in sightings(self.evidence):
            for seed, slot in zip(seeds_of(sample), _numbers(sample), strict=False):
                if seed is not None and slot is not None:
                    seen.setdefault(seed, set()).add(slot)
        placed = {seed: next(iter(slots)) for seed, slots in seen.items() if len(slots) == 1}
        table = self.evidence.exchange_table
        seeds = zip(table["id"].tolist(), table["seed"].tolist(), strict=True)
        return {id: placed[seed] for id, seed in seeds if seed in placed}

    @cached_property
    def failures(self) -> tuple[str, ...]:
        """Exchanges that failed by no fault of ours, and those alone in a check that failed."""
        table = self.evidence.exchange_table
        all_of = table.where(table["outcome"] == "fail")
        whose = zip(all_of["id"].tolist(), all_of["failure"].tolist(), strict=True)
        failed = [id for id, failure in whose if fault_of(failure) != "ours"]
        checks = self.evidence.check_table
        alone = failed_alone(checks.where(checks["outcome"] == "fail").records)
        return tuple(dict.fromkeys((*failed, *alone)))

    def told(self, failed: Iterable[Exchange | str]) -> str:
        """In words, from which slots these came; empty where none could be placed, or there is one slot."""
        ids = dict.fromkeys(e if isinstance(e, str) else e.id for e in failed)
        found = Counter(self.slots[id] for id in ids if id in self.slots)
        if not found or len(set(self.slots.values())) < 2:
            return ""
        places = listed([f"{n} from slot {slot}" for slot, n in found.most_common()], 4)
        return f"of {len(ids)} failures {found.total()} could be placed: {places}"

    def cluster(self) -> "Cluster | None":
        """The slot with the most failures; None without a failure that could be placed, or with one slot."""
        served = Counter(self.slots.values())
        bad = Counter(self.slots[id] for id in self.failures if id in self.slots)
        if not bad or len(served) < 2:
            return None
        slot = max(bad, key=lambda s: (bad[s] / served[s], bad[s]))
        return Cluster(slot, bad[slot], served[slot], bad.total(), served.total(), len(served))


@dataclass(frozen=True, slots=True)
class Cluster:
    """Failures in one slot among those of all; only exchanges that could be placed are counted."""

    slot: int
    failed: int  # in this slot
    served: int
    all_failed: int
    all_served: int
    among: int  # slots

    @property
    def chance(self) -> float:
        """That as many failures fall into any one slot by themselves: exact, for all slots together."""
        return min(1.0, self.among * tail(self.failed, self.all_failed, self.served, self.all_served))

    @property
    def clear(self) -> bool:
        return self.failed > 1 and self.chance < CHANCE

    @property
    def told(self) -> str:
        rest, others = self.all_failed - self.failed, self.all_served - self.served
        without = "without one" if not rest else f"with {rest}"
        return (
            f"{self.failed} of {counted(self.all_failed, 'failure')} that could be placed came from slot "
            f"{self.slot}, which served {self.served}; the others served {others} {without}"
        )


def failed_alone(checks: Iterable[Check]) -> list[str]:
    """Exchanges that alone were looked at by a check that failed: it is theirs and no neighbour's."""
    return [c.exchanges[0] for c in checks if check_outcome(c) == "fail" and len(c.exchanges) == 1]


def tail(k: int, bad: int, drawn: int, n: int) -> float:
    """Hypergeometric: the chance of ``k`` or more bad ones among ``drawn`` of ``n``, of which ``bad`` are."""
    ways = sum(
        math.comb(bad, i) * math.comb(n - bad, drawn - i) for i in range(k, min(bad, drawn) + 1) if drawn >= i
    )
    return ways / math.comb(n, drawn)


def _numbers(sample: Sample) -> Sequence[int | None]:
    """The number of each busy slot; where it was not told, its place among all, if all were busy."""
    told = sample.values.get("ids")
    if isinstance(told, (list, tuple)):
        return list(told)
    busy, total = sample.values.get("busy"), sample.values.get("total")
    return list(range(total)) if isinstance(total, int) and busy == total else []
