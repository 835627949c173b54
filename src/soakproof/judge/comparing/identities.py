"""In what the arms differ: what must be the same, what is under test, what is noted. No I/O."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from soakproof.judge.comparing.arms import Arm
from soakproof.judge.evidence import Evidence
from soakproof.judge.identity import FIELDS, compare

_VARIES = ("seed",)  # among the runs of one arm: the second in a row asks what the server has not seen
_ROLES = {field.name: field.role for field in FIELDS}


@dataclass(frozen=True, slots=True)
class Difference:
    """One field in which an arm differs from the first."""

    arm: str
    field: str
    role: str
    was: Any
    now: Any


@dataclass(frozen=True, slots=True)
class Identities:
    """An arm's identity against the first arm's."""

    differences: tuple[Difference, ...] = ()
    against: tuple[str, ...] = ()  # why the two are not comparable, in words
    remarks: tuple[str, ...] = ()


def identities(first: Arm, arm: Arm) -> Identities:
    """Runs are compared in pairs, in the order given; a single one of an arm with each of the other's."""
    if bool(first.documents) != bool(arm.documents):
        return Identities(
            remarks=(
                f"{first.name} and {arm.name}: one is of runs, one was entered: what differs is not known",
            )
        )
    if not arm.documents:
        return _entered(first, arm)
    differences: dict[str, Difference] = {}
    against: dict[str, None] = {}
    remarks: dict[str, None] = {}
    for was, now in _pairs(first, arm):
        found = compare(_bare(now), _bare(was), {})
        for one in found.changed:
            for name, before, after in _parts(one):
                differences.setdefault(name, Difference(arm.name, name, one["role"], before, after))
        against.update(dict.fromkeys(f"{arm.name}: {told}" for told in (*found.differ, *found.unknown)))
        remarks.update(dict.fromkeys(found.remarks))
    return Identities(tuple(differences.values()), tuple(against), tuple(remarks))


def within(arm: Arm) -> list[str]:
    """Fields in which runs of one arm differ among themselves, in words: it is no single arm then."""
    told: dict[str, None] = {}
    for document in arm.documents[1:]:
        found = compare(_bare(document), _bare(arm.documents[0]), {})
        for one in found.changed:
            if one["role"] != "noted" and one["field"] not in _VARIES:
                told.setdefault(f"{arm.name}: its own runs differ in {one['field']}", None)
    return list(told)


def _parts(change: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """A field that differs; of tables, such as launch arguments, each entry by itself."""
    if not change.get("parts"):
        yield change["field"], change["was"], change["is"]
    for part in change.get("parts") or ():
        yield f"{change['field']} {part['name']}", part["was"], part["is"]


def _pairs(first: Arm, arm: Arm) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    for place in range(max(len(first.documents), len(arm.documents))):
        yield first.documents[place % len(first.documents)], arm.documents[place % len(arm.documents)]


def _bare(document: Mapping[str, Any]) -> Evidence:
    """A run without its records, of which nothing is compared here."""
    return Evidence(run=document, raw=None, records=())


def _entered(first: Arm, arm: Arm) -> Identities:
    """Of arms whose fields somebody entered: those that one of them tells."""
    differences, against = [], []
    for name in dict.fromkeys((*first.identity, *arm.identity)):
        was, now = (side.identity.get(name, "unknown") for side in (first, arm))
        if was != now:
            role = _ROLES[name]
            differences.append(Difference(arm.name, name, role, was, now))
            if role == "same":
                against.append(f"{arm.name}: {name}: {now}, not {was}")
    return Identities(tuple(differences), tuple(against))
