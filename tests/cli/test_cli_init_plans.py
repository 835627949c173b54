"""`soakproof init` and `soakproof plans`."""

from pathlib import Path

import pytest
from cli_said import Command

from soakproof.catalog import bundled


def bundle(room: str, pattern: str) -> set[str]:
    return {p.name for p in bundled(room).glob(pattern)}


def test_init_copies_everything_that_a_user_edits(soakproof: Command, here: Path) -> None:
    said = soakproof("init", "mine")
    assert said.code == 0, said.err
    for room, pattern in (
        ("locustfiles", "*.py"),
        ("scenarios", "*.py"),
        ("scenarios", "*.toml"),
        ("scenarios/prompts", "*.txt"),
        ("adjudicators", "*.py"),
        ("adjudicators", "*.toml"),
    ):
        names = {p.name for p in (here / "mine" / room).glob(pattern)}
        assert names == bundle(room, pattern)
    assert bundle("scenarios", "*.py")
    assert bundle("adjudicators", "*.toml")
    assert not list((here / "mine").rglob("__pycache__"))
    assert "cd mine" in said.out


def test_what_was_copied_comes_first(soakproof: Command, here: Path) -> None:
    soakproof("init", ".", "--only", "scenarios")
    assert sorted(p.name for p in here.iterdir()) == ["scenarios"]
    path = here / "scenarios" / "isolation.py"
    path.write_text(path.read_text().replace('    """', '    """Mine: ', 1))
    said = soakproof("plans")
    (row,) = [line for line in said.out.splitlines() if line.startswith("isolation") and "Mine:" in line]
    assert row.rstrip().endswith("isolation.py")


def test_what_to_type_next_can_be_typed(soakproof: Command, here: Path) -> None:
    assert "next: cd 'a folder; rm x' && locust" in soakproof("init", "a folder; rm x").out
    assert "next: locust -f locustfiles/quick.py" in soakproof("init").out
    said = soakproof("init", "judges", "--only", "adjudicators", "--only", "scenarios")
    assert "next: cd judges && soakproof try isolation" in said.out
    assert (
        "next: cd policies && soakproof plans" in soakproof("init", "policies", "--only", "adjudicators").out
    )


def test_init_overwrites_nothing(soakproof: Command, here: Path) -> None:
    (here / "scenarios").mkdir()
    mine = here / "scenarios" / "isolation.py"
    mine.write_text("mine")
    said = soakproof("init")
    assert said.code == 64
    assert "scenarios/isolation.py" in said.err
    assert "nothing was copied" in said.err
    assert mine.read_text() == "mine"
    assert [p.name for p in here.iterdir()] == ["scenarios"]
    assert soakproof("init", "other").code == 0
    said = soakproof("init", "other")
    assert said.code == 64
    assert " more; nothing was copied" in said.err


def test_init_into_a_file_is_wrong_usage(soakproof: Command, here: Path) -> None:
    (here / "file").write_text("")
    assert soakproof("init", "file").code == 64
    said = soakproof("init", "file/inner")
    assert said.code == 64
    assert "cannot copy to file/inner" in said.err


def test_plans_lists_each_in_a_line(soakproof: Command, here: Path) -> None:
    said = soakproof("plans")
    assert said.code == 0
    lines = said.out.splitlines()
    for room in ("scenarios", "adjudicators"):
        for stem in (Path(name).stem for name in bundle(room, "*.py") | bundle(room, "*.toml")):
            assert any(line.split()[:1] == [stem] and "bundled" in line for line in lines), stem
    assert "cannot be read" not in said.out
    assert "does not say" not in said.out


def test_plans_lists_options(soakproof: Command, here: Path) -> None:
    (here / "scenarios").mkdir()
    (here / "scenarios" / "mine.py").write_text(
        "from soakproof.scenario import Scenario\nclass Mine(Scenario):\n"
        "    checks: ClassVar = ()\n    words: int = 7\n    limit: Seconds = Seconds(5)\n"
    )
    assert '  mine: words = 7, limit = "5s"' in soakproof("plans", "--options").out


@pytest.mark.parametrize(
    ("default", "shown"),
    [
        ("Bytes(512 * MIB)", '"512 MiB"'),
        ("Bytes(4 * GIB)", '"4 GiB"'),
        ("Seconds(0.5)", '"0.5s"'),
        ("Tokens(1200)", '"1200 tokens"'),
        ("Ratio(0.25)", '"25 %"'),
        ("True", "true"),
        ("-3", "-3"),
        ('("a", "b")', '["a", "b"]'),
        ("SERVERS", "SERVERS"),
        ("9**9**9**9", "9 ** 9 ** 9 ** 9"),
        ("open('/etc/passwd').read()", "open('/etc/passwd').read()"),
        ("LOOP", "LOOP"),
    ],
)
def test_defaults_are_shown_as_a_plan_writes_them(
    soakproof: Command, here: Path, default: str, shown: str
) -> None:
    (here / "adjudicators").mkdir()
    (here / "adjudicators" / "mine.py").write_text(
        "from elsewhere import SERVERS\nGIB, MIB = 2**30, 2**20\nLOOP = LOOP\n"
        f"class Mine(Adjudicator):\n    least: Bytes = {default}\n"
    )
    assert f"  mine: least = {shown}\n" in soakproof("plans", "--options").out


def test_files_of_ones_own_are_named_as_they_would_be_typed(soakproof: Command, here: Path) -> None:
    (here / "scenarios").mkdir()
    (here / "scenarios" / "mine.toml").write_text('title = "Mine"\n')
    (row,) = [line for line in soakproof("plans").out.splitlines() if line.startswith("mine ")]
    assert row.split() == ["mine", "Mine", "scenarios/mine.toml"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("broken.py", b"def oh(:\n"),
        ("binary.py", b"\x00\xff"),
        ("empty.py", b""),
        ("broken.toml", b"title = \n"),
        ("latin.toml", b'title = "\xe9"\n'),
        ("number.toml", b"title = 3\n"),
        ("deep.toml", b"a = " + b"[" * 5000),
        ("deep.py", b"(" * 5000),
        ("hostile.toml", b'title = "a\\u001b[31m\\u202eb"\n'),
    ],
)
def test_a_file_that_cannot_be_read_is_listed_as_that(
    soakproof: Command, here: Path, name: str, content: bytes
) -> None:
    (here / "scenarios").mkdir()
    (here / "scenarios" / name).write_bytes(content)
    said = soakproof("plans", "--options")
    assert said.code == 0
    (row,) = [line for line in said.out.splitlines() if line.startswith(Path(name).stem)]
    assert "bundled" not in row
    assert not {"\x1b", "\u202e"} & set(said.out)
