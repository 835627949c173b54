"""Judging: pure functions of sealed evidence, a policy and a baseline. No I/O in this room.

What an adjudicator's file imports stands here: `Adjudicator`, `Evidence`, `Finding`, `Figure`, and the
quantities that its options may be written in. Statistics are in `soakproof.judge.statistics`.
"""

from soakproof.judge.evidence import Evidence
from soakproof.judge.finding import Adjudicator, Figure, Finding, Outcome
from soakproof.units import Bytes, Ratio, Seconds, Tokens

__all__ = [
    "Adjudicator",
    "Bytes",
    "Evidence",
    "Figure",
    "Finding",
    "Outcome",
    "Ratio",
    "Seconds",
    "Tokens",
]
