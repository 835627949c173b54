"""A seal proves that nothing was changed, taken away or added."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rundirs import RAW, begun, event, orphaned, sealed

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


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
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
    orphaned(run.path)
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


def reseal(run: Path, line: str) -> None:
    """A line more in the run's own seal, as somebody would put it there who means harm."""
    with (run / SEAL).open("a") as seal:
        seal.write(line + "\n")


def linked(path: Path, to: Path) -> None:
    """The file moved out of the run, and a link to it in its place."""
    path.rename(to)
    path.symlink_to(to)


@pytest.mark.parametrize(
    "name",
    ["../secret", "../../../../etc/passwd", "/etc/passwd", "evidence/../../secret", "", "a//b", "./run.json"],
)
def test_a_seal_that_names_a_file_elsewhere_does_not_have_it_read(tmp_path: Path, name: str) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(b"hello")
    run = sealed(tmp_path)
    told, size = digest(secret)
    reseal(run, f"{told}  {size}  {name}")  # the right digest: only reading it would tell
    assert f"{name}: not looked at: it is no path inside the run" in verify(run).problems


def test_a_link_is_no_evidence_wherever_it_stands(tmp_path: Path) -> None:
    run = sealed(tmp_path)
    linked(run / "evidence/load/events.jsonl", tmp_path / "events.jsonl")
    linked(run / "raw.json", tmp_path / "raw.json")
    linked(run / "evidence/watch", tmp_path / "watch")
    loaded = load(run)
    assert loaded.raw is None
    assert loaded.records == ()
    assert loaded.nodes == ("load",)
    why = "not looked at: it is a link to somewhere else"
    assert {
        f"evidence/load/events.jsonl: {why}",
        f"raw.json: {why}",
        f"evidence/watch/SEAL: {why}",
        "evidence/watch: not in the seal",
    } <= set(loaded.seal.problems)


def test_what_would_never_end_to_be_read_is_not_opened(tmp_path: Path) -> None:
    run = sealed(tmp_path)
    for path in (run / "evidence/load/events.jsonl", run / "raw.json", run / "evidence/watch/SEAL"):
        path.unlink()
        os.mkfifo(path)
    (run / "evidence/load/samples.jsonl").symlink_to("/dev/zero")
    problems = verify(run).problems
    assert "evidence/load/events.jsonl: not looked at: it is no file" in problems
    assert "evidence/load/samples.jsonl: not in the seal" in problems
    assert "evidence/watch/SEAL: no plain file" in problems
    assert load(run).raw is None


def test_an_endless_seal_is_not_read_to_its_end(tmp_path: Path) -> None:
    run = sealed(tmp_path)
    (run / SEAL).write_bytes(b"soakproof seal 1\n" + b"x" * (2 << 20))
    assert verify(run).problems == ("SEAL: a seal of more than 1,048,576 bytes",)


def test_a_file_beside_the_nodes_and_a_folder_in_one_are_found(tmp_path: Path) -> None:
    run = sealed(tmp_path)
    (run / "evidence/stray.jsonl").write_text("{}")
    (run / "evidence/load/more").mkdir()
    assert verify(run).problems == (
        "evidence/stray.jsonl: not in the seal",
        "evidence/load/more: not in the seal",
    )


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.binary(max_size=200))
def test_a_seal_of_garbage_is_a_problem_and_no_error(original: Path, tmp_path: Path, content: bytes) -> None:
    copy = tmp_path / "copy"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(original, copy)
    (copy / SEAL).write_bytes(content)
    assert verify(copy).problems


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
