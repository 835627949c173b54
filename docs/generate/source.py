"""Reads what the source says of its own names: annotations, defaults, and the comments beside them."""

import ast
import inspect
import io
import textwrap
import tokenize
from dataclasses import dataclass


@dataclass(frozen=True)
class Named:
    """One name of a class body: a field, or a constant (whose annotation is empty)."""

    name: str
    annotation: str
    comment: str


def named(kind: type) -> list[Named]:
    """The fields and constants of a class, in the order of its source; class variables are left out."""
    source = textwrap.dedent(inspect.getsource(kind))
    comments = _comments(source)
    body = ast.parse(source).body[0]
    assert isinstance(body, ast.ClassDef)
    return [found for node in body.body if (found := _named(node, comments)) is not None]


def _named(node: ast.stmt, comments: dict[int, str]) -> Named | None:
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        annotation = ast.unparse(node.annotation)
        return None if "ClassVar" in annotation else Named(node.target.id, annotation, _said(node, comments))
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        return Named(node.targets[0].id, "", _said(node, comments))
    return None


def _said(node: ast.stmt, comments: dict[int, str]) -> str:
    lines = range(node.lineno, (node.end_lineno or node.lineno) + 1)
    return " ".join(comments[line] for line in lines if line in comments)


def _comments(source: str) -> dict[int, str]:
    """Line number to the comment that ends the line; comments on lines of their own are left out."""
    return {
        token.start[0]: token.string.lstrip("# ").strip()
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type == tokenize.COMMENT and token.line[: token.start[1]].strip()
    }


def first_line(kind: type) -> str:
    return (kind.__doc__ or "").strip().split("\n")[0]


def whole(kind: type) -> str:
    """A docstring as Markdown, on one line."""
    return " ".join((kind.__doc__ or "").replace("``", "`").split())


def example(doc: str | None) -> str:
    """The TOML in a module's docstring, which follows its first paragraph."""
    return inspect.cleandoc(doc or "").split("\n\n", 1)[1]
