"""Writes reference.md and failures.md from the code: `python docs/generate`; --check only tells differences.

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
import watching

from soakproof.catalog import Catalog, bundled

FOLDER = Path(__file__).parent.parent


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


PAGES: Mapping[str, Callable[[], Iterator[str]]] = {"reference.md": reference, "failures.md": failing.page}


def text_of(page: Iterator[str]) -> str:
    """The page's text: at most one blank line between two others, none at its ends."""
    text = re.sub(r"[ \t]+$", "", "\n".join(page), flags=re.MULTILINE)
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def main(arguments: list[str]) -> int:
    differ = False
    for name, page in PAGES.items():
        path, text = FOLDER / name, text_of(page())
        if arguments != ["--check"]:
            path.write_text(text, encoding="utf-8", newline="\n")
            continue
        there = path.read_text(encoding="utf-8") if path.is_file() else ""
        told = difflib.unified_diff(there.splitlines(True), text.splitlines(True), f"docs/{name}", "the code")
        sys.stdout.writelines(told)
        differ = differ or there != text
    return int(differ)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
