"""The tables in which measurements are entered: an arm, a repeat, a summary, a change. No I/O."""

from dataclasses import dataclass, field
from typing import Annotated, Any

from msgspec import Meta

from soakproof.units import Ratio

Count = Annotated[int, Meta(ge=0)]
Place = Annotated[int, Meta(ge=1)]


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmTable:
    """An arm, in the order in which they are to stand."""

    name: str  # as the other tables call it
    note: str = ""  # what it is, in words
    identity: dict[str, Any] = field(default_factory=dict)  # fields of a run's identity that are known of it


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatTable:
    """One repeat; beside these, any metric that has a better direction."""

    arm: str  # whose it is
    workload: str  # what was asked: only repeats of the same are compared
    repeat: Count | None = None  # its number; each once an arm and workload
    position: Place | None = None  # in the order in which all arms were measured
    prompt_tokens: Count | None = None  # cached ones included
    cached_tokens: Count | None = None  # restored from a cache: 0 where the prompt was cold
    completion_tokens: Count | None = None  # of the answer
    max_tokens: Count | None = None  # that were asked for
    temperature: float | None = None  # 0 is greedy
    prompt: str = ""  # digest of the prompt
    output: str = ""  # digest of the answer
    text: str = ""  # the answer, to show where two split
    draft_n: Count | None = None  # tokens that a draft model proposed
    draft_n_accepted: Count | None = None  # those that were accepted
    acceptance: Ratio | None = None  # where the two are not known


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryTable:
    """Published medians, a metric each, without the values behind them."""

    arm: str  # whose they are
    workload: str  # of what
    n: Count | None = None  # values behind each, where that is known
    acceptance: Any = None  # of a draft model: a share, or a pair from the least to the greatest


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeTable:
    """Published changes, a metric each: a share, or a pair from the least to the greatest."""

    arm: str  # whose they are
    against: str  # the arm that it was compared with
    workload: str  # of what
    n: Count | None = None  # values of each arm, where that is known
    same_output: bool | None = None  # whether the answers were said to be the same
