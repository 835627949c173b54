"""Steps one scenario's generator and keeps the books; both drivers share it. No I/O.

A driver calls `begin`, carries out what it is handed, and calls `reply` or `fail` with what came of it,
until it is handed None. Then `result` has the checks, those never reached included, and how it ended.
"""

from collections.abc import Callable, Generator
from dataclasses import dataclass

from soakproof.context import Checked, IterationContext
from soakproof.lines import FAULTS, defined_at, file_of, raised_at, waits_at
from soakproof.records import Exchange, Failure, IterationEnd
from soakproof.scenario import (
    Ask,
    AskFailed,
    Finish,
    Released,
    Reply,
    Scenario,
    Script,
    Start,
    Started,
    Together,
    Yield,
)


@dataclass(frozen=True, slots=True)
class Result:
    """How an iteration ended, with every declared check in it exactly once or more."""

    end: IterationEnd
    reason: str
    checked: tuple[Checked, ...]
    counts: dict[str, float]


def passed(ask: Ask, exchange: Exchange) -> Exchange:
    """An exchange as a scenario is handed it.

    Raises AskFailed for one that did not succeed, unless it may fail; the run's stop is no such failure.
    """
    stopped = exchange.failure is Failure.STOPPED
    if exchange.outcome == "ok" or (ask.may_fail and not stopped):
        return exchange
    raise AskFailed(exchange)


class Stopped(BaseException):
    """Thrown into a scenario when the run stops; a scenario must let it pass."""


class Stepper:
    """Runs one iteration of one scenario, a step at a time."""

    def __init__(self, scenario: Scenario, context: IterationContext) -> None:
        self._scenario = scenario
        self._context = context
        self._context.declared = scenario.checks
        self._file = file_of(type(scenario))
        self._script: Script | None = None
        self._started: set[int] = set()  # keys of requests under way
        self._end: IterationEnd | None = None
        self._reason = ""

    def begin(self) -> Yield | None:
        """The first thing that the scenario wants; None when it has ended."""
        return self._step(self._first)

    def _first(self) -> Yield:
        script = self._scenario.iterate(self._context)
        if not isinstance(script, Generator):
            raise TypeError("iterate is no generator: a scenario yields what it asks")
        self._script = script
        return next(script)

    def reply(self, value: Reply) -> Yield | None:
        """Hand over what came of the last wish, as its class says; the next one, or None at the end."""
        if isinstance(value, Started):
            self._started.add(value.key)
        return self._step(lambda: self._running().send(value))

    def fail(self, failed: AskFailed) -> Yield | None:
        """Raise a failed request inside the scenario; what it wants next, or None at the end.

        One that the run's stop ended ends the iteration instead.
        """
        if failed.exchange.failure is Failure.STOPPED:
            self.stop(failed.exchange.reason)
            return None
        return self._step(lambda: self._running().throw(failed))

    def _running(self) -> Script:
        assert self._script is not None, "reply() or fail() before begin()"
        return self._script

    def stop(self, reason: str) -> None:
        """End the iteration because the run ends. Whatever the scenario has not checked is unknown."""
        if self._end is not None:
            return
        if self._script is None:
            self._finish("stopped", reason)
            return
        reached = len(self._context.checked)
        try:
            self._script.throw(Stopped(reason))
        except Stopped:
            self._finish("stopped", reason)
        except StopIteration:
            self._finish("broken", "the scenario swallows the stop: let it pass")
        except FAULTS as error:
            self._finish("broken", f"raised while it was stopped: {self._told(error)}")
        else:
            self._finish("broken", "the scenario yields while it is being stopped: let the stop pass")
        del self._context.checked[reached:]  # what is checked while stopping was not seen

    def _step(self, advance: Callable[[], Yield]) -> Yield | None:
        try:
            wanted = advance()
        except StopIteration:
            self._finish("completed", "")
        except AskFailed as failed:
            self._finish("failed", str(failed))
        except FAULTS as error:
            self._finish("broken", self._told(error))
        else:
            problem = self._wrong(wanted)
            if not problem:
                return wanted
            self._finish("broken", f"{problem} ({waits_at(self._running(), self._file) or self._begins()})")
        return None

    def _wrong(self, wanted: object) -> str:
        """Why no driver could carry a wish out; empty when one can."""
        if isinstance(wanted, Finish):
            if wanted.started.key not in self._started:
                return "finishes a request that it did not start, or finishes it twice"
            self._started.remove(wanted.started.key)
        if isinstance(wanted, (Ask, Together, Start, Finish, Released)):
            return ""
        return f"yielded {type(wanted).__name__}; a scenario yields Ask, Together, Start, Finish or Released"

    def _finish(self, end: IterationEnd, reason: str) -> None:
        self._end, self._reason = end, reason
        if self._script is None:
            return
        try:
            self._script.close()
        except RuntimeError as error:
            self._end, self._reason = "broken", f"the scenario yields in a `finally`: {error}"
        except FAULTS as error:
            self._end, self._reason = "broken", f"raised while it was closed: {self._told(error)}"

    def result(self) -> Result:
        """Every declared check, with those not reached as unknown."""
        assert self._end is not None, "result() before the end"
        found = (*self._context.checked, *self._context.doubted)
        seen = {c.name for c in found}
        why = self._reason or "the scenario ended without it (is a `yield from` left out?)"
        missing = [
            Checked(name, None, "unreached", f"not reached: {why}", ())
            for name in self._scenario.checks
            if name not in seen
        ]
        return Result(self._end, self._reason, (*found, *missing), dict(self._context.counts))

    def _told(self, error: BaseException) -> str:
        """The error and the scenario's own line that it came from."""
        return f"{type(error).__name__}: {error} ({raised_at(error, self._file) or self._begins()})"

    def _begins(self) -> str:
        return defined_at(type(self._scenario).iterate, self._file)
