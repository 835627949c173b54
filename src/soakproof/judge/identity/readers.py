"""Reading one field's value out of run.json, whatever shape that has. No I/O."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from soakproof.launchoptions import file_name, options, shaping, speculation

Run = Mapping[str, Any]
Reader = Callable[[Run], Any]

_QUANTISATION = re.compile(
    r"(?<![a-z0-9])((?:iq|q|tq)\d+(?:_[a-z0-9]+)*|mxfp4|nvfp4|bf16|f16|f32|fp8)(?![a-z0-9])", re.I
)


def at(*path: str) -> Reader:
    """The value at a path of keys."""

    def read(run: Run) -> Any:
        value: Any = run
        for key in path:
            value = value.get(key) if isinstance(value, Mapping) else None
        return value

    return read


def first(*readers: Reader) -> Reader:
    """What the first of them tells that tells anything."""
    return lambda run: next((v for v in (r(run) for r in readers) if is_told(v)), None)


def is_told(value: Any) -> bool:
    return value is not None and value not in ("", [], {})


def content(*path: str) -> Reader:
    """A part of the document as canonical text, so that two can be compared whole."""

    def read(run: Run) -> str | None:
        value = at(*path)(run)
        return json.dumps(value, sort_keys=True, ensure_ascii=False) if is_told(value) else None

    return read


def of_server(reader: Reader) -> Reader:
    """What this host tells of itself: of a server on another one it says nothing."""
    return lambda run: None if at("target", "local")(run) is False else reader(run)


def given_options(run: Run) -> dict[str, str]:
    """The options on the server's command line, by name."""
    command = at("target", "launch_command")(run)
    return options([str(word) for word in command[1:]]) if isinstance(command, (list, tuple)) else {}


def launch_arguments(run: Run) -> dict[str, str]:
    """The options that shape the server, by name."""
    command = at("target", "launch_command")(run)
    return shaping([str(word) for word in command[1:]]) if isinstance(command, (list, tuple)) else {}


def cache_type(run: Run) -> str | None:
    """The types of keys and values, llama.cpp's own where they were not given."""
    if not at("target", "launch_command")(run):
        return None
    given = given_options(run)
    return f"K {given.get('--cache-type-k', 'f16')}, V {given.get('--cache-type-v', 'f16')}"


def batch_sizes(run: Run) -> str | None:
    """Tokens that the backend takes, and that it computes, at a time."""
    batch, ubatch = at("around", "batch")(run), at("around", "ubatch")(run)
    return f"{batch}, {ubatch} at once" if is_told(batch) and is_told(ubatch) else None


def drafting(run: Run) -> dict[str, str] | str | None:
    """How tokens are drafted, as far as the command line says."""
    given = given_options(run)
    return (speculation(given) or "none") if given else None


def model_file(run: Run) -> str | None:
    """The model's file by its name."""
    path = at("target", "model_path")(run) or given_options(run).get("--model")
    return file_name(str(path)) if path else None


def quantisation(run: Run) -> str | None:
    """By the names that the model goes under."""
    told = at("target", "quantisation")(run)
    if told:
        return str(told)
    names = (model_file(run), at("target", "checkpoint")(run), at("target", "model_resolved")(run))
    found = next((m for m in (_QUANTISATION.search(str(n)) for n in names if n) if m), None)
    return found[1].upper() if found else None


def library_digests(run: Run) -> dict[str, Any]:
    """Digests of llama.cpp's libraries by their names."""
    found = at("target", "libraries")(run)
    if not isinstance(found, Mapping):
        return {}
    digests = {name: at("sha256")(told) or at("sha256_of_ends")(told) for name, told in found.items()}
    return {str(name): digest for name, digest in digests.items() if is_told(digest)}


def mix(run: Run) -> str | None:
    """The plan's kinds with their counts."""
    kinds = at("plan", "kinds")(run)
    if not isinstance(kinds, (list, tuple)):
        return None
    told = [f"{k.get('count')} {k.get('name')}" for k in kinds if isinstance(k, Mapping)]
    return ", ".join(told) or None


def users(run: Run) -> Any:
    """Their number; or, where it was changed while the load ran, each number in turn."""
    changes = run.get("users_changed")
    if not isinstance(changes, (list, tuple)) or not changes:
        return at("plan", "users")(run)
    later = (c.get("users") if isinstance(c, Mapping) else "unknown" for c in changes)
    return ", then ".join(map(str, (at("plan", "users")(run), *later)))


def think_time(run: Run) -> Any:
    """Seconds; 0 of a plan from before there was one."""
    plan = run.get("plan")
    return plan.get("think_time_s", 0.0) if isinstance(plan, Mapping) else None


def kind_options(run: Run) -> dict[str, Any]:
    """Each kind's scenario with its options."""
    kinds = at("plan", "kinds")(run)
    listed = kinds if isinstance(kinds, (list, tuple)) else ()
    return {
        str(k.get("name")): [k.get("scenario"), k.get("options")] for k in listed if isinstance(k, Mapping)
    }
