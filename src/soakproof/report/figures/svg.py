"""matplotlib's SVG made fit for a page: light and dark, unique ids, a title and a description, and no
reference to anything outside. Pure text.
"""

import io
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from soakproof.plain import commandless, visible
from soakproof.report.figures.style import MUTED, PALETTE, WIDTH

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SVG = "http://www.w3.org/2000/svg"
_XLINK = "{http://www.w3.org/1999/xlink}href"
_ROLES = {light: role for role, (light, _) in PALETTE.items()}
_FONTS = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"


def svg_of(made: "Figure", name: str, title: str, description: str) -> str:
    """The figure as an SVG document whose ids begin with ``name``."""
    buffer = io.BytesIO()
    made.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    root = ElementTree.fromstring(buffer.getvalue())
    return _dressed(root, name, title, description)


def svg_of_words(name: str, title: str, words: Sequence[str]) -> str:
    """A document of lines of text in place of a figure."""
    root = ElementTree.Element(f"{{{_SVG}}}svg", {"viewBox": f"0 0 {WIDTH * 72:.0f} {24 + 15 * len(words)}"})
    for row, said in enumerate(words):
        place = {
            "x": "14",
            "y": str(26 + 15 * row),
            "style": f"fill: {MUTED}; font-size: 10px; font-family: x",
        }
        ElementTree.SubElement(root, f"{{{_SVG}}}text", place).text = said
    return _dressed(root, name, title, " ".join(words))


def _dressed(root: ElementTree.Element, name: str, title: str, description: str) -> str:
    """Ids made unique, colours made themes, title and description put first, sizes left to the page."""
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag.rsplit("}", 1)[-1] in ("metadata", "style"):
                parent.remove(child)
    for element in root.iter():
        _rewrite(element, name)
    for attribute in ("width", "height", "version"):
        root.attrib.pop(attribute, None)
    root.set("class", "figure")
    root.set("role", "img")
    root.set("aria-labelledby", f"{name}-title {name}-description")
    root.set("style", "stroke-linejoin: round; stroke-linecap: butt")
    for position, (tag, text) in enumerate((("title", title), ("desc", description))):
        told = ElementTree.Element(
            f"{{{_SVG}}}{tag}", {"id": f"{name}-{'title' if tag == 'title' else 'description'}"}
        )
        told.text = visible(text)
        root.insert(position, told)
    style = ElementTree.Element(f"{{{_SVG}}}style")
    style.text = _dark()
    root.insert(2, style)
    ElementTree.register_namespace("", _SVG)
    return commandless(ElementTree.tostring(root, encoding="unicode") + "\n", "&#{};")


def _rewrite(element: ElementTree.Element, name: str) -> None:
    if "id" in element.attrib:
        element.set("id", f"{name}-{element.attrib['id']}")
    if _XLINK in element.attrib:
        element.set("href", f"#{name}-{element.attrib.pop(_XLINK).removeprefix('#')}")
    for key, text in element.attrib.items():
        if "url(#" in text:
            element.set(key, text.replace("url(#", f"url(#{name}-"))
    if "d" in element.attrib:
        element.set("d", _shorter(element.attrib["d"]))
    if "style" in element.attrib:
        styled = re.sub(r"font-family: [^;]*", f"font-family: {_FONTS}", element.attrib["style"])
        element.set("style", re.sub(r"#[0-9a-f]{6}", _themed, styled))


def _shorter(path: str) -> str:
    """A path's numbers with two decimals: a hundredth of a point cannot be seen."""
    return re.sub(r"\s+", " ", re.sub(r"(\.\d\d)\d+", r"\1", path)).strip()


def _themed(match: re.Match[str]) -> str:
    role = _ROLES.get(match[0])
    return f"var(--figure-{role}, {match[0]})" if role else match[0]


def _dark() -> str:
    told = "; ".join(f"--figure-{role}: {dark}" for role, (_, dark) in PALETTE.items())
    return f"@media screen and (prefers-color-scheme: dark) {{ svg.figure {{ {told} }} }}"
