"""Nothing that a command prints as a table or a help text is wider than the terminal."""

from pathlib import Path

import pytest
from cli_said import Command
from rundirs import RAW, judgeable

from soakproof.cli.app import soakproof as group
from soakproof.testing.evidence import exchange


@pytest.fixture(autouse=True)
def narrow(monkeypatch: pytest.MonkeyPatch, here: Path) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def widest(text: str) -> str:
    return max(text.splitlines(), key=len)


@pytest.mark.parametrize("name", ["", *group.commands])
def test_help_fits(soakproof: Command, name: str) -> None:
    said = soakproof(*([name] if name else []), "--help")
    assert said.code == 0
    assert len(widest(said.out)) <= 80, widest(said.out)


@pytest.mark.parametrize("arguments", [["plans", "--options"], ["testbed", "--list-plants"], ["doctor"]])
def test_lists_fit(soakproof: Command, arguments: list[str]) -> None:
    said = soakproof(*arguments)
    assert len(widest(said.out)) <= 80, widest(said.out)


def test_runs_and_verdicts_fit(soakproof: Command, here: Path) -> None:
    target = {"base_url": "http://a-host-with-a-long-name.example.org:13305", "model_resolved": "m" * 30}
    run = judgeable(here / "runs", exchange("load-1"), raw={**RAW, "outcome": "failed"}, target=target)
    judged = soakproof("adjudicate", run.name)
    table = judged.out.partition("\n\nreport:")[0]
    assert len(widest(table)) <= 80, widest(table)
    listed = soakproof("runs").out
    assert len(widest(listed)) <= 80, widest(listed)
    assert run.name in listed


def test_a_trial_fits(soakproof: Command, here: Path) -> None:
    """One whose scenario breaks before it asks: no server needs to be loaded for its tables."""
    (here / "scenarios").mkdir()
    (here / "scenarios" / "mine.py").write_text(
        "from dataclasses import dataclass\nfrom soakproof.scenario import Scenario\n"
        "@dataclass(frozen=True)\nclass Mine(Scenario):\n    checks = ('a.b',)\n"
        "    def iterate(self, it):\n        it.check('a.c', True)\n        yield\n"
    )
    said = soakproof("try", "mine", "-n", 1)
    assert said.code == 3
    assert len(widest(said.out)) <= 80, widest(said.out)
    assert "(does not say what it is)" in said.out
    assert "(mine.py:7)" in " ".join(said.out.split())
    assert "nothing was asked" in said.out
    assert "first token" not in said.out
