"""Secrets taken out of what is written: keys as such, and values by the option that they follow. No I/O.

A server repeats its own command line, and a key with it; an option or an address may hold one. What is taken
out leaves `REMOVED` in its place, so that a reader sees that something was there.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

REMOVED = "[removed]"

_SECRET = r"(?:api[-_]?key(?![-_]file)|access[-_]?key|token(?!s|i[sz])(?![-_]file)|passw(?:or)?d|secret)"
_NAME = re.compile(rf"(?:[\w-]*{_SECRET}[\w-]*|-?hft)", re.IGNORECASE)
_OPTION = re.compile(
    rf"(?<![\w-])(--?{_NAME.pattern})([=\s]\s*)(\"[^\"]*\"|'[^']*'|[^\s\"']+)", re.IGNORECASE
)
_VARIABLE = re.compile(r"\b([A-Z][A-Z_]*(?:KEY|TOKEN|PASSWORD|SECRET)=)[^\s\"']+")
_IN_QUERY = re.compile(rf"([?&](?:key|[\w-]*{_SECRET})=)[^&\s\"'#]+", re.IGNORECASE)
_IN_ADDRESS = re.compile(r"(\w://)[^\s/@\"']+@")
_BEARER = re.compile(r"(\bbearer\s+)[\w.~+/=-]{8,}", re.IGNORECASE)

# What manuals write where a server wants no key. It is no secret, and a word of many other things.
_PLACEHOLDERS = frozenset({"lemonade", "llamacpp", "none", "empty", "dummy", "not-needed", "no-key"})
_LONG = 8  # characters from which a key is taken out inside of words too


def without_options(value: Any) -> Any:
    """``value`` without the values of options, variables and fields that are named like a secret.

    Understands lists of arguments, command lines, addresses and fields, in whatever they are nested.
    """
    if isinstance(value, str):
        return _clean(value)
    if isinstance(value, Mapping):
        return {k: REMOVED if _is_secret(k, v) else without_options(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return _arguments(value)
    return value


def without_key(value: Any, key: str | None) -> Any:
    """``value`` without this API key, wherever it stands in a string, as it is or as an address has it."""
    if not key or key.lower() in _PLACEHOLDERS:
        return value
    forms = "|".join(re.escape(form) for form in sorted({key, quote(key, safe="")}, key=len, reverse=True))
    pattern = forms if len(key) >= _LONG else rf"(?<![A-Za-z0-9_])(?:{forms})(?![A-Za-z0-9_])"
    return _replaced(value, re.compile(pattern))


def _replaced(value: Any, key: re.Pattern[str]) -> Any:
    if isinstance(value, str):
        return key.sub(REMOVED, value)
    if isinstance(value, Mapping):
        return {_replaced(name, key): _replaced(one, key) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_replaced(one, key) for one in value]
    return value


def _arguments(words: Sequence[Any]) -> list[Any]:
    """A list whose every word may be the value of the option before it."""
    kept: list[Any] = []
    follows = False
    for word in words:
        is_option = isinstance(word, str) and word.startswith("-")
        kept.append(REMOVED if follows and not is_option else without_options(word))
        follows = is_option and bool(_NAME.fullmatch(word))
    return kept


def _is_secret(name: Any, value: Any) -> bool:
    return isinstance(name, str) and isinstance(value, str) and bool(value and _NAME.fullmatch(name))


def _clean(text: str) -> str:
    text = _OPTION.sub(rf"\1\2{REMOVED}", text)
    text = _VARIABLE.sub(rf"\1{REMOVED}", text)
    text = _IN_QUERY.sub(rf"\1{REMOVED}", text)
    text = _BEARER.sub(rf"\1{REMOVED}", text)
    return _IN_ADDRESS.sub(rf"\1{REMOVED}@", text)
