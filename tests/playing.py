"""Plays a server to a scenario, without any I/O: right answers, worked out from the prompt's text alone.

`play` runs one iteration; a test passes ``change`` to spoil one answer and looks at what the checks say.
"""

import json
import random
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from soakproof.catalog import Catalog
from soakproof.context import IterationContext, Secrets, Surroundings, Traffic
from soakproof.iteration import Result, Stepper
from soakproof.records import Exchange, Failure
from soakproof.request import opened
from soakproof.scenario import Ask, Release, Released, Scenario
from soakproof.slips import ANEW
from soakproof.testing import drive

CATALOG = Catalog(Path("no such folder"))
SECOND = 10**9
AROUND = Surroundings(
    slots=2, slot_context=16384, chars_per_token=2.5, corpora=CATALOG.corpora(), cache_tokens=32_000
)
Change = Callable[[Exchange], Exchange]


def make(name: str, **options: Any) -> Scenario:
    """A bundled scenario with these options."""
    return CATALOG.scenario(name)(**options)


def right_answer(ask: Ask) -> str:
    """What a faithful model says to a prompt of the bundled scenarios."""
    prompt = ask.chat()[-1]["content"]
    if ask.force:
        words = random.Random(prompt).choices(AROUND.corpora["words"], k=ask.tokens // 2)
        return " ".join(words)
    if "{" in prompt.split("\n- ")[0] or "\n- " in prompt:
        return _object(ask, prompt)
    if found := re.search(r"record (\d{4})\b[^\n]*$", prompt):
        code = re.search(rf"^Record {found[1]}: .*code (\S+),", _read(ask), re.MULTILINE)
        assert code is not None
        return code[1]
    return re.split(r"(?::|\.)\s", prompt, maxsplit=1)[1].strip()


def _object(ask: Ask, prompt: str) -> str:
    fields = re.findall(r"^- (\w+) \(([a-z ]+)\): (.*)$", prompt, re.MULTILINE)
    made = {name: _value(words, shown) for name, words, shown in fields}
    if ask.response_format is not None:
        for name, schema in ask.response_format["json_schema"]["schema"]["properties"].items():
            made[name] = schema.get("const", made[name])
    return json.dumps(made, ensure_ascii=False)


def _value(words: str, shown: str) -> Any:
    if words == "string":
        return shown
    if words == "array of strings":
        return shown.split(", ")
    return json.loads(f"[{shown}]" if words.startswith("array") else shown)


@dataclass
class Server:
    """One slot's worth of a well-behaved server: a prefix cache, token counts, a clock of its own."""

    around: Surroundings
    secrets: Secrets
    traffic: Traffic
    change: Change
    now: int = 0
    asks: list[Ask] = field(default_factory=list)
    exchanges: list[Exchange] = field(default_factory=list)

    def answer(self, ask: Ask, sent_ns: int) -> Exchange:
        """The exchange of a request that was sent then, after ``change`` had its way with it."""
        number = len(self.asks)
        record = opened(
            ask,
            id=f"x{number}",
            node="test",
            scenario="kind",
            iteration=0,
            seed=number,
            model="m",
            due_ns=sent_ns,
            sent_ns=sent_ns,
            secrets=self.secrets,
        )
        document = {name: getattr(record, name) for name in record.__slots__}
        exchange = Exchange(**document, **self._outcome(ask, sent_ns))
        self.asks.append(ask)
        self.exchanges.append(self.change(exchange))
        self.now = max(self.now, sent_ns + SECOND)
        self.traffic.add(self.exchanges[-1])
        return self.exchanges[-1]

    def _outcome(self, ask: Ask, sent_ns: int) -> dict[str, Any]:
        refusal = _refusal(ask, self.around)
        if refusal is not None:
            return {"outcome": "ok" if ask.refused else "fail", "done_ns": sent_ns + SECOND // 10, **refusal}
        cut = ask.cancel is not None
        silent = ask.cancel is not None and ask.cancel.tokens is None
        prompt, cached = self._prompt(ask)
        text = "" if silent else right_answer(ask)
        return {
            "outcome": "ok",
            "status": 200,
            "done_ns": sent_ns + SECOND,
            "cancelled_ns": sent_ns + SECOND if cut else None,
            "first_token_ns": None if silent else sent_ns + SECOND // 10,
            "last_token_ns": None if silent else sent_ns + SECOND * 9 // 10,
            "widest_gap_ns": None if silent else SECOND // 20,
            "token_events": 0 if silent else 20,
            "finish_reason": None if cut else "length" if ask.force else "stop",
            "prompt_tokens": None if cut else prompt,
            "completion_tokens": None if cut else ask.tokens if ask.force else max(1, len(text) // 2),
            "cached_tokens": None if cut else cached,
            "timings": None if cut else _timings(prompt - cached),
            "text": text,
        }

    def _prompt(self, ask: Ask) -> tuple[int, int]:
        """Tokens of the prompt, and how many of them an earlier prompt has left in the cache."""
        text = _read(ask)
        size = int(len(text) / self.around.chars_per_token)
        if ask.more == ANEW:
            return size, 0
        shared = max((_shared(text, _read(a)) for a in self.asks), default=0)
        return size, min(size - 1, int(shared / self.around.chars_per_token))


def _timings(processed: int) -> dict[str, float]:
    return {"prompt_n": processed, "prompt_ms": 0.5 * processed, "predicted_ms": 800.0}


def _refusal(ask: Ask, around: Surroundings) -> dict[str, Any] | None:
    """How Lemonade, or llama.cpp alone, refuses what it must; None for what is to be answered."""
    size = len(_read(ask)) / around.chars_per_token
    late = around.front == "lemonade" and ask.stream  # its stream has begun by then
    if ask.model is not None and around.front != "llamacpp":
        return {"failure": Failure.CONFIGURATION, "status": 404, "reason": "model_not_found"}
    if ask.more not in (None, ANEW):
        return {"failure": Failure.CONFIGURATION, "status": 200 if late else 400, "reason": "wrong type"}
    if size > around.slot_context:
        return {"failure": Failure.CONTEXT, "status": 200 if late else 400, "reason": "too long"}
    return None


def _read(ask: Ask) -> str:
    """All the text of a prompt."""
    return "\n".join(message["content"] for message in ask.chat())


def _shared(a: str, b: str) -> int:
    return next((n for n, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


@dataclass(frozen=True)
class Played:
    """An iteration as it went."""

    result: Result
    asks: list[Ask]
    exchanges: list[Exchange]
    waits: list[Released]

    def outcomes(self) -> dict[str, list[tuple[bool | None, str]]]:
        """Check to its outcomes and grades, in order."""
        found: dict[str, list[tuple[bool | None, str]]] = {}
        for check in self.result.checked:
            found.setdefault(check.name, []).append((check.outcome, check.grade))
        return found

    def missed(self) -> dict[str, tuple[bool | None, str]]:
        """Checks that did not pass, each with its worst outcome and that one's grade."""
        bad: dict[str, tuple[bool | None, str]] = {}
        for name, outcomes in self.outcomes().items():
            worst = [o for o in outcomes if o[0] is False] or [o for o in outcomes if o[0] is None]
            if worst:
                bad[name] = worst[0]
        return bad

    def reason(self, name: str) -> str:
        """The reason of a check's first outcome that is no pass."""
        return next(c.reason for c in self.result.checked if c.name == name and c.outcome is not True)


def of(role: str, **changes: Any) -> Change:
    """Changes fields of the exchanges of one role; a callable is given the old value."""

    def change(exchange: Exchange) -> Exchange:
        if exchange.role != role:
            return exchange
        made = {k: v(getattr(exchange, k)) if callable(v) else v for k, v in changes.items()}
        return replace(exchange, **made)

    return change


def play(
    scenario: Scenario,
    change: Change = lambda exchange: exchange,
    *,
    number: int = 0,
    seed: int = 1,
    around: Surroundings = AROUND,
    secrets: Secrets | None = None,
    release: Release = Release(True, 0.03),  # noqa: B008 - frozen
    later: Release | None = None,
    beside: Callable[[Traffic, Ask], None] = lambda traffic, ask: None,
) -> Played:
    """One iteration against a `Server`; ``beside`` stands for what other clients do before each request.

    ``release`` answers the first wait for a slot, ``later`` those after it.
    """
    secrets = secrets or Secrets()
    traffic = Traffic(around.chars_per_token)
    context = IterationContext("kind", number, seed, around, secrets, traffic)
    server = Server(around, secrets, traffic, change)
    waits: list[Released] = []

    def send(asks: tuple[Ask, ...]) -> tuple[Exchange, ...]:
        now, made = server.now, []
        for ask in asks:
            beside(traffic, ask)
            made.append(server.answer(ask, now))
        return tuple(made)

    def wait(wanted: Released) -> Release:
        waits.append(wanted)
        return release if later is None or len(waits) == 1 else later

    result = drive(Stepper(scenario, context), send, wait)
    return Played(result, server.asks, server.exchanges, waits)
