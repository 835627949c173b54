"""What is well-formed and makes no run is refused before it, in words; what is broken beside it is let be."""

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from soakproof.catalog import Catalog, digests
from soakproof.errors import UsageError
from soakproof.plan import Plan, load_plan

HEAD = "from dataclasses import dataclass\nfrom soakproof.scenario import *\n"
CLASS = f"{HEAD}@dataclass(frozen=True)\nclass Mine(Scenario):\n"
ITERATE = "    def iterate(self, it):\n        yield Ask('x')\n"


def read(folder: Path, text: str) -> Plan:
    (folder / "scenarios").mkdir(exist_ok=True)
    (folder / "mine.toml").write_text(text, encoding="utf-8")
    return load_plan(Catalog(folder), str(folder / "mine.toml"))


def refused(folder: Path, text: str) -> str:
    with pytest.raises(UsageError) as caught:
        read(folder, text)
    told = str(caught.value)
    assert "mine.toml" in told
    assert len(told) < 600
    return told


@pytest.mark.parametrize(
    "line",
    [
        *('duration = "0s"', 'duration = "999999999 h"', f'duration = "{"9" * 400} s"'),
        *("users = 0", "users = -1", "users = 100000", f"seed = {2**63}", f"seed = {10**30}", "seed = -1e3"),
        *('drain = "999999999 h"', 'bounds.connect = "0s"', 'bounds.total = "0s"', "bounds.total = inf"),
        *('bounds.between_tokens = "0s"', 'watch.interval = "0s"', 'watch.slots_every = "99999999 h"'),
        *(
            'watch.slots_every = "1s"',
            'watch.slots_every = "61s"',
            'watch.interval = "1h"',
            'duration = "0.9s"',
        ),
        *("kind.isolation.words = -1", "kind.isolation.words = 0", "kind.isolation.words = 1000000"),
        *('kind.isolation.with_secret = "500 %"', "kind.isolation.without_marker = -0.1"),
        *("kind.isolation.clients = 1000000", 'title = "\\u001b[31m"', f'title = "{"x" * 1000000}"'),
        *('kind.isolation.words = "many"', "kind.isolation = 5", f"x = {'[' * 2000}{']' * 2000}"),
    ],
)
def test_numbers_that_make_no_run(tmp_path: Path, line: str) -> None:
    assert refused(tmp_path, f"{line}\n[mix]\nisolation = 1\n")


@pytest.mark.parametrize(
    ("name", "that", "told"),
    [
        ("", "failed_checks count == 0", "name: expected 1 to 60 characters"),
        (" ", "failed_checks count == 0", "name: expected 1 to 60 characters"),
        ("\\u001b[31m", "failed_checks count == 0", "name: expected 1 to 60 characters"),
        ("a", "failed_exchanges share <= 500 %", "limit: expected 0 to 100 %, found '500 %'"),
        ("a", "failed_exchanges share <= -1 %", "limit: expected 0 to 100 %"),
        ("a", "failed_checks count >= -1", "limit: expected 0 or more"),
        ("a", "(" * 100_000, "that: expected 1 to 300 characters on one line, found 100000: '((("),
    ],
)
def test_thresholds_that_mean_nothing(tmp_path: Path, name: str, that: str, told: str) -> None:
    text = f'[mix]\nisolation = 1\n[[threshold]]\nname = "{name}"\nthat = "{that}"\n'
    assert told in refused(tmp_path, text)


def test_what_is_wrong_in_a_table_is_told_by_its_key(tmp_path: Path) -> None:
    told = refused(tmp_path, "[mix]\nstructured_json = 1\nisolation = 0.5\n")
    assert "mix: isolation: expected a whole number, found a number: 0.5" in told
    told = refused(tmp_path, '[mix]\nisolation = 1\n[threshold]\nname = "a"\n')
    assert "threshold: expected a list, found a table" in told
    assert "write [[threshold]] above each" in told


def test_a_watch_that_cannot_keep_up_is_refused_and_the_fastest_is_not(tmp_path: Path) -> None:
    plan = '[mix]\nisolation = 1\n[watch]\ninterval = "{}s"\n'
    told = refused(tmp_path, plan.format("0.01"))
    assert "watch: interval: expected 0.05 s or more, found 0.01 s" in told
    assert read(tmp_path, plan.format("0.05")).watch.interval == 0.05


def test_a_folder_is_no_plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "plans.toml").mkdir()
    monkeypatch.chdir(tmp_path)
    for name in (str(tmp_path), str(tmp_path / "plans.toml"), "plans.toml", "."):
        with pytest.raises(UsageError, match="is a folder"):
            load_plan(Catalog(tmp_path), name)


@pytest.mark.parametrize("name", Catalog(Path("/nowhere")).files("scenarios", ".py"))
def test_every_number_that_a_plan_may_set_has_a_range(name: str) -> None:
    assert numbers_without_range(Catalog(Path("/nowhere")).scenario(name)) == []


@pytest.mark.parametrize("name", Catalog(Path("/nowhere")).files("adjudicators", ".py"))
def test_every_number_that_a_policy_may_set_has_a_range(name: str) -> None:
    assert numbers_without_range(Catalog(Path("/nowhere")).adjudicator(name)) == []


def numbers_without_range(kind: Any) -> list[str]:
    """Options whose default is in no range, and ranges of what is no option."""
    options = {field.name: field.default for field in dataclasses.fields(kind)}
    numbers = {n: v for n, v in options.items() if isinstance(v, (int, float)) and not isinstance(v, bool)}
    odd = set(numbers) ^ set(kind.ranges)
    odd |= {name for name, (least, most) in kind.ranges.items() if not least <= options[name] <= most}
    return sorted(odd)


@pytest.mark.parametrize("name", ["", "../isolation", "a b", "a.b", "a\\nb", "\\u001b[2J", "x" * 100])
def test_names_that_no_kind_has(tmp_path: Path, name: str) -> None:
    told = refused(tmp_path, f'[mix]\n"{name}" = 1\n[kind."{name}"]\nscenario = "isolation"\n')
    assert "is no name of a kind" in told
    assert "\x1b" not in told


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("import sys; sys.exit(0)", "SystemExit"),
        ("1/0", "ZeroDivisionError"),
        ("def (", "SyntaxError"),
        ("\0", "cannot be loaded"),
        ("(" * 500, "cannot be loaded"),
        (HEAD, "must define one Scenario; it defines none"),
        (f"{CLASS}{ITERATE}{CLASS.replace('Mine', 'Other')}{ITERATE}", "it defines Mine, Other"),
        (CLASS + ITERATE.replace("iterate", "iterat"), "defines no method iterate\n  did you mean 'iterat'?"),
        (f"{CLASS}    pass\n", "defines no method iterate"),
        (f"{CLASS}    size: 'Nope' = 1\n{ITERATE}", "NameError"),
        (f"{CLASS}{ITERATE}    def __post_init__(self): raise KeyError('a')\n", "KeyError"),
        (f"{CLASS}{ITERATE}    def __post_init__(self): raise ValueError('too small')\n", "too small"),
        (f"{CLASS}    checks = 'echo.exact'\n{ITERATE}", "checks: expected a tuple"),
        (f"{CLASS}    checks = (1,)\n{ITERATE}", "checks: expected a tuple"),
        (f"{CLASS}    width = '2'\n{ITERATE}", "width: expected a whole number"),
        (f"{CLASS}    width = 0\n{ITERATE}", "width: expected a whole number"),
        (f"{CLASS}{ITERATE}    width = property(lambda self: 1 / 0)\n", "width: ZeroDivisionError"),
    ],
)
def test_scenarios_that_are_none(tmp_path: Path, source: str, told: str) -> None:
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "scenarios" / "own.py").write_text(source)
    assert told in refused(tmp_path, "[mix]\nown = 1\n")


@pytest.mark.parametrize("name", ["x" * 5000, "x" * 5000 + ".toml", "a\0.toml", "\x1b[2J", ""])
def test_names_that_no_plan_has(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match=r"no plan is called|no such file") as caught:
        load_plan(Catalog(tmp_path), name)
    assert len(str(caught.value)) < 400
    assert "\x1b" not in str(caught.value)


def test_a_broken_file_beside_a_plan_breaks_nothing_else(tmp_path: Path) -> None:
    folder = tmp_path / "scenarios"
    (folder / "prompts" / "folder.txt").mkdir(parents=True)
    (folder / "broken.py").write_text("def (")
    (folder / "broken.toml").write_bytes(b"\xff\xfe")
    (folder / "folder.py").mkdir()
    (folder / "folder.toml").mkdir()
    (folder / "nowhere.py").symlink_to(tmp_path / "gone")
    (folder / "prompts" / "nowhere.txt").symlink_to(tmp_path / "gone")
    (folder / "prompts" / "binary.txt").write_bytes(b"a\xff\n\nb")
    catalog = Catalog(tmp_path)
    assert read(tmp_path, "[mix]\nisolation = 1\n").kinds
    corpora = catalog.corpora()
    assert corpora["places"]
    assert corpora["binary"] == ("a\ufffd", "b")
    assert not {"folder", "nowhere"} & (corpora.keys() | catalog.files("scenarios", ".py").keys())
    assert digests([folder / "nowhere.py", folder / "broken.py"]).keys() == {"broken.py"}
