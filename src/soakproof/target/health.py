"""Lemonade's health document, read tolerantly. No I/O."""

from collections.abc import Iterable
from typing import Any

import orjson

from soakproof.records import carriable
from soakproof.target.address import backend_root

_HIGHEST_PID = 1 << 30
_LONGEST_NAME = 500  # characters
_DEEPEST = 48  # levels of it; the run.json around it has some more
_LARGEST = 1 << 16  # bytes of one thing that a server says of itself


def models(health: dict[str, Any]) -> list[dict[str, Any]]:
    loaded = health.get("all_models_loaded")
    return [m for m in loaded if isinstance(m, dict)] if isinstance(loaded, list) else []


def entry_of(health: dict[str, Any], resolved: str | None, asked: str) -> dict[str, Any]:
    """The health document's entry of the model that answered; aliases and prefixes resolved."""
    loaded = models(health)
    wanted = {_bare(n) for n in (resolved, asked) if n}
    named = [m for m in loaded if _bare(str(m.get("model_name"))) in wanted]
    newest = sorted(loaded, key=lambda m: count(m.get("last_use")) or 0)
    return (named or newest or [{}])[-1]


def backend_of(health: Any, resolved: str | None, asked: str) -> str | None:
    """The address, without /v1, of the backend that serves the model; None when it is not there."""
    entry = entry_of(health, resolved, asked) if isinstance(health, dict) else {}
    return backend_root(entry.get("backend_url"))


def model_names(entries: Iterable[Any], key: str = "model_name") -> list[str]:
    """The names of models in a document; entries without one are passed over."""
    named = (name_of(entry.get(key)) for entry in entries if isinstance(entry, dict))
    return [name for name in named if name]


def name_of(value: Any) -> str | None:
    """A model's name as a server may write it; None for what no request could ask for."""
    if not isinstance(value, str) or not 0 < len(value) <= _LONGEST_NAME:
        return None
    try:
        value.encode()
    except UnicodeEncodeError:  # half of a surrogate pair
        return None
    return value


def texts(value: Any) -> list[str] | None:
    """A list of texts, such as a command; None for anything else."""
    return value if isinstance(value, list) and all(isinstance(item, str) for item in value) else None


def kept(value: Any) -> Any:
    """What a server said of itself, as run.json keeps it: such as JSON can carry, and not without end."""
    made = carriable(value, _DEEPEST)
    size = len(orjson.dumps(made))
    return made if size <= _LARGEST else f"[{size:,} bytes, not kept]"


def count(value: Any) -> int | None:
    """A number from 1 as a server may write it; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 1 <= value < 2**53:
        return None
    return int(value)


def pid_of(entry: dict[str, Any]) -> int | None:
    """The backend's process; None for what is no pid."""
    pid = count(entry.get("pid"))
    return pid if pid is not None and pid < _HIGHEST_PID else None


def _bare(name: str) -> str:
    """A model's name without ``user.`` and ``:latest``: Lemonade takes all three forms."""
    return name.removeprefix("user.").removesuffix(":latest")
