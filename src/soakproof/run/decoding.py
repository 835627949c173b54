"""Lines of evidence to records, some MiB at a time; a line that is none is told, and stops nothing."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from soakproof.records import Record, decode, decode_block

_AT_ONCE = 4 << 20  # bytes of lines that are decoded together


@dataclass(frozen=True, slots=True)
class Wrong:
    """A line that is no record."""

    number: int  # from 1 on
    told: str

    def __str__(self) -> str:
        return f"line {self.number} {self.told}"


def read_records(path: Path) -> Iterator[Record | Wrong]:
    """Each line's record, or, for a line that is none, what is wrong with it. Lines end at LF only."""
    first = 1
    for block in blocks(path):
        items = decoded(block, first)
        yield from items
        first += len(items)


def blocks(path: Path) -> Iterator[bytes]:
    """Some MiB of a file's lines at a time."""
    with path.open("rb") as file:
        while block := file.read(_AT_ONCE):
            yield block if block.endswith(b"\n") else block + file.readline()


def decoded(block: bytes, first: int) -> Sequence[Record | Wrong]:
    """The record of each line, or what is wrong with it; the first has this number."""
    records = decode_block(block) if is_whole(block) else None
    if records is not None:
        return records
    lines = block.split(b"\n")
    torn = lines.pop()
    items = [_record(line, number) for number, line in enumerate(lines, first)]
    if torn:
        told = f"is torn ({len(torn)} bytes without an end)"
        items.append(Wrong(first + len(lines), told))
    return items


def is_whole(block: bytes) -> bool:
    """Whether its last line has its end; those before it have."""
    return block.endswith(b"\n")


def _record(line: bytes, number: int) -> Record | Wrong:
    try:
        return decode(line)
    except ValueError as error:
        return Wrong(number, f"is not a record: {str(error)[:200]}")
