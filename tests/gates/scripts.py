"""Scenarios that both drivers are tried with; each driver's own process imports them."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from soakproof.catalog import Catalog
from soakproof.context import IterationContext, Surroundings
from soakproof.plan import Bounds, Kind, make_scenario
from soakproof.records import Exchange, Opened
from soakproof.request import Requests
from soakproof.scenario import After, Ask, Finish, Released, Scenario, Script, Start, Together
from soakproof.units import Seconds

SHORT = Bounds(
    connect=Seconds(2),
    first_token=Seconds(0.5),
    first_token_per_1000=Seconds(0.1),
    between_tokens=Seconds(0.4),
    total=Seconds(20),
)
AROUND = Surroundings(slots=4, slot_context=4096, chars_per_token=3.0)


def requests(**more: Any) -> Requests:
    """Of the misbehaving server, unless ``more`` says otherwise."""
    return Requests(
        **{"node": "load", "model": "tiny", "around": AROUND, "seed": 1, "first_seed": 1000, **more}
    )


@dataclass(frozen=True)
class One(Scenario):
    """One request that may fail."""

    checks = ("one.text",)
    behave: str = "whole"
    stream: bool = True
    after_tokens: int | None = None
    after_seconds: float | None = None

    def iterate(self, it: IterationContext) -> Script:
        cancel = None
        if self.after_tokens is not None or self.after_seconds is not None:
            cancel = After(tokens=self.after_tokens, seconds=self.after_seconds)
        ask = Ask(f"{it.nonce()} behave: {self.behave}", stream=self.stream, may_fail=True, cancel=cancel)
        answer = yield ask
        it.check("one.text", answer.text == "yes it is", answer, reason=answer.text[:20])


@dataclass(frozen=True)
class Pair(Scenario):
    """Two at once; the second as told."""

    checks = ("pair.both", "pair.last")
    width = 2
    second: str = "whole"

    def iterate(self, it: IterationContext) -> Script:
        a, b = yield Together(
            Ask("behave: whole", role="a"), Ask(f"behave: {self.second}", role="b", stream=True)
        )
        it.check("pair.both", a.text == b.text, a, b)
        c = yield Ask("behave: whole", role="c")
        it.check("pair.last", c.text == a.text, c)


@dataclass(frozen=True)
class Bystander(Scenario):
    """A long answer beside one that is cancelled; the slot of that one is looked for."""

    checks = ("by.released", "by.whole", "by.busy")
    width = 2
    finish: bool = True
    first: str = "long"

    def iterate(self, it: IterationContext) -> Script:
        other = yield Start(Ask(f"behave: {self.first}", role="other", cancel=After(tokens=60)))
        cut = yield Ask("behave: long", role="cut", cancel=After(tokens=5))
        freed = yield Released(cut, within=5.0)
        it.check("by.released", freed.freed, cut, reason=freed.reason)
        if self.finish:
            whole = yield Finish(other)
            it.check("by.whole", whole.cancelled_ns is not None, whole)
            it.count("by.tokens", whole.token_events)


@dataclass(frozen=True)
class Odd(Scenario):
    """A scenario that is itself at fault."""

    checks = ("odd.first", "odd.second")
    fault: str = "raise"

    def iterate(self, it: IterationContext) -> Script:
        answer = yield Ask("behave: whole")
        it.check("odd.first", True, answer)
        if self.fault == "raise":
            raise KeyError("no such thing")
        if self.fault == "yield":
            yield "nonsense"  # type: ignore[misc]
        it.check("odd.undeclared", True, answer)


def _kinds() -> dict[str, Scenario]:
    from misbehaving import ACTS, SAYS

    made: dict[str, Scenario] = {f"one {name}": One(name) for name in (*SAYS, *ACTS) if name != "long"}
    made["one unstreamed"] = One("unstreamed", stream=False)
    made["one unstreamed-500"] = One("status-500", stream=False)
    made["one unstreamed-cut"] = One("eof-in-length", stream=False)
    made["cancel by tokens"] = One("long", after_tokens=7)
    made["cancel by time"] = One("long", after_seconds=0.3)
    made["cancel before the first token"] = One("stall-at-first", after_seconds=0.2)
    made["cancel after the end"] = One("whole", after_tokens=50)
    made["pair"] = Pair()
    made["pair, one reset"] = Pair("reset-in-stream")
    made["pair, one fails"] = Pair("backend-lost")
    made["bystander"] = Bystander()
    made["bystander left behind"] = Bystander(finish=False)
    made["bystander never starts"] = Bystander(first="unknown-model")
    made["raises"] = Odd()
    made["yields nonsense"] = Odd("yield")
    made["undeclared check"] = Odd("undeclared")
    return made


def kinds() -> list[Kind]:
    return [Kind(name, scenario, 1) for name, scenario in _kinds().items()]


def bundled_kinds() -> list[Kind]:
    """Scenarios for a real server with a real model."""
    catalog = Catalog(Path("nowhere"))
    return [
        Kind(name, make_scenario(catalog, name, {}, name), 1)
        for name in ("structured_json", "isolation", "cancellation", "refusals")
    ]


def real_around() -> Surroundings:
    corpora = Catalog(Path("nowhere")).corpora()
    return Surroundings(slots=2, slot_context=16384, chars_per_token=2.5, corpora=corpora, front="lemonade")


# What may differ between two drivers, or between two runs of one: times, and the words of the system.
_TIMES = {name for name in Exchange.__slots__ if name.endswith("_ns")}
_OWN = _TIMES | {"id", "node", "seed", "widest_gap_at", "pings"}
_CONNECTION = {"connect", "reset", "protocol"}  # these failures are told in the words of a library


def shown(exchange: Exchange) -> dict[str, Any]:
    """What both drivers must agree on of an exchange."""
    values = {name: getattr(exchange, name) for name in Exchange.__slots__ if name not in _OWN}
    values["times"] = sorted(name for name in _TIMES if getattr(exchange, name) is not None)
    values["pinged"] = exchange.pings > 0
    values["notes"] = [note.partition(":")[0] for note in exchange.notes]
    if exchange.failure in _CONNECTION | {"stall", "first_token_timeout", "headers_timeout", "stopped"}:
        del values["reason"]
    if exchange.cancelled_ns is not None or exchange.failure == "stopped":
        for counted in ("token_events", "text", "text_digest"):
            values.pop(counted, None)  # how far it came is a matter of timing
    return values


class Book:
    """Keeps what a driver says of one iteration."""

    def __init__(self) -> None:
        self.exchanges: list[Exchange] = []
        self.begun: list[str] = []

    def opened(self, record: Opened, _ask: object = None) -> None:
        self.begun.append(record.id)

    def closed(self, record: Exchange) -> None:
        self.exchanges.append(record)

    def checked(self, _checked: object) -> None:
        pass

    def told(self, result: Any) -> dict[str, Any]:
        """The iteration as plain values; exchanges by role, as they may end in either order."""
        closed = sorted(self.exchanges, key=lambda e: (e.role, e.prompt_digest))
        return {
            "end": result.end,
            "reason": result.reason if not self._by_connection() else "",
            "checks": [(c.name, c.outcome, c.grade) for c in result.checked],
            "counts": sorted(result.counts),
            "exchanges": [shown(e) for e in closed],
            "unclosed": len(set(self.begun) - {e.id for e in self.exchanges}),
        }

    def told_of_a_real_server(self, result: Any) -> dict[str, Any]:
        """What a model that answers the same to the same must give alike; caches and times it need not."""
        whole = [e for e in sorted(self.exchanges, key=lambda e: e.role) if e.cancelled_ns is None]
        return {
            "end": result.end,
            "checks": [(c.name, c.outcome, c.grade) for c in result.checked],
            "roles": sorted((e.role, e.outcome, e.failure, e.status) for e in self.exchanges),
            "answers": [
                [e.role, e.text, e.finish_reason, e.done_marker, e.prompt_tokens, e.completion_tokens]
                for e in whole
            ],
        }

    def _by_connection(self) -> bool:
        return any(e.failure in _CONNECTION for e in self.exchanges)
