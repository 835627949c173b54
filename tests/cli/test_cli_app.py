"""The command itself: help, versions, and how every command ends."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from cli_said import Command

from soakproof import __version__
from soakproof.cli.app import main, soakproof
from soakproof.cli.output import working
from soakproof.errors import RecorderError, UsageError

COMMANDS = list(soakproof.commands)


def test_every_command_of_the_design_is_there() -> None:
    assert set(COMMANDS) == {
        "adjudicate",
        "report",
        "runs",
        "baseline",
        "compare",
        "decide",
        "bundle",
        "verify",
        "recover",
        "try",
        "try-adjudicator",
        "doctor",
        "watch",
        "guard",
        "testbed",
        "plans",
        "init",
    }


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_help_teaches_by_example(command: str, flag: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, flag]) == 0
    out = capsys.readouterr().out
    assert f"  soakproof {command}" in out.partition("Usage:")[2].partition("\n")[2]
    assert "Example" in out


def test_the_groups_own_help_shows_the_whole_way(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    out = capsys.readouterr().out
    for words in (
        "locust -f locustfiles/soak.py",
        "soakproof adjudicate latest --baseline",
        "64 wrong",
    ):
        assert words in out
    for name in COMMANDS:
        about = soakproof.commands[name].get_short_help_str(200)
        assert about, f"{name} does not say what it is"


def test_versions(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert __version__ in capsys.readouterr().out
    done = subprocess.run(
        [sys.executable, "-m", "soakproof", "--version"], capture_output=True, text=True, check=True
    )
    assert __version__ in done.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "Usage: soakproof"),
        (["adjudciate"], "No such command"),
        (["--nope"], "No such option"),
        (["runs", "--runs"], "requires an argument"),
        (["try", "isolation", "-n", "many"], "not a valid integer"),
        (["try", "isolation", "-n", "0"], "not in the range"),
        (["init", "--only", "everything"], "is not one of"),
        (["adjudicate", "latest", "--baseline", ""], "--baseline: expected a value"),
        (["doctor", "--host", " "], "--host: expected a value"),
        (["runs", "--runs", ""], "--runs: expected a value"),
        (["runs", "--runs", os.devnull], "cannot be read: Not a directory"),
        (["init", os.devnull], "choose another folder"),
        (["watch", "record", os.devnull], "is no folder"),
    ],
)
def test_wrong_usage_exits_64(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 64
    out, err = capsys.readouterr()
    assert words in out + err


def test_without_a_command_the_help_is_shown_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 64
    out, err = capsys.readouterr()
    assert (out + err).startswith("Usage:")
    assert (out + err).count("Usage:") == 1


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (UsageError("this is wrong", "do that"), 64, "soakproof: this is wrong\n  do that"),
        (RecorderError("the disk is full"), 3, "soakproof: the disk is full"),
        (KeyboardInterrupt(), 3, "stopped by Ctrl-C"),
        (OSError(36, "File name too long", "aaa"), 3, "soakproof: aaa: File name too long"),
        (ZeroDivisionError("oh"), 3, "unexpected ZeroDivisionError: oh"),
        (SystemExit(0), 3, "unexpected SystemExit: 0"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_what_goes_wrong_ends_in_words_and_a_code(
    soakproof: Command, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int, words: str
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr("soakproof.cli.plans._title", fail)
    monkeypatch.setattr("soakproof.catalog.Catalog.files", fail)
    said = soakproof("plans")
    assert said.code == code
    assert words in said.err


@pytest.mark.parametrize("how", ["--debug", "SOAKPROOF_DEBUG"])
def test_debug_shows_where_a_fault_of_ours_arose(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], how: str
) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("oh")

    monkeypatch.setattr("soakproof.catalog.Catalog.files", fail)
    monkeypatch.setenv("SOAKPROOF_DEBUG", "" if how == "--debug" else "1")
    assert main(["--debug", "plans"] if how == "--debug" else ["plans"]) == 3
    err = capsys.readouterr().err
    assert "Traceback" in err
    assert "in fail" in err


def test_a_reader_that_leaves_is_no_error(a_run: Path, here: Path) -> None:
    """``soakproof plans | head -1``: the pipe is closed before everything is out."""
    process = subprocess.Popen(
        [sys.executable, "-m", "soakproof", "plans", "--options"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait() == 0


def test_a_terminal_that_knows_ascii_only_gets_escapes(here: Path, a_run: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "soakproof", "adjudicate", "zürich"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )
    assert done.returncode == 64
    assert r"z\xfcrich" in done.stderr


_SLOW = """
import sys, time
from soakproof.cli import output
output._PATIENCE = 0.05
with output.working("counting sheep"):
    time.sleep(float(sys.argv[1]))
print("done")
"""


@pytest.mark.parametrize(("takes", "shown"), [(0.0, False), (0.5, True)])
def test_what_takes_long_shows_a_sign_of_life(takes: float, shown: bool) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _SLOW, str(takes)], capture_output=True, text=True, check=True
    )
    assert done.stdout == "done\n"
    assert ("counting sheep … " in done.stderr) == shown


def test_working_ends_with_its_block() -> None:
    import threading

    before = threading.active_count()
    with pytest.raises(KeyError), working("nothing"):
        raise KeyError
    assert threading.active_count() == before


def test_ctrl_c_ends_a_real_process_cleanly(here: Path) -> None:
    code = (
        "import signal, sys, time; import soakproof.catalog as c; from soakproof.cli import main\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a background job ignores it
        "def wait(*_):\n    print('up', flush=True); time.sleep(30)\n"
        "c.Catalog.files = wait\nsys.exit(main(['plans']))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    while process.stdout.readline() != "up\n":
        pass
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 3
    assert err.strip() == "soakproof: stopped by Ctrl-C"
