"""`soakproof verify` and `recover`: whether runs are as they were sealed, and sealing what a crash left."""

import os
from pathlib import Path

import click

from soakproof import run as rundir
from soakproof.cli.bundles import is_bundle_name, verify_bundle
from soakproof.cli.options import runs_option
from soakproof.cli.output import say, working
from soakproof.cli.reading import how_to_recover, is_guard
from soakproof.errors import EXIT_FAIL, EXIT_OK
from soakproof.judge.telling import counted
from soakproof.plain import plain


@click.command(short_help="Prove that runs, or bundles of them, are as they were sealed.")
@click.argument("names", nargs=-1, metavar="[RUN|FILE]...")
@runs_option
def verify(names: tuple[str, ...], runs: Path) -> int:
    """Check every seal of a run, and of its verdicts, against its files: nothing changed, gone or added.
    Where the newest verdict is gone as a whole, nothing is left that shows it. A FILE is a bundle, and `-` is
    one from standard input: it is checked as it is read, and nothing is unpacked.

    \b
    Examples:
      soakproof verify                  the newest run
      soakproof verify RUN EARLIER_RUN  two by their names, or parts of them
      soakproof verify soak.tar         a bundle

    Exit code 0 when all are as they were sealed, else 1; 64 for a file that is no bundle.
    """
    files = [name for name in names if is_bundle_name(name)]
    there = [rundir.find(runs, name) for name in names or ("latest",) if name not in files]
    whole = True
    for name in files:
        whole &= verify_bundle(name) == EXIT_OK
    for path in there:
        if not rundir.is_run(path):
            rundir.read_run(path)  # says what it is instead
        evidence, verdicts = _is_whole(path), _are_verdicts_whole(path)
        if evidence and not verdicts:
            say(f"  what such a verdict says counts for nothing: soakproof adjudicate {rundir.typed(path)}")
        whole &= evidence and verdicts
    return EXIT_OK if whole else EXIT_FAIL


def _is_whole(path: Path) -> bool:
    """Whether a run is as it was sealed; says so, or what is wrong."""
    with working(f"verifying {path.name}"):
        state = rundir.verify(path)
        problems = [*_damage(path, state), *state.problems]
        newer = rundir.of_newer(path)
    if newer or state.newer:
        say(f"{path.name}: not verifiable by this version of soakproof: update it")
        for problem in [*newer, *state.problems]:
            say(f"  {plain(problem, 300)}")
        return False
    if not problems:
        how = ", recovered after a crash" if state.recovered else ""
        say(f"{path.name}: {state.files} files, {state.bytes:,} bytes, as they were sealed{how}")
        return True
    say(f"{path.name}: {'NOT as it was sealed' if state.problems else 'as it was sealed, and damaged'}")
    for problem in problems:
        say(f"  {plain(problem, 300)}")
    if not state.sealed:
        say(f"  {_next_step(path)}")
    return False


def _are_verdicts_whole(path: Path) -> bool:
    """Whether each verdict of a run is as it was written; says so, or which is not. One without a seal, of
    an older version or with its seal taken away, cannot be shown to be.
    """
    there = rundir.verdict_folders(path)
    with working(f"verifying the verdicts of {path.name}"):
        states = [(f"{rundir.VERDICTS}/{e.path.name}", rundir.verify_entry(e)) for e in there]
    wrong = rundir.has_no_verdict_folder(path)
    if wrong:
        say(f"  {rundir.VERDICTS}: it is no folder any more, so what was judged is gone")
    for number in rundir.missing_verdicts(path):
        say(f"  {rundir.VERDICTS}/{number}: gone")
        wrong = True
    for number in rundir.unfinished_verdicts(path):
        say(f"  {rundir.VERDICTS}/{number}: begun and never finished, or taken away: nothing shows which")
    for name, state in states:
        if state.newer:
            say(f"  {name}: not verifiable by this version: {plain('; '.join(state.problems), 300)}")
        elif state.problems:
            say(f"  {name}: NOT as it was written: {plain('; '.join(state.problems), 300)}")
        elif not state.sealed:
            say(f"  {name}: it has no seal, so nothing shows that it is as it was written")
        wrong |= bool(state.problems) or not state.sealed
    if states and not wrong:
        say(f"  {counted(len(states), 'verdict')}, each as it was written")
    return not wrong


def _damage(path: Path, state: rundir.SealState) -> list[str]:
    """What is wrong with the run's documents, where its seal does not say it."""
    told = {problem.partition(": ")[0] for problem in state.problems}
    names = [rundir.RUN, *([rundir.RAW] if os.path.lexists(path / rundir.RAW) else [])]
    return [damage for name in names if name not in told and (damage := rundir.damage(path, name))]


def _next_step(path: Path) -> str:
    if rundir.being_written(path):
        return "it is still being written: wait for it to end"
    if rundir.damage(path):
        return f"without a {rundir.RUN} it can be neither recovered nor judged: an untouched copy is needed"
    return how_to_recover(path)


@click.command(short_help="Seal what a crashed run left.")
@click.argument("run", metavar="RUN")
@runs_option
def recover(run: str, runs: Path) -> int:
    """Seal a run whose process was killed. What was recorded stays; the seal says `recovered` for good.

    A line that was torn in the middle is moved to a file of its own. No raw result is made up for a run that
    did not live to give one, so its verdict is INCONCLUSIVE at best. A run that is sealed already is left
    as it is, and verified.

    \b
    Example:
      soakproof recover latest

    Exit code 1 when a run that was sealed already is not as it was sealed, or when something lies in it that
    no seal can cover.
    """
    path = rundir.find(runs, run)
    with working(f"recovering {path.name}"):
        done = rundir.recover(path)
    if not done:
        stands = (
            "is sealed already"
            if rundir.is_own(path / rundir.SEAL)
            else f"has a {rundir.SEAL} that is no file"
        )
        say(f"{path.name}: {stands}; nothing was done")
        return EXIT_OK if _is_whole(path) else EXIT_FAIL
    for line in done:
        say(line)
    if left := rundir.verify(path).problems:
        for problem in left:
            say(f"  {plain(problem, 300)}")
        say(
            "  take away what is no file of this run's, or look for an untouched copy: it cannot be judged so"
        )
        return EXIT_FAIL
    if is_guard(rundir.read_run(path)):
        return EXIT_OK
    if not (path / rundir.RAW).is_file():
        say("it has no raw result: the run did not live to judge itself, and nothing judges it in its place")
    say(f"judge it: soakproof adjudicate {rundir.typed(path)}")
    return EXIT_OK
