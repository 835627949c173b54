"""An option or a folder that is given and empty, as by a shell's variable that is not set, is refused."""

from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from cli_said import Command

from soakproof.cli.app import soakproof as group


def commands(
    of: click.Command, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    if isinstance(of, click.Group):
        for name, command in of.commands.items():
            yield from commands(command, (*path, name))
    else:
        yield path, of


def cases() -> Iterator[list[str]]:
    """Every option that takes a value, and every folder, of every command, empty, with what it needs."""
    for path, command in commands(group):
        for empty in command.params:
            if isinstance(empty, click.Argument) and not isinstance(empty.type, click.Path):
                continue  # a name: that there is none such is told
            if isinstance(empty, click.Option) and empty.is_flag:
                continue
            beside = [one for one in command.params if one.required and one is not empty]
            given = [word for one in (*beside, empty) for word in _given(one, "" if one is empty else "x")]
            yield [*path, *given]


def _given(parameter: click.Parameter, value: str) -> list[str]:
    return [parameter.opts[0], value] if isinstance(parameter, click.Option) else [value]


@pytest.mark.parametrize("arguments", list(cases()), ids=" ".join)
def test_what_is_given_and_empty_is_refused(soakproof: Command, here: Path, arguments: list[str]) -> None:
    said = soakproof(*arguments)
    assert (said.code, said.out) == (64, "")
    assert list(here.iterdir()) == []


def test_a_folder_that_is_given_and_empty_is_told_by_its_name(soakproof: Command) -> None:
    assert "soakproof: DIR: expected a value, found nothing\n" in soakproof("init", " ").err
    assert "soakproof: FOLDER: expected a value, found nothing\n" in soakproof("watch", "record", "").err
