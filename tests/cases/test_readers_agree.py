"""Every input over real sockets: both drivers come to the record that its bare bytes come to."""

import pytest
from replaying import Read, names

from soakproof.records import Exchange, decode, encode

# Times, what follows from them, and what names the request differ; so do the words of a library.
TIMED = {name for name in Exchange.__slots__ if name.endswith("_ns")} | {"widest_gap_at", "pings", "reason"}
OWN = {
    "id",
    "scenario",
    "iteration",
    "role",
    "seed",
    "model_asked",
    "max_tokens",
    "temperature",
    "prompt_chars",
}
SAME = sorted(set(Exchange.__slots__) - TIMED - OWN - {"prompt_digest", "notes"})


def shown(exchange: Exchange) -> dict[str, object]:
    notes = {note.partition(":")[0] for note in exchange.notes} - {"buffered"}  # sped up, unlike its timings
    return {**{name: getattr(exchange, name) for name in SAME}, "notes": notes}


@pytest.mark.parametrize("name", [name for name in names() if " " not in name])
def test_a_stream(name: str, read: Read) -> None:
    bare, *over_sockets = read(name)
    assert bool(bare.reason) == (bare.outcome != "ok")
    for exchange in over_sockets:
        assert shown(exchange) == shown(bare)
        assert decode(encode(exchange)) == exchange


@pytest.mark.parametrize("name", [name for name in names() if " " in name])
def test_an_answer_that_was_not_streamed(name: str, over_sockets: dict[str, dict[str, Exchange]]) -> None:
    assert shown(over_sockets["gevent"][name]) == shown(over_sockets["trio"][name])
