"""Two identities side by side: what stands in the way of comparing two runs, and what changed. No I/O.

A field may be told in several ways, the surest first (a model by its file's digest, else the file's name,
else the name that the server gave); two runs are compared by the surest way that both know.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from soakproof.judge.evidence import Evidence
from soakproof.judge.identity.fields import FIELDS, Field
from soakproof.judge.identity.readers import Reader, Run, at, first, is_told, model_file
from soakproof.judge.rules import Role
from soakproof.plain import listed, plain


@dataclass(frozen=True, slots=True)
class Comparison:
    """What setting two identities side by side gave."""

    differ: tuple[str, ...] = ()  # ``same`` fields that differ, in words
    unknown: tuple[str, ...] = ()  # ``same`` fields that only one run tells, in words
    remarks: tuple[
        str, ...
    ] = ()  # ``same`` fields that neither run tells, and what an earlier version did not
    changed: tuple[dict[str, Any], ...] = ()  # every field that differs: field, role, was, is, parts

    @property
    def comparable(self) -> bool:
        return not self.differ and not self.unknown


_OPAQUE = (
    "shards",
    "shards_ends",
    "digest",
    "digest_of_ends",
    "content",
    "machine",
)  # ways whose values say nothing to a reader
_NAMES: Mapping[str, Reader] = {
    "plan": at("plan", "name"),
    "model": first(model_file, at("target", "model_resolved")),
}


ABSENT = "not there"  # an entry that only the other table has


def provenance(evidence: Evidence) -> dict[str, str]:
    """Where each field of `identity` was read; of a run that kept no provenance, nothing."""
    kept = at("provenance")(evidence.run)
    kept = kept if isinstance(kept, Mapping) else {}
    told = identity(evidence)
    found = {f.name: next(_sources(f, evidence.run, kept), None) for f in FIELDS if f.name in told}
    return {name: source for name, source in found.items() if source}


def _sources(one: Field, run: Run, kept: Mapping[str, Any]) -> Iterator[str]:
    for name in one.told_at:
        if is_told(at(*name.split("."))(run)) and is_told(kept.get(name)):
            yield str(kept[name])


def identity(evidence: Evidence) -> dict[str, Any]:
    """Every field that the run tells, by the surest way it tells it."""
    return {f.name: v for f in FIELDS if is_told(v := first(*f.ways.values())(evidence.run))}


def compare(run: Evidence, baseline: Evidence, moved: Mapping[str, Role]) -> Comparison:
    """The two identities side by side; ``moved`` are roles that the policy gives to fields."""
    differ: list[str] = []
    unknown: list[str] = []
    remarks: list[str] = []
    changed: list[dict[str, Any]] = []
    not_yet: list[str] = []
    for one in FIELDS:
        role = moved.get(one.name, one.role)
        way, now, was = _pair(one, run.run, baseline.run)
        if _equal(now, was, one.close):
            if role == "same" and not is_told(now):
                remarks.append(f"{one.name}: told by neither run")
            continue
        if role != "same" and _not_yet_told(one, was, baseline.run, now, run.run):
            not_yet.append(one.name)
            continue
        changed.append(_change(one.name, role, was, now))
        if role != "same":
            continue
        if is_told(now) and is_told(was):
            differ.append(_difference(one.name, way, was, now, baseline.run, run.run))
        else:
            unknown.append(f"{one.name}: told by {'this run' if is_told(now) else 'the baseline'} only")
    if not_yet:
        remarks.append(f"{', '.join(not_yet)}: one of the two was recorded by a version that did not tell it")
    return Comparison(tuple(differ), tuple(unknown), tuple(remarks), tuple(changed))


def _pair(one: Field, run: Run, baseline: Run) -> tuple[str, Any, Any]:
    """The surest way that both tell, with both values; else what either tells."""
    for way, reader in one.ways.items():
        now, was = reader(run), reader(baseline)
        if is_told(now) and is_told(was):
            return way, now, was
    read = first(*one.ways.values())
    return "", read(run), read(baseline)


def _equal(a: Any, b: Any, close: float) -> bool:
    if not is_told(a) and not is_told(b):
        return True
    numbers = all(isinstance(v, (int, float)) for v in (a, b))
    return bool(abs(a - b) <= close * max(abs(a), abs(b))) if close and numbers else bool(a == b)


def _not_yet_told(one: Field, was: Any, before: Run, now: Any, after: Run) -> bool:
    """Whether a field is missing only because its run is of a version that did not look for it."""
    return one.later and any(
        not is_told(value) and not is_told(at("provenance")(run))
        for value, run in ((was, before), (now, after))
    )


def _change(name: str, role: Role, was: Any, now: Any) -> dict[str, Any]:
    """A field that differs; of two tables, such as launch arguments, ``parts`` has what differs."""
    found = {"field": name, "role": role, "was": _or_unknown(was), "is": _or_unknown(now)}
    if isinstance(was, Mapping) and isinstance(now, Mapping):
        found["parts"] = [
            {"name": key, "was": was.get(key, ABSENT), "is": now.get(key, ABSENT)}
            for key in sorted({*was, *now}, key=str)
            if was.get(key) != now.get(key)
        ]
    return found


def _or_unknown(value: Any) -> Any:
    return value if is_told(value) else "unknown"


def _difference(name: str, way: str, was: Any, now: Any, before: Run, after: Run) -> str:
    """Both values in words: of two tables, the entries that differ; of two digests or documents, their names.

    The report's table of what changed has the values themselves.
    """
    if isinstance(was, Mapping) and isinstance(now, Mapping):
        names = sorted(str(k) for k in {*was, *now} if was.get(k) != now.get(k))
        return f"{name}: {listed(names, 5, limit=60)} differ"
    if way not in _OPAQUE:
        return f"{name}: {plain(now, 60)}, not {plain(was, 60)}"
    called = _NAMES.get(name, first())
    is_, was_ = called(after), called(before)
    return f"another {name} ({plain(is_, 60)}, not {plain(was_, 60)})" if is_ != was_ else f"another {name}"


def same_run(evidence: Evidence, baseline: Evidence) -> bool:
    """Whether the two are one and the same run, whatever their folders are called."""
    if evidence.id and evidence.id == baseline.id:
        return True
    now, was = evidence.run, baseline.run
    told = now.get("id"), now.get("zero_ns"), now.get("boot_id")
    return None not in told and told == (was.get("id"), was.get("zero_ns"), was.get("boot_id"))
