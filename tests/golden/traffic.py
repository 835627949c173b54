"""The founding run's traffic: 43 iterations one after the other, with their exchanges and checks."""

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from soakproof.clock import nanoseconds
from soakproof.records import Check, Exchange, Iteration, Record
from soakproof.testing.evidence import check, exchange, iteration

if TYPE_CHECKING:
    from golden.founding import Facts

MIX = {"structured_json": 10, "isolation": 10, "cache_pair": 10, "cancellation": 10, "long_prose": 3}
CHECKS = {
    "structured_json": ("json.parse", "json.schema", "json.values"),
    "isolation": ("isolation.own", "isolation.foreign"),
    "cache_pair": ("cache.exact", "cache.restored", "cache.faster"),
    "cancellation": ("cancel.released", "cancel.bystander", "cancel.after", "cancel.ghost"),
    "long_prose": ("prose.length", "prose.stall"),
}
FIRST = 7.0  # seconds of the run at which the first iteration starts

_SEEDS = {name: 1000 * (n + 1) for n, name in enumerate(MIX)}


def traffic(facts: "Facts") -> Iterator[Record]:
    """Every kind's iterations, one after the other, each with its exchanges and checks."""
    steps: dict[str, Callable[[int, float, Facts], tuple[float, list[Record]]]] = {
        "structured_json": structured_json,
        "isolation": isolation,
        "cache_pair": cache_pair,
        "cancellation": cancellation,
        "long_prose": long_prose,
    }
    at = FIRST
    for name, count in MIX.items():
        for number in range(1, count + 1):
            took, records = steps[name](number, at, facts)
            yield from records
            yield from checks(name, number, at + took, records, facts)
            yield ended(name, number, at, took)
            at += took + 0.5


def ended(name: str, number: int, at: float, took: float) -> Iteration:
    overlap = {"overlap": 1.0} if name == "isolation" else {}
    return iteration(name, number, at=at, took=took, **overlap)


def checks(name: str, number: int, at: float, records: Iterable[Record], facts: "Facts") -> Iterator[Check]:
    ids = tuple(r.id for r in records if isinstance(r, Exchange))
    for checked in CHECKS[name]:
        fails = facts.foreign and checked == "isolation.foreign" and number == 4
        yield check(
            checked,
            "fail" if fails else "pass",
            at=at,
            kind=name,
            iteration=number,
            reason="a nonce of another request" if fails else "",
            exchanges=ids,
        )


def ask(name: str, number: int, place: int, role: str, at: float, took: float, **more: Any) -> Exchange:
    values = {"seed": _SEEDS[name] + 10 * number + place, "model_asked": "llm", "done_marker": True}
    if "cancelled_ns" not in more:
        values = {**values, "prompt_tokens": 400, "completion_tokens": 40, "cached_tokens": 0, **more}
        values = {**counts(values, took), **values}
    return exchange(at=at, took=took, kind=name, iteration=number, role=role, **{**values, **more})


def counts(values: dict[str, Any], took: float) -> dict[str, Any]:
    """What llama.cpp tells at the end of every answer: its usage, and the times of its work."""
    prompt, made, cached = (values[f"{part}_tokens"] for part in ("prompt", "completion", "cached"))
    return {
        "usage": {"prompt_tokens": prompt, "completion_tokens": made, "total_tokens": prompt + made}
        | {"prompt_tokens_details": {"cached_tokens": cached}},
        "timings": {
            **{"cache_n": cached, "prompt_n": prompt - cached, "prompt_ms": 250 * took},
            **{"predicted_n": made, "predicted_ms": 650 * took},
        },
    }


def structured_json(number: int, at: float, facts: "Facts") -> tuple[float, list[Record]]:
    return 8.0, [ask("structured_json", number, 0, "ask", at, 8.0, text='{"a": 1}')]


def isolation(number: int, at: float, facts: "Facts") -> tuple[float, list[Record]]:
    secrets = [f"{letter}QRS{'BCDEFGHJKL'[number - 1]}TUV" for letter in "AB"]
    return 9.0, [
        ask("isolation", number, n, role, at, 9.0, secrets=(secret,), text=f"{secret}-01 {secret}-02")
        for n, (role, secret) in enumerate(zip("ab", secrets, strict=True))
    ]


def cache_pair(number: int, at: float, facts: "Facts") -> tuple[float, list[Record]]:
    """Cold, at once again, another register, the first again: 3,145 of 3,149 tokens restored."""
    asked = (
        ("cold", 0.0, 28.6, 0),
        ("again", 28.7, 0.7, 3145),
        ("other", 29.5, 30.6, 0),
        ("back", 60.2, 0.7, 3145),
    )
    return 61.0, [
        ask("cache_pair", number, n, role, at + start, took, prompt_tokens=3149, cached_tokens=cached)
        for n, (role, start, took, cached) in enumerate(asked)
    ]


def cancellation(number: int, at: float, facts: "Facts") -> tuple[float, list[Record]]:
    cut = ask(
        "cancellation",
        number,
        1,
        "cancelled",
        at + 1,
        3.0,
        cancel_planned="decode: after 20 token events",
        cancelled_ns=nanoseconds(at + 4),
        finish_reason=None,
        done_marker=False,
    )
    bystander = ask("cancellation", number, 0, "bystander", at, 11.0, finish_reason="length")
    return 12.0, [bystander, cut, ask("cancellation", number, 2, "after", at + 5, 2.0)]


def long_prose(number: int, at: float, facts: "Facts") -> tuple[float, list[Record]]:
    """31,012 prompt tokens and 768 generated ones at the variant's rate."""
    prefill, generation = 200.0, 768 / facts.rates[number - 1]
    took = prefill + generation
    timings = {
        "prompt_n": 31_012,
        "prompt_ms": prefill * 1000,
        "predicted_n": 768,
        "predicted_ms": generation * 1000,
    }
    return took, [
        ask(
            "long_prose",
            number,
            0,
            "ask",
            at,
            took,
            first=prefill / took,
            finish_reason="length",
            prompt_tokens=31_012,
            completion_tokens=768,
            token_events=768,
            max_tokens=768,
            timings=timings,
        )
    ]
