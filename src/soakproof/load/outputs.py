"""Files that Locust itself writes at its end: refused at the start where that would fail then.

Locust would end with an error of its own, after the load, with the exit code of raw failures.
"""

import argparse
import os
from pathlib import Path

from soakproof.errors import UsageError, words
from soakproof.plain import plain


def refuse_unwritable(options: argparse.Namespace) -> None:
    """Makes missing folders, as Locust would. Raises UsageError for the first file that cannot be written."""
    html, json = getattr(options, "html_file", None), getattr(options, "json_file", None)
    files = {"--html": html and Path(html), "--json-file": json and Path(f"{json}.json")}
    if csv := getattr(options, "csv_prefix", None):
        files["--csv"] = Path(f"{csv}_stats.csv")
    for option, path in files.items():
        try:
            if path:
                _try(path, filled_in=option == "--html")
        except OSError as error:
            raise UsageError(
                f"{option}: {plain(path, 200)} cannot be written: {words(error)}", "name a file elsewhere"
            ) from error


def _try(path: Path, *, filled_in: bool) -> None:
    """``filled_in``: Locust puts numbers of the run in the place of {u} and others. A link is followed."""
    path = Path(os.path.realpath(path))
    if filled_in and "{" in str(path.parent):
        return
    if path.exists() and not (path.is_file() or path.is_dir()):
        return  # a device, or a pipe that would keep who opens it waiting
    path.parent.mkdir(parents=True, exist_ok=True)
    probe = path.with_name(".soakproof-probe") if filled_in and "{" in path.name else path
    was_there = probe.exists()
    with probe.open("ab"):
        pass
    if not was_there:
        probe.unlink()
