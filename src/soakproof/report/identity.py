"""What was tested, on what, and with which programs, as tables. Missing is "unknown". No I/O."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from soakproof.judge.evidence import Evidence
from soakproof.judge.finding import Verdict
from soakproof.judge.identity import provenance
from soakproof.report.page import Column, Table
from soakproof.report.quantity import quantity

_FIELDS = (Column("Field"), Column("Value"))
_FIELDS_FROM = (*_FIELDS, Column("From"))
_NOT_KEPT = "not recorded"
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
            _with_sources(verdict.identity, provenance(evidence), "The target's identity is not known."),
        ),
        (
            "Target, as it was read",
            _with_sources(evidence.target, _of_part(evidence, "target"), "Nothing was read from the target."),
        ),
        (
            "Host",
            _with_sources(evidence.run.get("host"), _of_part(evidence, "host"), "The host is not known."),
        ),
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
    rows = tuple(row for change in changed for row in _changes(change))
    empty = "No identity field differs from the baseline." if baseline else "Nothing to compare with."
    return Table(columns, rows, empty)


def _changes(change: Mapping[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    """A row for a field; for a table, such as launch arguments, one for each entry that differs."""
    field, role = str(change.get("field", "")), str(change.get("role", "")).replace("_", " ")
    parts = change.get("parts")
    if not isinstance(parts, (list, tuple)) or not parts:
        yield field, role, value(change.get("was"), field), value(change.get("is"), field)
        return
    for part in parts:
        if isinstance(part, Mapping):
            yield f"{field} {part.get('name')}", role, value(part.get("was")), value(part.get("is"))


def _of_part(evidence: Evidence, part: str) -> dict[str, str]:
    """Where the fields of one part of run.json come from."""
    kept = evidence.run.get("provenance")
    told = kept.items() if isinstance(kept, Mapping) else ()
    return {
        name.removeprefix(f"{part}."): str(source) for name, source in told if name.startswith(f"{part}.")
    }


def _with_sources(document: Any, sources: Mapping[str, str], empty: str) -> Table:
    """A document's leaves, each with where it was read."""
    known = document if isinstance(document, Mapping) else {}
    rows = tuple(
        (name, value(found, name), _source(name, found, sources)) for name, found in _leaves(known, "")
    )
    return Table(_FIELDS_FROM, rows, empty)


def _source(name: str, found: Any, sources: Mapping[str, str]) -> str:
    told = sources.get(name) or sources.get(name.partition(".")[0])
    return told or ("" if found is None else _NOT_KEPT)


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
