"""The file of decisions: read whole, and added to by one process at a time, whole or not at all."""

import re
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from soakproof.decisions.entries import NAME, Entry
from soakproof.decisions.locking import alone
from soakproof.decisions.written import HEAD, written
from soakproof.errors import UsageError, words
from soakproof.nesting import bounded
from soakproof.plain import plain
from soakproof.run import write_atomic
from soakproof.settings import build

FILE = Path("decisions.toml")  # where commands look without --file
MOST_BYTES = 16 << 20
_MEND = "mend that line, or take the file back from version control"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Document:
    entry: tuple[Entry, ...] = ()


def read_entries(path: Path) -> tuple[Entry, ...]:
    """All entries, in their order. Raises UsageError where there is no file, and for what is wrong in it."""
    text = _text(path)
    if text is None:
        told = f"there is no {plain(path, 300)}"
        raise UsageError(told, 'begin one: soakproof decide add NAME --changed "…"; or name it: --file FILE')
    return _parsed(path, text)


def add_entry(path: Path, make: Callable[[Sequence[Entry]], Entry]) -> Entry:
    """Add what ``make`` makes of the entries that are there; nobody else adds one meanwhile.

    Raises UsageError as `read_entries` does, or as ``make`` does, and RecorderError where it cannot be
    written; the file is then as it was.
    """
    target = _resolved(path)
    if not target.parent.is_dir():
        raise UsageError(f"there is no folder {plain(target.parent, 300)}", "make it first")
    with alone(target):
        text = _text(target)
        entry = make(_parsed(target, text) if text is not None else ())
        before = HEAD if not text else text if text.endswith("\n") else f"{text}\n"
        after = before + written(entry)
        _parsed(target, after)
        mode = target.stat().st_mode & 0o777 if text is not None else None
        write_atomic(target, after.encode())
        if mode is not None:
            target.chmod(mode)
    return entry


def _resolved(path: Path) -> Path:
    """Where the file itself is: a link to it stays one."""
    try:
        return path.resolve()
    except (OSError, ValueError, RuntimeError) as error:  # RuntimeError: a loop of links, on 3.11 and 3.12
        raise UsageError(f"cannot read {plain(path, 300)}: {error}") from error


def _text(path: Path) -> str | None:
    """What is in the file; None where there is none."""
    try:
        if path.exists() and not path.is_file():
            raise UsageError(f"{plain(path, 300)} is no file", "name one: --file FILE")
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        told = words(error) if isinstance(error, OSError) else str(error)
        raise UsageError(f"cannot read {plain(path, 300)}: {told}") from error
    if len(data) > MOST_BYTES:
        raise UsageError(
            f"{plain(path, 300)} has more than {MOST_BYTES >> 20} MiB", "name another: --file FILE"
        )
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise UsageError(f"{plain(path, 300)}: line {line} is not UTF-8", _MEND) from error


def _parsed(path: Path, text: str) -> tuple[Entry, ...]:
    try:
        table = bounded(tomllib.loads(text))
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{plain(path, 300)} is not TOML: {plain(error, 300)}", _MEND) from error
    entries = table.get("entry")
    if isinstance(entries, list):
        for number, one in enumerate(entries):
            if isinstance(one, dict):
                build(Entry, one, _where(path, text, number))
    found = build(_Document, table, path.name).entry
    known: set[str] = set()
    for number, entry in enumerate(found):
        _refuse(entry, entry.candidate not in known, _where(path, text, number))
        known.add(entry.candidate)
    return found


def _where(path: Path, text: str, number: int) -> str:
    """``decisions.toml: entry 3, line 41``."""
    heads = [m.start() for m in re.finditer(r"^[ \t]*\[\[[ \t]*entry[ \t]*\]\]", text, re.MULTILINE)]
    line = f", line {text.count(chr(10), 0, heads[number]) + 1}" if number < len(heads) else ""
    return f"{path.name}: entry {number + 1}{line}"


def _refuse(entry: Entry, first: bool, where: str) -> None:
    """Raises UsageError for an entry that has the right form and does not make sense."""
    if not NAME.fullmatch(entry.candidate):
        raise UsageError(f"{where}: candidate: no name: {plain(entry.candidate, 80)!r}", _MEND)
    if entry.at.tzinfo is None:
        raise UsageError(f"{where}: at: expected a time with its zone, such as 2026-08-28T09:00:00Z", _MEND)
    if first and not entry.changed.strip():
        told = f"{where}: changed: the first entry of {entry.candidate} has to say what changed"
        raise UsageError(told, _MEND)
