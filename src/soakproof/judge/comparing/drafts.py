"""What draft models did: shown beside speed, and no measure of it. No I/O.

llama.cpp tells `draft_n` and `draft_n_accepted` only of answers for which something was drafted; in an answer
whose timings lack them there was no draft.
"""

from dataclasses import dataclass

from soakproof.judge.comparing.arms import Arm, Measurement, Range


@dataclass(frozen=True, slots=True)
class Drafts:
    """The drafts of one arm and workload. ``told``: answers whose server told of its work."""

    arm: str
    workload: str
    answers: int
    told: int
    drafting: int  # answers with drafts
    drafted: int
    accepted: int | None
    acceptance: Range | None


@dataclass(frozen=True, slots=True)
class Greedy:
    """Greedy answers of one arm, and those of them that were drafted for."""

    arm: str
    answers: int
    told: int
    drafting: tuple[str, ...]


def drafts(arm: Arm) -> list[Drafts]:
    """By workload; those of which nothing is known of drafts are left out."""
    found = []
    workloads = dict.fromkeys((*(m.workload for m in arm.measurements), *(s.workload for s in arm.summaries)))
    for workload in workloads:
        mine = [m for m in arm.measurements if m.workload == workload]
        published = [s.acceptance for s in arm.summaries if s.workload == workload and s.acceptance]
        published += [(m.acceptance, m.acceptance) for m in mine if m.acceptance is not None]
        if any(m.drafted is not None for m in mine) or published:
            found.append(_drafts(arm.name, workload, mine, published))
    return found


def _drafts(arm: str, workload: str, mine: list[Measurement], published: list[Range]) -> Drafts:
    drafting = [m for m in mine if m.drafted]
    both = [(m.drafted or 0, m.accepted) for m in drafting]
    drafted = sum(n for n, _ in both)
    known = [accepted for _, accepted in both if accepted is not None]
    accepted = sum(known) if len(known) == len(both) else None
    share = None if accepted is None or not drafted else (accepted / drafted, accepted / drafted)
    if published:
        share = min(low for low, _ in published), max(high for _, high in published)
    told = sum(m.has_timings or m.drafted is not None for m in mine)
    return Drafts(arm, workload, len(mine), told, len(drafting), drafted, accepted, share)


def greedy(arm: Arm) -> Greedy:
    """Its answers at temperature 0."""
    mine = [m for m in arm.measurements if m.temperature == 0]
    told = sum(m.has_timings or m.drafted is not None for m in mine)
    return Greedy(arm.name, len(mine), told, tuple(m.name for m in mine if m.drafted))
