"""What was tested, as named fields: what must match before two runs are compared, and what a release changes.

Read from run.json's target, plan and host, tolerantly: a field that cannot be told is absent, never empty.
A field may be told in several ways, the surest first (a model by its file's digest, else the file's name,
else the name that the server gave); two runs are compared by the surest way that both know.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any

from soakproof.judge.evidence import Evidence
from soakproof.judge.rules import Role
from soakproof.plain import listed, plain

Run = Mapping[str, Any]
Reader = Callable[[Run], Any]


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a run's identity; ``ways`` are readers by what they rest on, the surest first."""

    name: str
    role: Role
    ways: Mapping[str, Reader]
    close: float = 0.0  # numbers within this share of each other are equal


@dataclass(frozen=True, slots=True)
class Comparison:
    """What setting two identities side by side gave."""

    differ: tuple[str, ...] = ()  # ``same`` fields that differ, in words
    unknown: tuple[str, ...] = ()  # ``same`` fields that only one run tells, in words
    remarks: tuple[str, ...] = ()  # ``same`` fields that neither run tells
    changed: tuple[dict[str, Any], ...] = ()  # every field that differs: field, role, was, is

    @property
    def comparable(self) -> bool:
        return not self.differ and not self.unknown


def _at(*path: str) -> Reader:
    def read(run: Run) -> Any:
        value: Any = run
        for key in path:
            value = value.get(key) if isinstance(value, Mapping) else None
        return value

    return read


def _first(*readers: Reader) -> Reader:
    return lambda run: next((v for v in (r(run) for r in readers) if _told(v)), None)


def _told(value: Any) -> bool:
    return value is not None and value not in ("", [], {})


def _command(run: Run) -> list[str]:
    command = _at("target", "launch_command")(run)
    return [str(word) for word in command] if isinstance(command, (list, tuple)) else []


def option(command: list[str], *names: str) -> str | None:
    """The value of the last of these options on a command line; both ``-x v`` and ``--long=v``."""
    found = None
    for place, word in enumerate(command):
        name, equals, value = word.partition("=")
        if name in names:
            found = value if equals else next(iter(command[place + 1 : place + 2]), None)
    return found


_MODEL = ("-m", "--model")
_LEFT_OUT = ("--port", "--host", "--api-key", "--api-key-file", "-m", "--model", "--alias", "-a")


def _launch_arguments(run: Run) -> str | None:
    """The arguments that shape the server: no program, model or address, which change by themselves."""
    kept, skip = [], False
    for word in _command(run)[1:]:
        if skip:
            skip = False
        elif word.partition("=")[0] in _LEFT_OUT:
            skip = "=" not in word
        else:
            kept.append(word)
    return " ".join(kept) or None


def _cache_type(run: Run) -> str | None:
    command = _command(run)
    if not command:
        return None
    keys = option(command, "-ctk", "--cache-type-k") or "f16"
    values = option(command, "-ctv", "--cache-type-v") or "f16"
    return f"K {keys}, V {values}"


def _model_file(run: Run) -> str | None:
    path = _at("target", "model_path")(run) or option(_command(run), *_MODEL)
    return PureWindowsPath(PurePosixPath(str(path)).name).name.removesuffix(".gguf") if path else None


_QUANTISATION = re.compile(
    r"(?<![a-z0-9])((?:iq|q|tq)\d+(?:_[a-z0-9]+)*|mxfp4|nvfp4|bf16|f16|f32|fp8)(?![a-z0-9])", re.I
)


def _quantisation(run: Run) -> str | None:
    told = _at("target", "quantisation")(run)
    if told:
        return str(told)
    names = (_model_file(run), _at("target", "checkpoint")(run), _at("target", "model_resolved")(run))
    found = next((m for m in (_QUANTISATION.search(str(n)) for n in names if n) if m), None)
    return found[1].upper() if found else None


def _content(*path: str) -> Reader:
    """A part of the document as canonical text, so that two can be compared whole."""

    def read(run: Run) -> str | None:
        value = _at(*path)(run)
        return json.dumps(value, sort_keys=True, ensure_ascii=False) if _told(value) else None

    return read


def _mix(run: Run) -> str | None:
    kinds = _at("plan", "kinds")(run)
    if not isinstance(kinds, (list, tuple)):
        return None
    told = [f"{k.get('count')} {k.get('name')}" for k in kinds if isinstance(k, Mapping)]
    return ", ".join(told) or None


def _users(run: Run) -> Any:
    """Their number; or, where it was changed while the load ran, each number in turn."""
    changes = run.get("users_changed")
    if not isinstance(changes, (list, tuple)) or not changes:
        return _at("plan", "users")(run)
    later = (c.get("users") if isinstance(c, Mapping) else "unknown" for c in changes)
    return ", then ".join(map(str, (_at("plan", "users")(run), *later)))


def _kind_options(run: Run) -> dict[str, Any]:
    kinds = _at("plan", "kinds")(run)
    listed = kinds if isinstance(kinds, (list, tuple)) else ()
    return {
        str(k.get("name")): [k.get("scenario"), k.get("options")] for k in listed if isinstance(k, Mapping)
    }


def _same(name: str, /, close: float = 0.0, **ways: Reader) -> Field:
    return Field(name, "same", ways, close)


def _tested(name: str, reader: Reader) -> Field:
    return Field(name, "under_test", {"": reader})


def _noted(name: str, *path: str) -> Field:
    return Field(name, "noted", {"": _at(*path)})


FIELDS: tuple[Field, ...] = (
    _same(
        "model",
        digest=_first(_at("target", "model_digest"), _at("target", "model_file", "sha256")),
        digest_of_ends=_at("target", "model_file", "sha256_of_ends"),
        file=_model_file,
        name=_first(_at("target", "model_resolved"), _at("target", "model")),
    ),
    _same("quantisation", name=_quantisation),
    _same("slot_context", tokens=_first(_at("target", "slot_context"), _at("around", "slot_context"))),
    _same("slots", count=_first(_at("target", "slots"), _at("around", "slots"))),
    _same("plan", digest=_at("digests", "plan"), content=_content("plan", "source")),
    _same("mix", counts=_mix),
    _same("kind_options", options=_kind_options),
    _same("prompts", digests=_at("digests", "prompts")),
    _same("scenarios", digests=_at("digests", "scenarios")),
    _same("seed", number=_at("plan", "seed")),
    _same("users", count=_users),
    _same("host", machine=_at("host", "machine"), cpu=_at("host", "cpu")),
    _same("memory_bytes", 0.02, bytes=_at("host", "memory_bytes")),
    _tested("front", _at("target", "kind")),
    _tested("front_version", _at("target", "version")),
    _tested("backend_build", _first(_at("target", "build"), _at("target", "backend_build"))),
    _tested("backend_file", _first(_at("target", "executable_digest"), _content("target", "executable"))),
    _tested("recipe", _at("target", "recipe")),
    _tested("recipe_options", _content("target", "recipe_options")),
    _tested("launch_arguments", _launch_arguments),
    _tested("cache_type", _cache_type),
    _tested("chat_template", _at("target", "chat_template_digest")),
    _tested("driver", _first(_at("host", "driver"), _at("host", "gpu_driver"), _at("target", "driver"))),
    _tested("kernel", _at("host", "kernel")),
    _noted("testbed", "target", "testbed"),
    _noted("asked_as", "target", "model"),
    _noted("model_name", "target", "model_resolved"),
    _noted("address", "target", "base_url"),
    _noted("models_loaded", "target", "models_loaded"),
    _noted("duration_s", "plan", "duration_s"),
    _noted("os", "host", "os"),
    _noted("cores", "host", "cores"),
    _noted("power_profile", "host", "power_profile"),
    _noted("governor", "host", "governor"),
    _noted("tester", "versions", "soakproof"),
)


_OPAQUE = ("digest", "digest_of_ends", "content", "machine")  # ways whose values say nothing to a reader
_NAMES: Mapping[str, Reader] = {
    "plan": _at("plan", "name"),
    "model": _first(_model_file, _at("target", "model_resolved")),
}


def identity(evidence: Evidence) -> dict[str, Any]:
    """Every field that the run tells, by the surest way it tells it."""
    return {f.name: v for f in FIELDS if _told(v := _first(*f.ways.values())(evidence.run))}


def compare(run: Evidence, baseline: Evidence, moved: Mapping[str, Role]) -> Comparison:
    """The two identities side by side; ``moved`` are roles that the policy gives to fields."""
    differ: list[str] = []
    unknown: list[str] = []
    remarks: list[str] = []
    changed: list[dict[str, Any]] = []
    for one in FIELDS:
        role = moved.get(one.name, one.role)
        way, now, was = _pair(one, run.run, baseline.run)
        if _equal(now, was, one.close):
            if role == "same" and not _told(now):
                remarks.append(f"{one.name}: told by neither run")
            continue
        changed.append({"field": one.name, "role": role, "was": _or_unknown(was), "is": _or_unknown(now)})
        if role != "same":
            continue
        if _told(now) and _told(was):
            differ.append(_difference(one.name, way, was, now, baseline.run, run.run))
        else:
            unknown.append(f"{one.name}: told by {'this run' if _told(now) else 'the baseline'} only")
    return Comparison(tuple(differ), tuple(unknown), tuple(remarks), tuple(changed))


def _pair(one: Field, run: Run, baseline: Run) -> tuple[str, Any, Any]:
    """The surest way that both tell, with both values; else what either tells."""
    for way, reader in one.ways.items():
        now, was = reader(run), reader(baseline)
        if _told(now) and _told(was):
            return way, now, was
    read = _first(*one.ways.values())
    return "", read(run), read(baseline)


def _equal(a: Any, b: Any, close: float) -> bool:
    if not _told(a) and not _told(b):
        return True
    numbers = all(isinstance(v, (int, float)) for v in (a, b))
    return bool(abs(a - b) <= close * max(abs(a), abs(b))) if close and numbers else bool(a == b)


def _or_unknown(value: Any) -> Any:
    return value if _told(value) else "unknown"


def _difference(name: str, way: str, was: Any, now: Any, before: Run, after: Run) -> str:
    """Both values in words: of two tables, the entries that differ; of two digests or documents, their names.

    The report's table of what changed has the values themselves.
    """
    if isinstance(was, Mapping) and isinstance(now, Mapping):
        names = sorted(str(k) for k in {*was, *now} if was.get(k) != now.get(k))
        return f"{name}: {listed(names, 5, limit=60)} differ"
    if way not in _OPAQUE:
        return f"{name}: {plain(now, 60)}, not {plain(was, 60)}"
    called = _NAMES.get(name, _first())
    is_, was_ = called(after), called(before)
    return f"another {name} ({plain(is_, 60)}, not {plain(was_, 60)})" if is_ != was_ else f"another {name}"


def same_run(evidence: Evidence, baseline: Evidence) -> bool:
    """Whether the two are one and the same run, whatever their folders are called."""
    if evidence.id and evidence.id == baseline.id:
        return True
    now, was = evidence.run, baseline.run
    told = now.get("id"), now.get("zero_ns"), now.get("boot_id")
    return None not in told and told == (was.get("id"), was.get("zero_ns"), was.get("boot_id"))
