"""Watching a slot being freed, under trio; `soakproof.release` says when to ask and what it means."""

import httpx
import trio

from soakproof.clock import RunClock
from soakproof.release import NOWHERE, Search
from soakproof.scenario import Release, Released
from soakproof.slots import Slot, UnknownShapeError, parse_slots


class SlotsReader:
    """Asks the backend's /slots."""

    def __init__(self, url: str | None, client: httpx.AsyncClient, clock: RunClock) -> None:
        self._url = url
        self._client = client
        self._clock = clock

    async def read(self) -> tuple[Slot, ...]:
        """The slots now. Raises ValueError, in words, when they cannot be seen."""
        if self._url is None:
            raise ValueError(NOWHERE)
        try:
            response = await self._client.get(self._url)
            if response.status_code != 200:
                raise ValueError(f"/slots answered {response.status_code}")
            return parse_slots(response.json())
        except (httpx.HTTPError, UnknownShapeError) as error:
            raise ValueError(f"/slots: {error or type(error).__name__}") from error

    async def released(self, wanted: Released, stopped: trio.Event) -> Release:
        """Wait until no busy slot carries the exchange's seed, for as long as ``within`` allows."""
        if self._url is None:
            return Release(None, reason=NOWHERE)
        search = Search(wanted)
        while not stopped.is_set():
            asked_ns = self._clock.now()
            try:
                release = search.seen(asked_ns, await self.read())
            except ValueError as error:
                release = search.unseen(asked_ns, str(error))
            if release is not None:
                return release
            with trio.move_on_after(search.pause(asked_ns)):
                await stopped.wait()
        return Release(None, reason="stopped while waiting for the slot")
