"""`soakproof decide`: what was decided of each candidate of a release, and why."""

from collections.abc import Sequence
from pathlib import Path

import click

from soakproof.cli.decided import changed_since, file_option, found_in
from soakproof.cli.deciding import add, set_
from soakproof.cli.options import FilledPath, filled, runs_option
from soakproof.cli.output import say, table, width
from soakproof.decisions import (
    Candidate,
    RunTold,
    against,
    candidates,
    is_disputed,
    read_entries,
)
from soakproof.errors import EXIT_FAIL, EXIT_OK, UsageError, did_you_mean
from soakproof.plain import plain
from soakproof.tables import paragraph

_FORMATS = {".md": "md", ".html": "html", ".csv": "csv"}


@click.group(short_help="Keep what was decided of each candidate of a release.")
def decide() -> None:
    """Keep what was decided of each candidate of a release, positive and negative together, with the runs and
    verdicts that it rests on: in decisions.toml, which can be read, compared and kept in git. An entry is
    never changed. What is decided later is a further entry, and the earlier ones are its history.

    \b
    Examples:
      soakproof decide add lazy-reads --changed "tensors read lazily" --run RUN
      soakproof decide set lazy-reads --decision rejected \\
          --reason "cold prefill 103.76 -> 95.03 tokens/s"
      soakproof decide list
      soakproof decide render -o decisions.md
    """


decide.add_command(add)
decide.add_command(set_)


@decide.command("list", short_help="Every candidate, what was decided, and what became of its runs.")
@click.option("--release", metavar="NAME", callback=filled, help="Only what is for that release.")
@file_option
@runs_option
def list_(release: str | None, file: Path, runs: Path) -> int:
    """Every candidate, what was decided, and what became of its runs. Seals are compared; files are not.

    \b
    Example:
      soakproof decide list
    """
    rows = [
        (
            one.name,
            one.last.decision,
            _verdicts_shown(one.runs),
            _state(runs, one),
            f"{one.last.at:%Y-%m-%d}",
            one.last.who,
        )
        for one in _of_release(candidates(read_entries(file)), release, file)
    ]
    if not rows:
        say(f"no candidates in {file}")
        return EXIT_OK
    heads = ("candidate", "decision", "verdicts", "state", "decided", "who")
    say(table(heads, rows, whole=("candidate", "decision", "decided")))
    return EXIT_OK


@decide.command(short_help="One candidate with its history, its runs verified.")
@click.argument("name")
@file_option
@runs_option
def show(name: str, file: Path, runs: Path) -> int:
    """One candidate with its history and its runs, which are verified: exits with 1 where one is gone, or a
    run or verdict is not as it was told.

    \b
    Example:
      soakproof decide show lazy-reads
    """
    found = found_in(candidates(read_entries(file)), name, file)
    facts = [
        ("release", found.release or "none"),
        ("changed", found.changed),
        ("decision", found.last.decision),
        ("reason", found.reason or "none"),
        *(("against", why) for why in against(found.last.decision, found.runs)),
    ]
    bad = False
    for run in found.runs:
        facts += [("run", run.run), ("seal", run.seal), ("raw outcome", run.raw)]
        facts += [("verdict", f"{one.entry}: {one.outcome}") for one in run.verdict]
        trouble = changed_since(runs, run, files=True)
        bad |= any(not one.startswith("judged since") for one in trouble)
        facts += [("state", one) for one in trouble or ["as it was told"]]
    say(table(("candidate", found.name), facts))
    for entry in found.entries:
        parts = (entry.reason or entry.changed, *(f"with {run.run}" for run in entry.run))
        line = f"{entry.at:%Y-%m-%d %H:%M}  {entry.decision} by {entry.who}: {'; '.join(filter(None, parts))}"
        say(paragraph(line, width(), "  "))
    return EXIT_FAIL if bad else EXIT_OK


@decide.command(short_help="The table for a release, as Markdown, HTML or CSV.")
@click.option(
    "--format",
    "form",
    type=click.Choice(tuple(_FORMATS.values())),
    help="Its form; by the end of FILE's name, else Markdown.",
)
@click.option(
    "-o", "--output", type=FilledPath(path_type=Path), metavar="FILE", help="Write it there; - prints it."
)
@click.option("--release", metavar="NAME", callback=filled, help="Only what is for that release.")
@file_option
@runs_option
def render(form: str | None, output: Path | None, release: str | None, file: Path, runs: Path) -> int:
    """The table of all candidates for a release: what changed, what was decided and why, on which runs and
    verdicts, by whom and when. What was decided against the verdicts, what was lost or changed since, and the
    history stand below it.

    \b
    Examples:
      soakproof decide render
      soakproof decide render --release 2026.08 -o decisions.html
    """
    from soakproof.cli.comparing import STDOUT, refuse_outputs
    from soakproof.report.decisions import to_csv, to_html, to_markdown
    from soakproof.run import write_atomic

    if output is not None and str(output) == STDOUT:
        output = None
    if output is not None:
        refuse_outputs({"output": output})
    chosen = form or _form_of(output)
    found = _of_release(candidates(read_entries(file)), release, file)
    since = {one.name: _said_of(runs, one) for one in found}
    render_as = {"md": to_markdown, "html": to_html, "csv": to_csv}[chosen]
    only = {one.release for one in found}
    text = render_as(found, since, release or (only.pop() if len(only) == 1 else ""))
    if output is None:
        say(text.removesuffix("\n"))
    else:
        write_atomic(output, text.encode())
        say(f"{chosen}: {output}")
    return EXIT_OK


def _form_of(output: Path | None) -> str:
    """By the end of the file's name. Raises UsageError for one that says nothing."""
    if output is None or not output.suffix:
        return "md"
    if output.suffix.lower() not in _FORMATS:
        known = ", ".join(_FORMATS)
        raise UsageError(
            f"--output: {plain(output.name, 100)!r} ends in none of {known}",
            "end it so, or choose: --format md",
        )
    return _FORMATS[output.suffix.lower()]


def _state(runs: Path, one: Candidate) -> str:
    """That it is against the verdicts, and what became of its runs and verdicts since."""
    disputed = ("against the verdicts",) if is_disputed(one) else ()
    return "; ".join((*disputed, *_said_of(runs, one))) or ("as told" if one.runs else "")


def _of_release(there: list[Candidate], release: str | None, file: Path) -> list[Candidate]:
    found = [one for one in there if release is None or one.release == release]
    if release is not None and not found:
        known = sorted({one.release for one in there} - {""})
        hint = f"{did_you_mean(release, known)}it has: {', '.join(known) or 'none'}"
        raise UsageError(f"nothing in {file} is for the release {plain(release, 80)!r}", hint)
    return found


def _said_of(runs: Path, candidate: Candidate) -> list[str]:
    """What became of its runs and verdicts since."""
    return [f"{run.run}: {one}" for run in candidate.runs for one in changed_since(runs, run)]


def _verdicts_shown(runs: Sequence[RunTold]) -> str:
    shown = [f"{one.policy} {one.outcome}" for run in runs for one in run.newest()]
    return ", ".join(shown) or ("not judged" if runs else "no run")
