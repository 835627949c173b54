"""One table of failures, one of grades: nothing that the code can say is missing in them."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from soakproof.failures import KINDS, VICTIMS, fault_of
from soakproof.grades import GRADES
from soakproof.reading.oddities import ODDITIES
from soakproof.records import Failure
from soakproof.strictjson import Grade

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "failures.md").read_text(encoding="utf-8")


def test_every_class_is_in_the_table_with_whose_it_is_and_what_to_look_at() -> None:
    assert set(KINDS) == set(Failure)
    assert all(kind.meaning and kind.look for kind in KINDS.values())
    assert {fault_of(f) for f in Failure} == {"ours", "front", "backend", "server", "model"}
    assert fault_of(None) == "server"


def test_what_we_did_ourselves_is_no_victim() -> None:
    assert not [failure for failure in VICTIMS if fault_of(failure) in ("ours", "model")]
    assert {Failure.RESET, Failure.BACKEND_LOST, Failure.CONNECT, Failure.CUT, Failure.ERROR_EVENT} <= VICTIMS


def grades(tree: ast.AST) -> Iterator[str]:
    """Texts that a scenario gives as a grade, or assigns to a name that it gives as one."""
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg == "grade":
            yield from texts(node.value)
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "grade":
            yield from texts(node.value)


def texts(node: ast.AST) -> Iterator[str]:
    """The texts that an expression may come to."""
    if isinstance(node, ast.IfExp):
        yield from texts(node.body)
        yield from texts(node.orelse)
    elif isinstance(node, ast.Constant) and node.value:
        yield str(node.value)


@pytest.mark.parametrize("path", sorted((ROOT / "scenarios").glob("*.py")), ids=lambda path: path.stem)
def test_every_grade_that_a_scenario_names_has_a_meaning(path: Path) -> None:
    """A grade that is missing here needs a line in `soakproof.grades`."""
    assert set(grades(ast.parse(path.read_text()))) - set(GRADES) == set()


def test_every_grade_of_json_has_a_meaning() -> None:
    assert set(Grade.__args__) <= set(GRADES)


@pytest.mark.parametrize("name", [*(f.value for f in Failure), *GRADES, *ODDITIES])
def test_the_page_has_it(name: str) -> None:
    assert re.search(rf"^\| `{re.escape(name)}` \|", PAGE, re.MULTILINE)
