"""What adjudicators share in telling what they found: bounded ids, counts, percentiles, sizes. No I/O."""

import sys
from collections.abc import Iterable, Sequence
from pathlib import PurePath
from typing import Any

from soakproof.judge.finding import Adjudicator, Finding, Outcome
from soakproof.plain import described
from soakproof.quantities import nearest_rank
from soakproof.records import Exchange, Opened

MOST_IDS = 20


def finding(judge: Adjudicator, subject: str, outcome: Outcome, answer: str, **more: Any) -> Finding:
    """A finding of this adjudicator, named by its file and with its docstring's first line as question."""
    kind = type(judge)
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    return Finding(
        adjudicator=PurePath(file).stem if file else kind.__name__.lower(),
        subject=subject,
        question=described(kind) or kind.__name__,
        outcome=outcome,
        answer=answer,
        **more,
    )


def ids(exchanges: Iterable[Exchange | Opened | str]) -> tuple[str, ...]:
    """The first ids, as many as a finding may hold, each once."""
    named = dict.fromkeys(e if isinstance(e, str) else e.id for e in exchanges)
    return tuple(named)[:MOST_IDS]


def request_name(request: Exchange | Opened) -> str:
    """Its id, and where in the run it stands."""
    return f"{request.id} ({request.scenario} {request.iteration} {request.role})"


def counted(n: int, one: str, many: str = "") -> str:
    """``1 exchange``, ``3 exchanges``; ``many`` where it is not made by an s."""
    return f"{n:,} {one if n == 1 else many or f'{one}s'}"


def upper(values: Sequence[float], percent: int) -> float:
    """The nearest-rank percentile of at least one value, in any order."""
    return nearest_rank(sorted(values), percent)


def length(seconds: float) -> str:
    """``45 s``, ``30 min``, ``6.5 h``."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def size(count: float) -> str:
    """``1.50 GiB`` of a number of bytes, ``512 MiB`` of less than one; negative sizes too."""
    return f"{count / 2**30:.2f} GiB" if abs(count) >= 2**30 else f"{count / 2**20:.0f} MiB"
