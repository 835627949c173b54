"""Each input asked for by a driver of ours: what is asked, and under which bounds; both drivers use it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from caseinputs import INPUTS
from scripted import documents

from soakproof.context import IterationContext, Surroundings
from soakproof.plan import Bounds, Kind
from soakproof.records import Exchange
from soakproof.request import Requests
from soakproof.scenario import Ask, Scenario, Script
from soakproof.units import Seconds

Read = Callable[[str], tuple[Exchange, ...]]  # a stream's exchange by each reader; a fixture
SILENT = "72-accepts-never-answers.script.json"
ANSWERS = (
    "10-semantic-bleed-no-nonce.json",
    "10-verbatim-swap-four-clients.json",
    "41-fenced-and-broken.json",
    "41-fenced-but-valid.json",
    "41-nan-dup-key.json",
    "41-trailing-prose.json",
    "42-schema-silently-dropped.json",
    "45-truncated-but-stop.json",
    "45-truncated-length.json",
    "46-reasoning-eats-budget.json",
    "81-probe-under-reasoning-floor.json",
)
# As sped up by `scripted.SPEED`: a stall takes less than the healthy prefill of 45 s.
STALLING = Bounds(
    first_token=Seconds(60), first_token_per_1000=Seconds(0), between_tokens=Seconds(1), total=Seconds(90)
)
NO_ANSWER = Bounds(first_token=Seconds(1), first_token_per_1000=Seconds(0), total=Seconds(90))
PATIENT = Bounds(total=Seconds(90))


def names() -> list[str]:
    """Every input that a server can send, documents with their place in the file."""
    streams = [p.name for p in INPUTS.iterdir() if p.name.endswith((".sse", ".script.json", ".http"))]
    answers = [f"{file} {place}" for file in ANSWERS for place in range(len(documents(file)))]
    return sorted(streams) + answers


def bounds_of(name: str) -> Bounds:
    if name.startswith(("20-", "21-")):
        return STALLING
    return NO_ANSWER if name.startswith("72-") else PATIENT


@dataclass(frozen=True)
class Replay(Scenario):
    """One input, whatever comes of it."""

    checks = ("replay.over",)
    name: str = ""
    tokens: int = 512

    def iterate(self, it: IterationContext) -> Script:
        streamed = " " not in self.name
        ask = Ask(f"case: {self.name}", tokens=self.tokens, stream=streamed, may_fail=True)
        answer = yield ask
        it.check("replay.over", True, answer)


def kind(name: str) -> Kind:
    """The kind of traffic that asks for this input, with the limit of tokens that the case had."""
    file, _, place = name.partition(" ")
    pair = documents(file)[int(place)] if place else {}
    asked = pair.get("request") or pair.get("probe") or {}
    return Kind(name, Replay(name=name, tokens=asked.get("max_tokens", 512)), 1)


def requests(first_seed: int) -> Requests:
    around = Surroundings(slots=64, slot_context=4096, chars_per_token=3.0)
    return Requests(node="load", model="m1", around=around, seed=1, first_seed=first_seed)


class Kept:
    """Keeps the records of one input."""

    def __init__(self) -> None:
        self.begun = 0
        self.exchanges: list[Exchange] = []

    def opened(self, *_: Any) -> None:
        self.begun += 1

    def closed(self, record: Exchange) -> None:
        self.exchanges.append(record)

    def checked(self, _: Any) -> None:
        pass

    def only(self) -> Exchange:
        """Its one exchange: each request has one record of its sending and one of its end."""
        (exchange,) = self.exchanges
        assert self.begun == 1
        return exchange
