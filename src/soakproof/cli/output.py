"""What commands print: lines that survive a closed pipe, tables, signs of life for what takes long."""

import contextlib
import os
import shutil
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from typing import TextIO

from soakproof.errors import words
from soakproof.plain import commandless, visible
from soakproof.tables import fitted

lost: list[str] = []  # why something that was said could not be written
_PATIENCE = 2.0  # seconds of silence that nobody minds
_LONGEST = 2000  # characters of a line that tells what is wrong
_EVERY = 10.0  # seconds between lines where one cannot be rewritten


def say(text: str = "") -> None:
    """Print at once, with every character that could steer a terminal as its escape: names of files and
    folders, among others, are whatever somebody called them.
    """
    say_coloured(visible(text))


def say_coloured(text: str) -> None:
    """Print at once what has colours of our own, and nothing else of that kind left in it."""
    say_commands(_harmless(text))


def say_commands(text: str) -> None:
    """Print at once, as it is, a text in which nothing but commands of our own can be one.

    When nobody reads any more (``| head``), go on in silence to the command's own end; where it cannot be
    written, on a full disk, say so first.
    """
    try:
        print(text, flush=True)
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            lost.append(words(error))
            complain(f"soakproof: what it says cannot be written: {lost[0]}")


def complain(text: str) -> None:
    """Lines on standard error, none of them longer than anybody reads."""
    if sys.stderr is None:  # it was closed; print would take standard output, which is a guarded command's
        return
    shown = (visible(line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…") for line in text.split("\n"))
    with contextlib.suppress(OSError):
        print(_harmless("\n".join(shown)), file=sys.stderr, flush=True)


def _harmless(text: str) -> str:
    """In a job on GitHub: what somebody else wrote, and we repeat, is no command to its runner."""
    return commandless(text) if os.environ.get("GITHUB_ACTIONS") else text


def width() -> int:
    """Columns of the terminal; 110 where there is none."""
    return shutil.get_terminal_size((110, 24)).columns


def is_terminal(stream: TextIO | None) -> bool:
    """Whether somebody sees the stream as it is written; one that was closed is None."""
    return stream is not None and stream.isatty()


def colour() -> bool:
    """Whether standard output is a terminal that may be coloured (https://no-color.org)."""
    allowed = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return allowed and is_terminal(sys.stdout)


def table(
    heads: Sequence[str],
    rows: Sequence[Sequence[object]],
    right: Sequence[str] = (),
    whole: Sequence[str] = (),
) -> str:
    """Columns under heads, within the terminal; ``right`` and ``whole`` as `fitted` takes them."""
    return fitted(heads, rows, width(), right=right, whole=whole)


class Hint:
    """A line on standard error that the next one replaces; without a terminal, one in ten seconds is kept."""

    def __init__(self) -> None:
        self._terminal = is_terminal(sys.stderr)
        self._said = time.monotonic()

    def __call__(self, text: str) -> None:
        """Show ``text``; "" clears the line for what is printed next."""
        if self._terminal:
            with contextlib.suppress(OSError):
                sys.stderr.write(f"\r\x1b[K{visible(text)}")
                sys.stderr.flush()
        elif text and time.monotonic() - self._said >= _EVERY:
            self._said = time.monotonic()
            complain(text)


@contextlib.contextmanager
def working(what: str) -> Iterator[None]:
    """Say on standard error what is going on, once it has taken more than two seconds."""
    over = threading.Event()
    thread = threading.Thread(target=_show, args=(what, over), daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _show(what: str, over: threading.Event) -> None:
    began, terminal = time.monotonic(), is_terminal(sys.stderr)
    wait = _PATIENCE
    while not over.wait(wait):
        line = f"{visible(what)} … {time.monotonic() - began:.0f} s"
        with contextlib.suppress(OSError):
            print(
                f"\r{line}" if terminal else line, end="" if terminal else "\n", file=sys.stderr, flush=True
            )
        wait = 1.0 if terminal else _EVERY
    if terminal and time.monotonic() - began > _PATIENCE:
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()
