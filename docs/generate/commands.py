"""The section on commands: help texts and options as click and configargparse have them."""

import inspect
from collections.abc import Iterator

import click
import configargparse
from tables import code, table

from soakproof.cli.app import soakproof
from soakproof.load.arguments import add_arguments


def section() -> Iterator[str]:
    yield "## Commands"
    yield ""
    yield "`soakproof COMMAND --help` prints the same. Options of `soakproof` itself come before it:"
    yield from _options(soakproof)
    for name, command in _commands(soakproof):
        yield f"### `soakproof {name}`"
        yield ""
        yield "```text"
        yield " ".join(["soakproof", name, *command.collect_usage_pieces(click.Context(command))])
        yield ""
        yield inspect.cleandoc(command.help or "").replace("\b\n", "")
        yield "```"
        yield from _options(command)
    yield from _locust()


def _commands(group: click.Group, before: str = "") -> Iterator[tuple[str, click.Command]]:
    """Each command by its name; a group of commands, and those in it."""
    for name, command in group.commands.items():
        yield f"{before}{name}", command
        if isinstance(command, click.Group):
            yield from _commands(command, f"{before}{name} ")


def _options(command: click.Command) -> Iterator[str]:
    rows = [
        (code(f"{_names(o)} {_value(o)}".strip()), _default(command, o), o.help or "")
        for o in command.params
        if isinstance(o, click.Option) and not o.hidden
    ]
    yield from table(("option", "default", "what it does"), rows) if rows else ("",)


def _names(option: click.Option) -> str:
    """Each of its names; those that switch it off stand behind a slash."""
    return " / ".join(", ".join(names) for names in (option.opts, option.secondary_opts) if names)


def _value(option: click.Option) -> str:
    if option.is_flag:
        return ""
    if option.metavar:
        return option.metavar
    if isinstance(option.type, click.Choice):
        return "|".join(map(str, option.type.choices))
    return "NUMBER" if option.type.name.startswith("integer") else option.type.name.upper()


def _default(command: click.Command, option: click.Option) -> str:
    """In the words of `--help`."""
    return code(option.get_help_extra(click.Context(command)).get("default", ""))


def _locust() -> Iterator[str]:
    yield "### `locust`"
    yield ""
    yield "All of Locust's own options (`--headless`, `-t`, `-u`, `--tags` and more), and these:"
    parser = configargparse.ArgumentParser(add_help=False)
    add_arguments(parser, "the locustfile's")
    yield from table(
        ("option", "variable", "what it does"),
        [
            (
                code(f"{', '.join(a.option_strings)} {a.metavar or ''}".strip()),
                code(a.env_var) if a.env_var else "",
                (a.help or "").replace("%%", "%"),
            )
            for a in parser._actions
        ],
    )
