"""Entries, and what they come to: a candidate with its runs, its decision and its history. No I/O."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, get_args

Decision = Literal["pending", "promoted", "specialist", "rejected", "failed", "rolled-back", "withdrawn"]
DECISIONS: tuple[Decision, ...] = get_args(Decision)
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}")  # of a candidate, or a release
_NEGATIVE = ("rejected", "failed", "rolled-back")


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictTold:
    """A verdict as it was when it was told."""

    entry: str  # the name of its folder
    policy: str
    outcome: str
    sha256: str  # of its verdict.json, which making reports again leaves as it is


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTold:
    """A run as it was when it was told: by its folder's name and the SHA-256 of its seal."""

    run: str
    seal: str
    raw: str  # its raw outcome
    verdict: tuple[VerdictTold, ...] = ()  # in the order in which they were reached

    def newest(self) -> Iterator[VerdictTold]:
        """The newest verdict of each policy: a later one of another policy takes none of it away."""
        yield from {told.policy: told for told in self.verdict}.values()


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What was decided once: a candidate's first entry says what changed, a later one may amend that."""

    candidate: str
    at: datetime
    who: str
    decision: Decision
    changed: str = ""
    reason: str = ""
    release: str = ""
    run: tuple[RunTold, ...] = ()  # those that this entry adds, or tells anew


@dataclass(frozen=True, slots=True)
class Candidate:
    """All entries of one name, at least one, in the order of the file."""

    entries: tuple[Entry, ...]

    @property
    def last(self) -> Entry:
        return self.entries[-1]

    @property
    def name(self) -> str:
        return self.last.candidate

    @property
    def changed(self) -> str:
        return _last(entry.changed for entry in self.entries)

    @property
    def release(self) -> str:
        return _last(entry.release for entry in self.entries)

    @property
    def reason(self) -> str:
        """Why it is decided as it is; what was said of an earlier decision is history."""
        return _last(e.reason for e in self.entries if e.decision == self.last.decision)

    @property
    def runs(self) -> tuple[RunTold, ...]:
        """Every run of any entry, as it was told last."""
        return tuple({told.run: told for entry in self.entries for told in entry.run}.values())


def _last(texts: Iterable[str]) -> str:
    return next((text for text in reversed(list(texts)) if text), "")


def candidates(entries: Sequence[Entry]) -> list[Candidate]:
    """Every candidate, in the order of their first entries."""
    found: dict[str, list[Entry]] = {}
    for entry in entries:
        found.setdefault(entry.candidate, []).append(entry)
    return [Candidate(tuple(all_of)) for all_of in found.values()]


def against(decision: Decision, runs: Sequence[RunTold]) -> list[str]:
    """Why a decision is not what the verdicts say; nothing where it is, or where they say nothing of it.

    A specialist is one that did not pass for everything, so no verdict speaks against that.
    """
    bad = [
        f"{told.policy} of {run.run} is {told.outcome}"
        for run in runs
        for told in run.newest()
        if told.outcome != "PASS"
    ]
    unjudged = [f"{run.run} was not judged" for run in runs if not run.verdict]
    if decision == "promoted":
        return bad + unjudged or ([] if runs else ["no run stands for it"])
    if decision in _NEGATIVE and runs and not bad + unjudged:
        return ["every verdict is PASS"]
    return []


def is_disputed(candidate: Candidate) -> bool:
    """Whether verdicts speak against its decision; that there is no run is another matter."""
    return bool(candidate.runs and against(candidate.last.decision, candidate.runs))
