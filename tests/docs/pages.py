"""The documentation as these tests read it: pages, fenced blocks with their marks, commands, links.

A block may have a mark on the line above its fence:

    <!-- file: scenarios/recall.py -->     the block is that file
    <!-- test -->                          its commands are run, and end with 0
    <!-- test: 0 or 2 -->                  the same, with one of these exit codes
    <!-- test after a kill: 2 -->          the same, once a soak has been killed
"""

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = (ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted(DOCS.glob("*.md")))
SHELL = ("bash", "console", "sh", "shell")

_BLOCK = re.compile(r"(?:<!-- (?P<mark>[^>]*?) -->\n)?^```(?P<language>\w+)\n(?P<text>.*?)^```$", re.M | re.S)
_SPAN = re.compile(r"(?<!`)`([^`]+)`(?!`)")
_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
_ASSIGNMENT = re.compile(r"[A-Z_]+=\S*")
_TEST = re.compile(r"test(?P<kill> after a kill)?(?:: (?P<codes>[\d or]+))?")


@dataclass(frozen=True)
class Block:
    """A fenced block."""

    page: Path
    language: str
    mark: str
    text: str

    @property
    def file(self) -> str | None:
        """The path of the file that the block is, relative to the reader's folder."""
        return self.mark.removeprefix("file: ") if self.mark.startswith("file: ") else None

    @property
    def tested(self) -> bool:
        return _TEST.fullmatch(self.mark) is not None

    @property
    def after_a_kill(self) -> bool:
        found = _TEST.fullmatch(self.mark)
        return found is not None and bool(found["kill"])

    @property
    def codes(self) -> set[int]:
        """Exit codes with which each of its commands may end."""
        found = _TEST.fullmatch(self.mark)
        assert found is not None
        return {int(code) for code in (found["codes"] or "0").split(" or ")}

    @property
    def commands(self) -> list[list[str]]:
        return commands(self.text)


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [Block(page, m["language"], m["mark"] or "", m["text"]) for m in _BLOCK.finditer(text)]


def all_blocks() -> list[Block]:
    return [block for page in PAGES for block in blocks(page)]


def commands(text: str) -> list[list[str]]:
    """The simple commands of a shell text, without comments and assignments before them."""
    found: list[list[str]] = []
    for line in text.replace("\\\n", " ").split("\n"):
        words = shlex.split(line.removeprefix("$ "), comments=True)
        for part in _split(words):
            while part and _ASSIGNMENT.fullmatch(part[0]):
                part.pop(0)
            if part:
                found.append(part)
    return found


def _split(words: list[str]) -> list[list[str]]:
    parts: list[list[str]] = [[]]
    for word in words:
        if word in ("&&", "||", "|", ";", "&"):
            parts.append([])
        else:
            parts[-1].append(word)
    return parts


def prose(page: Path) -> str:
    """A page without its fenced blocks."""
    return _BLOCK.sub("", page.read_text(encoding="utf-8"))


def spans(page: Path) -> list[str]:
    """Code within the prose of a page."""
    return [" ".join(span.split()) for span in _SPAN.findall(prose(page))]


def links(page: Path) -> list[str]:
    """Targets of links and pictures that are not addresses of other sites."""
    found = [target for target in _LINK.findall(prose(page)) if "://" not in target]
    return [target for target in found if not target.startswith("mailto:")]


def anchors(page: Path) -> set[str]:
    """What GitHub makes of the page's headings."""
    heads = re.findall(r"^#+ (.*)$", prose(page), re.M)
    return {re.sub(r"[^\w\- ]", "", head.lower()).strip().replace(" ", "-") for head in heads}
