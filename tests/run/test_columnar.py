"""A run is the same however its files are cut into blocks; a record is read again as it was."""

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from rundirs import judgeable

from soakproof.errors import SoakproofError
from soakproof.records import Exchange, Failure, Opened
from soakproof.run import Loaded, columnar, decoding, load
from soakproof.testing.evidence import check, exchange, iteration, trace

RECORDED = Path(__file__).parent / "recorded"


def told(run: Loaded) -> list[object]:
    """All of a run, in an order that does not depend on how it was read."""
    tables = [
        (table.kind, {name: list(map(ordered, column)) for name, column in sorted(table.kept.items())})
        for table in run.tables
    ]
    readings = [(part.source, part.line.tolist(), list(part)) for part in run.readings]
    return [*map(repr, tables), *map(repr, readings), run.records, run.others, run.problems]


def ordered(value: object) -> object:
    """A set by its items, which have no order of their own."""
    return sorted(value) if isinstance(value, frozenset) else value


def damaged(run: Path) -> None:
    """Lines that are no records, in the middle and at the ends of files."""
    for name, at, line in (("exchanges", 3, b"{}\n"), ("checks", 0, b"\n"), ("iterations", 1, b"not JSON\n")):
        path = run / f"evidence/load/{name}.jsonl"
        lines = path.read_bytes().splitlines(keepends=True)
        path.write_bytes(b"".join([*lines[:at], line, *lines[at:]])[:-5])


@pytest.mark.parametrize("size", [1, 700, 5_000])
@pytest.mark.parametrize("is_damaged", [False, True])
def test_blocks_of_any_size_make_the_same_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int, is_damaged: bool
) -> None:
    run = tmp_path / "run"
    shutil.copytree(RECORDED, run)
    if is_damaged:
        damaged(run)
    whole = told(load(run))
    monkeypatch.setattr(decoding, "_AT_ONCE", size)
    assert told(load(run)) == whole
    assert ("line 4 is not a record" in str(whole[-1])) is is_damaged


def test_what_equals_a_failures_name_is_no_failure(tmp_path: Path) -> None:
    asked = exchange("load-0", role="stall", kind="stall")
    failed = exchange("load-1", at=1.0, role="stall", outcome="fail", failure=Failure.STALL, reason="stall")
    (table,) = (t for t in load(judgeable(tmp_path, asked, failed)).tables if t.kind is Exchange)
    assert [type(role) for role in table["role"].tolist()] == [str, str]
    assert table["failure"].tolist()[1] is Failure.STALL


def test_records_are_read_again_in_any_order(tmp_path: Path) -> None:
    made = [exchange(f"load-{n}", at=float(n), text="word " * n) for n in range(6)]
    run = load(judgeable(tmp_path, made, check("c"), iteration(), trace("memory", 6.0, free_bytes=1)))
    (table,) = (t for t in run.tables if t.kind is Exchange)
    rows = table.records
    assert list(rows) == made
    assert rows[-1] == made[-1]
    assert list(rows[1:5:2]) == made[1:5:2]
    assert list(table.take(np.array([4, 0, 4])).records) == [made[4], made[0], made[4]]
    assert [o.id for t in run.tables if t.kind is Opened for o in t.records] == [e.id for e in made]
    with pytest.raises(IndexError):
        rows[6]


@pytest.mark.parametrize("end", [b" \n", b"\r\n", b"\t\n"])
def test_white_space_at_the_end_of_a_line_is_read_again_as_it_was_read(tmp_path: Path, end: bytes) -> None:
    made = [exchange(f"load-{n}", at=float(n)) for n in range(3)]
    run = judgeable(tmp_path, made)
    file = run / "evidence/load/exchanges.jsonl"
    file.write_bytes(file.read_bytes().replace(b"\n", end))
    (table,) = (t for t in load(run).tables if t.kind is Exchange)
    assert list(table.records) == made


@pytest.mark.parametrize("change", ["other lines", "gone"])
def test_a_file_that_is_changed_while_it_is_judged_is_told(tmp_path: Path, change: str) -> None:
    run = load(judgeable(tmp_path, exchange("load-0"), exchange("load-1", at=1.0)))
    file = run.path / "evidence/load/exchanges.jsonl"
    (table,) = (t for t in run.tables if t.kind is Exchange)
    if change == "gone":
        file.unlink()
    else:
        file.write_bytes(b"x" * file.stat().st_size)
    with pytest.raises(SoakproofError, match="cannot be read again" if change == "gone" else "was changed"):
        list(table.records)


JOINED: dict[str, Callable[[list[bytes]], list[bytes]]] = {
    "two in a line, and a blank one": lambda ls: [ls[0][:-1] + ls[1], b"\n", *ls[2:]],
    "two in a line, and a blank one at the end": lambda ls: [ls[0][:-1] + ls[1], *ls[2:], b"\n"],
    "two with a CR between them": lambda ls: [ls[0][:-1] + b"\r" + ls[1], b"\n", *ls[2:]],
    "two in a line, one in two": lambda ls: [ls[0][:-1] + ls[1], *_split(ls[2]), *ls[3:]],
}


def _split(line: bytes) -> list[bytes]:
    head, mark, rest = line.partition(b",")
    return [head + mark + b"\n", rest]


@pytest.mark.parametrize("name", ["load/exchanges", "load/checks", "load/iterations", "watch/samples"])
@pytest.mark.parametrize("how", JOINED)
def test_each_line_is_one_record(tmp_path: Path, name: str, how: str) -> None:
    run = tmp_path / "run"
    shutil.copytree(RECORDED, run)
    path = run / f"evidence/{name}.jsonl"
    path.write_bytes(b"".join(JOINED[how](path.read_bytes().splitlines(keepends=True))))
    loaded = load(run)
    assert "is not a record" in str(loaded.problems)
    assert all(e.text is not None for t in loaded.tables if t.kind is Exchange for e in t.records)


def test_evidence_that_is_replaced_once_it_was_verified_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = judgeable(tmp_path, exchange("load-0", text="a"), exchange("load-1", at=1.0))
    file = run / "evidence/load/exchanges.jsonl"
    read = columnar.read_columns

    def replaced(path: Path, before: int) -> columnar.Read:
        if path == file:
            file.write_bytes(file.read_bytes().replace(b'"a"', b'"b"'))
        return read(path, before)

    monkeypatch.setattr(columnar, "read_columns", replaced)
    with pytest.raises(SoakproofError, match=r"exchanges\.jsonl was changed while it was read"):
        load(run)
