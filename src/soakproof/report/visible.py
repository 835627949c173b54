"""Hostile text made visible, bounded and harmless, for each place where a report shows it. No I/O.

What a model answered, what a server said and what a user named may hold control characters, escape
sequences, bidi overrides, markup. `plain.visible` comes first everywhere; what else a place needs follows.
"""

import re

from soakproof.plain import commandless, visible

_MARKUP = re.compile(r"[\\`*\[\]<&|~$]|(?<![^\W_])_|_(?![^\W_])")
_ENTITIES = {"<": "&lt;", "&": "&amp;"}
_BLOCK_START = re.compile(r"^(?:[#+=>-](?!\d)|\d{1,9}(?=[.)](?:\s|$)))")
_REFERENCE = re.compile(r"#(?=\d)|\b(?i:gh)(?=-\d)")
_LINK = re.compile(r":(?=//)|(?i:(?<=www)\.)|(?i:(?<=mailto):)|(?i:(?<=xmpp):)")


def line(text: str, limit: int = 2000) -> str:
    """Its first ``limit`` characters on one line: visible, runs of white space as one space."""
    cut = f"{text[: limit - 1]}…" if len(text) > limit else text
    return " ".join(visible(cut).split())


def bounded(text: str, head: int = 240, tail: int = 120) -> str:
    """The text's beginning and end, with how many characters were left out between them."""
    left_out = len(text) - head - tail
    if left_out <= 0:
        return text
    end = text[-tail:] if tail else ""
    return f"{text[:head]} […{left_out:,} characters left out…] {end}".rstrip()


def markdown(text: str) -> str:
    """One line of Markdown that shows the text as it is: no markup, link, image, table cell, mention, or
    reference to an issue, whatever word stands before it.
    """
    escaped = _MARKUP.sub(lambda m: _ENTITIES.get(m[0], f"\\{m[0]}"), line(text))
    escaped = _LINK.sub(lambda m: f"\\{m[0]}", escaped)
    escaped = _BLOCK_START.sub(lambda m: f"{m[0]}\\" if m[0].isdigit() else f"\\{m[0]}", escaped)
    escaped = _REFERENCE.sub(lambda m: f"{m[0]}<!-- -->", escaped)
    return commandless(escaped.replace("@", "@<!-- -->"), "&#{};")


def markdown_code(text: str, *, cell: bool = False) -> str:
    """A code span that shows the text as it is; ``cell`` for one inside a table."""
    shown = commandless(line(text))
    if not shown:
        return ""
    fence = "`" * (_longest_run(shown) + 1)
    pad = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{fence}{pad}{shown.replace('|', chr(92) + '|') if cell else shown}{pad}{fence}"


def markdown_block(text: str) -> str:
    """A fenced block that shows the text as it is, line breaks included."""
    shown = commandless(visible(text))
    fence = "`" * max(3, _longest_run(shown) + 1)
    return f"{fence}text\n{shown}\n{fence}"


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)
