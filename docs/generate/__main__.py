"""Writes reference.md, failures.md and verdict.schema.json from the code: `python docs/generate`; --check
only tells differences.

Names, types, defaults, units and most of the words come from the code: help texts, docstrings, and the
comments beside a field. What the source does not say stands in words.py.
"""

import difflib
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import commands
import comparing
import evidence
import failing
import judging
import plans
import schema
import watching

from soakproof import report
from soakproof.catalog import Catalog, bundled

FOLDER = Path(__file__).parent.parent
SCHEMA = "verdict.schema.json"


def reference() -> Iterator[str]:
    catalog = Catalog(bundled("scenarios").parent)
    yield "# Reference"
    yield ""
    yield "Written from the code by `python docs/generate`; do not edit it by hand."
    yield ""
    for lines in (
        commands.section(),
        plans.section(),
        plans.threshold_grammar(),
        plans.metrics(),
        plans.scenarios(catalog),
        judging.section(),
        judging.adjudicators(catalog),
        comparing.section(),
        evidence.section(),
        watching.section(),
        evidence.failures(),
        evidence.exit_codes(),
        evidence.environment(),
    ):
        yield from lines
        yield ""


PAGES: Mapping[Path, Callable[[], Iterator[str]]] = {
    FOLDER / "reference.md": reference,
    FOLDER / "failures.md": failing.page,
    FOLDER / SCHEMA: schema.page,
    Path(report.__file__).parent / SCHEMA: schema.page,  # in the package, for whoever has no docs
}


def text_of(page: Iterator[str]) -> str:
    """The page's text: at most one blank line between two others, none at its ends."""
    text = re.sub(r"[ \t]+$", "", "\n".join(page), flags=re.MULTILINE)
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def main(arguments: list[str]) -> int:
    differ = False
    for path, page in PAGES.items():
        text = text_of(page())
        if arguments != ["--check"]:
            path.write_text(text, encoding="utf-8", newline="\n")
            continue
        there = path.read_text(encoding="utf-8") if path.is_file() else ""
        told = difflib.unified_diff(there.splitlines(True), text.splitlines(True), path.name, "the code")
        sys.stdout.writelines(told)
        differ = differ or there != text
    return int(differ)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
