"""The names that the pages tell are those that the code has, and none is left out."""

import inspect
import re
import textwrap
from collections.abc import Callable
from dataclasses import fields

import pytest
from pages import DOCS, ROOT

import soakproof.judge
import soakproof.scenario
from soakproof.catalog import Catalog, bundled
from soakproof.context import IterationContext
from soakproof.judge import Evidence, Finding
from soakproof.scenario import Ask, Register, Scenario
from soakproof.testing import play
from soakproof.units import Bytes, Ratio, Seconds, Tokens

SCENARIOS, ADJUDICATORS, VERDICTS = (
    (DOCS / f"{page}.md").read_text(encoding="utf-8") for page in ("scenarios", "adjudicators", "verdicts")
)
TOLD_BESIDE_FINDINGS = {"question", "adjudicator"}  # made by `finding`, and not given to it


def section(text: str, head: str) -> str:
    """A page from a heading to the next."""
    return text.partition(f"## {head}\n")[2].partition("\n## ")[0]


def first_cells(text: str) -> set[str]:
    """Code in the first column of the tables of a text."""
    rows = re.findall(r"^\| (`[^|]*) \|", text, re.M)
    return {name for row in rows for name in re.findall(r"`([^`]+)`", row)}


def test_what_it_gives() -> None:
    told = set(re.findall(r"\bit\.([a-z_]+)", SCENARIOS))
    context = IterationContext("kind", 0, 1, None, None)  # type: ignore[arg-type]
    there = {name for name in dir(context) if not name.startswith("_")} - {"checked", "counts", "doubted"}
    assert told == there


def as_told(name: str, function: Callable[..., object]) -> str:
    """A call of it as the page tells it: parameters with their defaults, without types."""
    known = inspect.signature(function).parameters.values()
    bare = [p.replace(annotation=inspect.Parameter.empty) for p in known if p.name != "self"]
    return f"{name}{inspect.Signature(bare)}"


def test_helpers_are_told_as_they_are_called() -> None:
    exported = {name: getattr(soakproof.scenario, name) for name in soakproof.scenario.__all__}
    helpers = {name: made for name, made in exported.items() if inspect.isfunction(made)}
    told = first_cells(section(SCENARIOS, "Helpers"))
    assert told == {
        *(as_told(name, function) for name, function in helpers.items()),
        as_told("Register.question", Register.question),
    }


def test_the_example_of_the_helpers_runs() -> None:
    """As the body of an `iterate`, by a server whose every answer is right."""
    (example,) = re.findall(r"```python\n(.*?)```", section(SCENARIOS, "Helpers"), re.S)
    room = dict(vars(soakproof.scenario))
    exec("def iterate(self, it):\n" + textwrap.indent(example, "    "), room)
    checks = tuple(dict.fromkeys(re.findall(r'(?:it\.check\(|check_\w+\(it, )"([^"]+)"', example)))
    kind = type("Example", (Scenario,), {"checks": checks, "iterate": room["iterate"]})
    played = play(kind(), right)
    assert played.outcomes() == dict.fromkeys(checks, True)


def right(ask: Ask) -> str:
    """The code that the question asks for, or what else it wants."""
    text = ask.chat()[0]["content"]
    if ask.role == "json":
        (code,) = re.findall(r"\w{4}-\w{4}", text)
        return f'{{"owner": "{code}", "ticket": 417}}'
    register, _, question = text.rpartition("\n\n")
    record = re.search(r"\d{4}", question)
    line = re.search(rf"^.*\b{record[0]}\b.*$", register, re.M) if record else None
    code = re.search(r"\w{4}-\w{4}", line[0]) if line else None
    return code[0] if code else "and so on"


def test_what_a_request_may_say() -> None:
    told = first_cells(section(SCENARIOS, "What a scenario may yield"))
    assert told >= {f.name for f in fields(Ask)} - {"messages"}


def test_what_evidence_has() -> None:
    told = first_cells(section(ADJUDICATORS, "What the evidence has"))
    public = {name for name in vars(Evidence) if not name.startswith("_")} | {
        f.name for f in fields(Evidence)
    }
    assert told == public - {"records", "nodes", "id"}


def test_what_a_finding_has() -> None:
    told = first_cells(section(ADJUDICATORS, "What a finding has"))
    assert told == {f.name for f in fields(Finding)} - TOLD_BESIDE_FINDINGS


@pytest.mark.parametrize("made", [Seconds, Tokens, Ratio, Bytes], ids=lambda made: made.__name__)
def test_quantities_are_read_as_they_are_told(made: type) -> None:
    row = re.search(rf"^\| `{made.__name__}` \| (.*?) \|", SCENARIOS, re.M)
    assert row is not None
    for text in re.findall(r"`([^`]+)`", row[1]):
        made.parse(text.strip('"') if text.startswith('"') else float(text))  # type: ignore[attr-defined]


@pytest.mark.parametrize(("page", "module"), [("scenarios", "scenario"), ("adjudicators", "judge")])
def test_imports_of_examples_are_exported(page: str, module: str) -> None:
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    named = re.findall(rf"^from soakproof\.{module} import (?:\(([^)]*)\)|(.*))$", text, re.M)
    names = {n for many, few in named for n in re.findall(r"\w+", many or few)}
    exported = {"scenario": soakproof.scenario, "judge": soakproof.judge}[module].__all__
    assert names <= set(exported)
    assert names


def test_each_adjudicator_and_its_question_is_told() -> None:
    catalog = Catalog(bundled("adjudicators").parent)
    questions = {
        name: (catalog.adjudicator(name).__doc__ or "").split("\n")[0]
        for name in catalog.files("adjudicators", ".py")
    }
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \|", section(VERDICTS, "What each adjudicator asks"), re.M)
    assert dict(rows) == questions


def test_each_room_is_told_and_is_there() -> None:
    design = (DOCS / "design.md").read_text(encoding="utf-8")
    told = {name.rstrip("/") for name in first_cells(section(design, "The rooms"))}
    package = ROOT / "src" / "soakproof"
    rooms = {p.name for p in package.iterdir() if p.suffix == ".py" or (p / "__init__.py").is_file()}
    outside = {"locustfiles", "scenarios", "adjudicators"}
    assert told == (rooms - {"__init__.py", "__main__.py"}) | outside
