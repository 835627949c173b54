"""A seal proves that nothing was changed, taken away or added."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rundirs import RAW, begun, event, sealed

from soakproof.run import SEAL, digest, load, recover, seal_folder, verify


def test_a_sealed_run_is_intact(tmp_path: Path) -> None:
    state = verify(sealed(tmp_path))
    assert state.sealed
    assert not state.recovered
    assert state.problems == ()
    assert state.files == 6  # run.json, raw.json, two nodes' seals and their events
    assert state.bytes > 0


def test_what_is_sealed_can_be_loaded(tmp_path: Path) -> None:
    loaded = load(sealed(tmp_path, "watch", "load", records=2))
    assert loaded.raw == RAW
    assert loaded.nodes == ("load", "watch")
    assert loaded.records == (event(0), event(1), event(0, "watch"), event(1, "watch"))
    assert loaded.problems == ()
    assert loaded.seal.problems == ()


def test_sealing_twice_changes_nothing(tmp_path: Path) -> None:
    run = begun(tmp_path)
    run.seal(RAW)
    before = (run.path / SEAL).read_bytes()
    run.seal(RAW)
    assert (run.path / SEAL).read_bytes() == before


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sealed(tmp_path_factory.mktemp("original"))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_one_flipped_bit_anywhere_is_found(original: Path, tmp_path: Path, data: st.DataObject) -> None:
    copy = tmp_path / "copy"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(original, copy)
    files = sorted(p for p in copy.rglob("*") if p.is_file())
    path = data.draw(st.sampled_from(files), label="file")
    content = bytearray(path.read_bytes())
    place = data.draw(st.integers(0, len(content) - 1), label="byte")
    content[place] ^= 1 << data.draw(st.integers(0, 7), label="bit")
    path.write_bytes(content)
    assert verify(copy).problems


def empty_and_seal(node: Path) -> None:
    (node / "events.jsonl").write_bytes(b"")
    seal_folder(node)


TOUCHES: dict[str, tuple[Callable[[Path], object], str]] = {
    "a line more": (
        lambda run: (run / "evidence/load/events.jsonl").open("ab").write(b"{}\n"),
        "evidence/load/events.jsonl: changed",
    ),
    "a file gone": (
        lambda run: (run / "evidence/load/events.jsonl").unlink(),
        "evidence/load/events.jsonl: missing",
    ),
    "a file more": (
        lambda run: (run / "evidence/load/checks.jsonl").write_bytes(b""),
        "evidence/load/checks.jsonl: not in the seal",
    ),
    "a node gone": (lambda run: shutil.rmtree(run / "evidence/watch"), "evidence/watch/SEAL: missing"),
    "a node more": (
        lambda run: shutil.copytree(run / "evidence/watch", run / "evidence/other"),
        "evidence/other/SEAL: not in the seal",
    ),
    "raw.json rewritten": (lambda run: (run / "raw.json").write_text("{}"), "raw.json: changed"),
    "run.json gone": (lambda run: (run / "run.json").unlink(), "run.json: missing"),
    "a node sealed anew": (
        lambda run: empty_and_seal(run / "evidence/load"),
        "evidence/load/SEAL: changed",
    ),
    "no seal": (lambda run: (run / SEAL).unlink(), "SEAL: missing, so the run is not sealed"),
    "a node's seal gone": (
        lambda run: (run / "evidence/load/SEAL").unlink(),
        "evidence/load/SEAL: missing",
    ),
    "a seal of something else": (
        lambda run: (run / SEAL).write_text("other 1\n"),
        "SEAL: not a seal of this program",
    ),
    "a broken seal": (
        lambda run: (run / SEAL).write_text("soakproof seal 1\nhello\n"),
        "SEAL: a broken line",
    ),
}


def test_a_result_that_came_after_the_seal_is_found(tmp_path: Path) -> None:
    """A recovered run has no raw result, and nobody can give it one."""
    run = begun(tmp_path)
    (run.path / ".writer").unlink()
    recover(run.path)
    assert verify(run.path).problems == ()
    (run.path / "raw.json").write_text('{"outcome": "clean"}')
    assert verify(run.path).problems == ("raw.json: not in the seal",)


@pytest.mark.parametrize("name", TOUCHES)
def test_a_touched_run_says_which_file(tmp_path: Path, name: str) -> None:
    touch, told = TOUCHES[name]
    run = sealed(tmp_path)
    touch(run)
    problems = verify(run).problems
    assert any(problem.startswith(told) for problem in problems), problems


def test_a_verdict_does_not_touch_the_seal(tmp_path: Path) -> None:
    run = sealed(tmp_path)
    (run / "verdicts" / "1-release").mkdir(parents=True)
    (run / "verdicts" / "1-release" / "verdict.json").write_text("{}")
    assert verify(run).problems == ()


def test_a_large_file_is_summed_in_blocks(tmp_path: Path) -> None:
    path = tmp_path / "large"
    path.write_bytes(os.urandom(3 << 20))
    import hashlib

    assert digest(path) == (hashlib.sha256(path.read_bytes()).hexdigest(), 3 << 20)
