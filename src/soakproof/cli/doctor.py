"""`soakproof doctor`: what can be measured here and of a target, what cannot, and what to do about it.

Loads trio and httpx: it looks through the watch's own sources.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from soakproof.cli.options import runs_option, target_options
from soakproof.cli.output import say, width, working
from soakproof.cli.symptoms import Symptom, of_cache, of_host, of_reading, of_runs, of_target, of_testbed
from soakproof.errors import EXIT_FAIL, EXIT_OK, UsageError
from soakproof.tables import paragraph

if TYPE_CHECKING:
    from soakproof.target import Credentials, Target

_HANG = " " * 26  # below what is told of a symptom


@click.command(short_help="What can be measured here, and what to do about the rest.")
@target_options
@runs_option
def doctor(host: str | None, model: str | None, api_key: str | None, runs: Path) -> int:
    """Look at this host, and at a target, as a run would: kernel log, memory, GPU, the server's processes and
    slots. Nothing is changed; the target answers one request of one token.

    \b
    Examples:
      soakproof doctor
      soakproof doctor --host http://localhost:13305 --model llm

    Exit code 0 when a run can be made, even where some of it cannot be seen, else 1: a server that does not
    answer, or has no such model, is what this command is there to find. 64 only for what is no address.
    """
    if host:
        from soakproof.target.address import split_host  # not above: it comes with httpx

        split_host(host)
    blocked = False
    for symptom in _symptoms(host, model, api_key, runs):
        blocked |= symptom.state == "missing"
        say(paragraph(f"{symptom.state:<8} {symptom.subject:<16} {symptom.told}", width(), _HANG))
        if symptom.advice:
            say(paragraph(f"{_HANG}-> {symptom.advice}", width(), f"{_HANG}   "))
    say()
    say("a run cannot be made before what is missing is there" if blocked else "a run can be made")
    return EXIT_FAIL if blocked else EXIT_OK


def _symptoms(host: str | None, model: str | None, api_key: str | None, runs: Path) -> Iterator[Symptom]:
    from soakproof.gates.looking import look
    from soakproof.target import Credentials
    from soakproof.watch.settings import WatchConfig

    yield from of_host()
    yield of_runs(runs)
    yield of_testbed()
    credentials = Credentials.find(api_key) if host else Credentials()
    target, symptoms = _examined(host, model, credentials)
    yield from symptoms
    described = target.describe() if target else {}
    with working("reading every source once"):
        readings = look(WatchConfig(target=described, headers_env=credentials.hand_on()))
    yield from (of_reading(reading) for reading in readings)
    yield from of_cache(target, readings) if target else ()


def _examined(
    host: str | None, model: str | None, credentials: "Credentials"
) -> "tuple[Target | None, list[Symptom]]":
    """The target, where there is one that will do, and what is to be said of it."""
    from soakproof.target import examine

    if not host:
        told = "none was named; without --host a run uses the embedded testbed"
        return None, [Symptom("ok", "server", told, "to look at yours: --host URL --model NAME")]
    try:
        with working(f"asking {host} what it is; a model that is not loaded is being loaded"):
            target = examine(host, model, credentials)
    except UsageError as error:
        return None, [Symptom("missing", "server", error.problem, error.hint)]
    return target, list(of_target(target))
