"""Policies: the bundled ones load, options carry units, and everything wrong is refused by name."""

import hashlib
from datetime import date
from pathlib import Path

import pytest

from soakproof.catalog import Catalog, bundled
from soakproof.errors import UsageError
from soakproof.judge.rules import Policy
from soakproof.policy import load_policy

ENTRY = """
[[reconsider]]
threshold = "prose-rate"
reason = "written for another model"
requires = ["functional", "throughput"]
who = "A. Keeper"
expires = 2026-12-31
"""
RULES = '[adjudicator.functional]\n[adjudicator.throughput]\nmargin = "4 %"\n'


def policy(folder: Path, text: str) -> Policy:
    (folder / "adjudicators").mkdir(exist_ok=True)
    (folder / "adjudicators" / "mine.toml").write_text(text, encoding="utf-8")
    return load_policy(Catalog(folder), "mine")


def refused(folder: Path, text: str) -> str:
    with pytest.raises(UsageError) as error:
        policy(folder, text)
    return str(error.value)


@pytest.mark.parametrize("name", ["default", "release"])
def test_the_bundled_policies_load(name: str, tmp_path: Path) -> None:
    found = load_policy(Catalog(tmp_path), name)
    assert {"evidence", "functional", "coverage", "memory", "kernel", "slots"} <= set(found.rules)
    assert found.baseline_required is (name == "release")
    assert found.reconsider == ()


def test_the_commented_examples_of_the_release_policy_are_valid(tmp_path: Path) -> None:
    text = (bundled("adjudicators") / "release.toml").read_text(encoding="utf-8")
    keys = (
        "# [",
        "# threshold",
        "# reason",
        "# requires",
        "# who",
        "# expires",
        "# under_test",
        "# noted",
        "# gtt",
    )
    shown = "\n".join(line[2:] if line.startswith(keys) else line for line in text.split("\n"))
    found = policy(tmp_path, shown)
    assert [e.threshold for e in found.reconsider] == ["prose-rate"]
    assert found.roles == {"slot_context": "under_test", "plan": "noted"}


def test_a_policy_becomes_values(tmp_path: Path) -> None:
    found = policy(
        tmp_path, f'title = "Mine"\n{RULES}critical = false\n[identity]\nnoted = ["plan"]\n{ENTRY}'
    )
    assert found.title == "Mine"
    assert [(n, r.critical) for n, r in found.rules.items()] == [("functional", True), ("throughput", False)]
    assert vars(found.rules["throughput"].adjudicator)["margin"] == pytest.approx(0.04)
    assert found.roles == {"plan": "noted"}
    assert found.reconsider[0].expires == date(2026, 12, 31)
    assert found.reconsider[0].requires == ("functional", "throughput")


def test_digests_tell_which_files_judged(tmp_path: Path) -> None:
    found = policy(tmp_path, RULES)
    mine = (tmp_path / "adjudicators" / "mine.toml").read_bytes()
    assert found.digests["mine.toml"] == hashlib.sha256(mine).hexdigest()
    assert set(found.digests) == {"mine.toml", "functional.py", "throughput.py"}


def test_a_users_adjudicator_hides_the_bundled_one(tmp_path: Path) -> None:
    (tmp_path / "adjudicators").mkdir()
    (tmp_path / "adjudicators" / "functional.py").write_text(
        "from dataclasses import dataclass\n"
        "from soakproof.judge import Adjudicator\n"
        "@dataclass(frozen=True)\n"
        "class Mine(Adjudicator):\n"
        "    '''Is it mine?'''\n"
        "    shade: str = 'grey'\n"
        "    def judge(self, evidence, baseline):\n"
        "        return []\n",
        encoding="utf-8",
    )
    found = policy(tmp_path, '[adjudicator.functional]\nshade = "blue"\n')
    assert vars(found.rules["functional"].adjudicator) == {"shade": "blue"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "no adjudicator decides anything"),
        ("[adjudicator.functional]\ncritical = false\n", "no adjudicator decides anything"),
        ("[adjudicator.functonal]\n", "did you mean 'functional'?"),
        ('[adjudicator.functional]\nunknow = "5 %"\n', "did you mean 'unknown'?"),
        ('[adjudicator.functional]\nunknown = "five"\n', "expected a share"),
        ('[adjudicator.functional]\ncritical = "yes"\n', "expected true or false"),
        ('[adjudicator.functional]\nunknown = "500 %"\n', "unknown: expected 0 % to 100 %, found"),
        ("[adjudicator.functional]\nunknown = -1\n", "unknown: expected 0 % to 100 %"),
        ("[adjudicator.coverage]\ndecks = -5\n", "decks: expected 0 to 10000, found -5"),
        (f'title = "{"x" * 100_000}"\n{RULES}', "title: expected at most 200 characters"),
        (RULES + ENTRY.replace("prose-rate", "x" * 5000), "threshold: expected 1 to 1000 characters"),
        ('[adjudicator.memory]\nfloor = "18"\n', "expected a size with its unit"),
        (f"{RULES}[identity]\nnoted = ['modell']\n", "did you mean 'model'?"),
        (f"{RULES}[identity]\nnoted = ['plan']\nsame = ['plan']\n", "stands in two roles"),
        (f"{RULES}[baseline]\nrequire = true\n", "did you mean 'required'?"),
        (f"{RULES}[[reconsiderr]]\n", "unknown key"),
        (RULES + ENTRY + ENTRY, "reconsidered twice"),
        (RULES + ENTRY.replace("2026-12-31", '"2026-12-31"'), "a date without quotes"),
        (RULES + ENTRY.replace("2026-12-31", "2026-12-31T00:00:00Z"), "a date without quotes"),
        (
            RULES + ENTRY.replace("prose-rate", "isolation.foreign"),
            "only a raw threshold may be reconsidered",
        ),
        (RULES + ENTRY.replace('"throughput"', '"kernel"'), "'kernel' is no adjudicator of this policy"),
        (RULES + ENTRY + 'until = "ever"\n', "unknown key 'until'"),
        ("[adjudicator\n", "is not TOML"),
        (f"x{'.x' * 900} = 1\n", "is not TOML: nested deeper"),
    ],
)
def test_what_is_wrong_is_refused_by_name(text: str, told: str, tmp_path: Path) -> None:
    message = refused(tmp_path, text)
    assert told in message
    assert "mine.toml" in message
    assert len(message) < 600


@pytest.mark.parametrize("key", ["threshold", "reason", "requires", "who", "expires"])
def test_an_entry_without_one_of_its_keys_is_refused(key: str, tmp_path: Path) -> None:
    lines = [line for line in ENTRY.split("\n") if not line.startswith(f"{key} ")]
    assert f"{key} is missing" in refused(tmp_path, RULES + "\n".join(lines))
    empty = ENTRY.replace('["functional", "throughput"]', "[]").replace('"A. Keeper"', '""')
    assert "is missing" in refused(tmp_path, RULES + empty)


def test_an_unknown_policy_names_those_that_are_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"did you mean 'release'\?"):
        load_policy(Catalog(tmp_path), "relese")
