"""docs/reference.md is what the code says now, and says it of everything."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
from pages import DOCS

from soakproof.catalog import Catalog, bundled
from soakproof.cli.app import soakproof
from soakproof.metrics import METRICS
from soakproof.records import FILES, Failure

REFERENCE = (DOCS / "reference.md").read_text(encoding="utf-8")


def generated(generator: Path) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, str(generator), "--check"]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_it_is_up_to_date() -> None:
    made = generated(DOCS / "generate")
    assert made.returncode == 0, f"python docs/generate would change it:\n{made.stdout}{made.stderr}"


def test_a_page_that_is_out_of_date_is_found(tmp_path: Path) -> None:
    shutil.copytree(DOCS / "generate", tmp_path / "generate", ignore=shutil.ignore_patterns("__pycache__"))
    stale = REFERENCE.replace("| `seed` | whole number | `1` |", "| `seed` | whole number | `7` |")
    assert stale != REFERENCE
    (tmp_path / "reference.md").write_text(stale, encoding="utf-8")
    made = generated(tmp_path / "generate")
    assert made.returncode == 1
    assert "-| `seed` | whole number | `7` |" in made.stdout


def test_nothing_is_left_out() -> None:
    catalog = Catalog(bundled("scenarios").parent)
    heads = [
        *(f"### `soakproof {name}`" for name in soakproof.commands),
        *(f"### `{name}`" for name in catalog.files("scenarios", ".py")),
        *(f"### `{name}`" for name in catalog.files("adjudicators", ".py")),
    ]
    rows = [f"| `{name}` |" for name in (*METRICS, *(failure.value for failure in Failure))]
    files = [f", in {file}" for file in FILES.values()]
    missing = [text for text in (*heads, *rows, *files) if text not in REFERENCE]
    assert not missing


def options(group: click.Group) -> Iterator[tuple[click.Command, click.Option]]:
    for command in group.commands.values():
        if isinstance(command, click.Group):
            yield from options(command)
        yield from ((command, o) for o in command.params if isinstance(o, click.Option) and not o.hidden)


def test_each_option_has_all_that_help_tells_of_it() -> None:
    """Every name, the default, and a word on what it does."""
    for command, option in options(soakproof):
        told = option.get_help_record(click.Context(command, terminal_width=200))
        assert told is not None
        assert option.help, option.opts
        names = re.findall(r"--?[a-z-]+", told[0])
        default = re.search(r"\[default: ([^;\]]*)", told[1])
        rows = [line for line in REFERENCE.splitlines() if line.startswith(f"| `{', '.join(option.opts)}")]
        assert any(
            all(name in row for name in names) and (default is None or default[1] in row) for row in rows
        ), (command.name, told)
