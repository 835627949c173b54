"""What the pages tell a reader to type works: marked commands are run, and the example files are used."""

import json
import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from pages import DOCS, PAGES, ROOT, blocks
from reader import Reader

from soakproof.testbed.launch import Testbed

NAMES = ("tutorial", "scenarios", "adjudicators", "lemonade", "verdicts", "plants", "comparing", "decisions")
FOLLOWED = [ROOT / "README.md", *(DOCS / f"{name}.md" for name in NAMES)]


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory, testbed: Testbed) -> Reader:
    """One reader, who has read the README."""
    one = Reader(tmp_path_factory.mktemp("reader"), testbed.url, testbed.backend_url)
    follow(one, ROOT / "README.md")
    return one


def follow(reader: Reader, page: Path) -> int:
    """Do what a page says, from top to bottom, once; how many blocks were commands to run."""
    if page in reader.followed:
        return reader.followed[page]
    told: Counter[str] = Counter()
    run = 0
    for block in blocks(page):
        if block.file:
            reader.write(block)
        elif block.tested and not block.after_a_kill:
            reader.follow(block, told)
            run += 1
    reader.followed[page] = run
    return run


@pytest.mark.parametrize("page", FOLLOWED, ids=lambda page: page.name)
def test_what_it_says_works(reader: Reader, page: Path) -> None:
    assert follow(reader, page)


def test_the_second_soak_is_compared_with_the_first(reader: Reader) -> None:
    follow(reader, DOCS / "tutorial.md")
    files = (reader.folder / "runs").glob("*/verdicts/*/verdict.json")
    compared = [v for v in (json.loads(f.read_text()) for f in files) if v["baseline"]]
    first = min(p.name for p in (reader.folder / "runs").iterdir())
    assert {v["baseline"] for v in compared} == {first}
    beside = [f for v in compared for f in v["findings"] if f["adjudicator"] == "identity"]
    assert {f["outcome"] for f in beside} == {"PASS"}, beside


def test_the_example_adjudicator_has_judged(reader: Reader) -> None:
    follow(reader, DOCS / "adjudicators.md")
    verdict = max((reader.folder / "runs").glob("*/verdicts/*-mine/verdict.json"))
    judged = [f for f in json.loads(verdict.read_text())["findings"] if f["adjudicator"] == "patience"]
    assert {f["subject"] for f in judged} >= {"isolation"}  # a kind of every plan that the pages run
    assert "ERROR" not in {f["outcome"] for f in judged}


def test_the_examples_are_tested_as_the_pages_say(reader: Reader) -> None:
    files = [block for page in FOLLOWED for block in blocks(page) if block.file]
    for block in files:
        reader.write(block)
    tests = [str(block.file) for block in files if str(block.file).startswith("test_")]
    assert tests == ["test_recall.py", "test_patience.py", "test_columns.py"]
    assert reader.run(["pytest", "-q", *tests]) == 0, reader.said


def test_a_killed_soak_is_recovered_as_it_says(reader: Reader) -> None:
    reader.kill_a_soak()
    after = [block for block in blocks(DOCS / "tutorial.md") if block.after_a_kill]
    assert reader.run(["soakproof", "adjudicate", "latest"]) == 64
    for block in after:
        reader.follow(block, Counter())
    assert after
    assert "INCONCLUSIVE" in reader.said


def test_the_pid_that_is_to_be_killed_is_where_it_says(reader: Reader) -> None:
    """The kill itself is another test's; here its `grep`, over the runs that the reader has."""
    follow(reader, DOCS / "tutorial.md")
    (look,) = [
        line
        for block in blocks(DOCS / "tutorial.md")
        for line in block.text.splitlines()
        if line.startswith("grep ")
    ]
    done = subprocess.run(["sh", "-c", look], cwd=reader.folder, capture_output=True, text=True, check=True)
    assert re.search(r'"backend_pid": \d+', done.stdout)


def test_an_unseen_mark_would_not_go_unnoticed() -> None:
    assert {page for page in PAGES if any(block.mark for block in blocks(page))} == set(FOLLOWED)
    marks = {block.mark for page in FOLLOWED for block in blocks(page) if block.mark}
    wrong = [mark for mark in marks if not mark.startswith("file: ") and not mark.startswith("test")]
    assert not wrong
