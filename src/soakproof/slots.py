"""llama.cpp's ``/slots`` in every shape that builds have given it. Pure: reads a document, does no I/O.

Shapes: a list of slots; ``{"slots": [...]}``; ``{"data": ...}``; an object keyed by the slot's id; and, in
old builds, a ``state`` (number or word) in place of ``is_processing``. ``next_token`` is an object, or a
list of one, or an empty list, or missing. An idle slot keeps the counters of its last task: they mean
nothing and are not passed on.
"""

import reprlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from soakproof.amounts import MOST
from soakproof.plain import plain

LEAST_PAUSE_S = 2.0  # asked faster, llama.cpp does not notice clients that leave before their first token
_IDLE_WORDS = {"idle", "available", "free"}
_BUSY_WORDS = {"processing", "processing_prompt", "started", "done_prompt", "generating", "busy"}
_RANDOM_SEED = 0xFFFFFFFF  # what a request without a seed gets
_LARGEST = 2**63  # no id, seed or task comes near it
_SAMPLE = 200  # characters of a document that an error shows


@dataclass(frozen=True, slots=True)
class Slot:
    """One slot. Token counts and the seed are those of the task it works on: None while it is idle."""

    id: int | None
    busy: bool
    seed: int | None = None
    task: int | None = None  # of the last task once the slot is idle
    context: int | None = None  # tokens that fit into it
    decoded: int | None = None
    prompt_processed: int | None = None
    prompt_tokens: int | None = None
    seedless: bool = False  # its request came without a seed, and says so
    temperature: float | None = None
    max_tokens: int | None = None


class UnknownShapeError(ValueError):
    """A document that is none of the known shapes; the message holds the beginning of it."""


def parse_slots(document: Any) -> tuple[Slot, ...]:
    """The slots of a ``/slots`` document, in its order. Raises UnknownShapeError."""
    return tuple(_slot(key, entry) for key, entry in _entries(document))


def _entries(document: Any, wrappers: int = 2) -> list[tuple[Any, Any]]:
    """Each slot with the key that it stood under, None in a list; found within so many ``wrappers``."""
    if isinstance(document, Sequence) and not isinstance(document, (str, bytes)):
        return [(None, entry) for entry in document]
    if isinstance(document, Mapping) and document:
        for wrapper in ("slots", "data"):
            if wrapper in document and wrappers:
                return _entries(document[wrapper], wrappers - 1)
        return list(document.items())
    raise _unknown("expected a list of slots", document)


def _slot(key: Any, entry: Any) -> Slot:
    if not isinstance(entry, Mapping):
        raise _unknown("expected a slot to be an object", entry)
    busy = _busy(entry)
    own_id = _whole(entry.get("id"))
    return Slot(
        id=own_id if own_id is not None else _whole(key),
        busy=busy,
        seed=_seed(entry) if busy else None,
        seedless=busy and _number(_param(entry, "seed")) == _RANDOM_SEED,
        task=_natural(entry.get("id_task", entry.get("task_id"))),
        context=_tokens(entry.get("n_ctx")),
        decoded=_decoded(entry) if busy else None,
        prompt_processed=_tokens(entry.get("n_prompt_tokens_processed")) if busy else None,
        prompt_tokens=_tokens(entry.get("n_prompt_tokens")) if busy else None,
        temperature=_number(_param(entry, "temperature")) if busy else None,
        max_tokens=_tokens(_param(entry, "n_predict", "max_tokens")) if busy else None,
    )


def _busy(entry: Mapping[str, Any]) -> bool:
    """``is_processing``, or the ``state`` of old builds: 0 and "idle" are idle, the others work."""
    flag = entry.get("is_processing", entry.get("state"))
    if isinstance(flag, (bool, int)):
        return flag != 0
    if isinstance(flag, str):
        word = flag.lower().removeprefix("slot_state_")
        if word in _IDLE_WORDS | _BUSY_WORDS:
            return word in _BUSY_WORDS
    raise _unknown("expected a slot with is_processing or state", entry)


def _param(entry: Mapping[str, Any], *names: str) -> Any:
    """The first of these of the request's parameters, as the slot shows them."""
    params = entry.get("params")
    if not isinstance(params, Mapping):
        return None
    return next((params[name] for name in names if name in params), None)


def _seed(entry: Mapping[str, Any]) -> int | None:
    seed = _natural(_param(entry, "seed"))
    return None if seed == _RANDOM_SEED else seed


def _decoded(entry: Mapping[str, Any]) -> int | None:
    token = entry.get("next_token")
    if isinstance(token, list):
        token = token[0] if token else None
    return _tokens((token if isinstance(token, Mapping) else entry).get("n_decoded"))


def _whole(value: Any) -> int | None:
    if isinstance(value, str) and value.isascii() and value.isdigit():
        value = int(value[:20])  # a longer one is beyond the bound as well
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    return value if is_whole and abs(value) < _LARGEST else None


def _number(value: Any) -> float | None:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if is_number and abs(value) < _RANDOM_SEED + 1 else None


def _natural(value: Any) -> int | None:
    """A number from 0; servers write -1 for none."""
    number = _whole(value)
    return number if number is not None and number >= 0 else None


def _tokens(value: Any) -> int | None:
    number = _natural(value)
    return number if number is not None and number <= MOST else None


def _unknown(expected: str, found: Any) -> UnknownShapeError:
    return UnknownShapeError(f"{expected}, found {plain(reprlib.repr(found), _SAMPLE)}")
