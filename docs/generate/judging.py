"""The sections on policies and the bundled adjudicators."""

import inspect
from collections.abc import Iterator

from plans import own_options
from source import example, first_line
from tables import code, keys, table

from soakproof import policy
from soakproof.catalog import Catalog
from soakproof.judge.identity import FIELDS
from soakproof.judge.rules import Reconsider


def section() -> Iterator[str]:
    yield "## Policies"
    yield ""
    yield "A policy is `adjudicators/NAME.toml`. Its form, by an example:"
    yield ""
    yield f"```toml\n{example(policy.__doc__)}\n```"
    yield from keys(policy._Document)
    yield "`[baseline]`"
    yield from keys(policy._Baseline)
    yield "`[identity]`: moves fields to another role; none can be left out."
    yield from keys(policy._Identity)
    yield f"`[[reconsider]]`: {first_line(Reconsider)}"
    yield from keys(Reconsider, "reconsider.")
    yield "### Fields of the identity"
    yield ""
    yield "A field that is told in several ways is compared by the first that both runs know."
    rows = [(code(f.name), _role(f.role), _ways(f.ways), ", ".join(map(code, f.told_at))) for f in FIELDS]
    yield from table(("field", "role", "told by", "in run.json"), rows)


def _role(role: str) -> str:
    return role.replace("_", " ")


def _ways(ways: object) -> str:
    assert isinstance(ways, dict)
    return ", ".join(way.replace("_", " ") for way in ways if way)


def adjudicators(catalog: Catalog) -> Iterator[str]:
    yield "## Bundled adjudicators"
    yield ""
    yield "A policy sets their options in `[adjudicator.NAME]`. Each takes `critical` as well (`true`),"
    yield "which says whether its findings decide the verdict."
    yield ""
    for name in catalog.files("adjudicators", ".py"):
        kind = catalog.adjudicator(name)
        yield f"### `{name}`"
        yield ""
        yield inspect.cleandoc(kind.__doc__ or "").replace("``", "`")
        yield from own_options(kind)
