"""A server's own log: which lines are kept, and a file that is rotated, flooded, torn or full of rubbish."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from soakproof.watch.catalogue import Signature
from soakproof.watch.log_tail import LINE_BYTES, Lines, Tail
from soakproof.watch.server_catalogue import load_server_catalogue
from soakproof.watch.server_log import KEPT, ServerLog, server_logs
from soakproof.watch.source import Happening, Reading, read_bounded

CATALOGUE = load_server_catalogue()
EXAMPLES = [(s, example) for s in CATALOGUE.signatures for example in s.examples]
LOST = b"terminate called after throwing an instance of 'vk::DeviceLostError'\n"


@pytest.mark.parametrize(("signature", "example"), EXAMPLES, ids=[f"{s.id}-{e[:40]}" for s, e in EXAMPLES])
def test_each_example_has_its_own_signature_and_no_other(signature: Signature, example: str) -> None:
    text = CATALOGUE.without_head(example)
    assert [s.id for s in CATALOGUE.signatures if s.pattern.match(text)] == [signature.id]


@pytest.mark.parametrize("line", CATALOGUE.benign)
def test_look_alikes_are_harmless(line: str) -> None:
    assert CATALOGUE.match(line) is None


def test_the_catalogue_is_whole() -> None:
    assert len({s.id for s in CATALOGUE.signatures}) == len(CATALOGUE.signatures)
    assert all(s.examples and s.what and s.fault_class for s in CATALOGUE.signatures)
    assert {s.severity for s in CATALOGUE.signatures} == {"fail", "warn"}


def test_what_others_put_before_a_line_is_not_part_of_it() -> None:
    text = "CUDA error: out of memory"
    for head in (
        "",
        "llamacpp  | ",
        "Sep 13 22:23:00 halo lemond[812]: ",
        "2026-09-13T22:23:00.123456+02:00 halo lemond[812]: ",
        "2026-09-13 22:23:00.001 [Info] (Process) 0.54.236.075 E ",
        "[56285] 1148.24.913.094 E ",
    ):
        assert CATALOGUE.without_head(f"{head}{text}") == text
    assert CATALOGUE.without_head(f"\x1b[31mE \x1b[0m{text}") == f"E {text}"


def test_a_quoted_fault_is_none() -> None:
    for signature, example in EXAMPLES:
        quoted = f'srv  log_server_r: request:  {{"content":"{example}"}}'
        assert CATALOGUE.match(quoted) is None, signature.id


@pytest.fixture
def file(tmp_path: Path) -> Path:
    log = tmp_path / "llama.log"
    log.write_bytes(b"from before: " + LOST + LOST)
    return log


def append(file: Path, data: bytes) -> None:
    with file.open("ab") as out:
        out.write(data)


def test_what_was_there_before_does_not_count_and_what_comes_does(file: Path) -> None:
    tail = Tail(file)
    assert tail.read() == []
    append(file, b"one\r\ntwo\nthr")
    assert tail.read() == [b"one", b"two"]
    append(file, b"ee\n")
    assert tail.read() == [b"three"]
    assert (tail.tally.lines, tail.tally.read_bytes, tail.tally.skipped_bytes) == (3, 15, 0)


def test_a_file_that_comes_later_is_read_from_its_beginning(tmp_path: Path) -> None:
    tail = Tail(tmp_path / "llama.log")
    with pytest.raises(FileNotFoundError):
        tail.read()
    (tmp_path / "llama.log").write_bytes(b"first\n")
    assert tail.read() == [b"first"]


def test_a_renamed_file_is_read_to_its_end_and_its_successor_from_its_beginning(file: Path) -> None:
    tail = Tail(file)
    tail.read()
    append(file, b"last of the old\ntorn")
    file.rename(file.with_suffix(".1"))
    assert tail.read() == [b"last of the old"]  # nobody has made a new one yet
    file.write_bytes(b"first of the new\n")
    assert tail.read() == [b"torn", b"first of the new"]
    assert tail.tally.replaced == 1
    tail.close()


def test_a_successor_that_cannot_be_read_costs_no_line_of_the_old_file(file: Path) -> None:
    tail = Tail(file)
    tail.read()
    append(file, b"last of the old\n")
    file.rename(file.with_suffix(".1"))
    file.mkdir()
    assert tail.read() == [b"last of the old"]
    with pytest.raises(OSError, match="no regular file"):
        tail.read()
    file.rmdir()
    file.write_bytes(b"first of the new\n")
    assert tail.read() == [b"first of the new"]


def test_a_file_that_was_cut_off_is_read_from_its_beginning(file: Path) -> None:
    tail = Tail(file)
    tail.read()
    append(file, b"no end")
    tail.read()
    with file.open("wb") as out:
        out.write(b"anew\n")
    assert tail.read() == [b"no end", b"anew"]
    assert tail.tally.replaced == 1


def test_a_file_that_was_cut_off_and_has_grown_beyond_is_read_from_its_beginning(file: Path) -> None:
    tail = Tail(file)
    tail.read()
    file.write_text("GGML_ASSERT failed\n" + "more\n" * 200)
    assert tail.read() == [b"GGML_ASSERT failed", *[b"more"] * 200]
    assert tail.tally.replaced == 1


def test_a_flood_loses_its_middle_and_says_how_much(file: Path) -> None:
    tail = Tail(file, read_bytes=1000)
    tail.read()
    append(file, b"x" * 99 + b"\n" + b"y" * 9_900 + b"\n" + b"the newest\n")
    assert tail.read() == [b"the newest"]  # the end of the cut line is no line
    assert tail.tally.skipped_bytes == 100 + 9_901 + 11 - 1000


def test_a_line_without_an_end_is_cut_and_told_once(file: Path) -> None:
    tail = Tail(file)
    tail.read()
    for _ in range(4):
        append(file, b"z" * 500_000)
        assert tail.read() == []
    assert tail.read() == [b"z" * LINE_BYTES]
    assert tail.read() == []
    append(file, b"z" * 10 + b"\nnext\n")
    assert tail.read() == [b"next"]


def test_a_process_that_died_in_mid_line_is_heard(file: Path) -> None:
    async def looks() -> list[Happening]:
        source, found = ServerLog(str(file)), []
        for data in (b"", LOST.rstrip(), b""):
            append(file, data)
            found += [h for h in await source.read() if isinstance(h, Happening)]
        return found

    (event,) = trio.run(looks)
    assert event.details["fault_class"] == "device_lost"


@given(st.lists(st.binary(max_size=40), max_size=30))
def test_pieces_give_the_same_lines_as_the_whole(pieces: list[bytes]) -> None:
    lines = Lines()
    found = [line for piece in pieces for line in lines.feed(piece)]
    assert found == [line.rstrip(b"\r") for line in b"".join(pieces).split(b"\n")[:-1]]


@given(st.binary(max_size=4000))
def test_any_bytes_are_a_line(data: bytes) -> None:
    CATALOGUE.match(data.decode("utf-8", "replace"))


def look(source: ServerLog) -> tuple[Reading, list[Happening]]:
    found: Sequence[Reading | Happening] = trio.run(read_bounded, source)
    *happened, reading = found
    assert isinstance(reading, Reading)
    return reading, [h for h in happened if isinstance(h, Happening)]


def test_only_lines_with_a_signature_are_events(file: Path) -> None:
    source = ServerLog(str(file), "server_log:llama.log")
    reading, happened = look(source)
    assert (reading.state, happened) == ("value", [])
    append(
        file, b"srv  update_slots: all slots are idle\n\xff\xfe\x00\x1b[2J rubbish\n1.02.003.004 E " + LOST
    )
    reading, (event,) = look(source)
    assert event.what == "server_log"
    assert event.details == {
        "source": "server_log:llama.log",
        "signature": "V1",
        "fault_class": "device_lost",
        "severity": "fail",
        "message": "terminate called after throwing an instance of 'vk::DeviceLostError'",
    }
    assert (reading.values["lines"], reading.values["matched"]) == (3, 1)


def test_a_storm_of_one_signature_leaves_room_for_another(file: Path) -> None:
    source = ServerLog(str(file))
    look(source)
    append(file, b"ggml_vulkan: Failed to allocate pinned memory.\n" * 3000 + LOST)
    reading, happened = look(source)
    assert reading.values["matched"] == 3001
    assert [h.details["signature"] for h in happened] == ["M5"] * KEPT + ["V1"]


def test_a_key_in_a_line_stays_out(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THE_KEY", "sk-0123456789")
    (source,) = server_logs([str(file)], "THE_KEY")
    look(source)
    append(file, b"terminate called after throwing an instance of 'x' for sk-0123456789\n")
    _, (event,) = look(source)
    assert "0123456789" not in event.details["message"]


LOOK = """
import os, sys, trio
from soakproof.watch.server_log import ServerLog
if os.geteuid() == 0:  # root may read everything
    os.setuid(65534)
(reading,) = trio.run(ServerLog(sys.argv[1]).read)
print(reading.state, reading.reason)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX permissions")
def test_a_log_that_may_not_be_read(file: Path) -> None:
    file.chmod(0)
    ran = subprocess.run([sys.executable, "-c", LOOK, str(file)], check=False, capture_output=True, text=True)
    assert ran.stdout.startswith("denied"), ran.stderr
    assert "a user who may read it" in ran.stdout


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs FIFOs")
def test_what_is_no_file_does_not_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    assert look(ServerLog(str(tmp_path / "fifo")))[0].reason.endswith("it is no regular file")
    assert look(ServerLog(str(tmp_path)))[0].state == "error"
    missing, _ = look(ServerLog(str(tmp_path / "none")))
    assert (missing.state, "No such file" in missing.reason) == ("error", True)


def test_names_of_sources_are_those_of_the_files_each_once() -> None:
    named = server_logs(["/a/engine.log", "/b/engine.log", "/c/gateway.log"], "")
    assert [source.name for source in named] == [
        "server_log:engine.log",
        "server_log:engine.log-2",
        "server_log:gateway.log",
    ]
