"""What a reader of a comparison has to know beside its rows. No I/O."""

from collections.abc import Iterator, Sequence
from statistics import median

from soakproof.judge.comparing.arms import Arm
from soakproof.judge.comparing.rows import Row
from soakproof.judge.contention import PRESSURE
from soakproof.judge.statistics import INFERENCE_FROM
from soakproof.judge.telling import counted
from soakproof.plain import listed, plain

_TOLD = 5


def more_failures(first: Arm, arm: Arm) -> str:
    """That a larger share of an arm's requests failed or has no known end: speeds are of the others."""
    if not first.asked or not arm.asked or first.failed is None or arm.failed is None:
        return ""
    if (arm.failed + arm.unknown) / arm.asked <= (first.failed + first.unknown) / first.asked:
        return ""
    return (
        f"{plain(arm.name, 60)}: {arm.failed:,} of {counted(arm.asked, 'request')} failed{_unknown(arm)}, "
        f"{first.failed:,} of {first.asked:,}{_unknown(first)} in {plain(first.name, 60)}: speeds are of "
        "those that did not"
    )


def _unknown(arm: Arm) -> str:
    return f" (of {arm.unknown:,} no end is known)" if arm.unknown else ""


def busier_host(first: Arm, arm: Arm) -> str:
    """That somebody waited for a processor far more often in one of two arms: speeds may differ by that."""
    if not first.pressures or not arm.pressures:
        return ""
    before, now = median(first.pressures), median(arm.pressures)
    if abs(now - before) < PRESSURE:
        return ""
    return (
        f"somebody waited for a processor in {now:.0f} % of the time in {plain(arm.name, 60)}, "
        f"{before:.0f} % in {plain(first.name, 60)}: speeds may differ by what else the host did"
    )


def remarks(arms: Sequence[Arm], found: Sequence[Row]) -> Iterator[str]:
    """Sentences without a full stop."""
    one = [arm.name for arm in arms if len(arm.runs) == 1]
    if one and any(not row.judged.descriptive for row in found):
        yield f"one run of {listed(one, _TOLD, limit=60)}: how much runs of one arm differ is not known"
    ids = [(arm.name, run) for arm in arms for run in arm.runs]
    for run in dict.fromkeys(run for _, run in ids):
        holders = [name for name, id in ids if id == run]
        if len(holders) > 1:
            yield f"{' and '.join(holders)} are the same run {plain(run, 80)}: that shows nothing"
    left_out = [sum(row.left_out[side] for row in found) for side in (0, 1)]
    if any(left_out):
        both = f"{left_out[0]:,} and {left_out[1]:,} values"
        yield f"left out for want of a like length in the other arm: {both}"
    yield from filter(None, (busier_host(arms[0], arm) for arm in arms[1:]))
    unmatched = dict.fromkeys(row.workload for row in found if not row.lengths_known)
    if unmatched:
        of = listed(list(unmatched), _TOLD, limit=60)
        yield f"lengths, or whether prompts were cached, are not told of {of}"
    if any(row.few for row in found):
        yield f"descriptive is what rests on medians alone, or on fewer than {INFERENCE_FROM} repeats an arm"
