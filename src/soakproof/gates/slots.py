"""Watching a slot being freed, under trio; `soakproof.release` says when to ask and what it means."""

from typing import Any

import httpx
import trio

from soakproof.clock import RunClock
from soakproof.plain import plain
from soakproof.reading.lenient import parse
from soakproof.release import NOWHERE, Look, Looks, Search
from soakproof.scenario import Release, Released
from soakproof.slots import Slot, parse_slots

_WITHIN_S = 5.0
_BODY_LIMIT = 8 << 20


class SlotsReader:
    """Asks the backend's /slots. Whoever waits through it shares its looks."""

    def __init__(self, url: str | None, client: httpx.AsyncClient, clock: RunClock) -> None:
        self._url = url
        self._client = client
        self._clock = clock
        self._looks = Looks()
        self._turn = trio.Lock()  # one asks at a time, and the others have the use of it

    async def read(self) -> tuple[Slot, ...]:
        """The slots now. Raises ValueError, in words, when they cannot be seen."""
        if self._url is None:
            raise ValueError(NOWHERE)
        with trio.move_on_after(_WITHIN_S):
            try:
                return parse_slots(await self._document(self._url))
            except (httpx.HTTPError, ValueError) as error:
                raise ValueError(f"/slots: {plain(error, 300) or type(error).__name__}") from error
        raise ValueError(f"/slots: no whole answer within {_WITHIN_S:g} s")

    async def look(self, pace: float, since_ns: int) -> Look:
        """What the slots were at some time after ``since_ns``; waits until it may be asked."""
        while True:
            async with self._turn:
                now = self._clock.now()
                if look := self._looks.since(since_ns, pace, now):
                    return look
                pause = self._looks.pause(pace, now)
                if not pause:
                    self._looks.last = await self._taken(now)
                    return self._looks.last
            await trio.sleep(pause)

    async def _taken(self, now_ns: int) -> Look:
        try:
            return Look(now_ns, await self.read())
        except ValueError as error:
            return Look(now_ns, trouble=str(error))

    async def _document(self, url: str) -> Any:
        async with self._client.stream("GET", url) as response:
            if response.status_code != 200:
                raise ValueError(f"answered {response.status_code}")
            body = bytearray()
            async for part in response.aiter_bytes():
                body += part
                if len(body) > _BODY_LIMIT:
                    raise ValueError(f"an answer of more than {_BODY_LIMIT >> 20} MiB")
        return parse(body.decode("utf-8", "replace"))[0]

    async def released(self, wanted: Released, stopped: trio.Event) -> Release:
        """Wait until no busy slot carries the exchange's seed, for as long as ``within`` allows."""
        if self._url is None:
            return Release(None, reason=NOWHERE)
        search = Search(wanted)
        while not stopped.is_set():
            look = await self.look(search.pace, search.left_ns)
            release = search.found(look)
            if release is not None:
                return release
            with trio.move_on_after(search.wait_s(look, self._clock.now())):
                await stopped.wait()
        return Release(None, reason="stopped while waiting for the slot")
