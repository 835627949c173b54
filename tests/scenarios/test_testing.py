"""`soakproof.testing.play`: what a user's own test of a scenario stands on."""

from pathlib import Path
from typing import Any

import pytest

from soakproof.records import Failure
from soakproof.scenario import Ask, Release, Surroundings
from soakproof.testing import play

SCENARIO = '''
from dataclasses import dataclass
from soakproof.scenario import After, Ask, Finish, Released, Scenario, Start, Together

@dataclass(frozen=True)
class Mine(Scenario):
    """Uses everything that a scenario may yield."""
    checks = ("mine.echo", "mine.cached", "mine.released")

    def iterate(self, it):
        line = it.secret(3)
        a, b = yield Together(Ask(it.phrase("echo", x=line)), Ask(it.nonce(), role="other"))
        it.check("mine.echo", a.text == line, a, grade="" if a.text == line else "other", reason="-")
        started = yield Start(Ask("go on", role="long", cancel=After(tokens=3)))
        left = yield Finish(started)
        freed = yield Released(left, within=5)
        it.check("mine.released", freed.freed, left, reason=freed.reason)
        c = yield Ask("again", role="again", may_fail=True)
        known = None if c.cached_tokens is None else c.cached_tokens > 0
        it.check("mine.cached", known, c, reason="not told")
'''


@pytest.fixture(autouse=True)
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "scenarios" / "mine.py").write_text(SCENARIO)
    monkeypatch.chdir(tmp_path)


def echo(ask: Ask) -> str | dict[str, Any]:
    if ask.role == "again":
        return {"text": "yes", "cached_tokens": 7}
    prompt = ask.chat()[0]["content"]
    return (
        prompt[prompt.find(next(w for w in prompt.split() if w.endswith("-01"))) :]
        if "-01" in prompt
        else "x"
    )


def test_right_answers_pass() -> None:
    played = play("mine", echo)
    assert played.outcomes() == {"mine.echo": True, "mine.cached": True, "mine.released": True}
    assert [ask.role for ask in played.asks] == ["ask", "other", "long", "again"]
    assert played.exchanges[0].sent_ns == played.exchanges[1].sent_ns
    assert played.exchanges[2].cancelled_ns is not None
    assert played.reason("mine.echo") == ""


def test_wrong_and_missing_ones_do_not() -> None:
    played = play("mine", lambda ask: "something else", release=Release(None, reason="no slots to see"))
    assert played.outcomes() == {"mine.echo": False, "mine.cached": None, "mine.released": None}
    assert played.reason("mine.echo") == "other: -"
    assert played.reason("mine.cached") == "not told"


def test_a_failure_ends_the_iteration_as_it_would_in_a_run() -> None:
    failed = {"outcome": "fail", "failure": Failure.STALL, "reason": "10 s without a token"}
    played = play("mine", lambda ask: failed if ask.role == "other" else "x")
    assert played.result.end == "failed"
    assert played.outcomes() == {"mine.echo": None, "mine.cached": None, "mine.released": None}
    played = play("mine", lambda ask: failed if ask.role == "again" else echo(ask))
    assert played.result.end == "completed"


def test_surroundings_and_number_are_the_tests_own() -> None:
    around = Surroundings(slots=1, slot_context=512, chars_per_token=2.0, corpora={"echo": ("Say: {x}",)})
    first, again, other = (play("mine", echo, around=around, number=n) for n in (0, 0, 1))
    assert first.asks[0].messages == again.asks[0].messages != other.asks[0].messages
    assert str(first.asks[0].messages).startswith("Say: ")
