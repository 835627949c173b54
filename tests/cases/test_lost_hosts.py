"""A host that hangs without a line and is gone: what it left is kept, told, and never a pass."""

import os
from pathlib import Path
from typing import Any

import pytest
import timelines
import trio
from caseinputs import INPUTS
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from judged import NOW, fails, of
from kernel_lines import kmsg
from rundirs import orphaned

from soakproof.catalog import Catalog
from soakproof.judge import Evidence, Outcome
from soakproof.judge.finding import Verdict
from soakproof.judgement import judge_loaded
from soakproof.records import Exchange, Record
from soakproof.report import render_markdown
from soakproof.run import NodeWriter, Run, load, recover
from soakproof.testing.evidence import adjudicate, evidence, exchange, sample
from soakproof.watch.flushing import Flusher

THEN, NOW_BOOTED = "boot-of-the-run", "boot-after-it"


def abandoned(runs: Path, records: list[Record], **document: Any) -> Path:
    """A run whose host was lost: written by the run's own writer, and never sealed."""
    there = evidence(records)
    run = Run.create(runs, "silent", {})
    run.document = {
        **there.run,
        **{"state": "running", "load_ended_ns": None, "ended": None, "boot_id": THEN},
        **{"host": {"machine": "this-machine"}, **document},
    }
    run.save()
    for record in there.records:
        run.writer(record.node).write(record)
    orphaned(run.path)  # its process went with the host
    return run.path


@pytest.fixture(autouse=True)
def rebooted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("soakproof.run.recovery.machine_digest", lambda: "this-machine")
    monkeypatch.setattr("soakproof.run.recovery.boot_id", lambda: NOW_BOOTED)


def judged(path: Path) -> tuple[Verdict, Evidence]:
    return judge_loaded(load(path), None, "default", Catalog(INPUTS), NOW)


def left() -> list[Record]:
    """What was written until the last tick: A's request had no end."""
    assert kmsg("64-silent-hang.kmsg") == []
    return [*timelines.read("64-silent-hang.timeline.jsonl"), sample("kernel_log", 0.0, via="/dev/kmsg")]


@pytest.mark.case(64)
@given(torn=st.binary(max_size=300).map(lambda data: data.replace(b"\n", b"")))
@settings(max_examples=4, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_silent_hang_is_told_as_the_loss_of_its_host_at_its_last_tick(tmp_path: Path, torn: bytes) -> None:
    path = abandoned(tmp_path, left())
    with (path / "evidence/load/exchanges.jsonl").open("ab") as file:
        file.write(torn)
    done = recover(path)
    assert f"{path.name}: the host was restarted before the run had ended" in done
    verdict, seen = judged(path)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    seal = of(verdict, "evidence", "seal")
    assert "ended by the loss of its host" in seal.answer
    assert "its last record is of 150.0 s" in seal.answer
    assert seal.fault == "host"
    report = render_markdown(verdict, seen)
    assert "loss of its host after 150.0 s" in report.replace("\\", "")
    assert "1 request never closed" in report


@pytest.mark.case(64)
def test_no_line_is_no_health() -> None:
    quiet = adjudicate("kernel", evidence(sample("kernel_log", 0.0, via="/dev/kmsg")))["kernel log"]
    assert quiet.strength == "some GPU hangs leave no line"
    ended = evidence(left(), run={"state": "running", "load_ended_ns": None, "ended": {}})
    assert of_outcome(ended) is Outcome.INCONCLUSIVE


def of_outcome(run: Evidence) -> Outcome:
    from judged import verdict

    found = verdict(run)
    assert fails(found) == set()
    return found.outcome


@pytest.mark.case(64)
@pytest.mark.parametrize(
    "document",
    [{"boot_id": NOW_BOOTED}, {"boot_id": None}, {"host": {"machine": "another"}}, {"host": None}],
    ids=["same boot", "unknown boot", "another machine", "no host"],
)
def test_a_crash_on_a_host_that_stayed_up_is_only_a_crash(tmp_path: Path, document: dict[str, Any]) -> None:
    path = abandoned(tmp_path, left(), **document)
    recover(path)
    verdict, _ = judged(path)
    assert "sealed only after a crash" in of(verdict, "evidence", "seal").answer
    assert "loss" not in of(verdict, "evidence", "seal").answer


@pytest.mark.case(64)
def test_what_is_written_reaches_the_disk_within_seconds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each node's files, whoever writes them, and only those that have grown."""
    load, watch = NodeWriter(tmp_path, "load"), NodeWriter(tmp_path, "watch")
    synced: list[str] = []
    real = os.fsync

    def fsync(descriptor: int) -> None:
        synced.append(Path(os.readlink(f"/proc/self/fd/{descriptor}")).relative_to(tmp_path).as_posix())
        real(descriptor)

    async def run() -> None:
        flusher = Flusher(tmp_path / "evidence")
        load.write(exchange("a"))
        watch.write(sample("memory"))
        await flusher.flush()
        assert {"evidence/load/exchanges.jsonl", "evidence/watch/samples.jsonl"} <= set(synced)
        synced.clear()
        load.write(exchange("b"))
        await flusher.flush()
        assert synced == ["evidence/load/exchanges.jsonl"]

    monkeypatch.setattr(os, "fsync", fsync)
    trio.run(run)


@pytest.mark.case(75)
def test_a_torn_last_line_loses_itself_only_and_the_run_says_that_it_was_killed(tmp_path: Path) -> None:
    """The case's six lines, the last one cut, as our own records of the same sizes."""
    told = (INPUTS / "75-torn-results.jsonl").read_bytes().split(b"\n")
    whole = [exchange(f"e{n}", at=1.5 * n, kind="json", iteration=n) for n in range(len(told) - 1)]
    path = abandoned(tmp_path, list(whole))
    with (path / "evidence/load/exchanges.jsonl").open("ab") as file:
        file.write(b'{"record":"closed","id":"e5","scenario":"js')
    before, _ = judged(path)
    for _ in range(2):  # again changes nothing
        recover(path)
        loaded = load(path)
        assert [r.id for r in loaded.records if isinstance(r, Exchange)] == [e.id for e in whole]
        assert (path / "evidence/load/exchanges.jsonl.torn").read_bytes().endswith(b'"js')
    after, seen = judged(path)
    assert before.outcome is after.outcome is Outcome.INCONCLUSIVE
    assert "it was killed before it could judge itself" in of(after, "raw", "outcome").answer
    assert render_markdown(after, seen) == render_markdown(after, seen)
