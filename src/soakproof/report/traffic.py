"""Tables of what was asked and checked, kind by kind, and their medians beside the baseline's. No I/O."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
from statistics import median
from typing import Any

from soakproof.columns.measured import of_kind
from soakproof.judge.evidence import Evidence
from soakproof.judge.repeats import Apart, apart, by_run
from soakproof.metrics import METRICS
from soakproof.quantities import KNOWN, outcome_of
from soakproof.report.page import Column, Table
from soakproof.report.quantity import change, quantity

SHOWN = (
    ("first_token_time", "First token, median"),
    ("generation_rate", "Generation, median"),
    ("prompt_rate", "Prompt work, median"),
)
_BAD = ("fail", "unknown", KNOWN)
COMPARED = (*SHOWN, ("total_time", "Whole answer, median"), ("widest_gap", "Widest gap, median"))


def kinds(evidence: Evidence) -> tuple[str, ...]:
    """Kinds of traffic: the plan's in its order, then any that only the records know."""
    planned = [str(k.get("name")) for k in evidence.plan.get("kinds") or () if isinstance(k, dict)]
    tables = (evidence.opened_table, evidence.exchange_table, evidence.iteration_table)
    seen = [dict.fromkeys(table["scenario"].tolist()) for table in tables]
    return tuple(dict.fromkeys(chain(planned, *seen)))


def traffic_table(evidence: Evidence) -> Table:
    """A row a kind: iterations, exchanges, failures by class, and medians with how many they rest on."""
    columns = (
        Column("Kind"),
        Column("Iterations", "number"),
        Column("Exchanges", "number"),
        Column("Not ok"),
        *(Column(head, "number") for _, head in SHOWN),
    )
    rows = tuple(_traffic_row(evidence, kind) for kind in kinds(evidence))
    return Table(columns, rows, "No request was recorded.")


def _traffic_row(evidence: Evidence, kind: str) -> tuple[str, ...]:
    iterations, exchanges = evidence.iteration_table, evidence.exchange_table
    ends = iterations["end"][iterations["scenario"] == kind]
    exchanges = exchanges.where(exchanges["scenario"] == kind)
    unclosed = sum(o.scenario == kind for o in evidence.unclosed)
    bad = exchanges.where(exchanges["outcome"] != "ok")
    reasons = zip(bad["failure"].tolist(), bad["outcome"].tolist(), strict=True)
    classes = Counter(str(failure or outcome) for failure, outcome in reasons)
    if unclosed:
        classes["never closed"] = unclosed
    return (
        kind,
        _counts(Counter(ends.tolist())),
        f"{len(exchanges) - len(bad):,} of {len(exchanges) + unclosed:,} ok",
        _counts(classes),
        *(_median_of(name, evidence, kind) for name, _ in SHOWN),
    )


def _counts(counts: Mapping[Any, int]) -> str:
    return ", ".join(f"{n:,} {name}" for name, n in sorted(counts.items())) or "none"


def _median_of(name: str, evidence: Evidence, kind: str) -> str:
    found = of_kind(name, evidence.exchange_table, kind)
    return f"{quantity(median(found), METRICS[name].unit)} (n {len(found):,})" if found else "not measured"


def checks_table(evidence: Evidence) -> Table:
    """A row a check and kind: how many passed, failed, are unknown or met a known limit; the worst first."""
    counts: dict[tuple[str, str], Counter[str]] = {}
    grades: dict[tuple[str, str], Counter[str]] = {}
    checks = [evidence.check_table[name].tolist() for name in ("scenario", "name", "outcome", "grade")]
    for (kind, name, plain_outcome, grade), n in Counter(zip(*checks, strict=True)).items():
        key, outcome = (kind, name), outcome_of(plain_outcome, grade)
        counts.setdefault(key, Counter())[outcome] += n
        if grade:
            told = grade if outcome == KNOWN else f"{outcome}: {grade}"
            grades.setdefault(key, Counter())[told] += n
    order = kinds(evidence)
    keys = sorted(counts, key=lambda k: (*(not counts[k][o] for o in _BAD), _place(order, k[0]), k))
    columns = (
        Column("Outcome", "outcome"),
        Column("Kind"),
        Column("Check"),
        *(Column(head, "number") for head in ("Pass", "Fail", "Unknown", "Known limit")),
        Column("Grades"),
    )
    rows = tuple(_check_row(*key, counts[key], grades.get(key, Counter())) for key in keys)
    return Table(columns, rows, "No check was recorded.")


def _place(order: tuple[str, ...], kind: str) -> int:
    return order.index(kind) if kind in order else len(order)


def _check_row(kind: str, name: str, counts: Counter[str], grades: Counter[str]) -> tuple[str, ...]:
    outcome = next((o for o in _BAD if counts[o]), "pass")
    told = [f"{counts[o]:,}" for o in ("pass", "fail", "unknown", KNOWN)]
    return (outcome, kind, name, *told, ", ".join(f"{n:,} {grade}" for grade, n in sorted(grades.items())))


def compared_table(evidence: Evidence, baseline: Evidence | None, unfit: str = "") -> Table:
    """Medians of each kind beside the baseline's, without judgement. ``unfit``: why there are none."""
    columns = (
        Column("Kind"),
        Column("Quantity"),
        Column("Baseline", "number"),
        Column("This run", "number"),
        Column("Change", "number"),
    )
    if baseline is None:
        return Table(columns, (), unfit or "Nothing to compare with.")
    rows = []
    for kind in kinds(evidence):
        for name, head in COMPARED:
            row = _compared_row(kind, name, head, evidence, baseline)
            rows += [row] if row else []
    return Table(columns, tuple(rows), "The baseline and this run have no measured quantity in common.")


def _compared_row(
    kind: str, name: str, head: str, evidence: Evidence, baseline: Evidence
) -> tuple[str, ...] | None:
    now = of_kind(name, evidence.exchange_table, kind)
    was = by_run(name, baseline, kind)
    if not now or not was:
        return None
    unit = METRICS[name].unit
    here = f"{quantity(median(now), unit)} (n {len(now):,})"
    return (kind, head, _of_runs(apart(was), was, unit), here, change(apart(was).level, median(now)))


def _of_runs(found: Apart, was: Mapping[str, Sequence[float]], unit: str) -> str:
    """The median; of several runs that of their medians, with the least and the greatest of these."""
    n = sum(map(len, was.values()))
    told = quantity(found.level, unit)
    if len(was) == 1:
        return f"{told} (n {n:,})"
    least, greatest = (quantity(of(found.medians.values()), unit) for of in (min, max))
    return f"{told} (n {n:,} in {len(was)} runs, whose medians are {least} to {greatest})"
