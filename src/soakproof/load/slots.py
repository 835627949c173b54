"""Watching a slot being freed, under gevent.

How often /slots is asked matters: llama.cpp notices a client that left before its first token only after a
second without any result, and an answer to /slots is one. In mid-decode quick polling does no harm.
"""

import gevent
import httpx

from soakproof.clock import RunClock, seconds
from soakproof.scenario import Release, Released
from soakproof.slots import Slot, UnknownShapeError, parse_slots

_QUICK, _SLOW = 0.1, 2.1  # seconds between polls


class SlotsReader:
    """Asks the backend's /slots."""

    def __init__(self, url: str | None, headers: dict[str, str], clock: RunClock) -> None:
        self._url = url
        self._clock = clock
        self._client = httpx.Client(
            headers={**headers, "Connection": "close"},
            timeout=5.0,
            limits=httpx.Limits(max_keepalive_connections=0),
            trust_env=False,
        )

    def read(self) -> tuple[Slot, ...]:
        """The slots now. Raises ValueError, in words, when they cannot be seen."""
        if self._url is None:
            raise ValueError("the target shows no slots")
        try:
            response = self._client.get(self._url)
            if response.status_code != 200:
                raise ValueError(f"/slots answered {response.status_code}")
            return parse_slots(response.json())
        except (httpx.HTTPError, UnknownShapeError) as error:
            raise ValueError(f"/slots: {error or type(error).__name__}") from error

    def released(self, wanted: Released) -> Release:
        """Wait until no busy slot carries the exchange's seed, for as long as ``within`` allows."""
        exchange = wanted.exchange
        left_ns = exchange.cancelled_ns or exchange.done_ns
        decoding = exchange.token_events > 0 and exchange.stream
        trouble = ""
        while True:
            seen_s = seconds(self._clock.now() - left_ns)
            try:
                slots = self.read()
            except ValueError as error:
                trouble = str(error)
            else:
                trouble = ""
                busy = [slot for slot in slots if slot.busy]
                if not any(slot.seed == exchange.seed for slot in busy):
                    if any(slot.seed is None for slot in busy):
                        return Release(None, reason="busy slots do not say which request they work for")
                    return Release(True, seconds=seen_s)
            if seen_s >= wanted.within:
                if trouble:
                    return Release(None, reason=trouble)
                return Release(
                    False, seconds=seen_s, reason=f"still busy {seen_s:.1f} s after the client left"
                )
            gevent.sleep(min(_QUICK if decoding else _SLOW, max(wanted.within - seen_s, 0.01)))

    def move(self, url: str) -> None:
        """The backend has a new address, after a reload."""
        self._url = url

    def close(self) -> None:
        self._client.close()
