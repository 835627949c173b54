"""Reports of a verdict: pure renderers, and `write`, which puts them all into the run as a new entry.

Each renderer takes the verdict, the evidence that it was reached on and the baseline's evidence, if any. What
models, servers and users wrote is escaped, bounded and made visible everywhere.
"""

from collections.abc import Mapping
from pathlib import Path

from soakproof.judge.evidence import Evidence
from soakproof.judge.finding import Verdict
from soakproof.report.build import build
from soakproof.report.document import render_json
from soakproof.report.figures import figures
from soakproof.report.github import annotations, step_summary
from soakproof.report.html import to_html
from soakproof.report.junit import render_junit
from soakproof.report.markdown import to_markdown
from soakproof.report.page import Page
from soakproof.report.store import refuse_link, store
from soakproof.report.terminal import findings_shown, terminal_table
from soakproof.run import VERDICT, reseal_entry, write_atomic

__all__ = [
    "FIGURES",
    "Page",
    "annotations",
    "build",
    "figures",
    "findings_shown",
    "pictures",
    "put",
    "render_html",
    "render_json",
    "render_junit",
    "render_markdown",
    "rewrite",
    "step_summary",
    "terminal_table",
    "to_html",
    "to_markdown",
    "write",
]
FIGURES = "figures"


def render_markdown(verdict: Verdict, evidence: Evidence, baseline: Evidence | None = None) -> str:
    """report.md; its figures are the files that `write` puts beside it."""
    return to_markdown(build(verdict, evidence, baseline))


def render_html(verdict: Verdict, evidence: Evidence, baseline: Evidence | None = None) -> str:
    """report.html: one file with its figures inside, which loads nothing."""
    return to_html(build(verdict, evidence, baseline))


def write(run_path: Path, verdict: Verdict, evidence: Evidence, baseline: Evidence | None = None) -> Path:
    """Write every form of the report as the run's next entry, ``verdicts/<n>-<policy>``; its folder.

    Raises RecorderError when it cannot be written; nothing half-written stays, no earlier entry is touched.
    """
    files = {VERDICT: render_json(verdict), **_reports(verdict, build(verdict, evidence, baseline))}
    return store(run_path, verdict.policy, files)


def rewrite(entry: Path, verdict: Verdict, page: Page) -> None:
    """Make the reports of an entry again, with the PNG figures if it has any; its verdict.json stays."""
    files = {name: text.encode() for name, text in _reports(verdict, page).items()}
    if any((entry / FIGURES).glob("*.png")):
        files |= {f"{FIGURES}/{name}": data for name, data in pictures(page, "png").items()}
    put(entry, files)


def put(entry: Path, files: Mapping[str, bytes]) -> None:
    """Write files (path inside the entry to bytes), each whole or not at all, and seal them as they are now.

    Raises RecorderError when one cannot be written, and UsageError where a link leads out of the entry.
    """
    for name, data in files.items():
        refuse_link((entry / name).parent)
        (entry / name).parent.mkdir(exist_ok=True)
        write_atomic(entry / name, data)
    reseal_entry(entry, files)


def pictures(page: Page, ending: str) -> dict[str, bytes]:
    """The figures as files, SVG or PNG: name to bytes."""
    return {
        f"{drawing.name}.{ending}": drawing.svg.encode() if ending == "svg" else drawing.png()
        for drawing in page.drawings
    }


def _reports(verdict: Verdict, page: Page) -> dict[str, str]:
    """Every form but JSON, and the figures as SVG: path inside the entry to text."""
    return {
        "report.md": to_markdown(page),
        "report.html": to_html(page),
        "junit.xml": render_junit(verdict),
        **{f"{FIGURES}/{drawing.name}.svg": drawing.svg for drawing in page.drawings},
    }
