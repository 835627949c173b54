"""`soakproof try`: on the real testbed, and on a server that misbehaves."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli_said import Command
from misbehaving import END as END_OF_STREAM
from misbehaving import LAST as LAST_CHUNK
from misbehaving import ROLE, SAYS, STREAM_HEAD, Server, delta, document, misbehaving

from soakproof.catalog import Catalog
from soakproof.cli.trying import chosen_kind
from soakproof.gates.telling import Terminal
from soakproof.scenario import Ask
from soakproof.testing.evidence import exchange, opened
from soakproof.units import Seconds

BEHAVE = '''
from dataclasses import dataclass
from soakproof.scenario import After, Ask, Scenario

@dataclass(frozen=True)
class Behave(Scenario):
    """Asks the server to behave so."""
    checks = ("behave.text", "behave.more")
    behave: str = "whole"
    known: bool = False
    unknown: bool = False
    broken: bool = False
    may_fail: bool = False
    role: str = "ask"

    def iterate(self, it):
        a = yield Ask(f"{it.nonce()} behave: {self.behave}", role=self.role, may_fail=self.may_fail)
        if self.broken:
            raise KeyError("oh")
        ok = a.text == "yes it is"
        it.check("behave.text", ok, a, grade="" if ok else "known: limit" if self.known else "other")
        dark = "it was dark" if self.unknown else ""
        it.check("behave.more", None if dark else True, a, reason=dark)
'''


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with misbehaving() as server:
        yield server


@pytest.fixture
def behave(here: Path) -> Path:
    (here / "scenarios").mkdir()
    path = here / "scenarios" / "behave.py"
    path.write_text(BEHAVE)
    return path


def test_the_embedded_testbed_passes(soakproof: Command, here: Path) -> None:
    said = soakproof("try", "isolation", "-n", 2)
    assert said.code == 0, said.out + said.err
    for words in (
        "starting the embedded testbed",
        "target    Lemonade",
        "scenario  isolation: ",
        "iteration 2 of 2",
        "check isolation.foreign: pass",
        "finish stop",
        "2 of 2 iterations completed; every check passed",
    ):
        assert words in said.out, words


def test_a_check_that_fails_on_the_testbeds_own_model_says_what_that_model_is(
    soakproof: Command, here: Path, behave: Path
) -> None:
    said = soakproof("try", "behave", "-n", 1)
    assert said.code == 1, said.out
    assert "the testbed's own model is very small" in said.out
    assert "behave.text (1 of 1): failed in the one iteration" in said.out


def test_all_passed_is_0(soakproof: Command, behave: Path, server: Server) -> None:
    said = soakproof("try", "behave", "--host", server.url, "-n", 2)
    assert said.code == 0, said.out
    assert 'behave: whole"' in said.out
    assert '"yes it is"' in said.out
    assert "ok in 0." in said.out
    assert "7 prompt tokens (2 from a cache); 3 generated" in said.out


@pytest.mark.parametrize(
    ("settings", "code", "words"),
    [
        (["behave=reasoning"], 1, ['reasoning: "well "', "check behave.text: FAIL (other)", "-n 20"]),
        (["behave=reasoning", "known=true"], 0, ["known limit (known: limit)", "counts as no failure"]),
        (["unknown=true"], 2, ["check behave.more: unknown (it was dark)", "unknown is not passed: it was"]),
        (
            ["broken=true"],
            3,
            ["broke in the scenario itself: KeyError: 'oh' (behave.py:", "fault of its file"],
        ),
        (["behave=unknown-model"], 1, ["configuration: ", "(whose: ours)", "the server's words:", "right"]),
        (["behave=cut", "may_fail=true"], 1, ["FAILED after", "cut: ", "(whose: server)"]),
        (
            ["behave=backend-lost"],
            1,
            ["backend_lost", "the iteration ended at a failed request", "not reached"],
        ),
        (["behave=context"], 1, ["context of 4,096 tokens"]),
        (["behave=eof-in-chunk"], 1, ["reset: ", '"yes "']),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else str(value),
)
def test_exit_codes_and_what_helps(
    soakproof: Command, behave: Path, server: Server, settings: list[str], code: int, words: list[str]
) -> None:
    flags = [flag for setting in settings for flag in ("--set", setting)]
    said = soakproof("try", "behave", "--host", server.url, "-n", 1, *flags)
    assert said.code == code, said.out + said.err
    assert all(word in said.out for word in words), said.out


HOSTILE = "\x1b]0;owned\x07\x1b[2J \u202egnp.exe \x00 \u200b \ud800 ok"


def test_hostile_answers_do_not_reach_the_terminal(
    soakproof: Command, behave: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = ROLE + delta(HOSTILE) + delta(reasoning_content=HOSTILE) + END_OF_STREAM
    monkeypatch.setitem(SAYS, "hostile", STREAM_HEAD + answer + LAST_CHUNK)
    refusal = {"error": {"type": "model_not_found", "message": HOSTILE}}
    monkeypatch.setitem(SAYS, "hostile-error", document("404 Not Found", refusal))
    for name in ("hostile", "hostile-error"):
        for full in ((), ("--full",)):
            settings = ("--set", f"behave={name}", "--set", 'role="a\\u001b[1m"', *full)
            said = soakproof("try", "behave", "--host", server.url, "-n", 1, *settings)
            assert said.code == 1
            assert not {"\x1b", "\x07", "\u202e", "\x00", "\u200b"} & set(said.out + said.err)
            assert r"\x1b" in said.out


def test_the_schema_that_goes_with_a_request_is_shown() -> None:
    said: list[str] = []
    terminal = Terminal(said.append, lambda text: None, times=1, width=80, full=True)
    schema = {"type": "json_schema", "json_schema": {"schema": {"const": "naïve"}}}
    terminal.asked(opened(exchange()), Ask("hello", response_format=schema))
    assert said[-1].endswith(
        'response_format: | {"type": "json_schema", "json_schema": {"schema": {"const": "naïve"}}}'
    )
    terminal.asked(opened(exchange()), Ask("hello"))
    assert "response_format" not in said[-1]


def test_long_texts_are_cut_unless_asked_for_whole(
    soakproof: Command, behave: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = "first line\n" + "middle " * 400 + "\nthe end"
    monkeypatch.setitem(SAYS, "long-text", STREAM_HEAD + ROLE + delta(long) + END_OF_STREAM + LAST_CHUNK)
    said = soakproof("try", "behave", "--host", server.url, "-n", 1, "--set", "behave=long-text")
    assert max(map(len, said.out.splitlines())) < 400
    assert "first line" in said.out
    assert "the end" in said.out
    assert "more: --full]" in said.out
    said = soakproof("try", "behave", "--host", server.url, "-n", 1, "--set", "behave=long-text", "--full")
    assert said.out.count("middle ") == 400
    assert "| the end" in said.out


@pytest.mark.parametrize("command", [["try", "behave"], ["doctor"]])
def test_an_address_with_a_password_is_refused_before_it_is_said(
    soakproof: Command, behave: Path, command: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("soakproof.cli.output._PATIENCE", 0.0)
    said = soakproof(*command, "--host", "http://user:hunter2@127.0.0.1:1")
    assert (said.code, "a key goes into --api-key" in said.err) == (64, True)
    assert not any(word in said.out + said.err for word in ("hunter2", "asking"))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nope"], ["soakproof: no scenario is called 'nope'", "needs --plan"]),
        (["./scenarios/nope.py"], ["soakproof: no such file: ./scenarios/nope.py"]),
        (["nope.py"], ["soakproof: no such file: nope.py"]),
        (["torn"], ["soakproof: scenarios/torn.py cannot be loaded: SyntaxError", "line 1"]),
        (["odd"], ["soakproof: scenarios/odd.py: Odd: checks: expected a tuple"]),
        (["odd", "--set", "n=2"], ["soakproof: scenarios/odd.py: Odd: checks: expected a tuple"]),
        (["odd", "--set", "n=x"], ["soakproof: --set: n: "]),
        (["behave", "--set", "behav=x"], ["--set", "unknown key 'behav'", "did you mean 'behave'?"]),
        (["behave", "--set", "unknown=7"], ["--set", "unknown"]),
        (["isolation", "--set", "words=abc"], ["--set: words: expected a whole number, found a text"]),
        (["behave", "--set", "whole"], ["expected OPTION=VALUE, found 'whole'"]),
        (["behave", "--plan", "nope"], ["no plan is called 'nope'"]),
        (["behave", "--plan", "mine"], ["the plan mine has no kind 'behave'", "it has: other"]),
        (["behave", "--host", "localhost"], ["'localhost' is not an address"]),
        (["behave", "--plan", ""], ["--plan: expected a value, found nothing"]),
        (["behave", "--api-key", ""], ["--api-key: expected a value, found nothing"]),
        (["behave", "--host", "http://127.0.0.1:1/v9"], ["has the path '/v9'"]),
        (["behave", "--model-file", "nope.gguf"], ["cannot read the model file"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_usage_is_told(
    soakproof: Command, behave: Path, arguments: list[str], words: list[str]
) -> None:
    (behave.parent / "mine.toml").write_text('[mix]\nother = 1\n[kind.other]\nscenario = "behave"\n')
    (behave.parent / "torn.py").write_text("def oh(:")
    odd = BEHAVE.replace("class Behave", "class Odd").replace('("behave.text", "behave.more")', "3")
    (behave.parent / "odd.py").write_text(odd.replace("    known:", "    n: int = 1\n    known:"))
    said = soakproof("try", *arguments)
    assert said.code == 64, said
    assert all(word in said.err for word in words), said.err


def test_a_kind_of_a_plan_has_its_options_and_bounds(here: Path, behave: Path) -> None:
    (behave.parent / "mine.toml").write_text(
        '[mix]\nother = 1\n[kind.other]\nscenario = "behave"\nbehave = "cut"\nrole = "r"\n'
        '[bounds]\nbetween_tokens = "7s"\n'
    )
    kind, bounds = chosen_kind(Catalog(here), "other", "mine", ("behave=empty",))
    assert kind.name == "other"
    assert kind.scenario.behave == "empty"  # type: ignore[attr-defined]
    assert kind.scenario.role == "r"  # type: ignore[attr-defined]
    assert bounds.between_tokens == Seconds(7)


def test_a_file_is_tried_by_its_path(here: Path, behave: Path) -> None:
    kind, _ = chosen_kind(Catalog(here / "elsewhere"), str(behave), None, ("role=7 tokens",))
    assert kind.name == "behave"
    assert kind.scenario.role == "7 tokens"  # type: ignore[attr-defined]


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_ctrl_c_ends_the_trial_and_tells_what_came_of_it(here: Path, behave: Path, server: Server) -> None:
    command = [sys.executable, "-m", "soakproof", "try", "behave", "--host", server.url]
    process = subprocess.Popen(
        [*command, "--set", "behave=stall-in-stream"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    while "ask  ask" not in process.stdout.readline():
        assert process.poll() is None
    while not server.busy:  # until the request is under way
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 3
    assert "unknown after" in out
    assert "check behave.text: unknown (not reached: stopped by Ctrl-C)" in out
    assert "behave: stopped by Ctrl-C; 0 of 3 iterations completed" in out
    assert err == ""
