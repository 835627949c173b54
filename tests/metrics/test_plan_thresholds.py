"""A plan's thresholds are read when the plan is loaded: a wrong one never starts a run."""

import pytest

from soakproof.catalog import Catalog
from soakproof.errors import UsageError
from soakproof.plan import load_plan

SCENARIO = '''
from dataclasses import dataclass
from soakproof.scenario import Scenario


@dataclass(frozen=True)
class Echo(Scenario):
    """Says it back."""
    checks = ("echo.exact",)
    def iterate(self, it):
        yield
'''


def plan(tmp_path, that: str):
    folder = tmp_path / "scenarios"
    folder.mkdir()
    (folder / "echo.py").write_text(SCENARIO)
    (folder / "own.toml").write_text(f'[mix]\necho = 1\n[[threshold]]\nname = "mine"\nthat = "{that}"\n')
    return load_plan(Catalog(tmp_path), "own")


def test_a_good_threshold_keeps_its_source_text(tmp_path) -> None:
    that = "failed_checks{echo.exact} count == 0"
    assert plan(tmp_path, that).thresholds[0].that == that


def test_a_wrong_one_is_refused_with_file_name_and_hint(tmp_path) -> None:
    with pytest.raises(UsageError) as error:
        plan(tmp_path, "total_time{ecco} max <= 3 s")
    assert str(error.value).startswith("own.toml: threshold 'mine': filter: unknown 'ecco'")
    assert "did you mean 'echo'?" in str(error.value)
