"""The chat request as it goes over the wire, and the record of its sending; both drivers share it. No I/O."""

import hashlib
import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import orjson

from soakproof.context import IterationContext, Secrets, Surroundings, Traffic, estimated_tokens
from soakproof.exchange import Reading
from soakproof.records import Exchange, Opened
from soakproof.scenario import Ask


def chat_body(ask: Ask, model: str, seed: int) -> bytes:
    """The JSON body of a chat completion. ``seed`` names the request in the backend's /slots."""
    document: dict[str, Any] = {
        "model": model,
        "messages": ask.chat(),
        "max_tokens": ask.tokens,
        "temperature": ask.temperature,
        "seed": seed,
        "stream": ask.stream,
    }
    if ask.stream:
        document["stream_options"] = {"include_usage": True}
    if ask.force:
        document["ignore_eos"] = True
    if ask.response_format is not None:
        document["response_format"] = ask.response_format
    document |= ask.more or {}
    return orjson.dumps(document)


def prompt_chars(ask: Ask) -> int:
    return sum(len(message["content"]) for message in ask.chat())


def opened(
    ask: Ask,
    *,
    id: str,
    node: str,
    scenario: str,
    iteration: int,
    seed: int,
    model: str,
    due_ns: int,
    sent_ns: int,
    secrets: Secrets,
) -> Opened:
    """The record of a request that is about to be sent."""
    prompt = "\n".join(message["content"] for message in ask.chat())
    return Opened(
        id=id,
        node=node,
        scenario=scenario,
        iteration=iteration,
        role=ask.role,
        seed=seed,
        due_ns=due_ns,
        sent_ns=sent_ns,
        model_asked=model,
        stream=ask.stream,
        max_tokens=_max_tokens(ask),
        prompt_chars=prompt_chars(ask),
        prompt_digest=hashlib.sha256(orjson.dumps(ask.chat())).hexdigest(),
        secrets=tuple(sorted(secrets.known(prompt))),
        cancel_planned=str(ask.cancel) if ask.cancel else None,
        refusal_planned=ask.refused,
        temperature=_temperature(ask),
    )


def _temperature(ask: Ask) -> float | None:
    """As the body has it; None for what is no number."""
    found = (ask.more or {}).get("temperature", ask.temperature)
    return float(found) if isinstance(found, (int, float)) and not isinstance(found, bool) else None


def _max_tokens(ask: Ask) -> int:
    """By whatever name the body has it; llama.cpp's own comes first."""
    for name in ("n_predict", "max_completion_tokens", "max_tokens"):
        found = (ask.more or {}).get(name)
        if isinstance(found, int) and not isinstance(found, bool):
            return found
    return ask.tokens


@dataclass(frozen=True, slots=True)
class Prepared:
    """A request that is about to be sent, and what will read its answer."""

    record: Opened
    body: bytes
    reading: Reading
    prompt_tokens: int  # estimated


@dataclass(eq=False, kw_only=True)
class Requests:
    """All the requests of one node in one run: their numbers and seeds, their secrets and their tokens."""

    node: str
    model: str
    around: Surroundings
    seed: int  # the plan's, which every prompt is drawn by
    first_seed: int  # request seeds count up from here, so that each is unique in the backend's /slots
    redact: tuple[str, ...] = ()  # what no record may hold: the API key
    _secrets: Secrets = field(default_factory=Secrets, init=False)
    _numbers: Iterator[int] = field(default_factory=itertools.count, init=False)

    def __post_init__(self) -> None:
        self._traffic = Traffic(self.around.chars_per_token)

    def context(self, kind: str, iteration: int) -> IterationContext:
        """What a scenario of this kind is given for one iteration."""
        return IterationContext(kind, iteration, self.seed, self.around, self._secrets, self._traffic)

    def prepare(self, ask: Ask, kind: str, iteration: int, now_ns: int) -> Prepared:
        """The next request, due and opened now; when it leaves, its reading is told."""
        number = next(self._numbers)
        model = ask.model or self.model
        record = opened(
            ask,
            id=f"{self.node}-{number}",
            node=self.node,
            scenario=kind,
            iteration=iteration,
            seed=self.first_seed + number,
            model=model,
            due_ns=now_ns,
            sent_ns=now_ns,
            secrets=self._secrets,
        )
        return Prepared(
            record,
            chat_body(ask, model, record.seed),
            Reading(record, redact=self.redact),
            estimated_tokens(record.prompt_chars, self.around.chars_per_token),
        )

    def ended(self, exchange: Exchange) -> None:
        """Count what an exchange put through the server."""
        self._traffic.add(exchange)
