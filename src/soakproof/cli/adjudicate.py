"""`soakproof adjudicate`: judge a sealed run. Loads no gevent, locust, httpx or trio."""

from datetime import UTC, datetime
from pathlib import Path

import click

from soakproof.cli.options import all_option, filled, runs_option
from soakproof.cli.output import colour, say, say_coloured, width, working
from soakproof.cli.reading import sealed_run
from soakproof.run import refuse_changed


@click.command(short_help="Judge a run by a policy, against a baseline.")
@click.argument("run", metavar="RUN")
@click.option(
    "--baseline",
    metavar="RUN|NAME|auto",
    callback=filled,
    help="An earlier run of the same plan and model to compare with: a run, a name that `soakproof baseline` "
    "gave one, or the newest that was judged PASS and is comparable.",
)
@click.option(
    "--policy",
    default="default",
    show_default=True,
    metavar="NAME|FILE",
    callback=filled,
    help="A policy of adjudicators/ by its name, or a file.",
)
@all_option
@runs_option
@click.option("--today", type=click.DateTime(["%Y-%m-%d"]), hidden=True)
def adjudicate(
    run: str, baseline: str | None, policy: str, every: bool, runs: Path, today: datetime | None
) -> int:
    """Judge a run by a policy. The run's own raw outcome is printed first, and never changes.

    RUN is a run directory, its name, a part of the name that only one run has (as the four hex digits at its
    end), or `latest`; so is EARLIER_RUN. `soakproof runs` lists them.

    \b
    Examples:
      soakproof adjudicate latest
      soakproof adjudicate latest --baseline EARLIER_RUN --policy release
      soakproof adjudicate latest --baseline auto
      soakproof adjudicate RUN --policy adjudicators/mine.toml

    Findings that failed, or that could not tell, are shown first and in full, each with its limit; those that
    are PASS are counted by adjudicator, unless --all is given. `soakproof report RUN --all` shows them later.

    The run's seals are verified first: what was changed since the run is no evidence. Each judgement is a new
    numbered folder in the run's verdicts/; no byte of the evidence, or of an earlier verdict, is changed. A
    policy is a file in adjudicators/, the user's own folder first; `soakproof plans` lists them.

    Exit codes: 0 PASS, 1 FAIL, 2 INCONCLUSIVE (too little was seen to say), 3 ERROR, 64 wrong usage.
    """
    from soakproof import report
    from soakproof.catalog import Catalog
    from soakproof.cli.choosing import Chosen, chosen
    from soakproof.judge.finding import EXIT_CODES
    from soakproof.judgement import baseline_of, beside, judge_loaded

    with working("reading the run and its seals"):
        judged = sealed_run(runs, run)
        found = chosen(runs, baseline, judged, policy) if baseline else Chosen()
    now = today.replace(tzinfo=UTC) if today else None
    with working("judging"):
        before = baseline_of(found.runs)
        verdict, evidence = judge_loaded(judged, before, policy, Catalog(), now, found.absent)
        for loaded in (judged, *found.runs):
            refuse_changed(loaded)
    with working("writing the report"):
        entry = report.write(judged.path, verdict, evidence, beside(verdict, before))
    say_coloured(report.terminal_table(verdict, width=width(), colour=colour(), every=every))
    say(f"\nreport: {entry / 'report.html'}")
    return EXIT_CODES[verdict.outcome]
