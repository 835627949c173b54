"""Tables and paragraphs for a terminal, no wider than it is. No I/O.

Texts are made harmless before they come here; ANSI colours may stand around a whole cell.
"""

import re
from collections.abc import Mapping, Sequence
from textwrap import wrap

from tabulate import tabulate

_COLOUR = re.compile(r"\x1b\[\d+m")
_MEETING = re.compile(r"(?<=[-_./:])")  # where the parts of a name meet
_GAP = 2  # between two columns
_LEAST = 8  # a column of texts is not folded below this


def fitted(
    heads: Sequence[str],
    rows: Sequence[Sequence[object]],
    width: int,
    *,
    right: Sequence[str] = (),
    whole: Sequence[str] = (),
    most: Mapping[str, int] | None = None,
) -> str:
    """Columns under heads, at most ``width`` wide: the widest columns are folded until they fit.

    Columns named in ``right`` are set flush right; those in ``right`` or ``whole`` are folded in their heads
    alone; ``most`` bounds a column's width.
    """
    columns = [[str(cell) for cell in column] for column in zip(*rows, strict=True)] or [[] for _ in heads]
    limits = most or {}
    natural, least = [], []
    for head, column in zip(heads, columns, strict=True):
        cells = max((_length(cell) for cell in column), default=0)
        word = max(map(len, head.split()), default=0)
        natural.append(max(min(cells, limits.get(head, cells)), len(head)))
        least.append(max(cells if head in right or head in whole else min(cells, _LEAST), word))
    widths = _narrowed(natural, least, width - _GAP * (len(heads) - 1))
    shown = [[_folded(cell, limit) for cell in column] for column, limit in zip(columns, widths, strict=True)]
    top = [_folded(head, limit) for head, limit in zip(heads, widths, strict=True)]
    lines = [top, ["-" * limit for limit in widths], *(list(row) for row in zip(*shown, strict=True))]
    sides = ["right" if head in right else "left" for head in heads]
    return tabulate(lines, tablefmt="plain", colalign=sides, disable_numparse=True)


def _narrowed(natural: Sequence[int], least: Sequence[int], room: int) -> list[int]:
    """Widths that fit into ``room``, each taken from the widest column that may still be folded."""
    widths = list(natural)
    for _ in range(sum(widths) - room):
        able = [place for place, width in enumerate(widths) if width > least[place]]
        if not able:
            break
        widths[max(able, key=widths.__getitem__)] -= 1
    return widths


def _folded(text: str, width: int) -> str:
    """The text on lines of at most ``width``; one that fits keeps its colour and its own lines."""
    if _length(text) <= width:
        return text
    parts = (_parted(part, width) for part in text.split("\n"))
    return "\n".join(line for part in parts for line in wrap(part, width, break_on_hyphens=False))


def _parted(text: str, width: int) -> str:
    """The text with each word that is wider than a line cut where parts of a name meet, at ``-_./:``.

    A space stands at each cut; two neighbouring pieces never fit on one line, so none of them is seen.
    """
    return " ".join(_pieces(word, width) if len(word) > width else word for word in text.split(" "))


def _pieces(word: str, width: int) -> str:
    lines = [""]
    for part in _MEETING.split(word):
        if lines[-1] and len(lines[-1]) + len(part) > width:
            lines.append("")
        lines[-1] += part
    return " ".join(lines)


def _length(text: str) -> int:
    return max(len(line) for line in _COLOUR.sub("", text).split("\n"))


def paragraph(text: str, width: int, hang: str = "") -> str:
    """The text on lines of at most ``width``, all but the first beginning with ``hang``.

    Spaces at its beginning stay, and so do runs of spaces within a line.
    """
    start = text[: len(text) - len(text.lstrip(" "))]
    room = max(width, len(start) + 20, len(hang) + 20)
    lines = wrap(
        text[len(start) :], room, initial_indent=start, subsequent_indent=hang, break_on_hyphens=False
    )
    return "\n".join(lines)
