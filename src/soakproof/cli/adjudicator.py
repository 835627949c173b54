"""`soakproof try-adjudicator`: one adjudicator on one run, while it is being written. Nothing is stored."""

import shlex
from pathlib import Path

import click

from soakproof.cli.options import filled, runs_option, setting
from soakproof.cli.output import colour, say, say_coloured, width, working
from soakproof.cli.reading import is_run_name, sealed_run
from soakproof.errors import UsageError
from soakproof.plain import plain


@click.command("try-adjudicator", short_help="Ask one adjudicator about a run, and store nothing.")
@click.argument("file", metavar="FILE|NAME")
@click.argument("run", metavar="RUN")
@click.option("--set", "settings", multiple=True, metavar="OPTION=VALUE", help="An option, as in a policy.")
@click.option(
    "--baseline", metavar="RUN|NAME|auto", callback=filled, help="An earlier run, as for adjudicate."
)
@runs_option
def try_adjudicator(file: str, run: str, settings: tuple[str, ...], baseline: str | None, runs: Path) -> int:
    """Ask one adjudicator about a run: each finding in full, with its figures and where to look. The run's
    raw outcome is not looked at, no policy weighs anything, and nothing is written.

    FILE is a file that defines an adjudicator, or the name of one in adjudicators/. An exception of its own
    is told with its line.

    \b
    Examples:
      soakproof try-adjudicator adjudicators/mine.py latest
      soakproof try-adjudicator memory RUN --set "floor=18 GiB"
      soakproof try-adjudicator throughput latest --baseline EARLIER_RUN \\
          --set "margin=3 %"

    Exit codes: 0 PASS, 1 FAIL, 2 INCONCLUSIVE, 3 ERROR, of the findings that would decide; 64 wrong usage.
    """
    from soakproof import report
    from soakproof.catalog import Catalog
    from soakproof.cli.choosing import chosen
    from soakproof.judge.finding import EXIT_CODES, merge
    from soakproof.judge.telling import counted
    from soakproof.judgement import try_adjudicator as ask

    options, catalog = dict(setting(text) for text in settings), Catalog()
    try:
        catalog.adjudicator(file)  # what is wrong with it is told before a long run is read
    except UsageError as error:
        if not is_run_name(runs, file):
            raise
        raise UsageError(
            f"{plain(file, 100)} is a run, where an adjudicator is expected",
            f"the adjudicator comes first: soakproof try-adjudicator {shlex.quote(run)} {shlex.quote(file)}",
        ) from error
    with working("reading the run and its seals"):
        judged = sealed_run(runs, run)
        before = chosen(runs, baseline, judged, "default").runs if baseline else ()
    with working("asking"):
        findings = ask(judged, before, file, options, catalog)
    outcome = merge(f.outcome for f in findings if f.critical)
    say_coloured(report.findings_shown(findings, width=width(), colour=colour()))
    say(f"\n{outcome}: {counted(len(findings), 'finding')} on {judged.id}; nothing was stored")
    return EXIT_CODES[outcome]
