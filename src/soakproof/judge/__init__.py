"""Judging: pure functions of sealed evidence, a policy and a baseline. No I/O in this room.

What an adjudicator's file imports stands here: `Adjudicator`, `Evidence`, `Finding`, `Figure`.
"""

from soakproof.judge.evidence import Evidence
from soakproof.judge.finding import Adjudicator, Figure, Finding, Outcome

__all__ = ["Adjudicator", "Evidence", "Figure", "Finding", "Outcome"]
