"""Samples as columns: they read as the samples that they are of, whatever those hold."""

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from soakproof.records import Sample, encode
from soakproof.samples import Gathering, of_samples
from soakproof.testing.evidence import sample

VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=5),
    st.lists(st.integers(0, 9), max_size=3),
)
TABLES = st.dictionaries(st.sampled_from(["a", "b", "f0", "class", "__init__", ""]), VALUES, max_size=4)


def made(source: str, at: int, values: dict[str, Any], bad: bool) -> Sample:
    state = {"state": "timeout", "reason": "late"} if bad else {}
    return Sample(
        node="watch", source=source, due_ns=at, t_ns=at + 1, took_ns=1,
        **{"state": "value", "values": values, **state},
    )  # fmt: skip


ROWS = st.lists(st.tuples(st.sampled_from(["x", "y"]), TABLES, st.booleans()), max_size=30)


@given(ROWS)
def test_lines_read_as_the_samples_that_they_are_of(rows: list[Any]) -> None:
    samples = [made(source, n, values, bad) for n, (source, values, bad) in enumerate(rows)]
    gathered = Gathering()
    half = len(samples) // 2
    for part, first in ((samples[:half], 0), (samples[half:], half)):
        if part:
            assert gathered.add_lines(b"".join(map(encode, part)), first) == len(part)
    read = {r.source: r for r in gathered.readings()}
    for source in ("x", "y"):
        own = [s for s in samples if s.source == source]
        told = read[source] if own else []
        assert list(told) == own
        assert [told[n] for n in range(len(own))] == own
        if own:
            assert told.line.tolist() == [n for n, s in enumerate(samples) if s.source == source]


@given(ROWS)
def test_single_samples_are_the_same_as_lines(rows: list[Any]) -> None:
    samples = [made(source, n, values, bad) for n, (source, values, bad) in enumerate(rows)]
    for told in of_samples(enumerate(samples)):
        assert list(told) == [s for s in samples if s.source == told.source]


def test_lines_that_are_no_samples_are_not_taken() -> None:
    good = encode(sample("s", 1.0, v=1))
    for bad in (b"{}\n", b'{"record":"sample"}\n', good[:-2], good + b"\n", good.replace(b'{"v":1}', b"[]")):
        assert Gathering().add_lines(good + bad, 0) is None


def test_numbers_are_finite_and_not_negative_and_nothing_else_is_one() -> None:
    told = [1, 2.5, -1, True, "7", None, 2**62]
    (read,) = of_samples(enumerate(sample("s", n, v=value) for n, value in enumerate(told)))
    assert np.nan_to_num(read.numbers("v"), nan=-9).tolist() == [1, 2.5, -9, -9, -9, -9, 2.0**62]
    assert np.isnan(read.numbers("w")).all()
    assert read.told("v") == told
