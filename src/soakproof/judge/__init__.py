"""Judging: pure functions of sealed evidence, a policy and a baseline. No I/O in this room.

What an adjudicator's file imports stands here: `Adjudicator`, `Evidence`, `Finding`, `Figure`, the
quantities that its options may be written in, the metrics of exchanges, and how findings are told.
Statistics are in `soakproof.judge.statistics`.
"""

from soakproof.amounts import number
from soakproof.clock import NS
from soakproof.columns import Table
from soakproof.columns.measured import of_kind
from soakproof.context import NONCE_LETTERS, all_said, disguised, nonces
from soakproof.endings import how_ended
from soakproof.failures import fault_of
from soakproof.judge.evidence import Evidence
from soakproof.judge.finding import Adjudicator, Figure, Finding, Outcome
from soakproof.judge.telling import counted, finding, ids, upper
from soakproof.metrics import METRICS, Metric, measure
from soakproof.plain import clause, listed, model_name, plain
from soakproof.quantities import check_outcome, outcome_of
from soakproof.samples import Readings, no_readings
from soakproof.units import Bytes, Ranges, Ratio, Seconds, Tokens

__all__ = [
    "METRICS",
    "NONCE_LETTERS",
    "NS",
    "Adjudicator",
    "Bytes",
    "Evidence",
    "Figure",
    "Finding",
    "Metric",
    "Outcome",
    "Ranges",
    "Ratio",
    "Readings",
    "Seconds",
    "Table",
    "Tokens",
    "all_said",
    "check_outcome",
    "clause",
    "counted",
    "disguised",
    "fault_of",
    "finding",
    "how_ended",
    "ids",
    "listed",
    "measure",
    "model_name",
    "no_readings",
    "nonces",
    "number",
    "of_kind",
    "outcome_of",
    "plain",
    "upper",
]
