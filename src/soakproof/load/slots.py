"""Watching a slot being freed, under gevent; `soakproof.release` says when to ask and what it means."""

import gevent
import httpx

from soakproof.clock import RunClock
from soakproof.release import NOWHERE, Search
from soakproof.scenario import Release, Released
from soakproof.slots import Slot, UnknownShapeError, parse_slots


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
            raise ValueError(NOWHERE)
        try:
            response = self._client.get(self._url)
            if response.status_code != 200:
                raise ValueError(f"/slots answered {response.status_code}")
            return parse_slots(response.json())
        except (httpx.HTTPError, UnknownShapeError) as error:
            raise ValueError(f"/slots: {error or type(error).__name__}") from error

    def released(self, wanted: Released) -> Release:
        """Wait until no busy slot carries the exchange's seed, for as long as ``within`` allows."""
        if self._url is None:
            return Release(None, reason=NOWHERE)
        search = Search(wanted)
        while True:
            asked_ns = self._clock.now()
            try:
                release = search.seen(asked_ns, self.read())
            except ValueError as error:
                release = search.unseen(asked_ns, str(error))
            if release is not None:
                return release
            gevent.sleep(search.pause(asked_ns))

    def move(self, url: str) -> None:
        """The backend has a new address, after a reload."""
        self._url = url

    def close(self) -> None:
        self._client.close()
