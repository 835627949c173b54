"""A comparison as Markdown, for a release's notes. No I/O."""

from collections.abc import Iterator

from tabulate import tabulate

from soakproof.judge.comparing.comparison import Comparison
from soakproof.report.comparing.tables import notes, tables
from soakproof.report.page import Table
from soakproof.report.visible import markdown


def to_markdown(comparison: Comparison) -> str:
    """The outcome first, then the tables, then what else is to be known."""
    return "\n".join(_lines(comparison)) + "\n"


def _lines(comparison: Comparison) -> Iterator[str]:
    names = ", ".join(markdown(arm.name) for arm in comparison.arms[1:])
    yield from (f"# {names} against {markdown(comparison.arms[0].name)}", "")
    yield f"**{comparison.outcome}**: {markdown(comparison.sentence)}"
    for title, table in tables(comparison):
        yield from ("", f"## {markdown(title)}", "", _table(table))
    yield from ("", "## To be known", "", f"- margin: {comparison.request.margin:.1%}")
    yield from (f"- {markdown(told)}" for told in notes(comparison))


def _table(table: Table) -> str:
    if not table.rows:
        return markdown(table.empty)
    sides = ["right" if column.style == "number" else "left" for column in table.columns]
    rows = [[markdown(cell) for cell in row] for row in table.rows]
    heads = [column.head for column in table.columns]
    return tabulate(rows, heads, tablefmt="pipe", colalign=sides, disable_numparse=True) + (
        f"\n\n{markdown(table.note)}" if table.note else ""
    )
