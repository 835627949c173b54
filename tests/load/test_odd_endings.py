"""Odd numbers, plans and outputs: refused in words, or the run is sealed all the same."""

import io
import signal
from pathlib import Path

import pytest

from soakproof.load.progress import say
from soakproof.run import verify
from tests.load.soaks import children, document, gone, lines, loaded, locust, output, the_run, wait_for

pytestmark = pytest.mark.timeout(240)

SHORT_OF_ONE = """
[mix]
structured_json = 1
long_prose = 1
[short]
below = "5m"
[short.mix]
structured_json = 1
"""


@pytest.mark.parametrize("arguments", [["--worker"], ["--master"], ["--processes", "2"]])
def test_what_is_distributed_is_refused_before_it_forks_or_waits(tmp_path: Path, arguments: list[str]):
    with locust(tmp_path, "--headless", "-t", "2s", *arguments) as process:
        assert process.wait(60) == 64
    assert output(tmp_path).count("not supported yet") == 1


def test_a_user_class_that_is_not_there_is_refused(tmp_path: Path):
    with locust(tmp_path, "--headless", "-t", "2s", "NoSuchUser") as process:
        assert process.wait(60) == 64
    assert "no user class is called 'NoSuchUser'" in output(tmp_path)
    assert "the locustfile's: SoakUser" in output(tmp_path)


def test_a_run_that_is_taken_away_in_mid_run_is_told_as_that(tmp_path: Path):
    with locust(tmp_path, "--headless", "-t", "5m", "-u", "4") as process:
        loaded(tmp_path).rename(tmp_path / "elsewhere")
        assert process.wait(120) == 3, output(tmp_path)
    told = output(tmp_path)
    assert "what was recorded is not there any more: runs/" in told
    assert "the run is not sealed, and there is none any more: run again" in told
    assert "is kept in" not in told
    assert "will do it" not in told


def test_variables_set_our_options_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for name in ("PLAN", "MODEL", "RUNS", "TESTBED_MODEL"):
        monkeypatch.setenv(f"LOCUST_{name}", f"nosuch{name.lower()}")
    with locust(tmp_path, "--headless", "-t", "2s") as process:
        assert process.wait(60) == 64
    assert "no plan is called 'nosuchplan'" in output(tmp_path)
    monkeypatch.delenv("LOCUST_PLAN")
    with locust(tmp_path, "--headless", "-t", "2s") as process:
        assert process.wait(60) == 64
    assert "nosuchtestbed_model" in output(tmp_path)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["-u", "-5"], "--users: expected 1 to 10000, found -5"),
        (["-u", "0"], "--users: expected 1 to 10000, found 0"),
        (["-u", "99999999999"], "--users: expected 1 to 10000"),
        (["-t", "0"], "--run-time: expected more than 0 seconds"),
        (["--server-log", "/nowhere.log"], "--server-log: /nowhere.log is not there"),
        (["--server-log", "/tmp"], "--server-log: /tmp is no regular file"),
        (["--html", "/tmp"], "--html: /tmp cannot be written: Is a directory"),
        (["--json-file", "/proc/nope"], "--json-file: /proc/nope.json cannot be written: No such file"),
        (["--server-pid", "0"], "--server-pid: no process has the pid 0"),
        (["--server-pid", "999999999999"], "--server-pid: no process has the pid 999999999999"),
        (["--testbed-model", "/nowhere.gguf"], "cannot read the model file"),
        (
            ["--plan", "mine.toml", "--tags", "long_prose", "-t", "5s"],
            "for a run of this length its kinds are: structured_json",
        ),
    ],
)
def test_what_makes_no_run_is_refused_and_leaves_none(tmp_path: Path, arguments: list[str], told: str):
    (tmp_path / "mine.toml").write_text(SHORT_OF_ONE)
    with locust(tmp_path, "--headless", *arguments) as process:
        assert process.wait(60) == 64
    assert told in output(tmp_path)
    assert "Traceback" not in output(tmp_path)
    assert not (tmp_path / "runs").exists()


def test_a_report_of_locusts_that_cannot_be_written_costs_no_seal(tmp_path: Path):
    """Locust then ends by an error of its own, in the middle of Ctrl-C, and tells nobody."""
    with locust(tmp_path, "--headless", "-t", "5m", "--html", "out/report.html") as process:
        run = loaded(tmp_path)
        (tmp_path / "out").rmdir()
        (tmp_path / "out").write_text("a file by now")
        mine = list(children(process).values())
        process.send_signal(signal.SIGINT)
        assert process.wait(90) != 0
    assert verify(run).problems == ()
    assert document(run / "raw.json")["ended"]["why"] == "interrupt"
    assert gone(mine)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_before_the_load_leaves_a_sealed_run_and_nothing_running(
    tmp_path: Path, how: signal.Signals
):
    with locust(tmp_path, "--headless", "-t", "5m") as process:
        wait_for(lambda: "starting the embedded testbed" in output(tmp_path))
        mine = wait_for(lambda: list(children(process).values()))
        process.send_signal(how)
        assert process.wait(60) == 3
    run = the_run(tmp_path)
    assert verify(run).problems == ()
    assert document(run / "raw.json")["outcome"] == "error"
    assert "Traceback" not in output(tmp_path)
    assert gone(mine)


BROKEN = """
from dataclasses import dataclass
from soakproof.scenario import Ask, Scenario

@dataclass(frozen=True)
class Mine(Scenario):
    def iterate(self, it):
        yield Ask(None)
"""


def test_a_scenario_that_breaks_at_once_fills_no_disk(tmp_path: Path):
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "scenarios" / "mine.py").write_text(BROKEN)
    (tmp_path / "mine.toml").write_text("[mix]\nmine = 1\n")
    with locust(tmp_path, "--headless", "-t", "4s", "-u", "2", "--plan", "mine.toml") as process:
        assert process.wait(90) == 3
    broken = lines(the_run(tmp_path), "iterations.jsonl")
    assert 2 <= len(broken) <= 12
    assert {line["end"] for line in broken} == {"broken"}
    assert "expected a text" in broken[0]["reason"]
    assert "Traceback" not in output(tmp_path)


class Full(io.StringIO):
    def flush(self) -> None:
        raise OSError(28, "no space left on device")


@pytest.mark.parametrize("stream", [Full(), io.StringIO(), io.TextIOWrapper(io.BytesIO(), "ascii")])
def test_nothing_that_is_said_can_end_a_run(stream: io.TextIOBase):
    if type(stream) is io.StringIO:
        stream.close()
    say("a … \ud800 \x1b[2J\n and more", stream)  # type: ignore[arg-type]
    if isinstance(stream, io.TextIOWrapper):
        assert stream.buffer.getvalue() == b"a \\u2026 \\ud800 \\x1b[2J\n and more\n"  # type: ignore[attr-defined]


def test_a_users_files_named_as_the_standard_library_break_nothing(tmp_path: Path):
    """Locust and a bare `python -m` put the current folder first on the import path."""
    for name in ("numbers", "calendar", "html", "tomllib", "orjson", "statistics"):
        (tmp_path / f"{name}.py").write_text("raise RuntimeError('a note of mine, no module')\n")
    with locust(tmp_path, "--headless", "-t", "3s", "-u", "2", safe=True) as process:
        assert process.wait(90) == 0, output(tmp_path)
    assert "Traceback" not in output(tmp_path)
    assert verify(the_run(tmp_path)).problems == ()
