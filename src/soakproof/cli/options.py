"""Options that several commands share."""

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from soakproof.errors import UsageError, nothing_given
from soakproof.nesting import bounded
from soakproof.run import RUNS

F = TypeVar("F", bound=Callable[..., Any])


def filled(_context: click.Context, option: click.Parameter, value: str | None) -> str | None:
    """A callback: refuses an option that is given and empty, as by a shell's variable that is not set."""
    if value is not None and not value.strip():
        is_option = isinstance(option, click.Option)
        raise nothing_given(option.opts[0] if is_option else option.human_readable_name.strip("[]"))
    return value


class FilledPath(click.Path):
    """A path; an empty one, which would be the folder at hand, is refused as `filled` does."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, str) and param is not None and ctx is not None:
            filled(ctx, param, value)
        return super().convert(value, param, ctx)


def runs_option(function: F) -> F:
    return click.option(
        "--runs",
        type=FilledPath(path_type=Path),
        default=RUNS,
        show_default=True,
        metavar="DIR",
        help="Where the run directories are.",
    )(function)


def all_option(function: F) -> F:
    return click.option(
        "--all",
        "every",
        is_flag=True,
        help="Show each finding, also those that are PASS; else they are counted.",
    )(function)


def target_options(function: F) -> F:
    """--host, --model and --api-key."""
    for option in (
        click.option(
            "--api-key",
            metavar="KEY",
            callback=filled,
            help="Sent as a bearer token, never written; else LEMONADE_API_KEY or OPENAI_API_KEY.",
        ),
        click.option(
            "--model", metavar="NAME", callback=filled, help="The model's name, or an alias, on that server."
        ),
        click.option(
            "--host",
            metavar="URL",
            callback=filled,
            help="The server's root, such as http://localhost:13305.",
        ),
    ):
        function = option(function)
    return function


def server_pid_option(function: F) -> F:
    return click.option(
        "--server-pid",
        type=click.IntRange(min=1),
        multiple=True,
        metavar="PID",
        help="A process of the server's that is not found by itself.  [repeatable]",
    )(function)


def server_options(function: F) -> F:
    """--server-log and --server-pid."""
    log = click.option(
        "--server-log",
        type=FilledPath(path_type=Path),
        multiple=True,
        metavar="FILE",
        help="A file that the server or its backend logs to.  [repeatable]",
    )
    return log(server_pid_option(function))


def setting(text: str) -> tuple[str, Any]:
    """``words=20`` as TOML would have it; what is no TOML value is a text, such as ``prompt=6000 tokens``."""
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise UsageError(f"--set: expected OPTION=VALUE, found {text!r}", "such as --set words=20")
    try:
        return name.strip(), bounded(tomllib.loads(f"value = {value}"))["value"]
    except (ValueError, RecursionError):
        return name.strip(), value.strip()
