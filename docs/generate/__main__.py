"""Writes docs/reference.md from the code: `python docs/generate`; with --check it only says what differs.

Names, types, defaults, units and most of the words come from the code: help texts, docstrings, and the
comments beside a field. What the source does not say stands in words.py.
"""

import difflib
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import commands
import evidence
import judging
import plans

from soakproof.catalog import Catalog, bundled

TARGET = Path(__file__).parent.parent / "reference.md"


def sections() -> Iterator[str]:
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
        evidence.section(),
        evidence.failures(),
        evidence.exit_codes(),
        evidence.environment(),
    ):
        yield from lines
        yield ""


def reference() -> str:
    """The page's text: at most one blank line between two others, none at its ends."""
    text = re.sub(r"[ \t]+$", "", "\n".join(sections()), flags=re.MULTILINE)
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def main(arguments: list[str]) -> int:
    text = reference()
    if arguments != ["--check"]:
        TARGET.write_text(text, encoding="utf-8", newline="\n")
        return 0
    there = TARGET.read_text(encoding="utf-8") if TARGET.is_file() else ""
    told = difflib.unified_diff(
        there.splitlines(True), text.splitlines(True), "docs/reference.md", "the code"
    )
    sys.stdout.writelines(told)
    return int(there != text)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
