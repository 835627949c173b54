"""CSV: a user's sheet read with its numbers, and tables written so that no spreadsheet computes in them."""

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from soakproof.errors import UsageError, words
from soakproof.plain import plain, visible

# A number as programs write it: no 1_000, no digits but 0 to 9; what is no measure is told as that later.
_NUMBERS = {
    int: re.compile(r"[-+]?[0-9]+"),
    float: re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[-+]?[0-9]+)?|[-+]?(?:nan|inf)", re.IGNORECASE),
}
_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what a spreadsheet takes for one's beginning


def read_sheet(path: Path, kinds: Mapping[str, type]) -> list[dict[str, Any]]:
    """A row each: texts, and numbers in the columns that ``kinds`` names; empty cells are left out.

    Commas or semicolons part the cells. Raises UsageError with the line that is wrong.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UsageError(f"cannot read {path}: {words(error)}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8: {error}", "save it as CSV in UTF-8") from error
    head = text.partition("\n")[0]
    reader = csv.reader(
        io.StringIO(text), delimiter=";" if ";" in head and "," not in head else ",", strict=True
    )
    rows: list[dict[str, Any]] = []
    try:
        names = [name.strip() for name in next(reader, [])]
        _refuse_names(names, path.name)
        for cells in reader:
            if any(cell.strip() for cell in cells):
                rows.append(_row(names, cells, kinds, f"{path.name}: line {reader.line_num}"))
    except csv.Error as error:
        raise UsageError(f"{path.name}: line {reader.line_num} is not CSV: {error}") from error
    return rows


def _refuse_names(names: Sequence[str], where: str) -> None:
    if not any(names):
        raise UsageError(f"{where}: its first line names no columns", "such as: arm,workload,generation_rate")
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise UsageError(f"{where}: column {plain(twice[0], 80)!r} is there twice")


def _row(names: Sequence[str], cells: Sequence[str], kinds: Mapping[str, type], where: str) -> dict[str, Any]:
    if len(cells) != len(names):
        raise UsageError(f"{where}: expected {len(names)} cells, found {len(cells)}")
    return {
        name: _value(cell.strip(), kinds.get(name), f"{where}: {plain(name, 60)}")
        for name, cell in zip(names, cells, strict=True)
        if cell.strip()
    }


def _value(cell: str, kind: type | None, where: str) -> Any:
    if kind is None:
        return cell
    try:
        if not _NUMBERS[kind].fullmatch(cell):
            raise ValueError(cell)
        return kind(cell)
    except ValueError:  # also of more digits than Python reads
        expected = "a whole number" if kind is int else "a number, with a point"
        raise UsageError(f"{where}: expected {expected}, found {plain(cell, 60)!r}") from None


def write_sheet(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """CSV text. Numbers stand unrounded, None is an empty cell; a text that could be a formula gets an
    apostrophe before it.
    """
    made = io.StringIO()
    writer = csv.writer(made, lineterminator="\n")
    writer.writerow(heads)
    writer.writerows([_cell(value) for value in row] for row in rows)
    return made.getvalue()


def _cell(value: object) -> object:
    if not isinstance(value, str):
        return value
    shown = visible(value)
    return f"'{shown}" if shown.lstrip().startswith(_FORMULA) else shown
