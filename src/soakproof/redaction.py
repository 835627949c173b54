"""Secrets taken out of what is written: keys as such, and values by the option that they follow. No I/O.

A server repeats its own command line, and a key with it; an option or an address may hold one. What is taken
out leaves `REMOVED` in its place, so that a reader sees that something was there.
"""

import html
import re
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from string import ascii_letters, digits
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
_PLACEHOLDERS = frozenset(
    {
        "lemonade",
        "llamacpp",
        "ollama",
        "lm-studio",
        "none",
        "empty",
        "dummy",
        "not-needed",
        "no-key",
        "any",
        "x",
        "ok",
    }
)
_LONG = 8  # characters from which a key is taken out inside of words too
# What looks like a key in the words of a server that quotes the one it refused.
_LIKELY = re.compile(r"\bsk-[\w-]{8,}|\bbearer\s+[\w.~+/=-]{8,}", re.IGNORECASE)
_WIDEST = 12  # characters of one in its longest form
_ESCAPED_LETTER = re.compile(r"\\[ux]|&#", re.IGNORECASE)
_HALF_ESCAPE = re.compile(r"[\\%&][\\\w#%;]{0,12}")
_SHORT_ESCAPES = {"\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t"}


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
    """``value`` without this API key, wherever it stands in a string: as it is, or as JSON, HTML, an address,
    base64 or hexadecimal digits write it.
    """
    if not key or key.lower() in _PLACEHOLDERS:
        return value
    return _replaced(value, key)


def redacted(text: str, keys: Sequence[str]) -> str:
    """A server's words without these keys, one that the end cuts off too, and without what looks like one."""
    for key in keys:
        text = _without_cut_key(without_key(text, key), key)
    return _LIKELY.sub(REMOVED, text)


def _without_cut_key(text: str, key: str) -> str:
    """Without the beginning of the key, in any form, that a limit has left at the end of the text."""
    body = text.removesuffix("…")
    forms = _characters(key)
    for start in range(max(0, len(body) - _WIDEST * len(key)), len(body) - _LONG + 1):
        if _begins(forms, body, start):
            return body[:start] + REMOVED
    return text


def _begins(forms: Sequence[re.Pattern[str]], text: str, at: int) -> bool:
    """Whether the text, from a place to its end, is the beginning of a key: eight characters or more."""
    for number, form in enumerate(forms):
        found = form.match(text, at)
        if found is None:
            return number >= _LONG and (at == len(text) or bool(_HALF_ESCAPE.fullmatch(text, at)))
        at = found.end()
    return False


@lru_cache(maxsize=8)
def _characters(key: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(f"(?:{'|'.join(_forms(c))})") for c in key)


@lru_cache(maxsize=16)
def _pattern(key: str, escaped: bool) -> re.Pattern[str]:
    """Each character in any of its forms. Letters and digits are rarely ``escaped``, and else found fast."""
    as_is = "" if escaped else ascii_letters + digits
    form = "".join(c if c in as_is else f"(?:{'|'.join(_forms(c))})" for c in key)
    return re.compile(form if len(key) >= _LONG else rf"(?<![A-Za-z0-9_])(?:{form})(?![A-Za-z0-9_])")


@lru_cache(maxsize=16)
def _encoded(key: str) -> tuple[str, ...]:
    """A long key as base64 and hexadecimal digits write it, wherever it begins in what was encoded."""
    data = key.encode("utf-8", "replace")
    if len(data) < _LONG:
        return ()
    found = {data.hex(): None, data.hex().upper(): None}
    for before in range(3):
        whole = (before + len(data)) * 8 // 6  # characters that what follows has no part in
        text = b64encode(b"\0" * before + data).decode()[-(-before * 8 // 6) : whole]
        found |= {text: None, text.replace("+", "-").replace("/", "_"): None}
    return tuple(found)


def _forms(character: str) -> Iterator[str]:
    """Patterns of a character: as it is, and as JSON, HTML and addresses write it, in however many layers."""
    units = character.encode("utf-16-be", "surrogatepass").hex()
    quoted = quote(character, safe="", errors="replace")
    yield "".join(rf"\\+u(?i:{units[i : i + 4]})" for i in range(0, len(units), 4))
    yield rf"\\+x(?i:{ord(character):02x})"
    if not (character.isascii() and character.isalnum()):
        yield r"\\+" + re.escape(_SHORT_ESCAPES.get(character, character))
    if quoted != character:
        yield f"(?i:{quoted.replace('%', '%(?:25)*')})"
    named = html.escape(character)[1:] if html.escape(character) != character else ""
    yield rf"(?i:&(?:amp;)*(?:\#0*{ord(character)};|\#x0*{ord(character):x};{f'|{named}' if named else ''}))"
    yield re.escape(character)  # last: a backslash may be half of an escape


def _replaced(value: Any, key: str) -> Any:
    if isinstance(value, str):
        for encoded in _encoded(key):
            value = value.replace(encoded, REMOVED)
        return _pattern(key, bool(_ESCAPED_LETTER.search(value))).sub(REMOVED, value)
    if isinstance(value, Mapping):  # a name that is an ordinary word is rather one of ours
        return {
            name if key.isalpha() else _replaced(name, key): _replaced(one, key)
            for name, one in value.items()
        }
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
