"""Small files of /proc and /sys, read one by one: what refuses is None, and why is remembered."""

import re
from collections.abc import Callable, Iterable
from pathlib import Path

FILE_LIMIT = 1 << 20  # bytes of one file; a recorded tree may hold anything
_AT_ONCE = 16 << 10
_NUMBER = re.compile(r"\d+")


def read_text(file: Path) -> str:
    """The beginning of a file, up to the limit. Raises OSError."""
    data = b""
    with open(file, "rb", buffering=0) as opened:  # a third of what text costs, and there are hundreds
        while len(data) < FILE_LIMIT and (more := opened.read(_AT_ONCE)):
            data += more
    return data[:FILE_LIMIT].decode("utf-8", errors="replace")


def count(text: str) -> int:
    """A whole number of what cannot be less than none, such as bytes. Raises ValueError."""
    number = int(text)
    if number < 0:
        raise ValueError(f"expected 0 or more, found {number}")
    return number


class Files:
    """One pass over several files. Blocking."""

    def __init__(self) -> None:
        self._refused: dict[str, str] = {}  # by file name, the first reason of each

    @property
    def reason(self) -> str:
        """What could not be read and why, once for files of the same name."""
        return "; ".join(f"{name}: {why}" for name, why in self._refused.items())

    def text(self, file: Path) -> str | None:
        """What it says without the white space around it; None where that cannot be read."""
        try:
            return read_text(file).strip()
        except OSError as error:
            self.refuse(file.name, error.strerror or str(error))
            return None

    def count(self, file: Path) -> int | None:
        """The whole number from 0 on that it holds; None where it holds none."""
        return self._parsed(file, count, "a number from 0 on")

    def number(self, file: Path) -> int | None:
        """The same, but it may be less than 0, as a temperature."""
        return self._parsed(file, int, "a number")

    def _parsed(self, file: Path, parse: Callable[[str], int], expected: str) -> int | None:
        text = self.text(file)
        if text is None:
            return None
        try:
            return parse(text)
        except ValueError:
            self.refuse(file.name, f"expected {expected}, found {text[:40]!r}")
            return None

    def refuse(self, name: str, why: str) -> None:
        self._refused.setdefault(name, why)


def numbered(paths: Iterable[Path]) -> list[Path]:
    """In the order of the numbers in their names: cpu2 before cpu10."""
    return sorted(paths, key=lambda path: [int(number) for number in _NUMBER.findall(path.name)])
