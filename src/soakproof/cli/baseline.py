"""`soakproof baseline`: names for the runs that later ones are compared with."""

from datetime import UTC, datetime
from pathlib import Path

import click

from soakproof.cli.options import runs_option
from soakproof.cli.output import say, table, working
from soakproof.cli.reading import entry_outcome, sealed_run
from soakproof.errors import EXIT_FAIL, EXIT_OK
from soakproof.judge.finding import Outcome
from soakproof.plain import plain
from soakproof.run import (
    add_baseline,
    baselines,
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

    \b
    Examples:
      soakproof baseline add NAME RUN --note "before the new driver"
      soakproof baseline list
      soakproof adjudicate latest --baseline NAME
      soakproof adjudicate latest --baseline auto
    """


@baseline.command(short_help="Give a sealed run a name.")
@click.argument("name")
@click.argument("run", metavar="RUN")
@click.option("--note", default="", metavar="TEXT", help="What is to be known of it.")
@runs_option
def add(name: str, run: str, note: str, runs: Path) -> int:
    """Give a sealed run a name. Its seals are verified first; one that was touched is refused.

    RUN is a run directory in the folder of runs, its name, a part of it that only one has, or `latest`.

    \b
    Examples:
      soakproof baseline add nightly latest
      soakproof baseline add nightly RUN --note "the model's own first week"
    """
    with working("reading the run and its seals"):
        found = sealed_run(runs, run)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    made = add_baseline(runs, name, found.path, added_at=now, note=plain(note, 300))
    say(f"{made.name}: {made.run}")
    if doubt := _doubt(found.path):
        say(f"  {doubt}")
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


@baseline.command("list", short_help="Every baseline, with its run and what became of it.")
@runs_option
def list_(runs: Path) -> int:
    """Every baseline with its run and what became of that. Seals are compared; files are not: `show` does.

    \b
    Example:
      soakproof baseline list
    """
    rows = [(b.name, b.run, b.added_at[:10], state(runs, b) or "there", b.note) for b in baselines(runs)]
    if not rows:
        say(f"no baselines in {runs}\n  name one: soakproof baseline add NAME RUN{typed_runs(runs)}")
        return EXIT_OK
    say(table(("baseline", "run", "added", "state", "note"), rows, whole=("baseline", "run")))
    return EXIT_OK


@baseline.command(short_help="One baseline, its run verified.")
@click.argument("name")
@runs_option
def show(name: str, runs: Path) -> int:
    """One baseline, with its run verified: exits with 1 where that is gone, or not as it was.

    \b
    Example:
      soakproof baseline show nightly
    """
    found = read_baseline(runs, name)
    trouble = state(runs, found)
    if not trouble:
        with working("verifying the run"):
            problems = verify(runs / found.run).problems
        trouble = f"not as it was sealed: {problems[0]}" if problems else ""
    good = _GOOD if trouble else "; ".join(filter(None, (_GOOD, _doubt(runs / found.run))))
    rows = [
        ("name", found.name),
        ("run", found.run),
        ("seal", found.seal),
        ("added", found.added_at),
        ("note", found.note or "none"),
        ("state", trouble or good),
    ]
    say(table(("baseline", ""), rows))
    return EXIT_FAIL if trouble else EXIT_OK


@baseline.command(short_help="Forget a name; the run stays.")
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
