"""What is wrong in a user's scenario is told with the user's own file and line, never with ours."""

from pathlib import Path

import pytest

from soakproof.catalog import Catalog
from soakproof.context import IterationContext, Secrets, Surroundings
from soakproof.errors import UsageError
from soakproof.iteration import Stepper
from soakproof.plan import make_scenario

HEAD = '''from dataclasses import dataclass
from soakproof.scenario import Ask, Scenario

@dataclass(frozen=True)
class Mine(Scenario):
    """Does what it should not."""
    checks = ("a.b",)
    words: int = 1
'''
LINE = HEAD.count("\n") + 2  # of what stands first in `iterate`


def written(folder: Path, body: str) -> Catalog:
    (folder / "scenarios").mkdir()
    (folder / "scenarios" / "mine.py").write_text(f"{HEAD}{body}\n")
    return Catalog(folder)


def iterate(*lines: str) -> str:
    return "\n".join(["    def iterate(self, it):", *(f"        {line}" for line in lines)])


@pytest.mark.parametrize(
    ("body", "line", "words"),
    [
        (iterate("it.check('a.b', None)", "yield Ask('x')"), LINE, "unknown without a reason"),
        (iterate("it.check('a.c', True)", "yield Ask('x')"), LINE, "did you mean 'a.b'?"),
        (iterate("it.phrase('ecko')", "yield Ask('x')"), LINE, "no corpus 'ecko'"),
        (iterate("yield 'hi'"), LINE, "yielded str"),
        (iterate("yield from self.on()") + "\n    def on(self):\n        yield 3", LINE + 2, "yielded int"),
        (iterate("it.check('a.b', True)"), LINE - 1, "iterate is no generator"),
        (iterate("yield Ask(3)"), LINE, "Ask: messages"),
        ("    def iterate(self):\n        yield Ask('x')", LINE - 1, "TypeError"),
    ],
)  # fmt: skip
def test_a_broken_iteration_names_it(tmp_path: Path, body: str, line: int, words: str) -> None:
    scenario = make_scenario(written(tmp_path, body), "mine", {}, "mine")
    around = Surroundings(slots=1, slot_context=4096, chars_per_token=3.0, corpora={"echo": ("x",)})
    stepper = Stepper(scenario, IterationContext("mine", 0, 1, around, Secrets()))
    assert stepper.begin() is None
    reason = stepper.result().reason
    assert words in reason
    assert reason.endswith(f"(mine.py:{line})")


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("    oh = nothing", LINE - 1),
        ("    def __post_init__(self):\n        raise KeyError('oh')", LINE),
        ("    @property\n    def width(self):\n        return 1 / 0", LINE + 1),
    ],
)
def test_so_does_a_file_that_cannot_be_used(tmp_path: Path, body: str, line: int) -> None:
    with pytest.raises(UsageError, match=rf"\(mine\.py:{line}\)"):
        make_scenario(written(tmp_path, body + f"\n{iterate('yield')}"), "mine", {}, "mine")
