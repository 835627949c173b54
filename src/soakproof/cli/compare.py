"""`soakproof compare`: arms set side by side. Loads no gevent, locust, httpx or trio."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from soakproof.cli.options import FilledPath, filled, runs_option
from soakproof.cli.output import complain, say, table, width, working
from soakproof.errors import UsageError
from soakproof.judge.comparing.request import MARGIN, METRICS_COMPARED, Request
from soakproof.plain import plain
from soakproof.tables import paragraph
from soakproof.units import Ratio, per_cent_hint

F = TypeVar("F", bound=Callable[..., Any])
_BY_DEFAULT = ("generation_rate", "prompt_rate", "first_token_time", "total_time")


class _Margin(click.ParamType):  # type: ignore[type-arg]
    """A share above 0, such as 3% or 0.03."""

    name = "share"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            found = float(Ratio.parse(value))
        except ValueError as error:
            raise UsageError(f"--margin: {error}") from None
        if not 0 < found < 1:
            told = f"--margin: expected more than 0 and less than 100 %, found {plain(value, 40)}"
            raise UsageError(told, per_cent_hint(found))
        return found


def _out(name: str, what: str) -> Callable[[F], F]:
    path = FilledPath(path_type=Path)
    return click.option(f"--{name}", name, type=path, metavar="FILE", help=f"Write {what}.")


@click.command(short_help="Set arms side by side: runs, or measurements that were entered.")
@click.argument("arms", nargs=-1, metavar="[ARM]...")
@click.option(
    "--data",
    "files",
    type=FilledPath(path_type=Path),
    multiple=True,
    metavar="FILE",
    help="Measurements that were entered, as TOML or CSV, in place of runs.  [repeatable]",
)
@click.option(
    "--against", metavar="ARM", callback=filled, help="Which arm the others are compared with; the first."
)
@click.option(
    "--margin",
    type=_Margin(),
    default=f"{MARGIN:.0%}",
    show_default=True,
    metavar="SHARE",
    help="Less is not material. Two runs of one build differ by a per cent or two on a quiet machine.",
)
@click.option(
    "--metric",
    "metrics",
    type=click.Choice(METRICS_COMPARED),
    multiple=True,
    metavar="NAME",
    help=f"What is compared; {', '.join(_BY_DEFAULT)}, and with --data all that is there.  [repeatable]",
)
@click.option(
    "--kind", "kinds", multiple=True, metavar="NAME", help="Only this kind, or workload.  [repeatable]"
)
@click.option(
    "--accept-few",
    is_flag=True,
    help="Let medians of fewer than five repeats decide, or one run an arm.",
)
@click.option(
    "--anyway", is_flag=True, help="Compare also arms that differ in a field that must be the same."
)
@click.option("--same-answers", is_flag=True, help="Check that greedy answers are the same.")
@click.option(
    "--greedy-undrafted", is_flag=True, help="Check that greedy requests had no drafts, in every arm."
)
@_out("csv", "the rows as CSV, with unrounded values")
@_out("json", "everything as JSON, with the values that were compared")
@_out("markdown", "everything as Markdown, for a release's notes")
@_out("svg", "the figure: every value, medians and intervals")
@_out("png", "the same as a picture")
@runs_option
def compare(
    arms: tuple[str, ...],
    files: tuple[Path, ...],
    against: str | None,
    margin: float,
    metrics: tuple[str, ...],
    kinds: tuple[str, ...],
    accept_few: bool,
    anyway: bool,
    same_answers: bool,
    greedy_undrafted: bool,
    runs: Path,
    **outputs: Path | None,
) -> int:
    """Compare two or more arms: each with the first, by workload and metric, under a margin.

    An ARM is a sealed run (its folder, name or a part of it, `latest`, or a baseline's name), or several runs
    of the same thing under a name of yours: NAME=RUN,RUN,RUN. With --data the arms are in a file.

    \b
    Examples:
      soakproof compare RUN RUN
      soakproof compare native=RUN,RUN,RUN new=RUN,RUN,RUN --margin 2%
      soakproof compare nightly latest --kind long_prose --csv compared.csv
      soakproof compare --data published.toml --accept-few

    Cold prompts are compared with cold ones alone, and lengths are matched first. With five or more repeats
    an arm the interval of the ratio decides against the margin, corrected over the metrics of a workload;
    fewer describe, and decide with --accept-few alone. From five runs an arm on, a run is a repeat; else
    an answer is, and what is worse in one run of each arm is INCONCLUSIVE without --accept-few.

    A FILE of - is standard output, for one form that is text; the tables go to standard error then.

    Exit codes: 0 nothing is worse by more than the margin, 1 an arm is, or a check failed, 2 INCONCLUSIVE
    (too little to say, or not comparable), 3 could not be carried out, 64 wrong usage.
    """
    from soakproof.cli.arming import arms_of_files, arms_of_runs, chosen_first, of_kinds
    from soakproof.cli.comparing import is_stdout, refuse_outputs, write_outputs
    from soakproof.judge.comparing.comparison import compare_arms
    from soakproof.judge.finding import EXIT_CODES
    from soakproof.report.comparing import notes, tables

    wanted = {name: path for name, path in outputs.items() if path is not None}
    refuse_outputs(wanted)
    if files and arms:
        raise UsageError("arms are named, and --data as well", "compare runs, or what was entered")
    compared = metrics or (METRICS_COMPARED if files else _BY_DEFAULT)
    with working("reading the runs and their seals"):
        found = arms_of_files(files) if files else arms_of_runs(runs, arms, compared)
    found = of_kinds(chosen_first(found, against), kinds)
    request = Request(
        metrics=compared,
        margin=margin,
        accept_few=accept_few,
        anyway=anyway,
        same_answers=same_answers,
        greedy_undrafted=greedy_undrafted,
    )
    with working("comparing"):
        made = compare_arms(found, request)
    tell = complain if any(map(is_stdout, wanted.values())) else say
    for title, one in tables(made):
        tell(f"{title}\n")
        right = [c.head for c in one.columns if c.style == "number"]
        tell(f"{table([c.head for c in one.columns], one.rows, right) if one.rows else one.empty}\n")
        if one.note:
            tell(paragraph(one.note, width()) + "\n")
    for told in notes(made):
        tell(paragraph(f"- {plain(told, 500)}", width(), "  "))
    tell("\n" + paragraph(f"{made.outcome}: {plain(made.sentence, 1000)}", width()))
    with working("writing"):
        write_outputs(made, wanted, tell)
    return EXIT_CODES[made.outcome]
