"""Series to draw: gaps stay gaps, extremes survive thinning, nothing is interpolated."""

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from soakproof.judge.series import reading
from soakproof.records import Sample
from soakproof.report.figures.series import (
    in_flight,
    lonely,
    merged,
    missing_spans,
    series,
    thinned,
    window_medians,
    with_gaps,
)
from soakproof.report.figures.series import of_samples as values_of
from soakproof.samples import Readings, no_readings, of_samples
from soakproof.testing.evidence import sample, trace

values = st.lists(st.one_of(st.none(), st.floats(-1e6, 1e6)), max_size=300)


value = reading("v")


def readings(*samples: Sample) -> Readings:
    """Of one source of one node; none of no samples."""
    return next(iter(of_samples(enumerate(samples))), no_readings("s"))


@given(values, st.integers(2, 40))
def test_thinning_keeps_extremes_order_and_gaps(found: list[float | None], bins: int) -> None:
    line = series((float(t), v) for t, v in enumerate(found))
    thin = thinned(line, bins)
    assert thin.times.size <= 6 * bins
    assert (np.diff(thin.times) > 0).all()
    assert set(thin.times) <= set(line.times)
    if line:
        assert (thin.known.min(), thin.known.max()) == (line.known.min(), line.known.max())


@given(st.lists(st.tuples(st.integers(0, 3000), st.integers(1, 50)), min_size=60, max_size=200))
def test_thinned_steps_are_at_their_true_level_wherever_a_span_ends(found: list[tuple[int, int]]) -> None:
    began, lasted = np.array(found, float).T
    line = in_flight(began, began + lasted)
    thin = thinned(line, 20)
    for edge in np.linspace(line.times[0], line.times[-1], 21)[1:-1]:
        drawn, true = (s.values[np.searchsorted(s.times, edge) - 1] for s in (thin, line))
        assert drawn == true  # just before it


@given(values)
def test_a_thinned_line_never_bridges_a_gap(found: list[float | None]) -> None:
    """Two neighbours in what is drawn have no missing reading between them."""
    line = series((float(t), v) for t, v in enumerate(found))
    thin = thinned(line, 10)
    for a, b in pairwise(range(thin.times.size)):
        if np.isfinite(thin.values[[a, b]]).all():
            between = line.values[(line.times > thin.times[a]) & (line.times < thin.times[b])]
            assert not np.isnan(between).any()


def test_a_gap_between_two_that_are_kept_of_one_span_stays() -> None:
    found = [5.0] * 5 + [1.0] + [5.0] * 6 + [9.0, None] + [5.0] * 3
    thin = thinned(series((float(t), v) for t, v in enumerate(found)), 1)
    assert [None if np.isnan(v) else v for v in thin.values] == [1.0, 9.0, None, 5.0]


def test_a_reading_without_a_value_and_a_late_one_are_gaps() -> None:
    samples = [
        *trace("s", 5, v=1.0),
        sample("s", 5, state="timeout"),
        *trace("s", 3, start=6, v=2.0),
        *trace("s", 3, start=30, v=3.0),
    ]
    line = values_of(readings(*samples), value)
    assert missing_spans(line) == [(4.0, 6.0), (8.0, 30.0)]
    assert line.known.size == 11


def test_a_source_that_was_never_read_is_false() -> None:
    assert not values_of(readings(), value)
    assert not values_of(readings(sample("s", 1, state="denied")), value)
    assert missing_spans(values_of(readings(sample("s", 1, state="denied")), value)) == [(1.0, 1.0)]


def test_a_point_between_two_gaps_is_kept_apart() -> None:
    line = series([(0, 1), (1, None), (2, 5), (3, None), (4, 1), (5, 1)])
    assert lonely(line).times.tolist() == [0, 2]


def test_window_medians_need_points() -> None:
    line = with_gaps(series((float(t), float(t % 3)) for t in range(60)), 1.0)
    assert window_medians(line, 4).values.tolist() == [1.0, 1.0, 1.0, 1.0]
    assert np.isnan(window_medians(series([(0, 1.0), (1, 2.0), (2, 3.0), (100, 4.0)]), 4).values).sum() == 3
    assert not window_medians(series([(0, 1.0)]), 4)


def test_requests_in_flight_are_steps() -> None:
    line = in_flight(np.array([0.0, 1.0, 4.0]), np.array([4.0, 2.0, 5.0]))
    assert list(zip(line.times, line.values, strict=True)) == [(0, 1), (1, 2), (2, 1), (4, 0), (4, 1), (5, 0)]


def test_near_bands_are_drawn_as_one() -> None:
    assert merged([(5, 6), (0, 1), (1.05, 2), (0.2, 0.4)], 0.1) == [(0, 2), (5, 6)]
