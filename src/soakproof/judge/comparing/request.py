"""What a comparison is asked for. No I/O."""

from dataclasses import dataclass

from soakproof.metrics import METRICS

MARGIN = 0.03  # runs of one build differ by a per cent or two on a quiet machine
METRICS_COMPARED = tuple(name for name, metric in METRICS.items() if metric.better and name != "send_delay")


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a comparison is asked for."""

    metrics: tuple[str, ...]
    margin: float = MARGIN
    accept_few: bool = False  # medians of fewer than five repeats decide
    anyway: bool = False  # also what differs in a field that must be the same
    same_answers: bool = False  # greedy answers have to be the same
    greedy_undrafted: bool = False  # greedy answers must have no drafts
