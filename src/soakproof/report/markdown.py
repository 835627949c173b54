"""A page as Markdown, for a release's notes or a pull request; it reads well unrendered too. No I/O."""

from collections.abc import Iterable, Iterator, Sequence

from tabulate import tabulate

from soakproof.judge.finding import Finding, Reconsidered
from soakproof.judge.telling import counted
from soakproof.report.page import Drawing, Excerpt, Group, Page, RawFailures, Style, Table
from soakproof.report.verdicts import exchanges, figure_row, is_plain, meta
from soakproof.report.visible import markdown, markdown_block, markdown_code

_WIDE = 60  # characters of a cell, up to which columns are filled up with spaces
_FIGURE_HEADS = ("Figure", "Value", "n", "Baseline", "Note")


def to_markdown(page: Page, figures: str = "svg") -> str:
    """The whole page, the raw outcome first. ``figures`` is the ending of the files figures/<name>.<ending>
    beside the report, which shows them; without it only what they tell in numbers is there, as for a release.
    """
    return "\n".join(_lines(page, figures)).rstrip("\n") + "\n"


def _lines(page: Page, figures: str) -> Iterator[str]:
    yield from (f"# Soak of {markdown(page.run)}", "")
    yield f"**Raw outcome: {markdown(page.raw.outcome)}** · **Verdict: {page.verdict}**"
    yield from _basis(page)
    yield from ("", " · ".join(f"{name}: {markdown(text)}" for name, text in page.facts))
    yield from _raw(page)
    yield from _overruled(page)
    yield from ("", "## Verdict", "", f"**{page.verdict}**: {markdown(page.sentence)}")
    yield from ("", "## Findings")
    for group in page.groups:
        yield from _group(group)
    yield from ("", f"## Against the baseline{f' {markdown(page.baseline)}' if page.baseline else ''}")
    yield from ("", "### What changed", "", *_table(page.changed))
    yield from ("", "### Medians side by side", "", *_table(page.compared))
    yield from ("", "## Figures" if figures else "## Resource trace")
    for drawing in page.drawings:
        if figures or drawing.table is not None:
            yield from _drawing(drawing, figures)
    yield from _section("Checks", page.checks)
    yield from _excerpts(page.excerpts)
    yield from (("", markdown(page.excerpts_left_out)) if page.excerpts_left_out else ())
    yield from _section("Traffic", page.traffic)
    yield from ("", "## What was tested")
    for title, table in page.identity:
        yield from ("", f"### {title}", "", *_table(table))
    yield from ("", "## Evidence", "", *(f"- {markdown(told)}" for told in page.evidence), "")
    yield from ("### Coverage of each source", "", *_table(page.coverage))
    yield from ("", "### The watch's own schedule", "", *_table(page.schedule))
    yield from _section("Versions", page.versions)
    yield from ("", "## What this run does not prove", "")
    yield from (f"- {markdown(told)}" for told in page.not_proven or ("Nothing was said of it.",))


def _drawing(drawing: Drawing, figures: str) -> Iterator[str]:
    title = markdown(drawing.title)
    yield from ("", f"### {title}")
    if figures:
        yield from ("", f"![{title}](figures/{drawing.name}.{figures})")
    yield from ("", markdown(drawing.caption))
    if drawing.table is not None and drawing.table.rows:
        yield from ("", *_table(drawing.table))


def _basis(page: Page) -> Iterator[str]:
    """What the verdict rests on and says nothing of, before anything else."""
    if page.rests_on:
        yield from ("", f"It rests on {markdown(page.rests_on)}")
    points = len(page.not_proven)
    yield from ("", *(f"- {markdown(told)}" for told in page.caveats))
    yield f"- [What this run does not prove](#what-this-run-does-not-prove): {counted(points, 'point')}."


def _raw(page: Page) -> Iterator[str]:
    raw = page.raw
    yield from ("", "## Raw outcome", "", f"**{markdown(raw.outcome)}**: {markdown(raw.sentence)}.", "")
    listed = [f"- failed: {markdown(told)}" for told in raw.failed]
    listed += [f"- not measured: {markdown(told)}" for told in raw.unmeasured]
    if listed:
        yield from (*listed, "")
    yield from _table(raw.thresholds)
    for failed in raw.failures:
        yield from ("", _failures(failed))


def _failures(failed: RawFailures) -> str:
    each = "; ".join(f"{markdown_code(id)} {markdown(value)}" for id, value in failed.exchanges)
    more = f"; and {failed.left_out:,} more" if failed.left_out else ""
    return f"Failures of {markdown(failed.threshold)}: {each}{more}."


def _overruled(page: Page) -> Iterator[str]:
    yield from ("", "## What overruled it", "", markdown(page.overruled))
    for entry in page.reconsidered:
        yield from ("", *_entry(entry))


def _entry(entry: Reconsidered) -> Iterator[str]:
    state = "overruled" if entry.applied else "NOT overruled"
    yield f"- {markdown_code(entry.threshold)}: **{state}**"
    if entry.why_not:
        yield f"  - Why not: {markdown(entry.why_not)}"
    yield f"  - Reason: {markdown(entry.reason)}"
    yield f"  - Decided by: {markdown(entry.who)}, until {markdown(entry.expires)}"
    yield f"  - Requires: {markdown(', '.join(entry.requires)) or 'nothing'}"


def _group(group: Group) -> Iterator[str]:
    note = f" ({group.note})" if group.note else ""
    yield from ("", f"### {markdown(group.adjudicator)}: {group.outcome}{note}")
    if group.question:
        yield from ("", f"*{markdown(group.question)}*")
    for finding in group.findings:
        yield from ("", *_finding(finding, "" if group.question else finding.question))


def _finding(finding: Finding, question: str) -> Iterator[str]:
    beside = "" if finding.critical else " (cannot decide)"
    yield f"**{finding.outcome}{beside} · {markdown(finding.subject)}**: {markdown(finding.answer)}"
    if question:
        yield f"*{markdown(question)}*"
    if not is_plain(finding):
        rows = [figure_row(figure) for figure in finding.figures]
        yield from ("", *_rows(_FIGURE_HEADS, ("text", "number", "number", "number", "text"), rows))
    notes = [f"{markdown(name)}: {markdown(text)}" for name, text in meta(finding)]
    if finding.exchanges:
        notes.append(
            f"{_capital(exchanges(finding))}: {', '.join(markdown_code(id) for id in finding.exchanges)}"
        )
    if notes:
        yield from ("", *(f"- {note}" for note in notes))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _excerpts(excerpts: Iterable[Excerpt]) -> Iterator[str]:
    for excerpt in excerpts:
        yield from (
            "",
            f"{markdown_code(excerpt.check)} in {markdown_code(excerpt.exchange)}: {markdown(excerpt.about)}",
        )
        yield f"({markdown(excerpt.what)})"
        if excerpt.text:
            yield from ("", markdown_block(excerpt.text))


def _section(title: str, table: Table) -> Iterator[str]:
    yield from ("", f"## {title}", "", *_table(table))


def _table(table: Table) -> Iterator[str]:
    if not table.rows:
        yield markdown(table.empty)
        return
    yield from _rows([c.head for c in table.columns], [c.style for c in table.columns], table.rows)


def _rows(
    heads: Sequence[str], styles: Sequence[Style | str], rows: Iterable[Sequence[str]]
) -> Iterator[str]:
    cells = [[_cell(text, style) for text, style in zip(row, styles, strict=True)] for row in rows]
    sides = [_side(style, column) for style, column in zip(styles, zip(*cells, strict=True), strict=True)]
    yield tabulate(cells, heads, tablefmt="pipe", colalign=sides, disable_numparse=True)


def _side(style: str, column: Sequence[str]) -> str | None:
    """How a column is set; one with long texts is not, which spares the others that many spaces."""
    if style == "number":
        return "right"
    return "left" if max(map(len, column)) <= _WIDE else None


def _cell(text: str, style: str) -> str:
    if style == "code":
        return markdown_code(text, cell=True)
    return markdown(text.upper() if style == "outcome" else text)
