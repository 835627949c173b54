"""Records that are not kept: a sequence that has each of them read when it is asked for. Pure; no I/O."""

from collections.abc import Iterator, Sequence
from typing import Generic, Protocol, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from soakproof.records import Record

R = TypeVar("R", bound=Record)
R_co = TypeVar("R_co", bound=Record, covariant=True)
Places = NDArray[np.int64]
_AT_ONCE = 2_000  # records that are read together


class Source(Protocol[R_co]):
    """Where records can be read again, each by its place there."""

    def read(self, places: Places) -> Sequence[R_co]:
        """The records of these places, in their order."""
        ...


class Rows(Sequence[R], Generic[R]):
    """Records of one source or of several, in any order. Each is made anew when it is asked for: who looks at
    all of them asks for columns, and two that are equal are one, though they be two objects.
    """

    def __init__(self, sources: Sequence[Source[R]], source: NDArray[np.uint16], place: Places) -> None:
        """``source`` and ``place`` tell of each record the source that has it, and where it has it."""
        self._sources, self._source, self._place = tuple(sources), source, place

    def __len__(self) -> int:
        return len(self._place)

    @overload
    def __getitem__(self, at: int) -> R: ...
    @overload
    def __getitem__(self, at: slice) -> "Rows[R]": ...
    def __getitem__(self, at: int | slice) -> "R | Rows[R]":
        if isinstance(at, slice):
            return self.take(np.arange(len(self))[at])
        at = range(len(self))[at]
        return next(iter(self.take(np.array([at]))))

    def __iter__(self) -> Iterator[R]:
        for begin in range(0, len(self), _AT_ONCE):
            yield from self._read(slice(begin, begin + _AT_ONCE))

    def take(self, places: Places) -> "Rows[R]":
        """Those of these places."""
        return Rows(self._sources, self._source[places], self._place[places])

    def _read(self, some: slice) -> Iterator[R]:
        source, place = self._source[some], self._place[some]
        read = {n: iter(self._sources[n].read(place[source == n])) for n in np.unique(source).tolist()}
        return (next(read[n]) for n in source.tolist())

    @staticmethod
    def one_after_the_other(parts: "Sequence[Rows[R]]") -> "Rows[R]":
        """Several as one, in the order in which they are given."""
        sources = [source for part in parts for source in part._sources]
        starts = np.cumsum([0, *(len(part._sources) for part in parts)])
        numbers = [part._source + start for part, start in zip(parts, starts[:-1], strict=True)]
        places = np.concatenate([part._place for part in parts])
        return Rows(sources, np.concatenate(numbers).astype(np.uint16), places)
