"""A policy: which adjudicators judge a run, by which numbers, from TOML to frozen, validated values.

title = "Release"
[baseline]
required = true               # no verdict of PASS without a comparable baseline
[adjudicator.throughput]      # options of adjudicators/throughput.py; its presence makes it run
critical = true               # whether it decides the verdict; true where nothing is said
margin = "3 %"
[identity]                    # moves a field's role, never drops it
under_test = ["front"]
[[reconsider]]                # overrules one raw threshold, in sight of everybody
threshold = "prose-rate"
reason = "17 tokens/s was written for another model"
requires = ["functional", "throughput"]
who = "A. Keeper"
expires = 2026-12-31
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import Any

from soakproof.catalog import Catalog, digests
from soakproof.errors import UsageError, did_you_mean
from soakproof.judge.identity import FIELDS
from soakproof.judge.rules import Policy, Reconsider, Role, Rule
from soakproof.plain import listed, plain
from soakproof.settings import build, read_toml, refuse_text
from soakproof.units import written

_ENTRY = tuple(f.name for f in dataclasses.fields(Reconsider))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Baseline:
    required: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Identity:
    same: tuple[str, ...] = ()
    under_test: tuple[str, ...] = ()
    noted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Document:
    """The TOML's own form."""

    title: str = ""
    baseline: _Baseline = field(default_factory=_Baseline)
    adjudicator: dict[str, dict[str, Any]] = field(default_factory=dict)
    identity: _Identity = field(default_factory=_Identity)
    reconsider: tuple[dict[str, Any], ...] = ()


def load_policy(catalog: Catalog, name: str) -> Policy:
    """The policy of a name or a file. Raises UsageError for anything in it that is wrong."""
    path = catalog.policy(name)
    document = build(_Document, read_toml(path), path.name)
    refuse_text(document.title, f"{path.name}: title", 200)
    rules = _rules(catalog, document.adjudicator, path.name)
    return Policy(
        name=path.stem,
        title=document.title,
        rules=rules,
        baseline_required=document.baseline.required,
        roles=_roles(document.identity, path.name),
        reconsider=_reconsider(document.reconsider, rules, path.name),
        digests=_digests(catalog, path, rules),
    )


def _rules(catalog: Catalog, tables: Mapping[str, dict[str, Any]], where: str) -> dict[str, Rule]:
    made = {name: _rule(catalog, name, options, where) for name, options in tables.items()}
    if not any(rule.critical for rule in made.values()):
        raise UsageError(
            f"{where}: no adjudicator decides anything",
            "name at least one that is critical: [adjudicator.functional]",
        )
    return made


def _rule(catalog: Catalog, name: str, options: Mapping[str, Any], where: str) -> Rule:
    rest = dict(options)
    critical = rest.pop("critical", True)
    if not isinstance(critical, bool):
        raise UsageError(
            f"{where}: [adjudicator.{name}]: critical: expected true or false, "
            f"found {plain(written(critical), 100)}"
        )
    try:
        made = catalog.adjudicator(name)
    except UsageError as error:
        raise UsageError(f"{where}: [adjudicator.{name}]: {error.problem}", error.hint) from None
    return Rule(build(made, rest, f"{where}: [adjudicator.{name}]"), critical)


def _roles(identity: _Identity, where: str) -> dict[str, Role]:
    moved: dict[str, Role] = {}
    lists: tuple[tuple[Role, tuple[str, ...]], ...] = (
        ("same", identity.same),
        ("under_test", identity.under_test),
        ("noted", identity.noted),
    )
    for role, names in lists:
        for name in names:
            _known(name, [f.name for f in FIELDS], f"{where}: [identity] {role}", "field")
            if name in moved:
                raise UsageError(f"{where}: [identity]: {name!r} stands in two roles", "leave it in one")
            moved[name] = role
    return moved


def _reconsider(
    tables: tuple[dict[str, Any], ...], rules: Mapping[str, Rule], where: str
) -> tuple[Reconsider, ...]:
    entries = tuple(
        _entry(table, rules, f"{where}: reconsider {number}") for number, table in enumerate(tables, 1)
    )
    names = [entry.threshold for entry in entries]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise UsageError(f"{where}: {twice[0]!r} is reconsidered twice", "leave one entry for a threshold")
    return entries


def _entry(table: Mapping[str, Any], rules: Mapping[str, Rule], where: str) -> Reconsider:
    for name in _ENTRY:
        if not table.get(name):
            raise UsageError(f"{where}: {name} is missing", "an entry has: " + ", ".join(_ENTRY))
    if isinstance(table["expires"], datetime) or not isinstance(table["expires"], date):
        raise UsageError(
            f"{where}: expires: expected a date without quotes, such as 2026-12-31, "
            f"found {plain(written(table['expires']), 100)}"
        )
    entry = build(Reconsider, table, where)
    for name, text in (("threshold", entry.threshold), ("reason", entry.reason), ("who", entry.who)):
        refuse_text(text, f"{where}: {name}", 1000, least=1)
    if "." in entry.threshold:
        raise UsageError(
            f"{where}: {entry.threshold!r} is the name of a check",
            "only a raw threshold may be reconsidered; checks, kernel faults and missing evidence never",
        )
    for name in entry.requires:
        _known(name, list(rules), f"{where}: requires", "adjudicator of this policy")
    return entry


def _known(name: str, known: list[str], where: str, what: str) -> None:
    if name not in known:
        hint = f"{did_you_mean(name, known)}there are: {listed(sorted(known), 30)}"
        raise UsageError(f"{where}: {name!r} is no {what}", hint)


def _digests(catalog: Catalog, policy: Path, rules: Mapping[str, Rule]) -> dict[str, str]:
    files = [policy, *(catalog.find("adjudicator", "adjudicators", ".py", name) for name in rules)]
    return digests(files)
