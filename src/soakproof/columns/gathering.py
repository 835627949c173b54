"""Records to columns, some thousand at a time: what is kept of them is their columns alone. Pure; no I/O."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, Generic

import numpy as np

from soakproof.columns.facts import FACTS
from soakproof.columns.rows import Places, Rows
from soakproof.columns.table import LINE, Array, R, Table
from soakproof.records import Exchange

# Words, and documents of the server's: what is asked of them are facts and numbers.
_LEFT = ("text", "reasoning", "tool_calls", "text_after_done", "error_body", "usage", "timings")
_TIMINGS = (
    *("prompt_n", "prompt_ms", "prompt_per_second", "predicted_n", "predicted_ms", "predicted_per_second"),
    *("cache_n", "draft_n", "draft_n_accepted"),
)
Shared = defaultdict[str, dict[Any, Any]]  # by the column's name: a failure equals the text of its name
_USAGE = ("prompt_tokens", "completion_tokens", "total_tokens")


class Gathering(Generic[R]):
    """Takes records of one kind, in the order in which they were written, and gives back a table of them."""

    def __init__(self, kind: type[R], shared: Shared) -> None:
        """``shared`` has the values for which one object stands, here and wherever else it is given."""
        self._kind: type[R] = kind
        self._shared = shared
        self.rows: list[Rows[R]] = []
        self._columns: dict[str, list[Array]] = defaultdict(list)

    def add(self, records: Sequence[R], rows: Rows[R], lines: Places) -> None:
        """Some more of them, which stood on these lines; ``rows`` has the same again, for whoever asks."""
        self.rows.append(rows)
        self._columns[LINE].append(lines)
        for name, column in _columns(Table(self._kind, records)):
            if column.dtype == object and name != "counts":
                values = column.tolist()
                column[:] = list(map(self._shared[name].setdefault, values, values))
            self._columns[name].append(column)

    def table(self) -> Table[R]:
        """All of them. There is none of it here afterwards: a day of them is not to be there twice."""
        kept = {name: np.concatenate(self._columns.pop(name)) for name in list(self._columns)}
        return Table(self._kind, Rows.one_after_the_other(self.rows), kept=kept)


def _columns(table: Table[R]) -> Iterator[tuple[str, Array]]:
    for name in table.kind.__struct_fields__:
        if name not in _LEFT:
            yield name, table[name]
    if table.kind is Exchange:
        yield from ((f"fact.{name}", table.fact(name)) for name in FACTS)
        yield from ((f"timings.{name}", table.timing(name)) for name in _TIMINGS)
        yield from ((f"usage.{name}", table.usage(name)) for name in _USAGE)
