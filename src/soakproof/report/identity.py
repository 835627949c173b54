"""What was tested, on what, and with which programs, as tables. Missing is "unknown". No I/O."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from soakproof.judge.evidence import Evidence
from soakproof.judge.finding import Verdict
from soakproof.report.page import Column, Table
from soakproof.report.quantity import quantity

_FIELDS = (Column("Field"), Column("Value"))
_DEPTH = 4


def identity_tables(verdict: Verdict, evidence: Evidence) -> tuple[tuple[str, Table], ...]:
    """What was compared, the target as it was read, the host and the plan, each under its title."""
    plan = {k: v for k, v in evidence.plan.items() if k not in ("source", "thresholds", "kinds")}
    mix = {
        str(k.get("name")): k.get("count") for k in evidence.plan.get("kinds") or () if isinstance(k, dict)
    }
    return (
        (
            "Identity, as it is compared",
            fields_table(verdict.identity, "The target's identity is not known."),
        ),
        ("Target, as it was read", fields_table(evidence.target, "Nothing was read from the target.")),
        ("Host", fields_table(evidence.run.get("host") or {}, "The host is not known.")),
        ("Plan", fields_table({**plan, **({"mix": mix} if mix else {})}, "The plan is not known.")),
    )


def versions_table(verdict: Verdict, evidence: Evidence) -> Table:
    """Programs of the run, and what judged it."""
    ran = evidence.run.get("versions") or {}
    told = {"run": {"program": evidence.run.get("program"), **ran}, "judged": verdict.versions}
    return fields_table(told, "No versions were recorded.")


def changed_table(changed: Iterable[Mapping[str, Any]], baseline: str | None) -> Table:
    """Identity fields that differ from the baseline, those that had to be the same included."""
    columns = (Column("Field"), Column("Role"), Column("Baseline"), Column("This run"))
    rows = tuple(
        (str(c.get("field", "")), str(c.get("role", "")), value(c.get("was")), value(c.get("is")))
        for c in changed
    )
    empty = "No identity field differs from the baseline." if baseline else "Nothing to compare with."
    return Table(columns, rows, empty)


def fields_table(document: Mapping[str, Any], empty: str) -> Table:
    """A document's leaves by their dotted names."""
    rows = tuple((name, value(found, name)) for name, found in _leaves(document, ""))
    return Table(_FIELDS, rows, empty)


def _leaves(document: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for key, found in document.items():
        name = f"{prefix}{key}"
        if isinstance(found, Mapping) and found and name.count(".") < _DEPTH:
            yield from _leaves(found, f"{name}.")
        else:
            yield name, found


def value(found: Any, name: str = "") -> str:
    """A value of a document in words; what is inside it is told in the same way."""
    if found is None or found == "":
        return "unknown"
    if isinstance(found, bool):
        return "yes" if found else "no"
    if isinstance(found, (list, tuple)):
        return " ".join(value(item) for item in found) or "none"
    if isinstance(found, Mapping):
        return ", ".join(f"{key} {value(inner, str(key))}" for key, inner in found.items()) or "none"
    if isinstance(found, (int, float)) and name.endswith("_bytes"):
        return quantity(found, "bytes")
    return str(found)
