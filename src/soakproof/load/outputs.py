"""Files that Locust itself writes at its end: refused at the start where that would fail then.

Locust would end with an error of its own, after the load, with the exit code of raw failures.
"""

import argparse
from pathlib import Path

from soakproof.errors import UsageError, words
from soakproof.plain import plain

_OPTIONS = {"--html": "html_file", "--json-file": "json_file"}


def refuse_unwritable(options: argparse.Namespace) -> None:
    """Makes missing folders, as Locust would. Raises UsageError for the first file that cannot be written."""
    for option, name in _OPTIONS.items():
        given = getattr(options, name, None)
        if not given:
            continue
        path = Path(given)
        try:
            _try(path)
        except OSError as error:
            raise UsageError(
                f"{option}: {plain(path, 200)} cannot be written: {words(error)}", "name a file elsewhere"
            ) from error


def _try(path: Path) -> None:
    if "{" in str(path.parent):  # Locust puts numbers of the run in its place
        return
    if path.exists() and not (path.is_file() or path.is_dir()):
        return  # a device, or a pipe that would keep who opens it waiting
    path.parent.mkdir(parents=True, exist_ok=True)
    probe = path.with_name(".soakproof-probe") if "{" in path.name else path
    was_there = probe.exists()
    with probe.open("ab"):
        pass
    if not was_there:
        probe.unlink()
