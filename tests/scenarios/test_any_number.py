"""Whatever a server writes for a number of its timings: no kind breaks by it, and none passes by it."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs
from playing import make, play
from test_healthy import KINDS

from soakproof.amounts import MOST
from soakproof.records import Exchange
from soakproof.replays import is_replay

NONE = [
    10**400,
    -(10**400),
    1e308,
    2 * MOST,
    -1,
    -1e308,
    float("nan"),
    float("inf"),
    -float("inf"),
    True,
    "600",
]
ANY = (
    st.sampled_from([*NONE, 0, 0.0, 5e-324, MOST])
    | st.integers()
    | st.integers(10**300, 10**500)
    | st.floats()
    | st.booleans()
    | st.none()
    | st.text(max_size=4)
    | st.lists(st.integers(), max_size=2)
)
NAMES = ("prompt_n", "prompt_ms", "predicted_n", "predicted_ms", "prompt_tokens", "completion_tokens")
TABLE = st.none() | st.dictionaries(st.sampled_from(NAMES), ANY)


@settings(max_examples=25)
@pytest.mark.parametrize("name", KINDS)
@given(tables=st.lists(st.tuples(TABLE, TABLE), min_size=1, max_size=4))
def test_no_kind_breaks(name: str, tables: list[tuple[Any, Any]]) -> None:
    def change(exchange: Exchange) -> Exchange:
        timings, usage = tables[len(exchange.role) % len(tables)]
        return structs.replace(exchange, timings=timings, usage=usage)

    assert play(make(name), change).result.end in ("completed", "failed")


@pytest.mark.parametrize("value", NONE, ids=lambda value: str(value)[:12])
def test_what_is_no_number_is_unknown(value: Any) -> None:
    def change(exchange: Exchange) -> Exchange:
        return structs.replace(exchange, timings={"prompt_ms": value, "predicted_ms": value})

    assert play(make("cache_pair"), change).missed()["cache.faster"][0] is None
    assert play(make("long_prose"), change).missed()["prose.pace"][0] is None


@given(ANY, ANY)
def test_a_replay_is_told_of_any_times(first: Any, second: Any) -> None:
    answer = play(make("long_prose")).exchanges[0]
    timed = structs.replace(answer, answer_id=None, timings={"prompt_ms": first, "predicted_ms": second})
    if first in NONE or second in NONE:
        assert not is_replay(timed, structs.replace(timed))
    is_replay(timed, structs.replace(timed))
