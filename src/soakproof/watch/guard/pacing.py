"""When to look again: the nearer a limit, the sooner. Pure.

As earlyoom does it: memory is filled at some GiB a second at most, so a limit cannot be crossed before its
headroom has gone at that rate, or at the rate that was just seen where that is higher.
"""

from collections.abc import Sequence

from soakproof.clock import NS
from soakproof.watch.guard.limits import Limit, Limits, Measured

SLOWEST_S, CLOSEST_S = 1.0, 0.1
UNLIMITED_S = 30.0  # for what no limit is on: looked at for the record alone
FILL_BYTES_S = 6 * 2**30  # the rate that earlyoom assumes for memory


def next_poll_s(limits: Limits, samples: Sequence[Measured], fields: Sequence[str]) -> float:
    """Seconds until the next look at these fields of Measured, between `CLOSEST_S` and `SLOWEST_S`.

    `UNLIMITED_S` where no limit is on any of them.
    """
    own = [limit for limit in limits.each() if limit.field in fields]
    if not own:
        return UNLIMITED_S
    return max(CLOSEST_S, min([SLOWEST_S, *(_time_left_s(limit, samples) for limit in own)]))


def _time_left_s(limit: Limit, samples: Sequence[Measured]) -> float:
    """The shortest time in which the limit can be crossed; without end while nothing is known of it."""
    known = [s for s in samples if limit.value(s) is not None][-2:]
    if not known:
        return float("inf")
    headroom = limit.headroom(known[-1])
    assert headroom is not None
    if not limit.is_size:  # what happens tells nothing before
        return 0.0 if headroom < 0 else float("inf")
    return headroom / max(FILL_BYTES_S, _rate(limit, known))


def _rate(limit: Limit, known: Sequence[Measured]) -> float:
    """Bytes a second by which the headroom shrank between the last two looks; 0 where it did not."""
    before, now = known[0], known[-1]
    elapsed_ns = now.t_ns - before.t_ns
    shrunk = (limit.headroom(before) or 0) - (limit.headroom(now) or 0)
    return max(0.0, shrunk * NS / elapsed_ns) if elapsed_ns > 0 else 0.0
