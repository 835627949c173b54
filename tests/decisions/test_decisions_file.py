"""The file of decisions: what is written is read again, by two at once, and what is damaged is told."""

import os
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soakproof.decisions import DECISIONS, Entry, RunTold, VerdictTold, add_entry, against, read_entries
from soakproof.decisions.file import _parsed
from soakproof.decisions.locking import alone
from soakproof.decisions.written import HEAD, written
from soakproof.errors import RecorderError, UsageError
from soakproof.plain import plain

WHEN = datetime(2026, 8, 28, 9, tzinfo=UTC)
texts = st.text(max_size=30).map(plain)
entries = st.builds(
    Entry,
    candidate=st.sampled_from(["a", "7b-Q8_0", "x.y"]),
    at=st.integers(0, 10**9).map(lambda s: WHEN + timedelta(seconds=s)),
    who=texts,
    decision=st.sampled_from(DECISIONS),
    changed=texts.filter(str.strip),
    reason=texts,
    release=texts,
)


def entry(name: str = "one", **more) -> Entry:
    return Entry(candidate=name, at=WHEN, who="keeper", decision="pending", changed="new", **more)


def run(*outcomes: tuple[str, str]) -> RunTold:
    verdicts = [
        VerdictTold(entry=f"{n}-{policy}", policy=policy, outcome=outcome, sha256="a")
        for n, (policy, outcome) in enumerate(outcomes, 1)
    ]
    return RunTold(run="r", seal="s", raw="clean", verdict=tuple(verdicts))


@given(st.lists(entries, max_size=4), texts)
def test_what_is_written_is_read(made: list[Entry], extra: str) -> None:
    text = HEAD + "".join(map(written, made)) + f"# {extra.replace(chr(0x7F), '')}"
    assert _parsed(Path("x.toml"), text) == tuple(made)


def test_runs_and_verdicts_are_read_as_they_were_written() -> None:
    made = entry(run=(run(("default", "PASS"), ("release", "FAIL")), run()))
    again = _parsed(Path("x.toml"), written(made))
    assert again == (entry(run=made.run),)


def test_an_entry_is_added_at_the_end_and_nothing_before_it_is_changed(tmp_path: Path) -> None:
    file, link = tmp_path / "d.toml", tmp_path / "link.toml"
    add_entry(file, lambda there: entry())
    file.write_text(f"{file.read_text()}# a remark of my own")
    file.chmod(0o640)
    before = file.read_text()
    link.symlink_to(file.name)
    add_entry(link, lambda there: entry("two"))
    assert file.read_text().startswith(f"{before}\n")
    assert link.is_symlink()
    assert file.stat().st_mode & 0o777 == 0o640
    assert [one.candidate for one in read_entries(link)] == ["one", "two"]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["d.toml", "link.toml"]


def test_two_writers_at_once_lose_nothing(tmp_path: Path) -> None:
    file = tmp_path / "d.toml"
    names = [[f"{writer}-{n}" for n in range(6)] for writer in "ab"]

    def write(mine: list[str]) -> None:
        for name in mine:
            add_entry(file, lambda there, name=name: entry(name))

    writers = [threading.Thread(target=write, args=(mine,)) for mine in names]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert sorted(one.candidate for one in read_entries(file)) == sorted(names[0] + names[1])


def test_a_lock_that_somebody_left_holds_nobody_and_one_that_is_held_does(tmp_path: Path) -> None:
    file = tmp_path / "d.toml"
    (tmp_path / ".d.toml.lock").touch()
    add_entry(file, lambda there: entry())
    held = pytest.raises(RecorderError, match="another process has been writing")
    with alone(file), held, alone(file, patience_s=0.0):
        pass


def test_what_is_refused_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / "d.toml"
    add_entry(file, lambda there: entry())
    before = file.read_bytes()
    with pytest.raises(UsageError):
        add_entry(file, lambda there: entry("not a name"))
    assert file.read_bytes() == before
    assert os.listdir(tmp_path) == ["d.toml"]


GOOD = written(entry())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{GOOD}<<<<<<< HEAD\n", "is not TOML: .*line 8"),
        (GOOD + GOOD.replace("pending", "perhaps"), "entry 2, line 9: decision: .*perhaps"),
        (GOOD.replace("reason", "x").replace("who", "whom"), "entry 1, line 2: unknown key 'whom'"),
        (GOOD.replace("T09:00:00Z", "T09:00:00"), "at: expected a time with its zone"),
        (GOOD.replace("at = 2026-08-28T09:00:00Z", 'at = "soon"'), "entry 1, line 2"),
        (GOOD.replace('changed = "new"\n', ""), "the first entry of one has to say what changed"),
        (GOOD.replace('"one"', '"o ne"'), "candidate: no name: 'o ne'"),
        (GOOD.replace("entry", "entrie"), "unknown key 'entrie'.*\n.*'entry'"),
        ("entry = 5", "entry"),
        ("[[entry]]\n[entry.run]\n", "entry 1, line 1"),
        (f"{GOOD}# \udcff", "line 8 is not UTF-8"),
        ("\x00", "is not TOML"),
        (f"x{'.x' * 900} = 1\n", "is not TOML: nested deeper"),
    ],
)
def test_damage_is_told_with_its_place(tmp_path: Path, text: str, expected: str) -> None:
    file = tmp_path / "d.toml"
    file.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(UsageError, match=expected):
        read_entries(file)
    with pytest.raises(UsageError):
        add_entry(file, lambda there: entry("two"))
    assert file.read_bytes() == text.encode("utf-8", "surrogateescape")


def test_odd_paths_are_told(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    for path, expected in (
        (tmp_path, "is no file"),
        (tmp_path / "gone.toml", "there is no"),
        (tmp_path / "a\0b", "null"),
        (tmp_path / "loop", "cannot read|loop|there is no"),
        (tmp_path / ("x" * 300), "too long"),
    ):
        with pytest.raises(UsageError, match=expected):
            read_entries(path)
    with pytest.raises(UsageError, match="there is no folder"):
        add_entry(tmp_path / "gone" / "d.toml", lambda there: entry())


@pytest.mark.parametrize(
    ("decision", "runs", "expected"),
    [
        ("promoted", [run(("release", "PASS"))], []),
        ("promoted", [run(("release", "FAIL"))], ["release of r is FAIL"]),
        ("promoted", [run(("release", "FAIL"), ("release", "PASS"))], []),
        ("promoted", [run(("release", "FAIL"), ("lenient", "PASS"))], ["release of r is FAIL"]),
        ("promoted", [run()], ["r was not judged"]),
        ("promoted", [], ["no run stands for it"]),
        ("rejected", [run(("release", "PASS"))], ["every verdict is PASS"]),
        ("rejected", [run(("release", "FAIL"))], []),
        ("failed", [], []),
        ("specialist", [run(("release", "FAIL"))], []),
        ("pending", [run(("release", "FAIL"))], []),
    ],
)
def test_what_a_decision_is_against(decision, runs, expected) -> None:
    assert against(decision, runs) == expected
