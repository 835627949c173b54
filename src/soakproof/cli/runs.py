"""`soakproof runs`, `verify` and `recover`: what runs there are, and whether they are whole."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
import orjson

from soakproof import run as rundir
from soakproof.cli.options import runs_option
from soakproof.cli.output import say, table, working
from soakproof.cli.reading import how_to_recover
from soakproof.clock import seconds
from soakproof.errors import EXIT_FAIL, EXIT_OK
from soakproof.plain import plain

_SHOWN = 20


@click.command(short_help="List the runs: target, raw outcome, newest verdict.")
@click.option("--all", "every", is_flag=True, help=f"All of them, not the last {_SHOWN}.")
@runs_option
def runs(runs: Path, every: bool) -> int:
    """List the runs, the newest last.

    \b
    Examples:
      soakproof runs
      soakproof runs --all --runs /srv/soaks/runs
    """
    here = rundir.all_of(runs)
    if not here:
        say(f"no runs in {runs}\n  {rundir.how_to_make_one(Path.cwd())}")
        return EXIT_OK
    shown = here if every else here[-_SHOWN:]
    heads = ("run", "target", "load", "raw", "newest verdict", "state")
    say(table(heads, [_row(path) for path in shown], right=("load",), whole=("run",)))
    if len(shown) < len(here):
        say(f"\n{len(here) - len(shown)} older ones are not shown: --all")
    say("\nsealed: it has a seal, not checked here: `soakproof verify RUN` does that")
    return EXIT_OK


def _row(path: Path) -> tuple[str, ...]:
    document, raw = _document(path / rundir.RUN), _document(path / rundir.RAW)
    return (
        path.name,
        _target(document),
        _load(document),
        plain(raw.get("outcome") or "unknown", 12),
        _verdict(path),
        rundir.sealing(path),
    )


def _document(path: Path) -> Mapping[str, Any]:
    """The JSON object of a file; nothing where there is none that can be read."""
    try:
        document = orjson.loads(path.read_bytes()) if rundir.is_own(path) else {}
    except (OSError, ValueError):
        return {}
    return document if isinstance(document, dict) else {}


def _target(document: Mapping[str, Any]) -> str:
    if document.get("kind") == "guard":  # the record of a guard
        return f"guard of {plain(_command(document), 70)}"
    target = document.get("target")
    if not isinstance(target, Mapping):
        return "unknown"
    model = target.get("model_resolved") or target.get("model") or "unknown"
    where = "testbed" if target.get("testbed") else target.get("base_url") or "unknown"
    return f"{plain(model, 30)} at {plain(where, 40)}"


def _command(document: Mapping[str, Any]) -> str:
    guard = document.get("guard")
    command = guard.get("command") if isinstance(guard, Mapping) else None
    return " ".join(map(str, command)) if isinstance(command, list) else "unknown"


def _load(document: Mapping[str, Any]) -> str:
    """How long the load lasted."""
    began, ended = document.get("load_started_ns"), document.get("load_ended_ns")
    if not isinstance(began, int) or not isinstance(ended, int):
        return "unknown"
    whole = round(seconds(ended - began))
    return f"{whole // 60}:{whole % 60:02d}"


def _verdict(path: Path) -> str:
    there = rundir.verdict_folders(path)
    if not there:
        return "none"
    outcome = _document(there[-1].path / "verdict.json").get("outcome")
    return plain(f"{outcome or 'unreadable'} ({there[-1].number}-{there[-1].policy})", 40)


@click.command(short_help="Prove that runs are as they were sealed.")
@click.argument("names", nargs=-1, metavar="[RUN]...")
@runs_option
def verify(names: tuple[str, ...], runs: Path) -> int:
    """Check every seal of a run against its files: nothing changed, nothing gone, nothing added.

    \b
    Examples:
      soakproof verify                  the newest run
      soakproof verify 2026-08-20 2026-08-21

    Exit code 0 when all are as they were sealed, else 1.
    """
    whole = True
    for path in [rundir.find(runs, name) for name in names or ("latest",)]:
        rundir.read_run(path)
        with working(f"verifying {path.name}"):
            state = rundir.verify(path)
        if state.problems:
            whole = False
            say(f"{path.name}: NOT as it was sealed")
            for problem in state.problems:
                say(f"  {plain(problem, 300)}")
            if not state.sealed:
                say(f"  {_next_step(path)}")
        else:
            how = ", recovered after a crash" if state.recovered else ""
            say(f"{path.name}: {state.files} files, {state.bytes:,} bytes, as they were sealed{how}")
    return EXIT_OK if whole else EXIT_FAIL


def _next_step(path: Path) -> str:
    if rundir.being_written(path):
        return "it is still being written: wait for it to end"
    return how_to_recover(path)


@click.command(short_help="Seal what a crashed run left.")
@click.argument("run", metavar="RUN")
@runs_option
def recover(run: str, runs: Path) -> int:
    """Seal a run whose process was killed. What was recorded stays; the seal says `recovered` for good.

    A line that was torn in the middle is moved to a file of its own. No raw result is made up for a run that
    did not live to give one, so its verdict is INCONCLUSIVE at best.

    \b
    Example:
      soakproof recover latest
    """
    path = rundir.find(runs, run)
    with working(f"recovering {path.name}"):
        done = rundir.recover(path)
    for line in done or [f"{path.name}: is sealed already; nothing was done"]:
        say(line)
    if done and not (path / rundir.RAW).is_file():
        say("it has no raw result: the run did not live to judge itself, and nothing judges it in its place")
    if done:
        say(f"judge it: soakproof adjudicate {path.name}")
    return EXIT_OK
