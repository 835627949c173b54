"""The language of raw thresholds: what a plan may say, and what a run makes of it. No I/O.

    <quantity>[{<filter>}] <stat> <op> <number> [<unit>]

    generation_rate{long_prose} each >= 17 tokens/s      a metric of exchanges, of one kind
    first_token_time{isolation.a} p95 <= 30 s            of one role of a kind
    failed_checks{isolation.foreign} count == 0          a count over the run, of one check
    failed_exchanges share <= 1 %                        the same as a share of what was decided

Percentiles are nearest-rank: a value that really occurred. What could not be measured is unknown, and
an unknown threshold is not a met one.
"""

import math
import operator
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from soakproof.errors import UsageError, did_you_mean
from soakproof.metrics import METRICS
from soakproof.plain import listed
from soakproof.quantities import COUNTED, PERCENTILES, Counted, outcome_of, statistic, thin
from soakproof.records import Check, Exchange, Failure, Iteration, Opened
from soakproof.units import Seconds, split

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from soakproof.columns import Table
    from soakproof.plan import Kind, Threshold

_FORM = re.compile(
    r"\s*(?P<quantity>[^\s{}<>=!]+)\s*(?:\{(?P<filter>[^{}]*)\})?"
    r"\s+(?P<stat>[^\s{}<>=!]+)\s*(?P<op>[<>=!]+)\s*(?P<limit>.+?)\s*"
)
_EXAMPLE = '"generation_rate{long_prose} each >= 17 tokens/s" or "failed_checks count == 0"'

OPS: Mapping[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    ">": operator.gt,
    "<=": operator.le,
    "<": operator.lt,
    "==": operator.eq,
}
_MEANT = {"=<": "<=", "=>": ">=", "=": "=="}  # operators as others write them
_EXTREMES = {">=": "lowest", ">": "lowest", "<=": "highest", "<": "highest"}  # nearest to what `each` refuses
_ROLES_SHOWN = 6
_WITHOUT_ROLES = [name for name, counted in COUNTED.items() if counted.what == "iteration"]
METRIC_STATS = ("each", "median", "mean", "min", "max", "p50", *PERCENTILES, "count", "sum")
UNITS: Mapping[str, Mapping[str, float]] = {  # base unit to what may be written, and its size
    "s": Seconds.scale,
    "tokens": {"tokens": 1, "token": 1},
    "tokens/s": {"tokens/s": 1, "tokens/min": 1 / 60},
    "%": {"%": 1},
    "": {"": 1},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedThreshold:
    """A threshold ready to be evaluated; ``limit`` is in the base ``unit``, ``that`` is its source text."""

    name: str
    that: str
    why: str
    quantity: str
    filter: str
    stat: str
    op: str
    limit: float
    unit: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ThresholdResult:
    """What a run made of a threshold. ``observed`` is None when nothing could be measured."""

    threshold: ParsedThreshold
    outcome: Literal["pass", "fail", "unknown"]
    observed: float | None
    n: int
    failures: tuple[tuple[str, float], ...] = ()  # (exchange id, value), for `each`
    reason: str = ""  # why it is unknown, or how little it rests on


def is_measurement(that: str) -> bool:
    """Whether a threshold's text is on values that were measured. One that counts, whatever it counts, is
    not, nor is a text that cannot be read.
    """
    match = _FORM.fullmatch(that)
    return match is not None and match["quantity"] in METRICS and match["stat"] != "count"


def extreme(that: str) -> str:
    """Which of the values the observed one of an `each` is, "lowest" or "highest"; "" of any other text."""
    match = _FORM.fullmatch(that)
    return _EXTREMES.get(match["op"], "") if match is not None and match["stat"] == "each" else ""


def failures_counted(that: str, observed: float, n: float) -> int | None:
    """How many failures a threshold saw that counts them, or tells their share; None of any other text."""
    match = _FORM.fullmatch(that)
    counted = COUNTED.get(match["quantity"]) if match is not None else None
    if match is None or counted is None or not counted.failures:
        return None
    return round(observed * n / 100 if match["stat"] == "share" else observed)


def parse(
    threshold: "Threshold", kinds: "Collection[Kind] | None" = None, where: str = ""
) -> ParsedThreshold:
    """Read a threshold. ``kinds`` are the plan's; without them filters are taken as they stand.

    Raises UsageError that names the part that is wrong, what was expected, and the nearest known name.
    """
    at = f"{where}: threshold {threshold.name!r}".removeprefix(": ")
    match = _FORM.fullmatch(threshold.that)
    if match is None:
        raise UsageError(f"{at}: cannot read {threshold.that!r}", f"expected a form such as {_EXAMPLE}")
    quantity, stat = match["quantity"], match["stat"]
    _known(quantity, (*METRICS, *COUNTED), f"{at}: quantity")
    _known(stat, _stats(quantity), f"{at}: {quantity}: stat")
    _known(match["op"], tuple(OPS), f"{at}: operator")
    chosen = (match["filter"] or "").strip()
    if match["filter"] is not None:
        _check_filter(quantity, chosen, kinds, at)
    unit = _unit(quantity, stat)
    limit = _limit(match["limit"], unit, at)
    _refuse_idle(stat, match["op"], limit, at)
    return ParsedThreshold(
        name=threshold.name,
        that=threshold.that,
        why=threshold.why,
        quantity=quantity,
        filter=chosen,
        stat=stat,
        op=match["op"],
        limit=limit,
        unit=unit,
    )


def _stats(quantity: str) -> tuple[str, ...]:
    if quantity in METRICS:
        return METRIC_STATS
    return ("count", "share") if COUNTED[quantity].shares else ("count",)


def _unit(quantity: str, stat: str) -> str:
    if stat in ("count", "share"):
        return "" if stat == "count" else "%"
    return METRICS[quantity].unit


def _known(word: str, known: Sequence[str], what: str) -> None:
    if word in known:
        return
    meant = f"did you mean {_MEANT[word]!r}? " if word in _MEANT else did_you_mean(word, known)
    hint = f"{meant}known are: {', '.join(known)}"
    raise UsageError(f"{what}: unknown {word!r}", hint)


def _limit(text: str, unit: str, at: str) -> float:
    """The limit in the base unit."""
    known = UNITS[unit]
    expected = f"expected a number in {' or '.join(known)}" if unit else "expected a number without a unit"
    try:
        value, written = split(text)
    except ValueError:
        raise UsageError(f"{at}: limit: {expected}, found {text!r}") from None
    if written not in known:
        raise UsageError(f"{at}: unit: {expected}, found {text!r}", f"an example: {_EXAMPLE}")
    if value < 0 or (unit == "%" and value > 100):
        sense = "0 to 100 %" if unit == "%" else "0 or more"
        raise UsageError(f"{at}: limit: expected {sense}, found {text!r}")
    return value * known[written]


def _refuse_idle(stat: str, op: str, limit: float, at: str) -> None:
    """Raises UsageError for what holds, or fails, whatever the run does: nothing here is below 0, no share is
    above 100 %, and a count is whole.
    """
    most = 100.0 if stat == "share" else math.inf
    always = (op == ">=" and limit == 0) or (op == "<=" and limit >= most)
    never = (op == "<" and limit == 0) or (op == ">" and limit >= most)
    never |= op == "==" and stat == "count" and not limit.is_integer()
    if always or never:
        told = "always holds, whatever the run does" if always else "can never hold"
        raise UsageError(
            f"{at}: {stat} {op} {limit:g} {told}",
            "set a limit that a run can keep and can break, such as count == 0, or leave the threshold out",
        )


def _check_filter(quantity: str, chosen: str, kinds: "Collection[Kind] | None", at: str) -> None:
    if not chosen:
        raise UsageError(f"{at}: the filter {{}} is empty", "name a kind, or leave the braces out")
    if kinds is None:
        return
    names = [kind.name for kind in kinds]
    if quantity in COUNTED and COUNTED[quantity].what == "check":
        names += [check for kind in kinds for check in kind.scenario.checks]
    elif "." in chosen and chosen not in names and quantity not in _WITHOUT_ROLES:
        chosen = chosen.rpartition(".")[0]  # a role: only the run can tell whether there is one
    _known(chosen, list(dict.fromkeys(names)), f"{at}: filter")


def evaluate(
    parsed: ParsedThreshold,
    exchanges: "Table[Exchange]",
    checks: "Table[Check]",
    iterations: "Table[Iteration]",
    unclosed: "Table[Opened]",
) -> ThresholdResult:
    """What the run made of a threshold. ``unclosed`` are requests of whose end nothing is known."""
    if parsed.quantity in METRICS:
        return _evaluate_metric(parsed, exchanges)
    counted = COUNTED[parsed.quantity]
    outcomes: list[tuple[str, Failure | None]]
    if counted.what == "exchange":
        taken = exchanges.where(_takes(parsed.filter, exchanges))
        outcomes = list(zip(taken["outcome"].tolist(), taken["failure"].tolist(), strict=True))
        outcomes += [("unknown", None)] * int(_takes(parsed.filter, unclosed).sum())
    elif counted.what == "check":
        told = zip(*(checks[n].tolist() for n in ("name", "scenario", "outcome", "grade")), strict=True)
        outcomes = [(outcome_of(o, g), None) for n, s, o, g in told if parsed.filter in ("", n, s)]
    else:
        ends = zip(iterations["scenario"].tolist(), iterations["end"].tolist(), strict=True)
        outcomes = [(end, None) for kind, end in ends if parsed.filter in ("", kind)]
    return _evaluate_count(parsed, counted, outcomes)


def _takes(chosen: str, requests: "Table[Exchange] | Table[Opened]") -> "NDArray[np.bool_]":
    """Which of them a filter, a kind or ``kind.role``, takes in."""
    import numpy as np

    kinds, roles = requests["scenario"].tolist(), requests["role"].tolist()
    taken = (chosen in ("", kind, f"{kind}.{role}") for kind, role in zip(kinds, roles, strict=True))
    return np.fromiter(taken, bool, len(requests))


def _evaluate_count(
    parsed: ParsedThreshold, counted: Counted, outcomes: list[tuple[str, Failure | None]]
) -> ThresholdResult:
    n = sum(counted.decided(outcome) for outcome, _ in outcomes)
    found = sum(counted.matches(outcome, failure) for outcome, failure in outcomes)
    if n == 0 and counted.what != "iteration":
        of = f" of {parsed.filter}" if parsed.filter else ""
        return _unknown(parsed, f"no {counted.what}{of} came to an outcome")
    observed = found / n * 100 if parsed.stat == "share" else float(found)
    return _result(parsed, observed, n)


def _evaluate_metric(parsed: ParsedThreshold, exchanges: "Table[Exchange]") -> ThresholdResult:
    chosen = exchanges.where(_takes(parsed.filter, exchanges))
    told = zip(chosen["id"].tolist(), chosen.metric(parsed.quantity).tolist(), strict=True)
    values = [(id, value) for id, value in told if not math.isnan(value)]
    if not values:
        return _unknown(parsed, _why_nothing(parsed, exchanges, len(chosen)))
    skipped = _skipped(chosen, len(values))
    if parsed.stat == "each":
        return _evaluate_each(parsed, values, skipped)
    numbers = sorted(value for _, value in values)
    remarks = [thin(parsed.stat, len(numbers)), skipped]
    return _result(parsed, statistic(parsed.stat, numbers), len(numbers), "; ".join(filter(None, remarks)))


def _why_nothing(parsed: ParsedThreshold, exchanges: "Table[Exchange]", chosen: int) -> str:
    """Why there is nothing to measure; of a role that no request had, which there were."""
    kind, _, role = parsed.filter.partition(".")
    roles = sorted(set(exchanges["role"][exchanges["scenario"] == kind].tolist()))
    if role and roles and not chosen:
        return f"no request of {kind} had the role {role!r}; there were: {listed(roles, _ROLES_SHOWN)}"
    metric = METRICS[parsed.quantity]
    of = f"{chosen} exchanges, none with a {metric.name}" if chosen else "no exchanges"
    return f"nothing to measure: {of} (it leaves out failures and {metric.leaves_out})"


def _skipped(chosen: "Table[Exchange]", measured: int) -> str:
    """How many successes a metric could not be told of, in words; empty for none."""
    succeeded = int((chosen["outcome"] == "ok").sum())
    return f"{succeeded - measured} of {succeeded} successes not measured" if succeeded > measured else ""


def _evaluate_each(parsed: ParsedThreshold, values: list[tuple[str, float]], reason: str) -> ThresholdResult:
    """``observed`` is the value that is furthest on the wrong side, or nearest to it."""
    holds = OPS[parsed.op]
    worst = max if _EXTREMES.get(parsed.op) == "highest" else min
    failures = tuple((id, value) for id, value in values if not holds(value, parsed.limit))
    observed = worst(value for _, value in failures or values)
    return ThresholdResult(
        threshold=parsed,
        outcome="fail" if failures else "pass",
        observed=observed,
        n=len(values),
        failures=failures,
        reason=reason,
    )


def _result(parsed: ParsedThreshold, observed: float, n: int, reason: str = "") -> ThresholdResult:
    met = OPS[parsed.op](observed, parsed.limit)
    return ThresholdResult(
        threshold=parsed, outcome="pass" if met else "fail", observed=observed, n=n, reason=reason
    )


def _unknown(parsed: ParsedThreshold, reason: str) -> ThresholdResult:
    return ThresholdResult(threshold=parsed, outcome="unknown", observed=None, n=0, reason=reason)
