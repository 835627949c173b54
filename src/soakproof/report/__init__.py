"""Reports of a verdict: pure renderers, and `write`, which puts them all into the run as a new entry.

Each renderer takes the verdict, the evidence that it was reached on and the baseline's evidence, if any. What
models, servers and users wrote is escaped, bounded and made visible everywhere.
"""

from pathlib import Path

from soakproof.judge.evidence import Evidence
from soakproof.judge.finding import Verdict
from soakproof.report.build import build
from soakproof.report.document import render_json
from soakproof.report.figures import figures
from soakproof.report.html import to_html
from soakproof.report.junit import render_junit
from soakproof.report.markdown import to_markdown
from soakproof.report.store import refuse_link, store
from soakproof.report.terminal import terminal_table
from soakproof.run import VERDICT, reseal_entry, write_atomic

__all__ = [
    "figures",
    "render_html",
    "render_json",
    "render_junit",
    "render_markdown",
    "rewrite",
    "terminal_table",
    "write",
]


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
    files = {VERDICT: render_json(verdict), **_reports(verdict, evidence, baseline)}
    return store(run_path, verdict.policy, files)


def rewrite(entry: Path, verdict: Verdict, evidence: Evidence, baseline: Evidence | None = None) -> None:
    """Make the reports of an entry again, each file whole or not at all, and seal them as they are now; its
    verdict.json stays as it is.
    """
    reports = _reports(verdict, evidence, baseline)
    for name, text in reports.items():
        refuse_link((entry / name).parent)
        (entry / name).parent.mkdir(exist_ok=True)
        write_atomic(entry / name, text.encode())
    reseal_entry(entry, reports)


def _reports(verdict: Verdict, evidence: Evidence, baseline: Evidence | None) -> dict[str, str]:
    """Every form but JSON: path inside the entry to text."""
    page = build(verdict, evidence, baseline)
    return {
        "report.md": to_markdown(page),
        "report.html": to_html(page),
        "junit.xml": render_junit(verdict),
        **{f"figures/{drawing.name}.svg": drawing.svg for drawing in page.drawings},
    }
