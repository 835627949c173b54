"""`soakproof baseline`: names for the runs that later ones are compared with."""

import shlex
from datetime import UTC, datetime
from pathlib import Path

import click

from soakproof.cli.options import filled, runs_option
from soakproof.cli.output import say, table, working
from soakproof.cli.reading import entry_outcome, is_run_name, sealed_run
from soakproof.errors import EXIT_FAIL, EXIT_OK, UsageError
from soakproof.judge.evidence import Evidence
from soakproof.judge.finding import Outcome
from soakproof.judge.repeats import unlike
from soakproof.plain import listed, plain
from soakproof.run import (
    Loaded,
    Reference,
    add_baseline,
    baselines,
    broken_baselines,
    read_baseline,
    remove_baseline,
    sealing,
    state,
    typed,
    verdict_folders,
    verify,
    verify_entry,
)
from soakproof.run import runs_option as typed_runs

_GOOD = "as it was sealed"


@click.group(short_help="Name the runs that later ones are compared with.")
def baseline() -> None:
    """Name a run, so that later ones are compared with it: a baseline is a reference by the digest of the
    run's seal, in the folder baselines/ beside the runs. The run stays where it is, and is not changed.
    Several runs of one configuration show how far such runs lie apart, which bounds what a difference says.

    \b
    Examples:
      soakproof baseline add NAME RUN --note "before the new driver"
      soakproof baseline add NAME RUN RUN RUN
      soakproof baseline list
      soakproof adjudicate latest --baseline NAME
      soakproof adjudicate latest --baseline auto
    """


@baseline.command(short_help="Give sealed runs a name.")
@click.argument("name")
@click.argument("named", metavar="RUN...", nargs=-1, required=True)
@click.option("--note", metavar="TEXT", callback=filled, help="What is to be known of it.")
@runs_option
def add(name: str, named: tuple[str, ...], note: str | None, runs: Path) -> int:
    """Give sealed runs a name. Their seals are verified first; one that was touched is refused.

    RUN is a run directory in the folder of runs, its name, a part of it that only one has, or `latest`.
    Several have to be of one configuration: what must be the same and what is under test agree, else it is
    told what differs.

    \b
    Examples:
      soakproof baseline add nightly latest
      soakproof baseline add nightly RUN --note "the model's own first week"
      soakproof baseline add nightly RUN RUN RUN
    """
    if is_run_name(runs, name) and not any(is_run_name(runs, run) for run in named):
        raise UsageError(
            f"{plain(name, 100)} is a run, where the baseline's name is expected",
            f"the name comes first: soakproof baseline add {shlex.quote(named[0])} {shlex.quote(name)}",
        )
    with working("reading the runs and their seals"):
        found = [_looked_at(sealed_run(runs, run)) for run in named]
    _refuse_unlike([evidence for _, evidence in found])
    now = datetime.now(UTC).isoformat(timespec="seconds")
    paths = [path for path, _ in found]
    made = add_baseline(runs, name, paths, added_at=now, note=plain(note or "", 300))
    say(f"{made.name}: {', '.join(reference.run for reference in made.runs)}")
    for path in paths:
        if doubt := _doubt(path):
            say(f"  {path.name}: {doubt}" if len(paths) > 1 else f"  {doubt}")
    return EXIT_OK


def _doubt(run: Path) -> str:
    """What a user may not know of a run that is to be compared with; "" where its newest verdict is PASS."""
    if sealing(run) == "recovered":
        return "it was sealed after a crash: runs are not compared with it"
    entries = verdict_folders(run)
    if not entries:
        return f"it was never judged: soakproof adjudicate {typed(run)}"
    outcome = entry_outcome(entries[-1], verify_entry(entries[-1]))
    if outcome == Outcome.PASS:
        return ""
    return f"its newest verdict is {outcome}: later runs are measured by it all the same"


def _looked_at(run: Loaded) -> tuple[Path, Evidence]:
    """Its folder and its run.json; its records are not kept."""
    return run.path, Evidence(run=run.run, raw=None, records=(), id=run.id)


def _refuse_unlike(found: list[Evidence]) -> None:
    first, *others = found
    for other in others:
        if against := list(unlike(other, first)):
            raise UsageError(
                f"{other.id} is not of the same configuration as {first.id}: {listed(against, 5, '; ')}",
                "a baseline of several runs shows how far runs of one configuration lie apart; to set "
                "two beside each other: soakproof compare RUN RUN",
            )


@baseline.command("list", short_help="Every baseline, with its runs and what became of them.")
@runs_option
def list_(runs: Path) -> int:
    """Every baseline with its runs and what became of them. Seals are compared; files are not: `show` does.

    \b
    Example:
      soakproof baseline list
    """
    rows = [
        (b.name, reference.run, b.added_at[:10], state(runs, reference) or "unchecked", b.note)
        for b in baselines(runs)
        for reference in b.runs
    ]
    rows += [(name, "", "", f"cannot be read: {why}", "") for name, why in broken_baselines(runs)]
    if not rows:
        say(f"no baselines in {runs}\n  name one: soakproof baseline add NAME RUN{typed_runs(runs)}")
        return EXIT_OK
    say(table(("baseline", "run", "added", "state", "note"), rows, whole=("baseline", "run")))
    say(f"\nunchecked: files not compared with the seal: `soakproof baseline show NAME{typed_runs(runs)}`")
    return EXIT_OK


@baseline.command(short_help="One baseline, its runs verified.")
@click.argument("name")
@runs_option
def show(name: str, runs: Path) -> int:
    """One baseline, with its runs verified: exits with 1 where one is gone, or not as it was.

    \b
    Example:
      soakproof baseline show nightly
    """
    found = read_baseline(runs, name)
    rows = [("name", found.name), ("added", found.added_at), ("note", found.note or "none")]
    bad = False
    for reference in found.runs:
        trouble = _trouble(runs, reference)
        bad |= bool(trouble)
        rows += [
            ("run", reference.run),
            ("seal", reference.seal),
            ("state", trouble or _good(runs / reference.run)),
        ]
    say(table(("baseline", ""), rows))
    return EXIT_FAIL if bad else EXIT_OK


def _good(run: Path) -> str:
    """That it is what it was, and what may not be known of it."""
    return "; ".join(filter(None, (_GOOD, _doubt(run))))


def _trouble(runs: Path, reference: Reference) -> str:
    """Why a run is not what it was; its files are compared with its seals."""
    if trouble := state(runs, reference):
        return trouble
    with working("verifying the run"):
        problems = verify(runs / reference.run).problems
    return f"not as it was sealed: {problems[0]}" if problems else ""


@baseline.command(short_help="Forget a name; the runs stay.")
@click.argument("name")
@runs_option
def remove(name: str, runs: Path) -> int:
    """Forget a name. No run is touched.

    \b
    Example:
      soakproof baseline remove nightly
    """
    remove_baseline(runs, name)
    say(f"{name} is no baseline any more; no run was touched")
    return EXIT_OK
