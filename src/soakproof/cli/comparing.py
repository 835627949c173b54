"""The files that `soakproof compare` writes."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from soakproof.cli.output import say_commands
from soakproof.errors import UsageError
from soakproof.judge.comparing.comparison import Comparison
from soakproof.plain import plain
from soakproof.report.comparing import draw, to_csv, to_document, to_markdown
from soakproof.run import to_json, write_atomic

STDOUT = "-"


def is_stdout(path: Path) -> bool:
    """Whether an output is not written into a file, but printed."""
    return str(path) == STDOUT


def refuse_outputs(wanted: Mapping[str, Path]) -> None:
    """Raises UsageError for a file that is there already, that has no folder, or that is named twice."""
    for name, path in wanted.items():
        if is_stdout(path):
            if name == "png":
                raise UsageError(f"--{name} {STDOUT}: a terminal shows no picture", "name a file")
            continue
        try:
            there, folder = os.path.lexists(path), path.parent.is_dir()
        except ValueError as error:
            raise UsageError(f"--{name}: {plain(path, 200)}: {error}") from None
        if there:
            raise UsageError(
                f"--{name}: {plain(path, 200)} is there already", "name another file, or remove it"
            )
        if not folder:
            raise UsageError(f"--{name}: there is no folder {plain(path.parent, 200)}", "make it first")
    if len({path.absolute() for path in wanted.values()}) < len(wanted):
        raise UsageError("two outputs go into one file", "name a file for each")


def write_outputs(made: Comparison, wanted: Mapping[str, Path], tell: Callable[[str], None]) -> None:
    """Each file whole or not at all, and told; one may be standard output. Raises RecorderError where it
    cannot be written.
    """
    files: dict[str, bytes | None] = {}
    if "csv" in wanted:
        files["csv"] = to_csv(made).encode()
    if "json" in wanted:
        files["json"] = to_json(to_document(made))
    if "markdown" in wanted:
        files["markdown"] = to_markdown(made).encode()
    if "svg" in wanted or "png" in wanted:
        svg, png = draw(made)
        files.update(svg=svg.encode(), png=png)
    for name, path in wanted.items():
        data = files[name]
        if data is None:
            tell(f"no {name if is_stdout(path) else path}: nothing could be compared")
        elif is_stdout(path):
            say_commands(data.decode().removesuffix("\n"))
        else:
            write_atomic(path, data)
            tell(f"{name}: {path}")
