"""`soakproof plans`: what there is to run and to judge by. Files are read, and not run."""

import ast
import tomllib
from collections.abc import Callable
from pathlib import Path

import click

from soakproof.catalog import Catalog, bundled, shown
from soakproof.cli.defaults import options as options_of
from soakproof.cli.output import say, table, width
from soakproof.errors import EXIT_OK
from soakproof.nesting import bounded
from soakproof.plain import plain
from soakproof.tables import paragraph

Describe = Callable[[Path], str]
_UNREADABLE = (OSError, ValueError, SyntaxError, RecursionError, MemoryError)

_GLUE = "\xa0"  # a space at which no line ends: an option and its default stay together


@click.command(short_help="List plans, scenarios, adjudicators and policies.")
@click.option("--options", is_flag=True, help="Show each scenario's and adjudicator's options and defaults.")
def plans(options: bool) -> int:
    """List the plans, scenarios, adjudicators and policies that are found from here, each in one line.

    \b
    Examples:
      soakproof plans
      soakproof plans --options     what [kind.NAME] of a plan and `--set` may set

    Files in ./scenarios and ./adjudicators come before the bundled ones of the same name.
    """
    catalog = Catalog()
    sections: tuple[tuple[str, str, str, Describe], ...] = (
        ("plans: locust -f locustfiles/soak.py --plan NAME", "scenarios", ".toml", _title),
        ("scenarios: soakproof try NAME", "scenarios", ".py", _docstring),
        ("policies: soakproof adjudicate RUN --policy NAME", "adjudicators", ".toml", _title),
        ("adjudicators: [adjudicator.NAME] in a policy", "adjudicators", ".py", _docstring),
    )
    for head, room, suffix, describe in sections:
        files = catalog.files(room, suffix)
        say(f"{head}\n")
        rows = [(name, _about(describe, path), _where(room, path)) for name, path in files.items()]
        say(table(("name", "what it is", "from"), rows, whole=("name",)) if rows else "none")
        if options and suffix == ".py":
            for name, path in files.items():
                told = paragraph(f"  {name}: {_options(path) or 'no options'}", width(), " " * 6)
                say(told.replace(_GLUE, " "))
        say()
    return EXIT_OK


def _about(describe: Describe, path: Path) -> str:
    try:
        told = describe(path) or "(does not say)"
    except _UNREADABLE as error:
        told = f"cannot be read: {error}"
    return plain(told, 200)


def _where(room: str, path: Path) -> str:
    return "bundled" if bundled(room).resolve() in path.parents else plain(shown(path), 120)


def _title(path: Path) -> str:
    return str(bounded(tomllib.loads(path.read_text(encoding="utf-8"))).get("title", ""))


def _docstring(path: Path) -> str:
    """The first line that the file's class says of itself."""
    made = _class(_parsed(path))
    return ((made and ast.get_docstring(made)) or "").partition("\n")[0]


def _parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_bytes())


def _class(module: ast.Module) -> ast.ClassDef | None:
    """The class that subclasses Scenario or Adjudicator."""
    for node in module.body:
        if isinstance(node, ast.ClassDef):
            bases = {ast.unparse(base).rpartition(".")[2] for base in node.bases}
            if bases & {"Scenario", "Adjudicator"}:
                return node
    return None


def _options(path: Path) -> str:
    """The class's fields with their defaults, as a plan would write them."""
    try:
        module = _parsed(path)
        made = _class(module)
    except _UNREADABLE:
        return ""
    found = options_of(made, module) if made else []
    told = [plain(f"{name} = {default}", 300).replace(" ", _GLUE) for name, default in found]
    return ", ".join(told)
