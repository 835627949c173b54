"""The command group, and how every command ends."""

import os
import sys
import traceback
from collections.abc import Sequence

import click

from soakproof import __version__
from soakproof.cli import output
from soakproof.cli.adjudicate import adjudicate
from soakproof.cli.adjudicator import try_adjudicator
from soakproof.cli.baseline import baseline
from soakproof.cli.bundle import bundle
from soakproof.cli.compare import compare
from soakproof.cli.decide import decide
from soakproof.cli.doctor import doctor
from soakproof.cli.guard import guard
from soakproof.cli.init import init
from soakproof.cli.plans import plans
from soakproof.cli.report import report
from soakproof.cli.runs import runs
from soakproof.cli.testbed import testbed
from soakproof.cli.trying import try_
from soakproof.cli.verifying import recover, verify
from soakproof.cli.watching import watch
from soakproof.errors import EXIT_ERROR, EXIT_OK, EXIT_USAGE, SoakproofError

DEBUG = "SOAKPROOF_DEBUG"


class _InOrder(click.Group):
    """Lists its commands in the order in which they are of use."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)


@click.group(cls=_InOrder, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="soakproof")
@click.option("--debug", is_flag=True, help=f"Show the traceback of an unexpected error (or set {DEBUG}=1).")
def soakproof(debug: bool) -> None:
    """Soak tester for local LLM servers: real traffic, sealed evidence, separate judgement.

    \b
    Load is Locust's; this command does the rest:
      locust -f locustfiles/soak.py --headless -t 30m \\
          --host http://localhost:13305 --model llm
      soakproof adjudicate latest --baseline EARLIER_RUN --policy release

    \b
    Before the first soak of a server:
      soakproof doctor --host http://localhost:13305 --model llm
      soakproof try structured_json --host http://localhost:13305 --model llm

    \b
    Exit codes: 0 PASS, 1 FAIL, 2 INCONCLUSIVE, 3 could not be carried out,
    64 wrong usage.
    """
    if debug:
        os.environ[DEBUG] = "1"


for _command in (
    adjudicate,
    report,
    runs,
    baseline,
    compare,
    decide,
    verify,
    recover,
    bundle,
    try_,
    try_adjudicator,
    doctor,
    watch,
    guard,
    testbed,
    plans,
    init,
):
    soakproof.add_command(_command)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal that cannot show a character gets its escape
            stream.reconfigure(errors="backslashreplace")
    given = None if arguments is None else list(arguments)
    try:
        code = soakproof.main(given, prog_name="soakproof", standalone_mode=False)
    except SoakproofError as error:
        output.complain(f"soakproof: {error}")
        return error.exit_code
    except click.UsageError as error:
        return _misused(error)
    except click.ClickException as error:
        output.complain(f"soakproof: {error.format_message()}")
        return EXIT_USAGE
    except (KeyboardInterrupt, click.Abort):
        output.complain("soakproof: stopped by Ctrl-C")
        return EXIT_ERROR
    except (Exception, SystemExit, GeneratorExit) as error:  # never 0 for what was not carried out
        return _unexpected(error)
    ended = code if isinstance(code, int) else EXIT_OK
    return EXIT_ERROR if output.lost and ended == EXIT_OK else ended


def _misused(error: click.UsageError) -> int:
    """click's own words, and where to read on; without a command, click's words are the help."""
    told = error.format_message()
    if told.startswith("Usage:"):
        output.complain(told)
        return EXIT_USAGE
    output.complain(f"soakproof: {told}")
    if error.ctx is not None:
        output.complain(f"  {error.ctx.get_usage()}\n  `{error.ctx.command_path} --help` shows examples")
    return EXIT_USAGE


def _unexpected(error: BaseException) -> int:
    if os.environ.get(DEBUG):
        traceback.print_exception(error)
    elif isinstance(error, OSError) and error.strerror:  # the host's: a folder, a disk, a name
        place = f"{str(error.filename)[:300]}: " if error.filename else ""
        output.complain(f"soakproof: {place}{error.strerror}")
    elif isinstance(error, MemoryError):
        output.complain("soakproof: there is not enough memory for this: of the host, or by a limit")
    else:
        output.complain(
            f"soakproof: unexpected {type(error).__name__}: {error}\n"
            f"  this is a fault of soakproof's own; {DEBUG}=1 shows where it arose"
        )
    return EXIT_ERROR
