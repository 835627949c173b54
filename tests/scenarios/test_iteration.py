"""The stepper: every declared check exactly accounted for, however an iteration ends; broken files told."""

import contextlib
from dataclasses import dataclass
from typing import Any

import pytest
from msgspec.structs import replace
from playing import AROUND, make, play

from soakproof.context import IterationContext, Secrets
from soakproof.iteration import Result, Stepper, passed
from soakproof.records import Exchange, Failure
from soakproof.scenario import Ask, AskFailed, Scenario, Script, Together

ASK = Ask("Repeat exactly: x")


@dataclass(frozen=True)
class Base(Scenario):
    """Declares two checks; each test's scenario does something with them."""

    checks = ("a", "b")


def stepper(scenario: Scenario) -> Stepper:
    return Stepper(scenario, IterationContext("kind", 0, 1, AROUND, Secrets()))


def answer() -> Exchange:
    return play(make("isolation")).exchanges[0]


def failed() -> AskFailed:
    return AskFailed(replace(answer(), outcome="fail", failure=Failure.RESET, reason="the peer reset it"))


def run(scenario: Scenario) -> Result:
    """All its requests answered."""
    step = stepper(scenario)
    wanted = step.begin()
    while wanted is not None:
        wanted = step.reply(
            tuple(answer() for _ in wanted.asks) if isinstance(wanted, Together) else answer()
        )
    return step.result()


def told(result: Result) -> dict[str, tuple[bool | None, str]]:
    return {c.name: (c.outcome, c.reason) for c in result.checked}


@dataclass(frozen=True)
class Half(Base):
    """Reaches one check before its second request, the other after it."""

    def iterate(self, it: IterationContext) -> Script:
        first = yield ASK
        it.check("a", True, first)
        it.count("asked", 2)
        it.count("asked")
        second = yield ASK
        it.check("b", False, second, grade="wrong", reason="why")


def test_a_whole_iteration() -> None:
    result = run(Half())
    assert (result.end, result.reason, result.counts) == ("completed", "", {"asked": 3})
    assert told(result) == {"a": (True, ""), "b": (False, "why")}
    assert [c.exchanges for c in result.checked] == [(answer().id,), (answer().id,)]


def test_a_failed_request_ends_it_and_leaves_the_rest_unknown() -> None:
    step = stepper(Half())
    step.begin()
    step.reply(answer())
    assert step.fail(failed()) is None
    result = step.result()
    assert (result.end, result.reason) == ("failed", "client-1: reset: the peer reset it")
    assert told(result)["a"] == (True, "")
    assert told(result)["b"] == (None, "not reached: client-1: reset: the peer reset it")
    assert result.checked[1].grade == "unreached"


def test_a_scenario_may_catch_a_failed_request() -> None:
    @dataclass(frozen=True)
    class Catching(Base):
        """Asks again."""

        def iterate(self, it: IterationContext) -> Script:
            try:
                yield ASK
            except AskFailed as failed:
                it.check("a", failed.exchange.failure is Failure.RESET)
            yield ASK
            it.check("b", True)

    step = stepper(Catching())
    step.begin()
    assert step.fail(failed()) == ASK
    assert step.reply(answer()) is None
    assert told(step.result()) == {"a": (True, ""), "b": (True, "")}


@pytest.mark.parametrize("replies", [0, 1])
def test_a_stop(replies: int) -> None:
    step = stepper(Half())
    step.begin()
    for _ in range(replies):
        step.reply(answer())
    step.stop("the run ends")
    step.stop("and again")
    result = step.result()
    assert (result.end, result.reason) == ("stopped", "the run ends")
    assert told(result)["b"] == (None, "not reached: the run ends")
    assert told(result)["a"][0] is (True if replies else None)


def test_a_request_that_the_stop_ended_stops_the_iteration_whether_it_may_fail_or_not() -> None:
    ended = replace(answer(), outcome="unknown", failure=Failure.STOPPED, reason="the run ends")
    with pytest.raises(AskFailed) as raised:
        passed(Ask("x", may_fail=True), ended)
    step = stepper(Half())
    step.begin()
    assert step.fail(raised.value) is None
    assert (step.result().end, step.result().reason) == ("stopped", "the run ends")


def test_a_failed_request_is_handed_over_where_it_may_fail() -> None:
    broken = failed().exchange
    assert passed(Ask("x", may_fail=True), broken) is broken
    with pytest.raises(AskFailed):
        passed(Ask("x"), broken)


def test_a_stop_before_the_beginning_and_after_the_end() -> None:
    early = stepper(Half())
    early.stop("the run ends")
    assert early.result().end == "stopped"
    late = stepper(Half())
    late.begin()
    late.reply(answer())
    late.reply(answer())
    late.stop("the run ends")
    assert late.result().end == "completed"


def stopped(scenario: Scenario) -> Result:
    step = stepper(scenario)
    step.begin()
    step.stop("the run ends")
    return step.result()


def test_a_scenario_that_swallows_the_stop_is_broken_and_its_late_checks_are_not_believed() -> None:
    @dataclass(frozen=True)
    class Swallowing(Base):
        """Takes everything that goes wrong for a wrong answer."""

        def iterate(self, it: IterationContext) -> Script:
            try:
                yield ASK
            except BaseException:
                it.check("a", False)

    result = stopped(Swallowing())
    assert result.end == "broken"
    assert "swallows the stop" in result.reason
    assert told(result)["a"][0] is None


# A generator that never lets go is complained of once more when it is collected.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_scenario_that_goes_on_after_the_stop_is_broken() -> None:
    @dataclass(frozen=True)
    class GoingOn(Base):
        """Asks again, whatever happened."""

        def iterate(self, it: IterationContext) -> Script:
            while True:
                with contextlib.suppress(BaseException):
                    yield ASK

    result = stopped(GoingOn())
    assert result.end == "broken"
    assert "yields in a `finally`" in result.reason


def test_a_scenario_that_yields_once_while_it_is_stopped_is_broken() -> None:
    @dataclass(frozen=True)
    class Finally(Base):
        """Tidies up by asking."""

        def iterate(self, it: IterationContext) -> Script:
            try:
                yield ASK
            finally:
                yield ASK

    result = stopped(Finally())
    assert result.end == "broken"
    assert "let the stop pass" in result.reason


def test_a_scenario_that_raises_while_it_is_stopped_is_broken() -> None:
    @dataclass(frozen=True)
    class Raising(Base):
        """Fails in its own clean-up."""

        def iterate(self, it: IterationContext) -> Script:
            try:
                yield ASK
            finally:
                raise KeyError("mine")

    result = stopped(Raising())
    assert result.end == "broken"
    assert "while it was stopped: KeyError: 'mine' (test_iteration.py:" in result.reason
    closed = Raising()
    step = stepper(closed)
    step.begin()
    assert step.reply(answer()) is None
    assert step.result().end == "broken"


def end_with(error: BaseException) -> None:
    raise error


BROKEN: dict[str, tuple[Any, str]] = {
    "raises": (
        lambda it: 1 // 0,
        "ZeroDivisionError: integer division or modulo by zero (test_iteration.py:",
    ),
    "ends the program": (lambda it: end_with(SystemExit(0)), "SystemExit: 0 (test_iteration.py:"),
    "ends itself": (lambda it: end_with(GeneratorExit()), "GeneratorExit:  (test_iteration.py:"),
    "undeclared": (lambda it: it.check("c", True), "check 'c' is not declared: write it into `checks`"),
    "no reason": (lambda it: it.check("a", None), "check a is unknown without a reason"),
    "no bool": (lambda it: it.check("a", "yes"), "check a: expected True, False or None, found str"),
    "no corpus": (lambda it: it.phrase("nothing"), "no corpus 'nothing'; there are: "),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_bug_of_the_scenario_is_its_own(what: str) -> None:
    """Never the server's: the iteration is broken, with the line that raised, and its checks are unknown."""
    act, reason = BROKEN[what]

    @dataclass(frozen=True)
    class Buggy(Base):
        """Does what it should not."""

        def iterate(self, it: IterationContext) -> Script:
            yield ASK
            act(it)

    result = run(Buggy())
    assert result.end == "broken"
    assert reason in result.reason
    assert {outcome for outcome, _ in told(result).values()} == {None}
    assert set(told(result)) == {"a", "b"}


def test_what_may_be_yielded() -> None:
    @dataclass(frozen=True)
    class Wrong(Base):
        """Yields a number, and a Together of nothing."""

        empty: bool = False

        def iterate(self, it: IterationContext) -> Any:
            yield Together() if self.empty else 5

    assert "yielded int; a scenario yields Ask, Together, Start, Finish or Released" in run(Wrong()).reason
    assert "Together takes one request or more" in run(Wrong(empty=True)).reason


def test_what_iterate_must_be() -> None:
    @dataclass(frozen=True)
    class NoGenerator(Base):
        """Checks without asking."""

        def iterate(self, it: IterationContext) -> Any:
            return it.check("a", True)

    @dataclass(frozen=True)
    class Nothing(Base):
        """Has no iterate of its own."""

    assert "iterate is no generator" in run(NoGenerator()).reason
    assert "NotImplementedError" in run(Nothing()).reason


def test_a_scenario_may_be_split_with_yield_from() -> None:
    @dataclass(frozen=True)
    class Split(Base):
        """Asks in a helper."""

        def iterate(self, it: IterationContext) -> Script:
            text = yield from self._asked()
            it.check("a", bool(text))
            it.check("b", True)

        def _asked(self) -> Any:
            got = yield ASK
            return got.text

    assert run(Split()).end == "completed"
