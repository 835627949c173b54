"""`soakproof bundle`: a run in one archive, to be passed on. Loads no gevent, locust, httpx or trio."""

import os
import sys
from pathlib import Path
from typing import IO

import click

from soakproof import run as rundir
from soakproof.cli.bundles import PIPE, about
from soakproof.cli.options import FilledPath, runs_option
from soakproof.cli.output import complain, is_terminal, say, working
from soakproof.cli.reading import refuse_file, verified
from soakproof.errors import EXIT_OK, RecorderError, UsageError
from soakproof.judge.telling import counted
from soakproof.plain import listed
from soakproof.run import bundle as bundles

_OPTION = "-o"


@click.command(short_help="One archive of a run and its verdicts, to pass on.")
@click.argument("run", metavar="RUN")
@click.option(
    "-o",
    "--output",
    "file",
    required=True,
    type=FilledPath(path_type=Path),
    metavar="FILE",
    help="The archive that is written; `-` for standard output.",
)
@click.option("--without-text", is_flag=True, help="Take out what the model wrote, and what it was asked.")
@click.option("--without-verdicts", is_flag=True, help="The evidence alone.")
@click.option("--force", is_flag=True, help="Write over a file that is there.")
@runs_option
def bundle(run: str, file: Path, without_text: bool, without_verdicts: bool, force: bool, runs: Path) -> int:
    """Put a run's sealed evidence, its verdicts with reports and figures, and a manifest into one archive: a
    plain tar. The same run gives the same bytes, on any machine, whoever makes it.

    \b
    Examples:
      soakproof bundle latest -o soak.tar
      soakproof verify soak.tar               on any machine; nothing is unpacked
      soakproof bundle RUN -o - | zstd > soak.tar.zst

    \b
    On another machine, to judge it again:
      mkdir -p runs && tar -xf soak.tar -C runs

    With --without-text, answers, reasoning, tool calls, secrets of prompts, error bodies, reasons, sentences
    of findings, and reports as a whole are taken out. Numbers, times, outcomes, figures and digests stay.
    Such a bundle can be verified, and not judged again.

    Logs and Locust's own statistics are under no seal, and stay out. A run that is not as it was sealed, or
    has a verdict that is not, is refused.
    """
    refuse_file(run)
    path = rundir.find(runs, run)
    with working(f"verifying {path.name}"):
        state = _whole(path, verdicts=not without_verdicts)
    with working(f"bundling {path.name}"):
        written = _write(path, file, force, text=not without_text, verdicts=not without_verdicts)
    tell = complain if str(file) == PIPE else say
    name = "standard output" if str(file) == PIPE else str(file)
    tell(f"{name}: {counted(len(written.manifest.kept), 'file')}, {written.size:,} bytes")
    tell(f"  sha256 {written.sha256}")
    for line in about(written.manifest, state.recovered):
        tell(f"  {line}")
    return EXIT_OK


def _whole(path: Path, *, verdicts: bool) -> rundir.SealState:
    """The state of a run that may be bundled. Raises UsageError, with what is not as it was sealed."""
    rundir.read_run(path)
    state = verified(path, "RUN")
    problems = list(_of_verdicts(path)) if verdicts else []
    if problems:
        raise UsageError(
            f"RUN: {path.name} has verdicts that are not as they were written: "
            f"{listed(problems, 5, '; ', limit=300)}",
            "--without-verdicts bundles the evidence alone",
        )
    return state


def _of_verdicts(path: Path) -> list[str]:
    found = [f"{rundir.VERDICTS}: no folder"] if rundir.has_no_verdict_folder(path) else []
    found += [f"{rundir.VERDICTS}/{number}: gone" for number in rundir.missing_verdicts(path)]
    for entry in rundir.verdict_folders(path):
        state = rundir.verify_entry(entry)
        where = f"{rundir.VERDICTS}/{entry.path.name}"
        found += [f"{where}/{problem}" for problem in state.problems]
        found += [] if state.sealed else [f"{where}: without a seal"]
    return found


def _write(path: Path, file: Path, force: bool, *, text: bool, verdicts: bool) -> bundles.Written:
    if str(file) == PIPE:
        return _to_pipe(path, text=text, verdicts=verdicts)
    _refuse(path, file, force)
    with rundir.written_whole(file) as to:
        return bundles.write_bundle(path, to, text=text, verdicts=verdicts)


def _refuse(path: Path, file: Path, force: bool) -> None:
    """A place where no bundle may be written."""
    if file.is_dir():
        raise UsageError(
            f"{_OPTION}: {file} is a folder", f"name a file in it: {_OPTION} {file}/{path.name}.tar"
        )
    if not file.parent.is_dir():
        raise UsageError(f"{_OPTION}: there is no folder {file.parent}", "make it first")
    if path.resolve() in file.resolve().parents:
        raise UsageError(
            f"{_OPTION}: {file} is in the run itself, which nothing may change", "choose another"
        )
    if os.path.lexists(file) and not rundir.is_own(file):
        raise UsageError(
            f"{_OPTION}: {file} is no plain file", f"choose another, or {_OPTION} {PIPE} and a pipe"
        )
    if os.path.lexists(file) and not force:
        raise UsageError(f"{_OPTION}: {file} is there already", "--force writes over it; or choose another")


def _to_pipe(path: Path, *, text: bool, verdicts: bool) -> bundles.Written:
    if is_terminal(sys.stdout):
        raise UsageError(
            f"{_OPTION} {PIPE}: standard output is a terminal, which a bundle is not for", "use a pipe"
        )
    to: IO[bytes] = sys.stdout.buffer
    try:
        written = bundles.write_bundle(path, to, text=text, verdicts=verdicts)
        to.flush()
    except (OSError, RecorderError) as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left is written at the end
        raise RecorderError(str(error)) from error
    return written
