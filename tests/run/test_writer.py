"""The one writer of a node's folder: what it refuses, and what a full disk does to it."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from rundirs import RAW, begun, event, orphaned

from soakproof.errors import RecorderError, UsageError
from soakproof.records import Event, Opened
from soakproof.run import NodeWriter, Run, check_room, load, read_records, recover, verify, write_atomic

linux = pytest.mark.skipif(sys.platform != "linux", reason="needs /dev/full or tmpfs")


def test_two_writers_of_one_node_are_refused(tmp_path: Path) -> None:
    NodeWriter(tmp_path, "load")
    with pytest.raises(RecorderError, match="two nodes of one run cannot share a name"):
        NodeWriter(tmp_path, "load")


def test_a_run_gives_the_same_writer_each_time(tmp_path: Path) -> None:
    run = begun(tmp_path, "load")
    assert run.writer("load") is run.writer("load")


def test_after_the_seal_nothing_is_written(tmp_path: Path) -> None:
    run = begun(tmp_path, "load")
    run.seal(RAW)
    with pytest.raises(RecorderError, match="is sealed"):
        run.writer("load").write(event(9))
    assert verify(run.path).problems == ()


def test_a_record_is_on_the_file_system_when_write_returns(tmp_path: Path) -> None:
    writer = NodeWriter(tmp_path, "load")
    for n in range(3):
        writer.write(event(n), sync=n == 1)
        assert len(list(read_records(writer.folder / "events.jsonl"))) == n + 1


def test_each_kind_of_record_has_its_file(tmp_path: Path) -> None:
    writer = NodeWriter(tmp_path, "load")
    writer.write(event())
    writer.write(
        Opened(
            id="load-0",
            node="load",
            scenario="echo",
            iteration=0,
            role="ask",
            seed=1,
            due_ns=0,
            sent_ns=0,
            model_asked="m",
            stream=True,
            max_tokens=1,
            prompt_chars=1,
            prompt_digest="d",
        )
    )
    writer.seal()
    names = {p.name for p in writer.folder.iterdir()}
    assert names == {"events.jsonl", "exchanges.jsonl", "SEAL"}


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot create a run"):
        Run.create(tmp_path / "file", "hand", {})
    with pytest.raises(RecorderError, match="cannot create"):
        NodeWriter(tmp_path / "file", "load")


@linux
def test_a_full_disk_is_told_before_anything_is_written_and_leaves_nothing(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "64k") as disk:
        with pytest.raises(UsageError, match=r"no space left.* 0 MiB free, 64 are needed"):
            check_room(disk / "runs" / "of-mine")
        check_room(disk / "runs", 1 << 12)
        with (disk / "ballast").open("wb") as file, contextlib.suppress(OSError):
            file.write(b"x" * (1 << 20))
        with pytest.raises(UsageError, match=r"cannot create a run in .*(?i:no space left)"):
            Run.create(disk, "hand", {"format": 1})
        assert [p.name for p in disk.iterdir()] == ["ballast"]


@linux
def test_a_device_without_room_is_a_recorders_error(tmp_path: Path) -> None:
    writer = NodeWriter(tmp_path, "load")
    (writer.folder / "events.jsonl").symlink_to("/dev/full")
    with pytest.raises(RecorderError, match="No space left on device"):
        writer.write(event())


@linux
def test_nothing_is_written_behind_a_torn_line(tmp_path: Path) -> None:
    """What followed would be lost with it, once there is room again."""
    resource = pytest.importorskip("resource")
    writer = NodeWriter(tmp_path, "load")
    writer.write(event(0))
    file = writer.folder / "events.jsonl"
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (file.stat().st_size + 10, hard))
    try:
        with pytest.raises(RecorderError, match=r"a limit on the size of a file is reached \(`ulimit -f`"):
            writer.write(event(1))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    with pytest.raises(RecorderError, match="has a torn line"):
        writer.write(event(2))
    assert [r.t_ns for r in read_records(file) if isinstance(r, Event)] == [0]


@contextlib.contextmanager
def small_disk(path: Path, size: str) -> Iterator[Path]:
    path.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(path)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("a file system of its own needs the right to mount one")
    try:
        yield path
    finally:
        subprocess.run(["umount", str(path)], check=True)


def fill(writer: NodeWriter) -> None:
    for n in range(1000):
        writer.write(event(n, text="x" * 700))


@linux
def test_a_disk_that_fills_keeps_what_was_written(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "64k") as disk:
        run = Run.create(disk, "hand", {"format": 1})
        writer = run.writer("load")
        with pytest.raises(RecorderError, match=r"(?i)no space left on device"):
            fill(writer)
        written = (writer.folder / "events.jsonl").read_bytes().count(b"\n")
        assert 10 < written < 100
        loaded = load(run.path)
        assert [r.t_ns for r in loaded.records if isinstance(r, Event)] == list(range(written))
        with pytest.raises(RecorderError, match="cannot write"):
            run.seal(RAW)

        orphaned(run.path)
        subprocess.run(["mount", "-o", "remount,size=256k", str(disk)], check=True)
        recover(run.path)
        assert verify(run.path).problems == ()
        assert len(load(run.path).records) == written


def test_the_api_key_is_in_no_document_whoever_repeats_it(tmp_path: Path) -> None:
    run = Run.create(
        tmp_path, "keyed", {"target": {"launch_command": ["x", "hunter2-hunter2"]}}, "hunter2-hunter2"
    )
    run.document["ended"] = {"reason": "it said hunter2-hunter2"}
    run.seal({**RAW, "ended": run.document["ended"]})
    assert not any(b"hunter2" in p.read_bytes() for p in run.path.rglob("*") if p.is_file())
    assert b"it said [removed]" in (run.path / "run.json").read_bytes()
    assert "hunter2" not in repr(Run(tmp_path, {}, "hunter2"))
    assert verify(run.path).problems == ()


@linux
def test_a_document_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "16k") as disk:
        write_atomic(disk / "run.json", b"first")
        with pytest.raises(RecorderError, match="cannot write"):
            write_atomic(disk / "run.json", b"x" * 100_000)
        assert (disk / "run.json").read_bytes() == b"first"
        assert [p.name for p in disk.iterdir()] == ["run.json"]
