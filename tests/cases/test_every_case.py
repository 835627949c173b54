"""Every public fault case has a test that proves its duty, and every input a user."""

import ast
from collections.abc import Iterator
from pathlib import Path

from caseinputs import INPUTS
from duties import DUTIES

TESTS = INPUTS.parents[1]
SOURCES = {path: path.read_text() for path in TESTS.rglob("*.py")}


def numbers(path: Path) -> Iterator[int]:
    """The numbers of `@pytest.mark.case(...)` in a file."""
    for node in ast.walk(ast.parse(SOURCES[path])):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.case":
            yield from (ast.literal_eval(argument) for argument in node.args)


def test_every_case_has_a_proof() -> None:
    assert len(DUTIES) == 66
    assert {n for path in SOURCES for n in numbers(path)} == set(DUTIES)


def test_every_input_is_of_a_case_and_used() -> None:
    names = {path.name for path in INPUTS.iterdir()}
    assert {int(name.partition("-")[0]) for name in names} <= set(DUTIES)
    assert {name for name in names if not any(name in source for source in SOURCES.values())} == set()
