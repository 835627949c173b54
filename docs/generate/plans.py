"""The sections on plans, thresholds, metrics and the bundled scenarios."""

import inspect
import typing
from collections.abc import Iterator, Mapping
from typing import Any

from source import example, first_line, named
from tables import TYPES, code, in_words, keys, options, shown, table

from soakproof import plan, thresholds
from soakproof.catalog import Catalog
from soakproof.metrics import METRICS
from soakproof.quantities import COUNTED
from soakproof.settings import in_unit
from soakproof.units import Bytes, Ratio, Seconds, Tokens


def section() -> Iterator[str]:
    yield "## Plans"
    yield ""
    yield "A plan is `scenarios/NAME.toml`. Unknown keys are refused. Its form, by an example:"
    yield ""
    yield f"```toml\n{example(plan.__doc__)}\n```"
    yield from keys(plan._Document, comments={f.name: f.comment for f in named(plan.Plan)})
    yield "`[short]`: what a run that is shorter than its bound does in place of the plan's."
    yield from keys(plan._ShortDocument, "short.")
    yield f"`[bounds]`: {first_line(plan.Bounds)}"
    yield from keys(plan.Bounds)
    yield f"`[watch]`: {first_line(plan.WatchSettings)}"
    yield from keys(plan.WatchSettings)
    yield f"`[guard]`: {first_line(plan.GuardSettings)}"
    yield from keys(plan.GuardSettings)
    yield "`[[threshold]]`: judged by the run itself at its end; every report shows its text."
    yield from keys(plan.Threshold)
    yield "Quantities are written with their unit:"
    yield from table(
        ("type", "written as"), [(TYPES[q.__name__], q.example) for q in (Seconds, Tokens, Ratio, Bytes)]
    )


def threshold_grammar() -> Iterator[str]:
    form, examples, rest = inspect.cleandoc(thresholds.__doc__ or "").split("\n\n")[1:]
    yield "## Thresholds"
    yield ""
    yield f"```text\n{inspect.cleandoc(form)}\n\n{inspect.cleandoc(examples)}\n```"
    yield ""
    yield " ".join(rest.split())
    yield from table(
        ("part", "what it may be"),
        [
            ("quantity", "a metric, or a count over the run: see the tables below"),
            ("filter", "a kind, `kind.role`, or for counts of checks the name of a check"),
            ("stat of a metric", ", ".join(map(code, thresholds.METRIC_STATS))),
            ("stat of a count", "`count`; `share` where the table below has it"),
            ("op", ", ".join(map(code, thresholds.OPS))),
            ("unit", "; ".join(_unit(unit, known) for unit, known in thresholds.UNITS.items())),
        ],
    )
    yield "Counts over the run:"
    yield from table(
        ("quantity", "of what", "stats", "what it counts"),
        [
            (code(name), f"{c.what}s", "`count`, `share`" if c.shares else "`count`", c.describe)
            for name, c in COUNTED.items()
        ],
    )


def _unit(unit: str, known: Mapping[str, float]) -> str:
    if not unit:
        return "none for counts"
    others = [code(name) for name in known if name != unit]
    return f"{code(unit)} (also {', '.join(others)})" if others else code(unit)


def metrics() -> Iterator[str]:
    yield "## Metrics"
    yield ""
    yield "Of exchanges that succeeded; a failure is counted as one and never mixed into a latency."
    yield from table(
        ("metric", "unit", "better", "what it is", "left out"),
        [(code(m.name), m.unit, m.better or "", m.describe, m.leaves_out) for m in METRICS.values()],
    )


def scenarios(catalog: Catalog) -> Iterator[str]:
    yield "## Bundled scenarios"
    yield ""
    yield "A plan sets their options in `[kind.NAME]`, and `soakproof try` by `--set OPTION=VALUE`."
    yield ""
    for name in catalog.files("scenarios", ".py"):
        kind = catalog.scenario(name)
        yield f"### `{name}`"
        yield ""
        yield f"{first_line(kind)} Checks: {', '.join(map(code, kind.checks))}."
        yield from own_options(kind)


def own_options(kind: type) -> Iterator[str]:
    """The fields of a scenario or an adjudicator."""
    rows = [
        (code(f.name), f"{in_words(f.annotation, kind)}{_range(kind, f.name)}", shown(default), f.comment)
        for f, default in options(kind)
    ]
    return table(("option", "type", "default", "what it is"), rows) if rows else iter(("",))


def _range(kind: Any, name: str) -> str:
    """What an option may be set to, where that is bounded."""
    if name not in kind.ranges:
        return ""
    least, most = (in_unit(bound, typing.get_type_hints(kind)[name]) for bound in kind.ranges[name])
    return f", {least} to {most}"
