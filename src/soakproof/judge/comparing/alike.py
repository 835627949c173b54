"""Which measurements may be compared: those of one workload, cold with cold, and of like lengths. No I/O.

Lengths are matched before rates are compared. A prompt is matched by its band of tokens; an answer by its
number of tokens, for metrics that depend on it. What has no counterpart in the other arm is left out, and
counted.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from soakproof.judge.comparing.arms import Measurement

COLD, CACHED, PARTLY, UNTOLD = "cold", "cached", "partly cached", "not told"
_TEMPLATE = 16  # tokens restored of any prompt: what the chat template begins with
_COLD_TO, _CACHED_FROM = 0.1, 0.9  # of the prompt
_BAND = 1.3  # times the shortest prompt of a band are in it
_BEFORE_THE_ANSWER = ("prompt_rate", "first_token_time")  # its length has no part in these


@dataclass(frozen=True, slots=True)
class Matched:
    """Measurements of two arms that are alike in all that a metric depends on."""

    was: tuple[Measurement, ...]
    now: tuple[Measurement, ...]


def state(measurement: Measurement) -> str:
    """How much of the prompt came out of a cache."""
    cached, prompt = measurement.cached_tokens, measurement.prompt_tokens
    if cached is None:
        return UNTOLD
    if cached <= _TEMPLATE:
        return COLD
    if not prompt:
        return UNTOLD
    share = cached / prompt
    return COLD if share < _COLD_TO else CACHED if share >= _CACHED_FROM else PARTLY


def matched(metric: str, was: Sequence[Measurement], now: Sequence[Measurement]) -> list[Matched]:
    """Strata that both arms have, of measurements of one workload and state that have the metric."""
    bands = prompt_bands(m.prompt_tokens for side in (was, now) for m in side)
    before, after = (_strata(metric, side, bands) for side in (was, now))
    return [Matched(tuple(before[key]), tuple(after[key])) for key in before if key in after]


def _strata(
    metric: str, found: Iterable[Measurement], bands: Mapping[int | None, int]
) -> dict[Hashable, list[Measurement]]:
    strata: dict[Hashable, list[Measurement]] = {}
    for one in found:
        if metric in one.values:
            strata.setdefault(_key(metric, one, bands), []).append(one)
    return strata


def _key(metric: str, one: Measurement, bands: Mapping[int | None, int]) -> Hashable:
    answer = () if metric in _BEFORE_THE_ANSWER else (one.completion_tokens, one.max_tokens)
    restored = _tenths(one) if state(one) == PARTLY else None
    return one.role, bands[one.prompt_tokens], restored, answer


def prompt_bands(tokens: Iterable[int | None]) -> Mapping[int | None, int]:
    """Tokens of a prompt to its band's shortest; those whose tokens are not known are in one of their own."""
    bands: dict[int | None, int] = {None: -1}
    shortest = 0
    for n in sorted({n for n in tokens if n is not None}):
        if not shortest or n > _BAND * shortest:
            shortest = n
        bands[n] = shortest
    return bands


def _tenths(one: Measurement) -> int:
    return round(10 * (one.cached_tokens or 0) / (one.prompt_tokens or 1))


def lengths_told(found: Sequence[Matched], metric: str) -> bool:
    """Whether what the lengths were matched by was known at all."""
    tokens = [m.prompt_tokens for pair in found for m in (*pair.was, *pair.now)]
    if metric not in _BEFORE_THE_ANSWER:
        tokens += [m.completion_tokens for pair in found for m in (*pair.was, *pair.now)]
    return all(n is not None for n in tokens)
