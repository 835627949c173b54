"""A trial in words: each request, its answer and each check, as they come. No I/O but through ``say``.

What models and servers wrote is hostile: everything of theirs goes through `plain`, or line by line where it
is shown in full.
"""

import json
from collections.abc import Callable

from soakproof.clock import seconds
from soakproof.failures import fault_of
from soakproof.iteration import Result
from soakproof.metrics import value
from soakproof.plain import clause, plain
from soakproof.quantities import KNOWN, check_outcome
from soakproof.reading.oddities import ODDITIES, UNKNOWN, split
from soakproof.records import Check, Exchange, Opened
from soakproof.scenario import Ask
from soakproof.tables import paragraph

_PATIENCE = 2.0  # seconds of silence that nobody minds
_INDENT = " " * 7
_SERVER_WORDS = 600  # characters of an error document
_SHORT_LINES = 6  # of a terminal: a text up to this is shown whole
_CUT = 33  # characters of the words for what an excerpt leaves out
_CHECK_WORDS = {"pass": "pass", "fail": "FAIL", "unknown": "unknown", KNOWN: "known limit"}


class Terminal:
    """Tells a trial. ``hint`` shows a line that the next one replaces; "" clears it."""

    def __init__(
        self, say: Callable[[str], None], hint: Callable[[str], None], *, times: int, width: int, full: bool
    ) -> None:
        self._say, self._hint = say, hint
        self._times, self._width, self._full = times, width, full

    def _line(self, text: str) -> None:
        """A line folded to the terminal's width; what is folded stands below the text, not below its head."""
        self._hint("")
        self._say(paragraph(text, self._width, f"{_INDENT}  "))

    def iteration(self, number: int) -> None:
        self._line("")
        self._line(f"iteration {number + 1} of {self._times}")

    def asked(self, record: Opened, ask: Ask) -> None:
        self._line(f"  ask  {plain(ask.role, 30)}: {_plan_of(record)}")
        for message in ask.chat():
            who = "" if message["role"] == "user" else f"{message['role']}: "
            self._text(who, message["content"])
        if ask.response_format is not None:
            self._text("response_format: ", json.dumps(ask.response_format, ensure_ascii=False))

    def ended(self, exchange: Exchange) -> None:
        self._line(f"  got  {plain(exchange.role, 30)}: {_course(exchange)}")
        self._text("reasoning: ", exchange.reasoning)
        self._text("tool calls: ", exchange.tool_calls)
        self._text("", exchange.text)
        if exchange.outcome == "fail":
            self._text("the server's words: ", exchange.error_body or "", _SERVER_WORDS)
        for note in exchange.notes:
            self._line(f"{_INDENT}note: {_noted(note)}")

    def checked(self, check: Check) -> None:
        grade = "" if check.grade == "unreached" else check.grade  # its reason says so
        why = ": ".join(part for part in (grade, check.reason) if part)
        word = _CHECK_WORDS[check_outcome(check)]
        self._line(f"  check {check.name}: {word}{f' ({plain(why, 400)})' if why else ''}")

    def finished(self, result: Result) -> None:
        if result.end != "completed":
            self._line(f"  the iteration {_ENDS[result.end]}: {plain(result.reason, 600)}")

    def waiting(self, roles: list[str], seconds: float, token_events: int) -> None:
        if seconds > _PATIENCE:
            told = f"{token_events} token events so far" if token_events else "no token yet"
            self._hint(f"waiting for {plain(', '.join(roles), 60)}: {seconds:.0f} s, {told}")

    def _text(self, label: str, text: str, limit: int = 0) -> None:
        """A text of a prompt or an answer: whole where it is short, else its beginning and end; in full
        every line of it.
        """
        if not text:
            return
        if not self._full:
            self._line(f'{_INDENT}{label}"{excerpt(text, limit or self._room(len(text), label))}"')
            return
        for part in text.split("\n"):
            self._hint("")
            self._say(f"{_INDENT}{label}| {plain(part, max(len(part) * 10, 1))}")
            label = ""

    def _room(self, length: int, label: str) -> int:
        """Characters of a text that are shown: of a long one two lines."""
        is_short = length <= _SHORT_LINES * self._width
        return length if is_short else 2 * self._width - len(_INDENT) - len(label) - 2


_ENDS = {
    "failed": "ended at a failed request",
    "stopped": "was stopped",
    "broken": "broke in the scenario itself",
}


def excerpt(text: str, limit: int) -> str:
    """At most ``limit`` characters: the beginning, and the end, where a long prompt has its question.

    What was left out between them is told, and the option that shows it.
    """
    limit = max(limit, 80)
    if len(text) <= limit:
        return plain(text, limit)
    end = limit // 3
    start = limit - end - _CUT
    left_out = len(text) - start - end
    return f"{plain(text[:start], start)} …[{left_out:,} more: --full]… {plain(text[-end:], end)}"


def _noted(note: str) -> str:
    """An oddity of the protocol: its name, what it means, and its detail."""
    name, detail = split(note)
    told = f"{plain(name, 60)}: {ODDITIES.get(name, UNKNOWN).meaning}"
    return f"{told} ({plain(detail, 200)})" if detail else told


def _plan_of(record: Opened) -> str:
    parts = [f"{record.prompt_chars:,} characters, up to {record.max_tokens:,} tokens"]
    if not record.stream:
        parts.append("not streamed")
    if record.cancel_planned:
        parts.append(f"to be cancelled in {record.cancel_planned}")
    if record.refusal_planned:
        parts.append("a refusal will do")
    return ", ".join(parts)


def _course(exchange: Exchange) -> str:
    """How the exchange went, in one line. Times are from when it was due, as the metrics have them."""
    took = f"{seconds(exchange.done_ns - exchange.due_ns):.2f} s"
    if exchange.outcome == "unknown":
        return f"unknown after {took}: {plain(exchange.reason, 200)}"
    if exchange.outcome == "fail":
        assert exchange.failure is not None, "a failed exchange has its class"
        whose = fault_of(exchange.failure)
        status = f", status {exchange.status}" if exchange.status else ""
        why = clause(exchange.reason, 300)
        return f"FAILED after {took}{status}: {exchange.failure}: {why} (whose: {whose})"
    if exchange.failure is not None:
        status = f", status {exchange.status}" if exchange.status else ""
        return f"refused as planned in {took}{status}: {exchange.failure}: {clause(exchange.reason, 300)}"
    how = "cancelled as planned" if exchange.cancelled_ns is not None else "ok"
    return "; ".join([f"{how} in {took}{_first_token(exchange)}", *_tokens(exchange)])


def _first_token(exchange: Exchange) -> str:
    """As the metric has it: from when the request was due."""
    told = value("first_token_time", exchange)
    return "" if told is None else f", first token after {told:.2f} s"


def _tokens(exchange: Exchange) -> list[str]:
    told = []
    if exchange.prompt_tokens is not None:
        cached = "" if exchange.cached_tokens is None else f" ({exchange.cached_tokens:,} from a cache)"
        told.append(f"{exchange.prompt_tokens:,} prompt tokens{cached}")
    if exchange.completion_tokens is not None:
        rate = value("generation_rate", exchange)
        told.append(f"{exchange.completion_tokens:,} generated{f' at {rate:.1f} tokens/s' if rate else ''}")
    elif exchange.token_events:
        told.append(f"{exchange.token_events:,} token events")
    if exchange.finish_reason:
        told.append(f"finish {plain(exchange.finish_reason, 30)}")
    return told
