"""A comparison for other programs: CSV with unrounded values, and a JSON document. No I/O."""

import math
from dataclasses import asdict
from typing import Any

from soakproof.judge.comparing.comparison import Comparison
from soakproof.judge.comparing.rows import Row
from soakproof.judge.statistics import Interval
from soakproof.sheet import write_sheet

FORMAT = 1
_HEADS = (
    *("first", "arm", "workload", "prompts", "metric", "unit", "median_first", "median_arm"),
    *("n_first", "n_arm", "change", "low", "high", "p", "p_holm", "result", "descriptive", "decides", "why"),
)


def to_csv(comparison: Comparison) -> str:
    """A line a row; changes are shares, and infinite ends of an interval are empty."""
    return write_sheet(_HEADS, (tuple(_flat(row).values()) for row in comparison.rows))


def _flat(row: Row) -> dict[str, Any]:
    judged = row.judged
    change, low, high = _ends(judged.change)
    told = (
        *(row.first, row.arm, row.workload, row.prompts, row.metric, row.unit, *judged.medians, *judged.n),
        *(change, low, high, judged.p, judged.p_holm, str(judged.result)),
        *(judged.descriptive, row.decides, judged.why),
    )
    return dict(zip(_HEADS, told, strict=True))


def _ends(change: Interval | None) -> tuple[float | None, float | None, float | None]:
    if change is None:
        return None, None, None
    bounded = math.isfinite(change.high)
    estimate = None if math.isnan(change.estimate) else change.estimate
    return estimate, change.low if bounded else None, change.high if bounded else None


def to_document(comparison: Comparison) -> dict[str, Any]:
    """Everything that was found; a row has the values that were compared."""
    return {
        "format": FORMAT,
        "outcome": str(comparison.outcome),
        "sentence": comparison.sentence,
        "margin": comparison.request.margin,
        "accept_few": comparison.request.accept_few,
        "arms": [
            {
                "name": arm.name,
                "note": arm.note,
                "runs": list(arm.runs),
                "answers": len(arm.measurements),
                "asked": arm.asked,
                "failed": arm.failed,
                "unknown": arm.unknown,
            }
            for arm in comparison.arms
        ],
        "rows": [
            {
                **_flat(row),
                "left_out": list(row.left_out),
                "values_first": list(row.values[0]),
                "values_arm": list(row.values[1]),
            }
            for row in comparison.rows
        ],
        "differences": [asdict(one) for one in comparison.differences],
        "not_comparable": list(comparison.against),
        "order": comparison.order._asdict(),
        "answers": [asdict(one) for one in comparison.answers],
        "drafts": [asdict(one) for one in comparison.drafts],
        "checks": [asdict(one) for one in comparison.checks],
        "remarks": list(comparison.remarks),
    }
