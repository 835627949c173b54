"""Files that Locust itself writes at its end: refused at the start where that would fail then.

Locust would end with an error of its own, after the load, with the exit code of raw failures.
"""

import argparse
import contextlib
import os
import sys
from pathlib import Path

from soakproof.errors import EXIT_USAGE, UsageError, words
from soakproof.load.progress import say
from soakproof.plain import plain

_made: list[
    Path
] = []  # what was not there before: folders that we made, the outermost first, then their files
_CSV = ("stats", "stats_history", "failures", "exceptions")


def refuse_unwritable(options: argparse.Namespace) -> None:
    """Makes missing folders, as Locust would. Raises UsageError for the first file that cannot be written."""
    html, json = getattr(options, "html_file", None), getattr(options, "json_file", None)
    files = {"--html": html and Path(html), "--json-file": json and Path(f"{json}.json")}
    for option, path in files.items():
        if path:
            _refuse(option, path)


def csv_prefix(prefix: str) -> str:
    """The type of --csv, whose files Locust opens before it asks anybody; ends the process if it cannot."""
    try:
        for part in _CSV:
            _refuse("--csv", Path(f"{prefix}_{part}.csv"))
    except UsageError as error:
        say(f"soakproof: {error}")
        remove_unused()
        sys.exit(EXIT_USAGE)
    return prefix


def remove_unused() -> None:
    """Where nothing is run after all: take away what was not there before and is empty."""
    for path in reversed(_made):
        with contextlib.suppress(OSError):  # it is in use, or has something in it
            if path.is_dir():
                path.rmdir()
            elif not path.stat().st_size:
                path.unlink()
    _made.clear()


def _refuse(option: str, path: Path) -> None:
    try:
        _try(path, filled_in=option == "--html")
    except (OSError, ValueError) as error:
        told = words(error) if isinstance(error, OSError) else str(error)
        problem = f"{option}: {plain(path, 200)} cannot be written: {told}"
        raise UsageError(problem, "name a file elsewhere") from error


def _try(path: Path, *, filled_in: bool) -> None:
    """``filled_in``: Locust puts numbers of the run in the place of {u} and others. A link is followed."""
    path = Path(os.path.realpath(path))
    if filled_in and "{" in str(path.parent):
        return
    if path.exists() and not (path.is_file() or path.is_dir()):
        return  # a device, or a pipe that would keep who opens it waiting
    _made.extend(p for p in reversed(path.parents) if not p.exists())
    path.parent.mkdir(parents=True, exist_ok=True)
    probe = path.with_name(".soakproof-probe") if filled_in and "{" in path.name else path
    was_there = probe.exists()
    with probe.open("ab"):
        pass
    if not was_there:
        probe.unlink()
        _made.append(path)
