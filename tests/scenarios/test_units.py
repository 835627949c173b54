"""Quantities as plans and policies write them."""

import contextlib
import json
import math
import tomllib
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soakproof.errors import UsageError
from soakproof.settings import build
from soakproof.units import Bytes, Ranges, Ratio, Seconds, Tokens, split, written

GOOD = [
    (Seconds, "5s", 5),
    (Seconds, "300ms", 0.3),
    (Seconds, "1.5 h", 5400),
    (Seconds, "30m", 1800),
    (Seconds, "2 min", 120),
    (Tokens, 6000, 6000),
    (Tokens, "6000 tokens", 6000),
    (Tokens, "6_000 tokens", 6000),
    (Tokens, "262,144 tokens", 262_144),
    (Tokens, "2.5k tokens", 2500),
    (Ratio, "3 %", 0.03),
    (Ratio, 0.03, 0.03),
    (Ratio, "-2 %", -0.02),
    (Bytes, "18 GiB", 18 * 2**30),
    (Bytes, "1.5 GB", 1_500_000_000),
]


@pytest.mark.parametrize(("kind", "text", "value"), GOOD)
def test_what_is_understood(kind: type, text: object, value: float) -> None:
    made = kind.parse(text)  # type: ignore[attr-defined]
    assert isinstance(made, kind)
    assert made == pytest.approx(value)


BAD = [
    (Seconds, 5),
    (Seconds, "5"),
    (Seconds, "5 tokens"),
    (Seconds, "-5s"),
    (Seconds, "s"),
    (Seconds, ""),
    (Seconds, None),
    (Seconds, True),
    (Tokens, True),
    (Tokens, -1),
    (Tokens, math.nan),
    (Tokens, math.inf),
    (Tokens, "6000 s"),
    (Tokens, "6 000 tokens"),
    (Tokens, "1e3 tokens"),
    (Ratio, math.nan),
    (Ratio, "3 percent"),
    (Bytes, 18),
    (Bytes, "18"),
    (Bytes, "18 gib"),
    (Bytes, "١ GiB"),  # digits of other scripts are none
    (Seconds, "٣s"),
    (Ratio, "३ %"),
    (Tokens, "１２ tokens"),
    (Bytes, "-1 B"),
    (Bytes, [1]),
]


@pytest.mark.parametrize(("kind", "value"), BAD)
def test_what_is_refused_with_an_example(kind: type, value: object) -> None:
    with pytest.raises(ValueError, match="expected a") as caught:
        kind.parse(value)  # type: ignore[attr-defined]
    assert f"found {written(value)}" in str(caught.value)


@given(st.text())
def test_no_text_makes_it_raise_anything_else(text: str) -> None:
    for kind in (Seconds, Tokens, Ratio, Bytes):
        with contextlib.suppress(ValueError):
            assert math.isfinite(kind.parse(text))


@given(
    st.one_of(
        st.integers(0, 10**9).map(Tokens),
        st.integers(0, 2**50).map(Bytes),
        st.integers(0, 10**9).map(lambda n: Seconds(n / 1000)),
        st.integers(-1000, 1000).map(lambda n: Ratio(n / 1000)),
    )
)
def test_what_is_written_is_read_as_the_same(value: Seconds | Tokens | Ratio | Bytes) -> None:
    assert type(value).parse(json.loads(written(value))) == pytest.approx(value, rel=1e-12)


def test_all_else_is_written_as_toml_has_it() -> None:
    given = {"s": 'a "b" ü', "yes": True, "n": -3, "f": 0.5, "list": ("a", 2)}
    text = "\n".join(f"{name} = {written(value)}" for name, value in given.items())
    assert tomllib.loads(text) == {**given, "list": ["a", 2]}
    found = tomllib.loads(
        'd = 1979-05-27\nt = 07:32:00\ndt = 1979-05-27T07:32:00Z\nx = { a = 1, "b c" = [1.5] }'
    )
    assert tomllib.loads("\n".join(f"{name} = {written(value)}" for name, value in found.items())) == found
    assert written({}) == "{}"
    assert written(Bytes(3 << 30)) == '"3 GiB"'
    assert written(Bytes(0)) == '"0 B"'
    told = {0: "0s", 0.5: "0.5s", 90: "90s", 5400: "90m", 7200: "2h", math.inf: "infs"}
    assert {seconds: written(Seconds(seconds)).strip('"') for seconds in told} == told


def test_split() -> None:
    assert split("12.5 tokens/s") == (12.5, "tokens/s")
    assert split("-3 %") == (-3, "%")
    assert split("7") == (7, "")
    with pytest.raises(ValueError, match="expected a number with a unit, found 'x'"):
        split("x")


@dataclass(frozen=True)
class Shared:
    share: Ratio = Ratio(0.5)
    n: int | None = None
    ranges = Ranges(share=(0, 1))


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ({"share": 3}, 'expected 0 % to 100 %, found "300 %"\n  3 without a unit is 300 %'),
        ({"share": -0.5}, 'found "-50 %"$'),
        ({"n": "x"}, "x.toml: n: expected a whole number or nothing, found a text"),
        ({"n": []}, "x.toml: n: expected a whole number or nothing, found a list"),
    ],
)
def test_an_option_that_is_wrong_is_told_in_words_of_our_own(table: dict[str, object], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        build(Shared, table, "x.toml")
