"""What an arm of a comparison is made of: measurements, published summaries, published changes. No I/O."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

LEAST, MOST = (
    1e-9,
    1e12,
)  # what can be measured, in any unit: ratios of what is beyond are no numbers any more
Range = tuple[float, float]  # from the least to the greatest


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """One repeat: what was measured of one answer. What is not known is None, or empty."""

    name: str  # an exchange's id, or where it stands in its file
    workload: str  # a run's kind
    values: Mapping[str, float]  # by metric; what is no measurement, such as NaN, stands in Arm.unusable
    role: str = ""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    max_tokens: int | None = None
    temperature: float | None = None
    prompt: str = ""  # digest
    output: str = ""  # digest
    text: str = ""
    drafted: int | None = None  # tokens that a draft model proposed
    accepted: int | None = None
    acceptance: float | None = None  # as a share, where only that was told
    has_timings: bool = False  # whether the server told of its work at all
    position: int | None = None  # in the order in which all arms were measured, from 1
    run: int = 0  # which of the arm's runs


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """Medians that somebody published without the values behind them."""

    workload: str
    n: int | None
    medians: Mapping[str, float]
    acceptance: Range | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Changes that somebody published without what they were computed from; shares, -0.02 is 2 % less."""

    workload: str
    against: str
    n: int | None
    shares: Mapping[str, Range]
    same_output: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """When a run's load was, in seconds of the wall clock."""

    start: float
    end: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """One of the things that are compared."""

    name: str
    note: str = ""  # what it is, in words
    measurements: tuple[Measurement, ...] = ()
    summaries: tuple[Summary, ...] = ()
    changes: tuple[Change, ...] = ()
    unusable: Mapping[tuple[str, str], tuple[str, ...]] = field(
        default_factory=dict
    )  # (workload, metric) to values that are no measurements, in words
    runs: tuple[str, ...] = ()  # ids of sealed runs; none where measurements were entered
    documents: tuple[Mapping[str, Any], ...] = ()  # run.json of each
    periods: tuple[Period | None, ...] = ()
    identity: Mapping[str, Any] = field(default_factory=dict)  # of entered measurements
    asked: int | None = None  # requests; None where that was not told
    failed: int | None = None
    unknown: int = 0  # requests of whose end nothing is known
    pressures: tuple[float, ...] = ()  # of each run, percent of time in which somebody waited for a processor
    doubts: tuple[str, ...] = ()  # why a run of it is no whole evidence, in words
    is_referred: bool = False  # published changes of other arms are against it

    @property
    def workloads(self) -> tuple[str, ...]:
        """Each once, in the order in which they come."""
        measured = [one.workload for one in self.measurements]
        published = [*(one.workload for one in self.summaries), *(one.workload for one in self.changes)]
        return tuple(dict.fromkeys([*measured, *published]))

    @property
    def is_empty(self) -> bool:
        """Whether nothing at all is known of it."""
        return not (self.measurements or self.summaries or self.changes or self.is_referred)
