"""`soakproof init`: copies out the files that a user edits, for someone who installed a wheel."""

import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path

import click

from soakproof.catalog import bundled
from soakproof.cli.options import FilledPath
from soakproof.cli.output import say
from soakproof.errors import EXIT_OK, SoakproofError, UsageError, words
from soakproof.plain import listed

ROOMS = ("locustfiles", "scenarios", "adjudicators")
_LISTED = 5
_PATH = 4096  # characters


@click.command(short_help="Copy locustfiles, scenarios, plans, adjudicators and policies out, to edit.")
@click.argument("folder", default=Path(), type=FilledPath(path_type=Path, file_okay=False), metavar="[DIR]")
@click.option("--only", multiple=True, type=click.Choice(ROOMS), help="Copy this folder only.  [repeatable]")
def init(folder: Path, only: tuple[str, ...]) -> int:
    """Copy the bundled files into DIR (default: here): locustfiles/, scenarios/ with their plans and prompts,
    and adjudicators/ with their policies. Nothing is ever overwritten.

    \b
    Examples:
      soakproof init mysoaks && cd mysoaks
      locust -f locustfiles/quick.py --headless
      soakproof init --only scenarios

    A file in your own folder takes the place of the bundled one of the same name; delete what you do not
    change, and later versions of it will reach you. With scenarios/ copied, prompts are yours as well.
    """
    rooms = [room for room in ROOMS if not only or room in only]
    files = [
        (path, folder / room / path.relative_to(bundled(room)))
        for room in rooms
        for path in _files(bundled(room))
    ]
    _refuse_to_overwrite([to for _, to in files])
    try:
        for path, to in files:
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, to)
    except OSError as error:
        raise UsageError(
            f"cannot copy to {folder}: {words(error)}", "choose another folder: soakproof init DIR"
        ) from error
    for room in rooms:
        say(f"{folder / room}: {sum((folder / room) in to.parents for _, to in files)} files")
    say(f"next: {_next_step(folder, rooms)}")
    return EXIT_OK


def _next_step(folder: Path, rooms: Sequence[str]) -> str:
    """What can be typed now, with the rooms that were copied."""
    step = {
        "locustfiles": "locust -f locustfiles/quick.py --headless",
        "scenarios": "soakproof try isolation",
        "adjudicators": "soakproof plans",
    }[rooms[0]]
    return step if folder == Path() else f"cd {shlex.quote(str(folder))} && {step}"


def _files(room: Path) -> list[Path]:
    """A room's own files: no caches, nothing hidden."""
    if not room.is_dir():
        raise SoakproofError(f"{room} is missing: this installation is not whole")
    parts = [(p, p.relative_to(room).parts) for p in sorted(room.rglob("*")) if p.is_file()]
    return [p for p, names in parts if not any(n.startswith(".") or n == "__pycache__" for n in names)]


def _refuse_to_overwrite(targets: list[Path]) -> None:
    there = [str(path) for path in targets if path.exists() or path.is_symlink()]
    if there:
        raise UsageError(
            f"already there: {listed(there, _LISTED, limit=_PATH)}; nothing was copied",
            "choose another folder: soakproof init DIR",
        )
