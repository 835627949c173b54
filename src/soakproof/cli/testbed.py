"""`soakproof testbed`: the embedded pair alone, as a target to try things on."""

from pathlib import Path

import click

from soakproof.cli.options import FilledPath
from soakproof.cli.output import say, table
from soakproof.errors import EXIT_OK, UsageError, did_you_mean


@click.command(short_help="Serve the embedded testbed: a real llama.cpp server with a tiny model.")
@click.option(
    "--model-file",
    type=FilledPath(path_type=Path),
    metavar="FILE.gguf",
    help="Another model than the built-in probe model.",
)
@click.option(
    "--slots",
    type=click.IntRange(1, 32),
    default=2,
    show_default=True,
    help="Requests that it serves at once.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    show_default=True,
    help="Of the gateway; 0 takes a free one.",
)
@click.option(
    "--logs",
    type=FilledPath(path_type=Path),
    metavar="DIR",
    help="Where its logs go.  [default: a temporary folder]",
)
@click.option(
    "--plant",
    "plants",
    multiple=True,
    metavar="NAME[=VALUE]",
    help="Plant a fault; more can be planted and lifted while it serves.  [repeatable]",
)
@click.option("--list-plants", is_flag=True, help="Print every fault that can be planted, and end.")
def testbed(
    model_file: Path | None,
    slots: int,
    port: int,
    logs: Path | None,
    plants: tuple[str, ...],
    list_plants: bool,
) -> int:
    """Serve until Ctrl-C: llama.cpp's server with a model of 7 million parameters, behind a gateway that
    behaves as Lemonade does.

    \b
    Examples:
      soakproof testbed --port 13305
      soakproof testbed --model-file ~/models/Qwen3-0.6B-Q4_K_M.gguf
      soakproof testbed --plant swapped-answers --plant stall-with-pings=20
    """
    from soakproof.testbed.launch import check_packages

    check_packages()
    if list_plants:
        _list_plants()
        return EXIT_OK
    from soakproof.testbed.alone import run_alone

    _check(plants)
    say("starting …")
    return run_alone(model=model_file, slots=slots, port=port, log_dir=logs, plants=plants, say=say)


def _list_plants() -> None:
    """Name, value, what it does, and which detectors must see it."""
    from soakproof.testbed import planting

    rows = []
    for name in planting.names():
        kind = planting.find(name)
        value = f"{kind.default:g} {kind.unit}" if kind.unit else ""
        seen = "\n".join(fires.detector for fires in kind.fires) or "nothing: no fault"
        rows.append((name, value, planting.summary(kind), seen))
    headers = ("plant", "value", "what it does", "seen by")
    say(table(headers, rows))


def _check(plants: tuple[str, ...]) -> None:
    """Raises UsageError for what cannot be planted."""
    from soakproof.testbed import planting

    known = planting.names()
    for given in plants:
        try:
            planting.make(given)
        except planting.UnknownPlant as error:
            name = given.partition("=")[0]
            near = "" if name in known else did_you_mean(name, known)
            raise UsageError(str(error), f"{near}soakproof testbed --list-plants prints them all") from error
