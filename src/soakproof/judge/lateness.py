"""Whether answers came as they were made: when tokens came, against the server's own times. Pure; no I/O.

llama.cpp's `predicted_ms` runs by the clock on the wall, from a slot's first token to its last: what other
slots, a busy host or a hot GPU take of it lies inside. Time beyond it was lost on the way to the client, or
the server's times are not true.
"""

from collections.abc import Callable

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from soakproof.clock import NS
from soakproof.columns import Table
from soakproof.judge.claims import spread_ms, timing
from soakproof.judge.evidence import Evidence
from soakproof.judge.lag import Lags
from soakproof.judge.statistics import Floats
from soakproof.metrics import MIN_GENERATED
from soakproof.records import Exchange

STALL_S, PAUSE_S = 5.0, 2.0
LATE_END_S = 3.0
OUTSIDE = 0.8  # of a stall: what must lie beyond the server's own time
TIMES_USUAL = 50  # what a stall must be of the answer's other gaps where the server tells no times
SLOWER = 1.5  # times as long on its way as in the making
LONG_ROW, SHORT_ROW = 20, 5  # answers one after the other: most of a long row, or all of a short one
EXCESS_MS = 2000.0  # in such a row

Details = dict[str, str]  # by the exchange's id


def late_answers(evidence: Evidence) -> dict[str, Details]:
    """Oddity to the exchanges that have it: stops on the way, late ends, and rows of answers that came too
    slowly.
    """
    lags, table = Lags(evidence), evidence.exchange_table
    came = table["last_token_ns"] - table["first_token_ns"]
    streamed = table.where(table.whole & table["stream"] & ~np.isnan(came))
    has_times = ~np.isnan(streamed.timing("predicted_ms"))
    timed = streamed.where(has_times)
    lag = lags.of_each(timed["node"], timed["first_token_ns"], timed["last_token_ns"])
    came_ms = np.maximum((timed["last_token_ns"] - timed["first_token_ns"]) / NS * 1000 - lag * 1000, 0)
    stalled = _stopped(timed, came_ms, STALL_S, lambda gap_s: OUTSIDE * gap_s)
    paused = _stopped(timed, came_ms, PAUSE_S, lambda gap_s: np.full(len(gap_s), OUTSIDE * PAUSE_S))
    went_on = np.array([id not in stalled for id in timed["id"].tolist()], bool)
    return {
        "stalled_on_its_way": stalled,
        "paused_on_its_way": {id: told for id, told in paused.items() if id not in stalled},
        "ended_late": _ended_late(timed, table, lags),
        "stalled_alone": _stalled_alone(streamed.where(~has_times), streamed),
        "came_slower": _slower(timed.where(went_on), came_ms[went_on]),
    }


def _stopped(
    timed: Table[Exchange], came_ms: Floats, least_s: float, outside_s: Callable[[Floats], Floats]
) -> Details:
    """Answers with a gap of so many seconds, later than they were made by ``outside_s`` of it."""
    gap_s, made = np.nan_to_num(timed["widest_gap_ns"]) / NS, timed.timing("predicted_ms")
    those = np.flatnonzero((gap_s >= least_s) & (came_ms - made >= 1000 * outside_s(gap_s)))
    return {
        timed["id"][n]: f"{gap_s[n]:.1f} s without a token, of an answer made in {made[n]:.0f} ms"
        for n in those
    }


def _ended_late(timed: Table[Exchange], table: Table[Exchange], lags: Lags) -> Details:
    """Answers whose end came long after their last token, when the server had nothing more to make of them.

    While another prompt is processed an answer's last step may wait for it.
    """
    found = {}
    sent, first = table["sent_ns"], table["first_token_ns"]
    waited = np.where(np.isnan(first), table["done_ns"], first)
    late = timed.where(timed["done_ns"] - timed["last_token_ns"] >= LATE_END_S * NS)
    lag = lags.of_each(late["node"], late["last_token_ns"], late["done_ns"])
    for exchange, lag_s in zip(late.records, lag.tolist(), strict=True):
        last, done = exchange.last_token_ns or 0, exchange.done_ns
        unseen_ms = max((timing(exchange, "predicted_ms") or 0) - (spread_ms(exchange) or 0), 0.0)
        late_s = (done - last) / NS - unseen_ms / 1000 - lag_s
        if late_s < LATE_END_S:
            continue
        beside = np.flatnonzero((sent < done) & (waited > last))
        if all(table["id"][n] == exchange.id for n in beside):
            found[exchange.id] = f"its end came {late_s:.1f} s after its last token"
    return found


def _slower(timed: Table[Exchange], came_ms: Floats) -> Details:
    """Answers out of rows in which most came far more slowly than they were made."""
    is_long = timed.timing("predicted_n") >= MIN_GENERATED
    long, came = timed.where(is_long), came_ms[is_long]
    made = long.timing("predicted_ms")
    is_slow = came > SLOWER * made
    in_row = np.zeros(len(long), bool)
    for size in (LONG_ROW, SHORT_ROW):
        in_row |= _of_slow_rows(made, came, is_slow, min(size, len(long)))
    return {
        long["id"][n]: f"made in {made[n]:.0f} ms, came over {came[n]:.0f} ms"
        for n in np.flatnonzero(in_row & is_slow)
    }


def _of_slow_rows(made: Floats, came: Floats, is_slow: NDArray[np.bool_], size: int) -> NDArray[np.bool_]:
    """Which answers stand in any slow row of ``size``, one after the other."""
    in_row = np.zeros(len(made), bool)
    if size < SHORT_ROW:
        return in_row
    all_made, all_came, slow = (sliding_window_view(each, size).sum(axis=1) for each in (made, came, is_slow))
    enough = slow > size / 2 if size > SHORT_ROW else slow == size
    rows = np.flatnonzero(enough & (all_came > SLOWER * all_made) & (all_came - all_made >= EXCESS_MS))
    for start in rows:
        in_row[start : start + size] = True
    return in_row


def _stalled_alone(untimed: Table[Exchange], streamed: Table[Exchange]) -> Details:
    """Stalls of a server that tells no times, while another of its answers went on."""
    first, last = np.nan_to_num(streamed["first_token_ns"]), np.nan_to_num(streamed["last_token_ns"])
    widest = np.nan_to_num(streamed["widest_gap_ns"])
    found = {}
    for exchange in untimed.where(untimed["widest_gap_ns"] >= STALL_S * NS).records:
        if gap := _gap(exchange):
            start, end = gap
            shared = np.minimum(last, end) - np.maximum(first, start)
            went_on = (shared >= NS) & (widest <= shared / 4) & (streamed["id"] != exchange.id)
            if went_on.any():
                found[exchange.id] = f"{(end - start) / NS:.1f} s without a token, while others went on"
    return found


def _gap(exchange: Exchange) -> tuple[int, int] | None:
    """About when its stall was, by the usual gap between its tokens; None where there is none."""
    gap, at, others = exchange.widest_gap_ns, exchange.widest_gap_at, exchange.token_events - 2
    if gap is None or at is None or gap < STALL_S * NS or others < 1:
        return None
    first, last = exchange.first_token_ns or 0, exchange.last_token_ns or 0
    usual = (last - first - gap) / others
    if gap < TIMES_USUAL * usual:
        return None
    start = first + round((at - 1) * usual)
    return start, start + gap
