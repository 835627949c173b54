"""`soakproof guard`: launch a server, and end it before the host is lost. Loads trio and httpx."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from soakproof.cli.nonblocking import nonblocking_stderr
from soakproof.cli.options import FilledPath
from soakproof.cli.output import Hint, complain
from soakproof.errors import UsageError
from soakproof.run import GUARDS
from soakproof.units import Bytes, Seconds

_REQUIRABLE = ("available", "gtt", "vram", "swap", "kernel")


def _parsed(kind: type[Bytes] | type[Seconds]) -> Callable[[click.Context, click.Parameter, Any], Any]:
    """A callback that makes a quantity of an option's text."""

    def parse(_: click.Context, option: click.Parameter, value: Any) -> Any:
        try:
            return None if value is None else kind.parse(value)
        except ValueError as error:
            raise UsageError(f"{option.opts[0]}: {error}") from None

    return parse


_size, _duration = _parsed(Bytes), _parsed(Seconds)


@click.command(
    "guard",
    short_help="Launch a server, and end it before memory or the GPU is lost.",
    context_settings={"allow_interspersed_args": False},
)
@click.option("--available-floor", callback=_size, metavar="SIZE", help="End it below this available memory.")
@click.option("--gtt-ceiling", callback=_size, metavar="SIZE", help="End it above this GTT of all AMD GPUs.")
@click.option("--vram-ceiling", callback=_size, metavar="SIZE", help="End it above this VRAM of any one GPU.")
@click.option("--swap-growth", callback=_size, metavar="SIZE", help="End it when swap has grown by more.")
@click.option(
    "--kernel/--no-kernel",
    default=True,
    show_default=True,
    help="End it at a fatal line of the kernel's log: a GPU that hung or was reset, a kill for memory.",
)
@click.option(
    "--require",
    type=click.Choice(_REQUIRABLE),
    multiple=True,
    help="Do not launch where this cannot be measured.  [repeatable]",
)
@click.option(
    "--beside",
    type=click.IntRange(min=1),
    multiple=True,
    metavar="PID",
    help="Launch although this backend is there, or one below this process.  [repeatable]",
)
@click.option("--clear-to", callback=_size, metavar="SIZE", help="Wait for this available memory first.")
@click.option(
    "--clear-within",
    callback=_duration,
    default="60s",
    show_default=True,
    metavar="TIME",
    help="Wait so long at most.",
)
@click.option(
    "--grace",
    callback=_duration,
    default="10s",
    show_default=True,
    metavar="TIME",
    help="From SIGTERM to SIGKILL.",
)
@click.option(
    "--runs",
    type=FilledPath(path_type=Path),
    default=GUARDS,
    show_default=True,
    metavar="DIR",
    help="Where its records go: apart from soaks, so that `latest` stays one.",
)
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def guard(
    available_floor: int | None,
    gtt_ceiling: int | None,
    vram_ceiling: int | None,
    swap_growth: int | None,
    kernel: bool,
    require: tuple[str, ...],
    beside: tuple[int, ...],
    clear_to: int | None,
    clear_within: float,
    grace: float,
    runs: Path,
    command: tuple[str, ...],
) -> int:
    """Launch COMMAND, and end it with all that it has started when a limit is crossed twice in a row. Signals
    and the exit code pass through. Linux only.

    \b
    Examples:
      soakproof guard --available-floor 18GiB --gtt-ceiling 90GiB --require gtt \\
          -- llama-server -m model.gguf --port 8001
      soakproof guard --available-floor 4GiB --clear-to 60GiB \\
          -- lemonade-server serve
      soakproof verify latest --runs guards

    Nothing is launched while another llama-server or Lemonade is there (but --beside it), before --clear-to
    is available, or where a limit that is required cannot be measured. Each guard leaves a sealed record.

    Exit codes: the command's own, 128 and the number of the signal that ended it, 75 when the guard ended it,
    3 nothing was launched, 64 wrong usage.
    """
    from soakproof.host import refuse_more_than_there_is
    from soakproof.watch.guard.launching import Order, launch
    from soakproof.watch.guard.limits import Limits

    limits = Limits(
        available_floor_bytes=available_floor,
        gtt_ceiling_bytes=gtt_ceiling,
        vram_ceiling_bytes=vram_ceiling,
        swap_growth_bytes=swap_growth,
        kernel=kernel,
        required=require,
    )
    refuse_more_than_there_is("--available-floor", available_floor)
    refuse_more_than_there_is("--clear-to", clear_to)
    _refuse_unset(limits.required, {limit.name for limit in limits.each()})
    order = Order(
        command=command,
        limits=limits,
        runs=runs,
        beside=beside,
        clear_to_bytes=clear_to,
        clear_within_s=clear_within,
        grace_s=grace,
    )
    with nonblocking_stderr():
        return launch(order, lambda line: complain(f"guard: {line}"), Hint())


def _refuse_unset(required: tuple[str, ...], given: set[str]) -> None:
    for name in required:
        if name not in given:
            raise UsageError(f"--require {name}: no limit of {name} was given", "give the limit as well")
