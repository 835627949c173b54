"""Records that are read again when they are asked for: each by where its line stands in its file."""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from soakproof.errors import SoakproofError, words
from soakproof.run.decoding import Wrong, decoded

Places = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Stored:
    """Lines of one file, each of which was a record when the file was read whole."""

    path: Path
    begin: Places  # in bytes, of each line
    size: Places

    def read(self, places: Places) -> Sequence[Any]:
        """The records of these places. Raises SoakproofError where the file is not what it was."""
        order = np.argsort(places, kind="stable")
        try:
            with self.path.open("rb") as file:
                lines = [self._line(file, place) for place in places[order].tolist()]
        except OSError as error:
            raise SoakproofError(f"{self.path} cannot be read again: {words(error)}") from error
        records = decoded(b"".join(lines), 1)
        if len(records) != len(lines) or any(isinstance(record, Wrong) for record in records):
            raise SoakproofError(f"{self.path} was changed while it was read")
        found: list[Any] = [None] * len(records)
        for place, record in zip(order.tolist(), records, strict=True):
            found[place] = record
        return found

    def _line(self, file: io.BufferedReader, place: int) -> bytes:
        file.seek(int(self.begin[place]))
        return file.read(int(self.size[place]))
