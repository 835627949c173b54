"""`soakproof doctor`: what it finds of this host, of a healthy target, and of one that will not do."""

import hashlib
import json
import os
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import get_args

import psutil
import pytest
from cli_said import Command
from misbehaving import SAYS, Server, document, misbehaving

from soakproof.catalog import Catalog
from soakproof.cli import symptoms
from soakproof.cli.consequences import RESTS_ON, SETTINGS, consequences
from soakproof.cli.doctor import POLICIES
from soakproof.cli.symptoms import advice, now, of_host, of_named, of_runs
from soakproof.gates.looking import look
from soakproof.policy import load_policy
from soakproof.records import SourceState
from soakproof.watch.service import HOST_SOURCES
from soakproof.watch.settings import WatchConfig
from soakproof.watch.source import Reading


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with misbehaving() as server:
        yield server


def lines(out: str) -> dict[str, str]:
    """Subject or source to its lines, advice included."""
    found: dict[str, str] = {}
    subject = ""
    for line in out.splitlines():
        words = line.split()
        if line[:8].strip() in ("ok", "limited", "missing"):
            subject = line[9:25].strip()
        elif len(words) > 1 and words[1] in get_args(SourceState):
            subject = words[0]
        elif not line.startswith(" "):
            subject = line
        found[subject] = found.get(subject, "") + line
    return found


def test_this_host_alone(soakproof: Command, here: Path) -> None:
    said = soakproof("doctor")
    assert said.code == 0, said.out
    found = lines(said.out)
    assert {"versions", "processor", "runs", "testbed", "server", "kernel_log", "memory"} <= set(found)
    for name in ("python 3.", "locust ", "trio ", "soakproof "):
        assert name in found["versions"]
    assert "GiB free" in found["runs"]
    assert "embedded testbed" in found["server"]
    assert not (here / "runs").exists()


def test_a_target(soakproof: Command, here: Path, server: Server) -> None:
    said = soakproof("doctor", "--host", server.url)
    assert said.code == 0, said.out
    found = lines(said.out)
    assert f"llamacpp of unknown version at {server.url}" in found["server"]
    assert "tiny, 1 slot of 4,096 tokens" in found["model"]
    assert found["health"].split()[1] == "value"
    assert found["slots"].split()[1] == "value"
    assert found["model file"].startswith("limited")


def test_a_target_that_is_not_there(soakproof: Command, here: Path) -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        said = soakproof("doctor", "--host", f"http://127.0.0.1:{bound.getsockname()[1]}")
    assert said.code == 1
    found = lines(said.out)
    assert found["server"].startswith("missing")
    assert "Connection refused" in found["server"]
    assert "is the server up" in found["server"]
    assert "a run cannot be made" in said.out


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ("<html>Welcome to the router</html>", "missing"),
        ({"error": {"message": "model not found"}}, "missing"),
    ],
)
def test_a_server_that_will_not_do_is_a_finding_and_no_wrong_usage(
    soakproof: Command,
    here: Path,
    server: Server,
    monkeypatch: pytest.MonkeyPatch,
    answer: object,
    told: str,
) -> None:
    monkeypatch.setitem(SAYS, "unstreamed", document("404 Not Found", answer))
    said = soakproof("doctor", "--host", server.url)
    assert said.code == 1
    assert lines(said.out)["server"].startswith(told)
    assert "memory" in lines(said.out)  # the rest is told all the same


def test_what_is_no_address_is_wrong_usage(soakproof: Command, here: Path) -> None:
    said = soakproof("doctor", "--host", "localhost:1")
    assert said.code == 64
    assert "address" in said.err


def test_a_disk_too_full_for_a_run_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(total=1 << 40, free=1 << 20))
    symptom = of_runs(tmp_path)
    assert (symptom.state, "1 MiB free, 64 are needed" in symptom.told) == ("missing", True)


def test_a_key_is_not_shown(
    soakproof: Command, here: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = document("401 Unauthorized", {"error": "bad key sk-verysecret"})
    monkeypatch.setitem(SAYS, "unstreamed", told)
    said = soakproof("doctor", "--host", server.url, "--api-key", "sk-verysecret")
    assert said.code == 1
    assert "verysecret" not in said.out + said.err


def test_runs_that_are_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert (of_runs(tmp_path / "file").state, of_runs(tmp_path).state) == ("missing", "ok")


def test_runs_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert of_runs(tmp_path / "a" / "b").state == "ok"
    if Path("/proc/self").exists():
        symptom = of_runs(Path("/proc/self/runs"))
        assert symptom.state == "missing"
        assert "--runs" in symptom.advice
    monkeypatch.setattr(symptoms, "_LITTLE_DISK", 1 << 62)
    symptom = of_runs(tmp_path)
    assert symptom.state == "limited"
    assert "make room" in symptom.advice


@pytest.mark.parametrize(("load", "state"), [(0.1, "ok"), (1000.0, "limited")])
def test_a_busy_host(monkeypatch: pytest.MonkeyPatch, load: float, state: str) -> None:
    monkeypatch.setattr(psutil, "getloadavg", lambda: (load, load, load))
    (processor,) = [s for s in of_host() if s.subject == "processor"]
    assert processor.state == state
    assert bool(processor.advice) == (state == "limited")


def test_what_was_named_and_is_not_there_keeps_a_run_from_starting(soakproof: Command, here: Path) -> None:
    (here / "server.log").write_text("")
    assert not list(of_named(["server.log"], [os.getpid()]))
    said = soakproof("doctor", "--server-log", "other.log", "--server-pid", 10**12)
    assert said.code == 1
    assert "--server-log: other.log is not there" in said.out
    assert f"--server-pid: no process has the pid {10**12}" in said.out
    assert "a run cannot be made" in said.out


def test_what_a_source_could_not_tell_comes_with_advice() -> None:
    reading = Reading("slots", "unsupported", reason="status 501: \x1b[2Jno")
    assert now(reading) == "status 501: \\x1b[2Jno"
    assert "--slots" in advice(reading)
    for source in ("memory", "psi", "amdgpu", "nvidia", "process:front", "health", "live"):
        assert advice(Reading(source, "denied", reason="no")), source
        assert not advice(Reading(source)), source


def test_a_value_is_told_in_its_unit() -> None:
    assert (
        now(Reading("memory", values={"available_bytes": 3 << 30, "free_bytes": None}))
        == "available 3.00 GiB"
    )
    told = now(Reading("process:backend", values={"pid": 41852, "created": 1795990508.07}))
    assert told.startswith("pid 41852, started 2026-")
    assert now(Reading("process:front", values={"created": 1e22})) == "started 1e+22"
    pressure = {"memory_some_avg10_percent": 1.5, "memory_some_total_us": 2_500_000}
    told = now(Reading("psi", values=pressure))
    assert told == "some waited for memory in the last 10 s 1.5 %, some since the start 2.5 s"


def test_what_cannot_be_read_is_told_by_what_it_means_for_a_run(here: Path) -> None:
    policies = [load_policy(Catalog(here), name) for name in POLICIES]
    thermal = Reading("thermal", values={"platform_profile": "balanced"})
    denied = [Reading("kernel_log", "denied"), Reading("slots", "timeout"), Reading("memory"), thermal]
    found = {(c.adjudicator, c.source): c.decides for c in consequences(denied, policies)}
    assert found == {
        ("kernel", "kernel_log"): ("release",),
        ("slots", "slots"): ("release",),
        ("functional", "slots"): ("release",),
        ("scheduling", "slots"): ("release",),
    }


def test_one_gpu_that_tells_its_memory_will_do() -> None:
    def unknown(*readings: Reading) -> list[tuple[str, str]]:
        return [(c.adjudicator, c.source) for c in consequences(readings, [])]

    assert unknown(Reading("amdgpu:card1", values={"performance_level": "auto"})) == []
    assert unknown(Reading("amdgpu", "unsupported"), Reading("nvidia:0")) == [
        ("conditions", "power settings")
    ]
    none = unknown(Reading("amdgpu", "unsupported"), Reading("nvidia", "unsupported"))
    assert none == [("memory", "gpu"), ("conditions", "gpu"), ("conditions", SETTINGS)]


def test_every_adjudicator_that_it_names_is_there(here: Path) -> None:
    named = {adjudicator for rests in RESTS_ON.values() for adjudicator, _ in rests}
    assert named <= set(Catalog(here).files("adjudicators", ".py"))


def test_all_of_it_as_json(soakproof: Command, here: Path, server: Server) -> None:
    said = soakproof("doctor", "--host", server.url, "--json")
    assert said.code == 0
    found = json.loads(said.out)
    assert found["run_possible"]
    assert {s["source"]: s["state"] for s in found["sources"]}["slots"] == "value"
    assert {c["subject"] for c in found["checks"]} >= {"runs", "server", "model"}
    for one in found["unknown_in_a_run"]:
        assert set(one) == {"adjudicator", "unknown", "source", "inconclusive_under"}


@pytest.mark.skipif(os.name != "posix", reason="a file without a right to read it")
def test_a_model_file_that_can_be_read_is_told(tmp_path: Path, server: Server) -> None:
    import dataclasses

    from soakproof.inventory.asking import take
    from soakproof.target import Credentials, examine, files_of

    path = tmp_path / "model.gguf"
    path.write_bytes(b"GGUF" * 1000)
    target = examine(server.url, None, Credentials())
    known = dataclasses.replace(target, identity={**target.identity, "model_path": str(path)})
    assert [s.state for s in symptoms.of_target(known) if s.subject == "model file"] == ["ok"]
    elsewhere = dataclasses.replace(known, local=False)
    assert [s.state for s in symptoms.of_target(elsewhere) if s.subject == "model file"] == ["limited"]
    digest = [s.told for s in symptoms.of_digests(take(files_of(known), None, whole=True))]
    assert digest == [f"model file: {hashlib.sha256(path.read_bytes()).hexdigest()}"]
    device = dataclasses.replace(known, identity={"model_path": "/dev/zero"})
    assert [s.state for s in symptoms.of_target(device) if s.subject == "model file"] == ["limited"]


def test_of_a_target_on_another_host_nothing_of_this_one_is_told(here: Path) -> None:
    target = {"kind": "llamacpp", "base_url": "http://127.0.0.1:1", "local": False}
    readings = look(WatchConfig(target=target))
    states = {reading.source: reading.state for reading in readings}
    assert {states[name] for name in HOST_SOURCES} == {"unsupported"}
    release = load_policy(Catalog(here), "release")
    found = {(c.adjudicator, c.source): c.decides for c in consequences(readings, [release])}
    assert found["memory", "memory"] == found["kernel", "kernel_log"] == ("release",)
