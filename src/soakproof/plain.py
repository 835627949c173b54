"""Text from a server, a model or a user made visible and harmless to print. No I/O.

Such text is hostile: it may hold terminal escapes, direction overrides or a megabyte of spaces. `plain` is
for one line of a terminal or a finding; the report room puts `visible` into Markdown, HTML, XML and figures.
"""

import re
import unicodedata
from collections.abc import Sequence

_SERVERS = {"lemonade": "Lemonade", "llamacpp": "llama.cpp"}
_KEPT = frozenset("\n\t")
_COMMAND = re.compile(r"^(\s*):(?=:)|#(?=#\[)", re.MULTILINE)
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def visible(text: str) -> str:
    """The text with every character that does not show, or that reorders others, as its escape.

    Line feeds, tabs and spaces of any width stay as they are.
    """
    if text.isprintable():
        return text
    return "".join(c if c in _KEPT or unicodedata.category(c) not in _HIDDEN else _escape(c) for c in text)


def commandless(text: str, escape: str = "\\x{:x}") -> str:
    """Text in which no line is a command to GitHub's runner, ``::name::`` or ``##[name]``, which reads them
    in all that a job prints. ``escape`` says how the document writes a character by its number.
    """
    return _COMMAND.sub(lambda m: f"{m[1] or ''}{escape.format(ord(m[0][-1]))}", text)


def plain(text: object, limit: int = 200) -> str:
    """``text`` on one line of at most ``limit`` characters, visible, with a space for each white space."""
    source = str(text)
    shown = visible("".join(" " if _is_space(c) else c for c in source[:limit]))
    return f"{shown[: limit - 1]}…" if len(source) > limit or len(shown) > limit else shown


def clause(text: object, limit: int = 200) -> str:
    """`plain` without a full stop at its end: to stand within a sentence, which has one of its own."""
    return plain(text, limit).rstrip(". ")


def listed(parts: Sequence[object], most: int, joint: str = ", ", limit: int = 200) -> str:
    """The first ``most`` parts, each as `plain` shows it, and how many more there are."""
    shown = joint.join(plain(part, limit) for part in parts[:most])
    if len(parts) <= most:
        return shown
    return f"{shown}{'' if joint == ', ' else joint.rstrip()} and {len(parts) - most:,} more"


def model_name(model: object) -> str:
    """The name of a model's file where a server tells the whole path, as llama.cpp does; else the name."""
    name = str(model)
    is_file = name.lower().endswith(".gguf") or name.startswith(("/", "\\")) or name[1:3] in (":\\", ":/")
    return name.replace("\\", "/").rstrip("/").rpartition("/")[2] if is_file else name


def server_name(kind: object) -> str:
    """What a target's kind is called."""
    return _SERVERS.get(str(kind), "a server")


def described(kind: type) -> str:
    """The first line that a class says of itself; empty where it says nothing.

    The text that `dataclass` gives a class without a docstring, its name and fields, is none.
    """
    told = (vars(kind).get("__doc__") or "").strip()
    return "" if told.startswith(f"{kind.__name__}(") else told.partition("\n")[0]


def _is_space(character: str) -> bool:
    return character in "\n\r\t" or unicodedata.category(character) == "Zs"


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
