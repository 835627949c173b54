"""Lines of the kernel log in both their forms, and records that were lost between them."""

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from soakproof.watch.kernel_log import KmsgStream, Line, parse_journal, parse_kmsg


def test_kmsg_record() -> None:
    assert parse_kmsg(b"30,1234,950000048,c;systemd[1]: Started it; all of it.\n") == Line(
        message="systemd[1]: Started it; all of it.",
        sequence=1234,
        facility=3,
        level=6,
        monotonic_us=950000048,
    )


def test_kmsg_escapes_are_undone_and_control_characters_neutralised() -> None:
    line = parse_kmsg(b"4,1,2,-;amdgpu: \\x09 gr\\xc3\\xbc\\xc3\\x9fe \\x1b[31m\\x0a \\xff")
    assert line is not None
    assert line.message == "amdgpu: \t grüße  [31m  �"


@pytest.mark.parametrize(
    "record", [b"", b" SUBSYSTEM=pci", b"no semicolon", b"a,b,c,-;text", b"4,1;text", b";"]
)
def test_what_is_no_record(record: bytes) -> None:
    assert parse_kmsg(record) is None


def test_a_message_is_bounded() -> None:
    line = parse_kmsg(b"4,1,2,-;" + b"x" * 8000)
    assert line is not None
    assert len(line.message) == 2000


def test_journal_record() -> None:
    record = {
        "MESSAGE": "amdgpu 0000:c3:00.0: amdgpu: MODE2 reset",
        "SYSLOG_FACILITY": "0",
        "PRIORITY": "6",
        "_TRANSPORT": "kernel",
        "__MONOTONIC_TIMESTAMP": "950000048",
    }
    assert parse_journal(orjson.dumps(record)) == Line(
        message="amdgpu 0000:c3:00.0: amdgpu: MODE2 reset", facility=0, level=6, monotonic_us=950000048
    )
    as_bytes = parse_journal(orjson.dumps({**record, "MESSAGE": list(b"bad \xff byte")}))
    assert as_bytes is not None
    assert as_bytes.message == "bad � byte"
    assert parse_journal(orjson.dumps({**record, "MESSAGE": None})) is None
    assert parse_journal(b"-- No entries --") is None


def numbered(*sequences: int) -> bytes:
    return b"".join(b"4,%d,1,-;line %d\n" % (n, n) for n in sequences)


def lost(stream: KmsgStream, data: bytes) -> list[int]:
    return [gap for _, gap in stream.feed(data)]


def test_gaps_in_the_sequence_are_lost_records() -> None:
    stream = KmsgStream()
    assert lost(stream, numbered(10, 11, 12)) == [0, 0, 0]
    assert lost(stream, numbered(15)) == [2]
    assert lost(stream, numbered(15, 16)) == [0, 0]  # a record of several lines


def test_an_overrun_is_a_gap_even_before_the_first_record() -> None:
    stream = KmsgStream()
    stream.overrun()
    assert lost(stream, numbered(500)) == [1]
    stream.overrun()
    assert lost(stream, numbered(600, 601)) == [99, 0]


@given(st.lists(st.integers(1, 200), min_size=1, max_size=20), st.data())
def test_however_it_is_cut_the_same_lines_come_out(steps: list[int], data: st.DataObject) -> None:
    sequences = [sum(steps[: n + 1]) for n in range(len(steps))]
    text = numbered(*sequences)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    stream, found = KmsgStream(), []
    for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
        found += stream.feed(text[start:end])
    assert [line.sequence for line, _ in found] == sequences
    assert [gap for _, gap in found] == [0] + [step - 1 for step in steps[1:]]


@given(st.binary(max_size=300))
def test_any_bytes_are_survived(data: bytes) -> None:
    stream = KmsgStream()
    for line, gap in stream.feed(data + b"\n"):
        assert gap >= 0
        assert "\n" not in line.message
    parse_journal(data)
