"""Decisions as a table for a release: Markdown, one HTML file, CSV. No I/O.

``since`` says of each candidate by its name what became of its runs after they were told.
"""

from collections.abc import Iterator, Mapping, Sequence

from tabulate import tabulate

from soakproof.decisions.entries import Candidate, RunTold, against, is_disputed
from soakproof.report.html import render
from soakproof.report.page import Column, Table
from soakproof.report.visible import markdown
from soakproof.sheet import write_sheet

Since = Mapping[str, Sequence[str]]
_HEADS = (
    *("candidate", "release", "changed", "decision", "reason", "against", "runs", "seals", "verdicts"),
    *("since", "who", "at", "entries"),
)
_EMPTY = "No candidates."


def to_markdown(found: Sequence[Candidate], since: Since, release: str) -> str:
    """The table, then what is against the verdicts or changed since, then the history."""
    return "\n".join(_markdown(found, since, release)) + "\n"


def _markdown(found: Sequence[Candidate], since: Since, release: str) -> Iterator[str]:
    yield from (f"# {markdown(_title(release))}", "", _markdown_table(_decided(found)))
    if told := list(_to_be_known(found, since)):
        yield from ("", "## To be known", "", *(f"- {markdown(one)}" for one in told))
    if (history := _history(found)).rows:
        yield from ("", "## History", "", _markdown_table(history))


def _markdown_table(table: Table) -> str:
    if not table.rows:
        return table.empty
    rows = [[markdown(cell) for cell in row] for row in table.rows]
    heads = [column.head for column in table.columns]
    return tabulate(rows, heads, tablefmt="pipe", disable_numparse=True)


def to_html(found: Sequence[Candidate], since: Since, release: str) -> str:
    """The same as one file without a request to anywhere."""
    return render(
        "decisions.html.j2",
        title=_title(release),
        decided=_decided(found),
        known=list(_to_be_known(found, since)),
        history=_history(found),
    )


def to_csv(found: Sequence[Candidate], since: Since, _release: str) -> str:
    """A line a candidate; several runs, verdicts and remarks stand in one cell, parted by semicolons."""
    return write_sheet(_HEADS, (_flat(one, since.get(one.name, ())) for one in found))


def _flat(one: Candidate, since: Sequence[str]) -> tuple[object, ...]:
    verdicts = (f"{told.entry} {told.outcome}" for run in one.runs for told in run.verdict)
    return (
        *(one.name, one.release, one.changed, one.last.decision, one.reason),
        "; ".join(against(one.last.decision, one.runs)),
        "; ".join(run.run for run in one.runs),
        "; ".join(run.seal for run in one.runs),
        "; ".join(verdicts),
        "; ".join(since),
        *(one.last.who, one.last.at.isoformat(), len(one.entries)),
    )


def _title(release: str) -> str:
    return f"Candidates and decisions{f' for {release}' if release else ''}"


def _decided(found: Sequence[Candidate]) -> Table:
    heads = ("Candidate", "What changed", "Decision", "Why", "Runs and verdicts", "Who", "When")
    rows = tuple(
        (
            one.name,
            one.changed,
            f"{one.last.decision} (against the verdicts)" if is_disputed(one) else one.last.decision,
            one.reason or "no reason told",
            "; ".join(map(_run, one.runs)) or "no run",
            one.last.who,
            f"{one.last.at:%Y-%m-%d}",
        )
        for one in found
    )
    return Table(tuple(map(Column, heads)), rows, _EMPTY)


def _run(run: RunTold) -> str:
    verdicts = ", ".join(f"{told.policy} {told.outcome}" for told in run.newest())
    return f"{run.run} (raw {run.raw}; {verdicts or 'not judged'})"


def _to_be_known(found: Sequence[Candidate], since: Since) -> Iterator[str]:
    for one in found:
        if is_disputed(one):
            told = "; ".join(against(one.last.decision, one.runs))
            yield f"{one.name}: {one.last.decision} against the verdicts: {told}"
        yield from (f"{one.name}: {told}" for told in since.get(one.name, ()))


def _history(found: Sequence[Candidate]) -> Table:
    """Every entry but the last of those candidates that have several."""
    rows = tuple(
        (one.name, e.decision, e.reason, "; ".join(map(_run, e.run)), e.who, f"{e.at:%Y-%m-%d}")
        for one in found
        for e in one.entries[:-1]
    )
    heads = ("Candidate", "It was", "Why", "Runs and verdicts then", "Who", "When")
    return Table(tuple(map(Column, heads)), rows)
