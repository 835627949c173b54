"""A file of evidence, read to columns: what is kept of its many records, and what reads one of them again."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from soakproof.columns import Gathering, Rows, Shared, Table
from soakproof.records import FILES, Check, Exchange, Iteration, Opened, Record, Sample
from soakproof.run.decoding import Wrong, blocks, decoded, is_whole
from soakproof.run.stored import Stored
from soakproof.samples import Gathering as Sampled
from soakproof.samples import Readings

_KINDS: tuple[type[Any], ...] = (Opened, Exchange, Check, Iteration)
_LINE_FEED = 10


@dataclass(frozen=True, slots=True)
class Read:
    """What a file held. Records of another place are kept, and told."""

    path: Path
    lines: int
    others: list[Record]  # of kinds that are not kept as columns
    tables: list[Table[Any]]  # one of each kind that there was, in the order of the lines
    readings: tuple[Readings, ...]  # the samples, a source each, in the order of the lines
    wrong: list[Wrong]

    def problems(self) -> Iterator[str]:
        """What is wrong with its lines."""
        node, name = self.path.parent.name, self.path.name
        yield from map(str, self.wrong)
        parts: list[
            tuple[type[Any], int, int]
        ]  # a kind, how many of it, how many of those are another node's
        parts = [(type(record), 1, int(record.node != node)) for record in self.others]
        parts += [(table.kind, len(table), int((table["node"] != node).sum())) for table in self.tables]
        parts += [(Sample, len(of), len(of) if of.node[0] != node else 0) for of in self.readings]
        total = sum(size for _, size, _ in parts)
        if elsewhere := sum(away for _, _, away in parts):
            yield f"{elsewhere} of {total} records are of another node"
        if misplaced := sum(size for kind, size, _ in parts if FILES[kind] != name):
            yield f"{misplaced} of {total} records belong into another file"


def read_columns(path: Path, before: int) -> Read:
    """All of a file; ``before`` tells how many lines other files have before its first one."""
    shared: Shared = defaultdict(dict)  # a request is opened and closed with the same words
    gatherings = {kind: Gathering(kind, shared) for kind in _KINDS}
    sampled, others, wrong = Sampled(), list[Record](), list[Wrong]()
    at, number = 0, 1
    for block in blocks(path):
        begins = at + np.concatenate([[0], np.flatnonzero(np.frombuffer(block, np.uint8) == _LINE_FEED) + 1])
        if is_whole(block):
            begins = begins[:-1]
        if not (path.name == FILES[Sample] and is_whole(block) and sampled.add_lines(block, number)):
            items = decoded(block, number)
            sampled.add((n, item) for n, item in enumerate(items, number) if isinstance(item, Sample))
            sizes = np.diff(begins, append=at + len(block))
            for kind, gathering in gatherings.items():
                if places := [n for n, item in enumerate(items) if type(item) is kind]:
                    rows = _rows(Stored(path, begins[places], sizes[places]))
                    gathering.add([items[n] for n in places], rows, before + number + np.array(places))
            wrong += (item for item in items if isinstance(item, Wrong))
            of_few = (item for item in items if not isinstance(item, (Wrong, Sample)))
            others += (record for record in of_few if type(record) not in gatherings)
        at, number = at + len(block), number + len(begins)
    tables = [gathering.table() for gathering in gatherings.values() if gathering.rows]
    return Read(path, number - 1, others, tables, sampled.readings(), wrong)


def _rows(stored: Stored) -> Rows[Any]:
    size = len(stored.begin)
    return Rows([stored], np.zeros(size, np.uint16), np.arange(size))
