"""A folder to work in, and the command in this process."""

from pathlib import Path

import pytest
from cli_said import Command, Said
from rundirs import judgeable

from soakproof.cli import main
from soakproof.testing.evidence import check, exchange, iteration

SAYS = '''
from dataclasses import dataclass
from soakproof.judge import Adjudicator, Outcome, finding

@dataclass(frozen=True)
class Says(Adjudicator):
    """Does it say what it is told?"""
    outcome: str = "PASS"

    def judge(self, evidence, baseline):
        n = len(evidence.exchanges)
        yield finding(self, "run", Outcome(self.outcome), f"{n} exchanges, {baseline and baseline.id}")
'''


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An own folder, with nothing of the environment's in the way."""
    monkeypatch.chdir(tmp_path)
    for name in ("LEMONADE_API_KEY", "OPENAI_API_KEY", "SOAKPROOF_DEBUG", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.fixture
def soakproof(here: Path, capsys: pytest.CaptureFixture[str]) -> Command:
    """The command; no traceback may ever come of it."""

    def run(*arguments: object) -> Said:
        capsys.readouterr()
        code = main([str(a) for a in arguments])
        out, err = capsys.readouterr()
        assert "Traceback" not in out + err
        return Said(code, out, err)

    return run


@pytest.fixture
def a_run(here: Path) -> Path:
    """A sealed run in ./runs."""
    return judgeable(
        here / "runs",
        exchange("load-1"),
        exchange("load-2", at=1.0, seed=1002),
        check("long_prose.length"),
        iteration("long_prose", took=2.0),
    )


@pytest.fixture
def policies(here: Path) -> Path:
    """Policies `pass`, `fail`, `inconclusive` and `error`, which say that whatever was seen."""
    folder = here / "adjudicators"
    folder.mkdir()
    (folder / "says.py").write_text(SAYS)
    for outcome in ("PASS", "FAIL", "INCONCLUSIVE", "ERROR"):
        text = f'title = "Says {outcome}"\n[adjudicator.says]\noutcome = "{outcome}"\n'
        (folder / f"{outcome.lower()}.toml").write_text(text)
    return folder
