"""`soakproof plans`: what there is to run and to judge by. Files are read, and not run."""

import ast
import tomllib
from collections.abc import Callable
from pathlib import Path

import click

from soakproof.catalog import Catalog, bundled
from soakproof.cli.output import say, table, width
from soakproof.errors import EXIT_OK
from soakproof.plain import plain

Describe = Callable[[Path], str]
_UNREADABLE = (OSError, ValueError, SyntaxError, RecursionError, MemoryError)


@click.command(short_help="List plans, scenarios, adjudicators and policies.")
@click.option("--options", is_flag=True, help="Show each scenario's and adjudicator's options and defaults.")
def plans(options: bool) -> int:
    """List the plans, scenarios, adjudicators and policies that are found from here, each in one line.

    \b
    Examples:
      soakproof plans
      soakproof plans --options          what a plan's [kind.NAME], or `try --set`, may set

    Files in ./scenarios and ./adjudicators come before the bundled ones of the same name.
    """
    catalog = Catalog(Path.cwd())
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
        say(table(("name", "what it is", "from"), rows) if rows else "none")
        if options and suffix == ".py":
            for name, path in files.items():
                say(f"  {name}: {_options(path) or 'no options'}")
        say()
    return EXIT_OK


def _about(describe: Describe, path: Path) -> str:
    try:
        told = describe(path) or "(does not say)"
    except _UNREADABLE as error:
        told = f"cannot be read: {error}"
    return plain(told, max(30, width() - 30))


def _where(room: str, path: Path) -> str:
    return "bundled" if bundled(room).resolve() in path.parents else plain(path, 60)


def _title(path: Path) -> str:
    return str(tomllib.loads(path.read_text(encoding="utf-8")).get("title", ""))


def _docstring(path: Path) -> str:
    """The first line that the file's class says of itself."""
    made = _class(path)
    return ((made and ast.get_docstring(made)) or "").partition("\n")[0]


def _class(path: Path) -> ast.ClassDef | None:
    """The class that subclasses Scenario or Adjudicator."""
    for node in ast.parse(path.read_bytes()).body:
        if isinstance(node, ast.ClassDef):
            bases = {ast.unparse(base).rpartition(".")[2] for base in node.bases}
            if bases & {"Scenario", "Adjudicator"}:
                return node
    return None


def _options(path: Path) -> str:
    """The class's fields with their defaults, as they are written."""
    try:
        made = _class(path)
    except _UNREADABLE:
        return ""
    fields = [node for node in (made.body if made else []) if isinstance(node, ast.AnnAssign)]
    told = [
        f"{ast.unparse(f.target)} = {ast.unparse(f.value)}"
        for f in fields
        if f.value is not None and "ClassVar" not in ast.unparse(f.annotation)
    ]
    return plain(", ".join(told), 1000)
