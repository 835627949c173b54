"""In which order the arms were measured: only interleaving keeps the machine's drift out. No I/O."""

from collections.abc import Sequence
from itertools import groupby, pairwise
from statistics import fmean
from typing import Literal, NamedTuple

from soakproof.judge.comparing.arms import Arm
from soakproof.plain import listed

Kind = Literal["counterbalanced", "interleaved", "one after the other", "at once", "unknown"]
_UNKNOWN = "whether the machine drifted meanwhile cannot be known"
_WORST_FIRST: tuple[Kind, ...] = ("one after the other", "interleaved", "counterbalanced")
_SHOWN = 12  # turns that are told one by one


class Order(NamedTuple):
    """What the order was, and a sentence on what it means."""

    kind: Kind
    told: str


def order(arms: Sequence[Arm]) -> Order:
    """The order of runs by their clocks, or of measurements by their positions."""
    measured = [arm for arm in arms if not arm.is_empty]
    if any(arm.runs for arm in measured):
        return _of_runs(measured)
    turns: dict[str, list[tuple[int, str]]] = {}
    for arm in measured:
        for m in arm.measurements:
            turns.setdefault(m.workload, []).append((m.position or 0, arm.name))
    known = all(position for workload in turns.values() for position, _ in workload) and turns
    if not known or any(arm.summaries or arm.changes for arm in measured):
        return Order(
            "unknown",
            f"In which order the arms were measured is not told: {_UNKNOWN}.",
        )
    orders = [_sequence([name for _, name in sorted(workload)]) for workload in turns.values()]
    return min(orders, key=lambda one: _WORST_FIRST.index(one.kind))


def _of_runs(arms: Sequence[Arm]) -> Order:
    known = [(period, arm.name) for arm in arms for period in arm.periods if period is not None]
    if len(known) < sum(len(arm.runs) for arm in arms) or any(not arm.runs for arm in arms):
        return Order(
            "unknown",
            f"When some of it was measured is not told: {_UNKNOWN}.",
        )
    known.sort(key=lambda one: one[0].start)
    if any(a.end is not None and b.start < a.end for (a, _), (b, _) in pairwise(known)):
        return Order(
            "at once",
            "Runs of the arms overlapped in time: where they shared a machine, each slowed the other.",
        )
    return _sequence([name for _, name in known])


def _sequence(names: Sequence[str]) -> Order:
    shown = listed([f"{name} x {n}" if n > 1 else name for name, n in _turns(names)], _SHOWN, limit=30)
    if len(list(groupby(names))) <= len(set(names)):
        return Order(
            "one after the other",
            f"The arms were measured one after the other ({shown}): a drift of the machine, such as "
            "its heat, cannot be told from the arm. Interleave them: A, B, B, A.",
        )
    means = [fmean(place for place, name in enumerate(names) if name == arm) for arm in set(names)]
    least = min(names.count(arm) for arm in set(names))
    if max(means) - min(means) <= 1 / least + 1e-9:  # an odd number of turns cannot come nearer
        return Order(
            "counterbalanced",
            f"The arms were counterbalanced ({shown}): a steady drift of the machine cancels out.",
        )
    return Order(
        "interleaved",
        f"The arms were interleaved, not counterbalanced ({shown}): a part of a steady drift stays.",
    )


def _turns(names: Sequence[str]) -> list[tuple[str, int]]:
    return [(name, len(list(group))) for name, group in groupby(names)]
