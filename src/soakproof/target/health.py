"""Lemonade's health document, read tolerantly. No I/O."""

from typing import Any


def models(health: dict[str, Any]) -> list[dict[str, Any]]:
    loaded = health.get("all_models_loaded")
    return [m for m in loaded if isinstance(m, dict)] if isinstance(loaded, list) else []


def entry_of(health: dict[str, Any], resolved: str | None, asked: str) -> dict[str, Any]:
    """The health document's entry of the model that answered; aliases and prefixes resolved."""
    loaded = models(health)
    wanted = {_bare(n) for n in (resolved, asked) if n}
    named = [m for m in loaded if _bare(str(m.get("model_name"))) in wanted]
    newest = sorted(loaded, key=lambda m: m.get("last_use") or 0)
    return (named or newest or [{}])[-1]


def backend_of(health: Any, resolved: str | None, asked: str) -> str | None:
    """The address, without /v1, of the backend that serves the model; None when it is not there."""
    entry = entry_of(health, resolved, asked) if isinstance(health, dict) else {}
    url = entry.get("backend_url")
    return str(url).removesuffix("/v1") if url else None


def _bare(name: str) -> str:
    """A model's name without ``user.`` and ``:latest``: Lemonade takes all three forms."""
    return name.removeprefix("user.").removesuffix(":latest")
