"""The chat request as it goes over the wire, and the record of its sending. No I/O."""

import hashlib
from typing import Any

import orjson

from soakproof.context import Secrets
from soakproof.records import Opened
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
        max_tokens=ask.tokens,
        prompt_chars=prompt_chars(ask),
        prompt_digest=hashlib.sha256(orjson.dumps(ask.chat())).hexdigest(),
        secrets=tuple(sorted(secrets.known(prompt))),
        cancel_planned=str(ask.cancel) if ask.cancel else None,
    )
