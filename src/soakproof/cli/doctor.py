"""`soakproof doctor`: what can be measured here and of a target, what cannot, and what to do about it.

Loads trio and httpx: it looks through the watch's own sources.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from soakproof.catalog import Catalog
from soakproof.cli.consequences import Consequence, consequences
from soakproof.cli.options import runs_option, server_options, target_options
from soakproof.cli.output import say, table, width, working
from soakproof.cli.symptoms import (
    Symptom,
    advice,
    now,
    of_cache,
    of_digests,
    of_host,
    of_named,
    of_runs,
    of_target,
    of_testbed,
)
from soakproof.errors import EXIT_FAIL, EXIT_OK, UsageError
from soakproof.policy import load_policy
from soakproof.tables import paragraph

if TYPE_CHECKING:
    from soakproof.target import Credentials, Target
    from soakproof.watch.source import Reading

POLICIES = ("default", "release")
_HANG = " " * 26  # below what is told of a symptom


@dataclass(frozen=True, slots=True)
class Examination:
    """All that was found."""

    symptoms: Sequence[Symptom]
    readings: "Sequence[Reading]"
    consequences: Sequence[Consequence]

    @property
    def possible(self) -> bool:
        """Whether a run can be made."""
        return all(symptom.state != "missing" for symptom in self.symptoms)


@click.command(short_help="What can be measured here, and what to do about the rest.")
@target_options
@server_options
@runs_option
@click.option(
    "--digests",
    is_flag=True,
    help="Read the server's program and model files to the end, however large; runs will know their digests.",
)
@click.option("--json", "as_json", is_flag=True, help="Print everything as one JSON document.")
def doctor(
    host: str | None,
    model: str | None,
    api_key: str | None,
    server_log: tuple[Path, ...],
    server_pid: tuple[int, ...],
    runs: Path,
    digests: bool,
    as_json: bool,
) -> int:
    """Look at this host, and at a target, as a run would: every source that the watch reads, its state, what
    it says now, what to do where it says nothing, and what a run could then not be judged by. Nothing is
    changed; the target answers up to three requests of one token.

    \b
    Examples:
      soakproof doctor
      soakproof doctor --host http://localhost:13305 --model llm
      soakproof doctor --json

    Exit code 0 when a run can be made, even where some of it cannot be seen, else 1: a server that does not
    answer, or has no such model, is what this command is there to find. 64 only for what is no address.
    """
    if host:
        from soakproof.target.address import split_host  # not above: it comes with httpx

        split_host(host)
    named = {"server_logs": tuple(map(str, server_log)), "server_pids": server_pid}
    found = _examine(host, model, api_key, runs, named, digests)
    if as_json:
        say(json.dumps(_document(found), indent=2, ensure_ascii=True))
    else:
        _tell(found)
    return EXIT_OK if found.possible else EXIT_FAIL


def _examine(
    host: str | None,
    model: str | None,
    api_key: str | None,
    runs: Path,
    named: Mapping[str, Any],
    digests: bool,
) -> Examination:
    from soakproof.gates.looking import look
    from soakproof.target import Credentials
    from soakproof.watch.settings import WatchConfig

    credentials = Credentials.find(api_key) if host else Credentials()
    target, about_target = _examined(host, model, credentials)
    described = target.describe() if target else {}
    with working("reading every source once"):
        readings = look(WatchConfig(target=described, headers_env=credentials.hand_on(), **named))
    about_cache = list(of_cache(target, readings)) if target else []
    about_files = list(_digested(target)) if target and digests else []
    about_named = of_named(named["server_logs"], named["server_pids"])
    symptoms = [
        *of_host(),
        of_runs(runs),
        of_testbed(),
        *about_target,
        *about_named,
        *about_cache,
        *about_files,
    ]
    policies = [load_policy(Catalog(), name) for name in POLICIES]
    return Examination(symptoms, readings, list(consequences(readings, policies)))


def _digested(target: "Target") -> Iterator[Symptom]:
    """The digests of all that the server runs, read to the end."""
    from soakproof.inventory.asking import take
    from soakproof.target import files_of

    with working("reading the server's files for their digests"):
        found = take(files_of(target), target.backend_pid if target.local else None, whole=True)
    yield from of_digests(found)


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


def _tell(found: Examination) -> None:
    for symptom in found.symptoms:
        say(paragraph(f"{symptom.state:<8} {symptom.subject:<16} {symptom.told}", width(), _HANG))
        if symptom.advice:
            say(paragraph(f"{_HANG}-> {symptom.advice}", width(), f"{_HANG}   "))
    say()
    rows = [(reading.source, reading.state, _cell(reading)) for reading in found.readings]
    say(table(("source", "state", "now, or why not and what to do"), rows, whole=("source", "state")))
    say()
    if found.consequences:
        say("In a run as things are, these stay unknown:")
    for one in found.consequences:
        decides = f"; no PASS under the policy {' or '.join(one.decides)}" if one.decides else ""
        say(paragraph(f"  {one.adjudicator}: {one.unknown} ({one.source}){decides}", width(), "    "))
    say("a run can be made" if found.possible else "a run cannot be made before what is missing is there")


def _cell(reading: "Reading") -> str:
    todo = advice(reading)
    return f"{now(reading)}\n-> {todo}" if todo else now(reading)


def _document(found: Examination) -> dict[str, Any]:
    return {
        "run_possible": found.possible,
        "checks": [asdict(symptom) for symptom in found.symptoms],
        "sources": [
            {
                "source": reading.source,
                "state": reading.state,
                "values": reading.values,
                "reason": reading.reason,
                "advice": advice(reading),
            }
            for reading in found.readings
        ],
        "unknown_in_a_run": [one.to_json() for one in found.consequences],
    }
