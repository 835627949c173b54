"""`soakproof report`: where a run's verdicts are, and their reports made again from the evidence.

Loads no gevent, locust, httpx or trio.
"""

import os
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec
import orjson

from soakproof.cli.options import all_option, filled, runs_option
from soakproof.cli.output import colour, complain, say, say_coloured, width, working
from soakproof.cli.reading import of_newer, refuse_file, refuse_guard, sealed_run, touched, unsealed
from soakproof.errors import EXIT_FAIL, EXIT_OK, SoakproofError, UsageError
from soakproof.formats import UPDATE, newer
from soakproof.judge.finding import Outcome, Verdict
from soakproof.nesting import bounded
from soakproof.plain import plain
from soakproof.run import (
    SEAL,
    VERDICT,
    EntryState,
    Loaded,
    SealState,
    VerdictFolder,
    find,
    read_run,
    typed,
    verdict_folders,
    verify,
    verify_entry,
)

if TYPE_CHECKING:
    from soakproof.report import Page

FORMS = ("md", "html", "json", "junit", "svg", "png", "github")


@click.command(short_help="Show a verdict, and make its reports again.")
@click.argument("run", metavar="RUN")
@click.option("--verdict", "number", type=int, metavar="N", help="Which of the run's verdicts; the newest.")
@click.option("--again", is_flag=True, help="Make report.md, report.html, junit.xml and the figures again.")
@click.option(
    "--format",
    "forms",
    type=click.Choice(FORMS),
    multiple=True,
    help="Hand the report out in this form, and show no table.  [repeatable]",
)
@click.option(
    "-o",
    "--output",
    "to",
    metavar="FILE|DIR|-",
    callback=filled,
    help="Where --format writes: a new file, a folder, or - for standard output, which it is without this.",
)
@all_option
@runs_option
def report(
    run: str,
    number: int | None,
    again: bool,
    forms: tuple[str, ...],
    to: str | None,
    every: bool,
    runs: Path,
) -> int:
    """Show a verdict of a run and where its reports are. Nothing is judged: the verdict stays what it is. One
    that is not as it was written is not shown, nor is one on evidence that was changed since.

    \b
    Examples:
      soakproof report latest
      soakproof report latest --all       each finding, also those that are PASS
      soakproof report latest --verdict 1
      soakproof report latest --again     after an update that draws better ones
      soakproof report latest --format md -o notes.md
      soakproof report latest --format png -o figures
      soakproof report latest --format github

    md is for the notes of a release: without pictures, which are to be attached. json keeps to a JSON
    Schema; junit is red in a CI exactly when the verdict is not PASS. svg and png are the figures; without -o
    they go into the verdict's own figures/, and under its seal. github adds the report to the summary of a
    step in GitHub Actions (GITHUB_STEP_SUMMARY; printed where that is not set), and annotates the job.

    Exit code 1 when the run is not as it was sealed.
    """
    from soakproof.report import rewrite, terminal_table

    refuse_file(run)
    path = find(runs, run)
    refuse_guard(path, read_run(path), "RUN")
    entry = _entry(path, number)
    state = verify_entry(entry)
    if to is not None and not forms:
        raise UsageError("-o: there is nothing to write without --format", f"name one: {', '.join(FORMS)}")
    _refuse_edited(path, entry, state, again or bool(forms))
    tell = complain if forms else say
    verdict = read_verdict(entry)
    with working(f"verifying {path.name}"):
        seal = verify(path)
    _refuse_touched(path, seal, verdict)
    page = cache(partial(_page, runs, path, seal, verdict, tell))
    if again:
        with working("making the reports again"):
            rewrite(entry.path, verdict, page())
    if forms:
        from soakproof.cli.forms import hand_out

        with working("making the report"):
            hand_out(list(dict.fromkeys(forms)), to, entry.path, verdict, page)
        return EXIT_OK
    say_coloured(terminal_table(verdict, width=width(), colour=colour(), every=every))
    for file in sorted(p for p in entry.path.rglob("*") if p.is_file() and p.name != SEAL):
        say(f"  {file}")
    return EXIT_OK


def _entry(path: Path, number: int | None) -> VerdictFolder:
    there = verdict_folders(path)
    if not there:
        raise UsageError(f"{path.name} has no verdict yet", f"judge it: soakproof adjudicate {typed(path)}")
    chosen = [e for e in there if number in (None, e.number)]
    if not chosen:
        listed = ", ".join(f"{e.number} ({e.policy})" for e in there)
        raise UsageError(f"--verdict: {path.name} has no verdict {number}", f"it has: {listed}")
    return chosen[-1]


def _refuse_edited(path: Path, entry: VerdictFolder, state: EntryState, again: bool) -> None:
    """An outcome that somebody may have written is not shown; reports that were touched can be made again."""
    if not state.sealed:
        raise UsageError(
            f"{entry.path} has no seal: an older version wrote it, or its seal was taken away; what it says "
            "is not shown",
            f"judge again: soakproof adjudicate {typed(path)}",
        )
    if state.newer:
        raise UsageError(f"{entry.path} cannot be verified: {plain('; '.join(state.problems), 300)}", UPDATE)
    if state.problems and not (again and state.has_verdict):
        hint = "--again makes its reports again; or judge again" if state.has_verdict else "judge again"
        raise UsageError(
            f"{entry.path} is not as it was written: {plain('; '.join(state.problems), 300)}",
            f"{hint}: soakproof adjudicate {typed(path)}",
        )


class _TouchedError(SoakproofError):
    """The evidence of a verdict is not what was judged; the exit code is that of `verify`."""

    exit_code = EXIT_FAIL


def _refuse_touched(path: Path, seal: SealState, verdict: Verdict) -> None:
    """A verdict counts for the evidence that it was made from. One that says itself that this was changed
    may be shown.
    """
    told = any("seal" in (f.adjudicator, f.subject) and f.outcome is Outcome.ERROR for f in verdict.findings)
    if not seal.problems or told:
        return
    if not os.path.lexists(path / SEAL):
        raise unsealed(path, "RUN")
    if seal.newer:
        raise of_newer(path, "RUN", seal.problems)
    raise _TouchedError(str(touched(path, "RUN", seal.problems)))


def read_verdict(entry: VerdictFolder) -> Verdict:
    """The verdict in its folder. Raises UsageError for a file that is none."""
    path = entry.path / VERDICT
    try:
        document = bounded(orjson.loads(path.read_bytes()))
        _refuse_newer(path, document)
        return msgspec.convert(document, Verdict)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    except ValueError as error:
        raise UsageError(f"{path} is not a verdict: {error}", "judge the run again") from error


def _refuse_newer(path: Path, document: object) -> None:
    """The document of a later version may mean something else by the same names."""
    from soakproof.report.document import FORMAT

    if told := newer(document, FORMAT):
        raise UsageError(f"{path} was {told}", UPDATE)


def _page(runs: Path, path: Path, seal: SealState, verdict: Verdict, tell: Callable[[str], None]) -> "Page":
    """What the reports show, from the sealed evidence of the run and of its baseline."""
    from soakproof.judgement import baseline_of, evidence_of
    from soakproof.report import build

    evidence = evidence_of(sealed_run(path.parent, str(path), seal=seal))
    return build(verdict, evidence, baseline_of(list(_baseline(runs, path, verdict, tell))))


def _baseline(runs: Path, path: Path, verdict: Verdict, tell: Callable[[str], None]) -> Iterator[Loaded]:
    """The baseline's runs, from beside the run or from ``runs``; without one the reports say less, and we
    say so.
    """
    for name in (verdict.baseline, *verdict.baseline_repeats):
        if name is None:
            continue
        there = next((f for f in dict.fromkeys((path.parent, runs)) if (f / name).is_dir()), None)
        if there is None:
            tell(f"the baseline {name} is not here: its figures are left out")
        else:
            yield sealed_run(there, str(there / name), "the verdict's baseline")
