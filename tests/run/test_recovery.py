"""What a crash leaves is kept, sealed and marked as recovered."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rundirs import begun, event, orphaned, sealed

from soakproof.errors import UsageError
from soakproof.records import Event
from soakproof.run import SEAL, being_written, load, read_records, recover, verify, write_atomic

_WRITER = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])  # tests/
from rundirs import begun
run = begun(Path(sys.argv[1]), "load", records=50)
file = (run.path / "evidence/load/events.jsonl").open("ab", buffering=0)
file.write(b'{"record":"event","node":"lo')
print(run.path, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def abandoned(tmp_path: Path) -> Path:
    """A run whose writer was killed in the middle of a line."""
    command = [sys.executable, "-c", _WRITER, str(tmp_path), str(Path(__file__).parent.parent)]
    writer = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert writer.stdout is not None
    path = Path(writer.stdout.readline().strip())
    assert being_written(path)
    os.kill(writer.pid, signal.SIGKILL)
    writer.communicate()
    return path


def test_a_killed_writer_leaves_its_records_and_a_torn_tail(abandoned: Path) -> None:
    assert not being_written(abandoned)
    loaded = load(abandoned)
    assert len(loaded.records) == 50
    assert loaded.problems == ("evidence/load/events.jsonl: line 51 is torn (28 bytes without an end)",)
    assert loaded.raw is None
    assert not loaded.seal.sealed


def test_recovering_moves_the_tail_and_seals(abandoned: Path) -> None:
    done = recover(abandoned)
    assert done == [
        "evidence/load/events.jsonl: 28 torn bytes moved to events.jsonl.torn",
        "evidence/load: sealed",
        f"{abandoned.name}: sealed as recovered",
    ]
    state = verify(abandoned)
    assert state.recovered
    assert state.problems == ()
    assert (abandoned / "evidence/load/events.jsonl.torn").read_bytes() == b'{"record":"event","node":"lo'
    loaded = load(abandoned)
    assert len(loaded.records) == 50
    assert loaded.problems == ()
    assert loaded.raw is None  # a run that was not there to judge itself is not judged for it


@pytest.mark.parametrize("damaged", ["", "garbage", "[]"])
def test_a_raw_result_that_cannot_be_read_is_kept_and_is_none(abandoned: Path, damaged: str) -> None:
    (abandoned / "raw.json").write_text(damaged)
    assert recover(abandoned)[0] == "raw.json: cannot be read, and is kept as raw.json.damaged"
    assert (abandoned / "raw.json.damaged").read_text() == damaged
    assert verify(abandoned).problems == ()
    assert load(abandoned).raw is None


def test_recovering_twice_does_nothing_more(abandoned: Path) -> None:
    recover(abandoned)
    before = (abandoned / SEAL).read_bytes()
    assert recover(abandoned) == []
    assert (abandoned / SEAL).read_bytes() == before


def test_a_sealed_run_is_left_alone(tmp_path: Path) -> None:
    run = sealed(tmp_path)
    assert recover(run) == []
    assert not verify(run).recovered


def test_a_sealed_node_keeps_its_own_seal(tmp_path: Path) -> None:
    run = begun(tmp_path, "load", "watch")
    run.writer("watch").seal()
    own = (run.path / "evidence/watch/SEAL").read_bytes()
    orphaned(run.path)
    recover(run.path)
    assert (run.path / "evidence/watch/SEAL").read_bytes() == own
    assert verify(run.path).problems == ()


def test_a_run_that_is_being_written_is_refused(tmp_path: Path) -> None:
    run = begun(tmp_path)
    with pytest.raises(UsageError, match="still being written"):
        recover(run.path)
    assert not (run.path / SEAL).exists()


def test_a_pid_that_was_used_again_is_another_writer(tmp_path: Path) -> None:
    run = begun(tmp_path)
    orphaned(run.path)
    write_atomic(run.path / ".writer", b'{"pid": %d, "created": 1.0}' % os.getpid())
    assert not being_written(run.path)
    recover(run.path)
    assert verify(run.path).recovered


_NODE = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])  # tests/
from rundirs import event
from soakproof.errors import RecorderError
from soakproof.run import NodeWriter
writer = NodeWriter(Path(sys.argv[1]), "watch")
writer.write(event(1, "watch"))
print("up", flush=True)
sys.stdin.readline()
for late in (lambda: writer.write(event(2, "watch")), writer.seal):
    try:
        late()
    except RecorderError as error:
        print(error, flush=True)
"""


@pytest.fixture
def stopped_node(tmp_path: Path) -> Iterator[tuple[Path, "subprocess.Popen[str]"]]:
    """A run whose own process is gone, and whose watch is still there, stopped."""
    path = orphaned(begun(tmp_path, "load").path)
    command = [sys.executable, "-c", _NODE, str(path), str(Path(__file__).parent.parent)]
    node = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert node.stdout is not None
    assert node.stdout.readline() == "up\n"
    node.send_signal(signal.SIGSTOP)
    yield path, node
    node.kill()
    node.communicate()


def test_a_run_is_not_recovered_while_a_stopped_process_holds_a_node(
    stopped_node: tuple[Path, "subprocess.Popen[str]"],
) -> None:
    path, node = stopped_node
    with pytest.raises(UsageError, match=f"process {node.pid}, which that left behind, holds evidence/watch"):
        recover(path)
    assert not list(path.rglob(SEAL))
    node.kill()
    node.wait()
    assert recover(path)[-1] == f"{path.name}: sealed as recovered"
    assert verify(path).problems == ()


def test_a_writer_that_wakes_leaves_a_node_that_was_sealed_meanwhile(
    stopped_node: tuple[Path, "subprocess.Popen[str]"],
) -> None:
    """Somebody who cannot see its process, on another host say, may have sealed it."""
    path, node = stopped_node
    orphaned(path)
    recover(path)
    node.send_signal(signal.SIGCONT)
    told, _ = node.communicate("go on\n")
    assert told.count("was sealed by another process") == 2
    assert verify(path).problems == ()


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b'{"pid": "x"}', b"\xff"])
def test_a_lock_that_says_nothing_holds_nobody(tmp_path: Path, content: bytes) -> None:
    run = begun(tmp_path)
    orphaned(run.path)
    (run.path / ".writer").write_bytes(content)
    assert not being_written(run.path)


def test_a_file_elsewhere_that_a_run_links_to_is_not_cut(tmp_path: Path) -> None:
    """A torn tail is moved aside; that of somebody's own file, put there by a link, is not."""
    elsewhere = tmp_path / "notes.jsonl"
    elsewhere.write_bytes(b"first\nlast, without an end")
    run = begun(tmp_path)
    orphaned(run.path)
    (run.path / "evidence/load/checks.jsonl").symlink_to(elsewhere)
    recover(run.path)
    assert elsewhere.read_bytes() == b"first\nlast, without an end"
    assert verify(run.path).problems == ("evidence/load/checks.jsonl: not in the seal",)


def test_a_line_in_the_middle_that_is_no_record_is_told(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    from soakproof.records import encode

    path.write_bytes(encode(event(1)) + b"garbage\n" + b"\n" + encode(event(2)))
    first, *told, last = read_records(path)
    assert (first, last) == (event(1), event(2))
    assert [str(t)[:22] for t in told] == ["line 2 is not a record", "line 3 is not a record"]


@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    texts=st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=20), max_size=5),
    kept=st.floats(0, 1),
)
def test_cut_anywhere_every_whole_line_is_read(tmp_path: Path, texts: list[str], kept: float) -> None:
    """A file that ends at any byte gives every record before that byte, and at most one problem."""
    from soakproof.records import encode

    lines = [encode(event(n, text=text)) for n, text in enumerate(texts)]
    whole = b"".join(lines)
    cut = whole[: round(len(whole) * kept)]
    path = tmp_path / "events.jsonl"
    path.write_bytes(cut)
    found = list(read_records(path))
    read = [item for item in found if isinstance(item, Event)]
    assert read == [event(n, text=text) for n, text in enumerate(texts)][: cut.count(b"\n")]
    assert len(found) - len(read) == (0 if cut.endswith(b"\n") or not cut else 1)
