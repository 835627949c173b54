"""Watching a slot being freed, under gevent; `soakproof.release` says when to ask and what it means."""

import time
from typing import Any

import gevent
import httpx

from soakproof.clock import RunClock
from soakproof.release import NOWHERE, Search
from soakproof.scenario import Release, Released
from soakproof.slots import Slot, UnknownShapeError, parse_slots
from soakproof.target import Target
from soakproof.target.health import backend_of


class SlotsReader:
    """Asks the backend's /slots; with its ``target``, follows it to a new address after a reload."""

    def __init__(
        self, url: str | None, headers: dict[str, str], clock: RunClock, target: Target | None = None
    ) -> None:
        self._url = url
        self._target = target
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
            response = self._get(self._url)
            if response.status_code != 200:
                raise ValueError(f"/slots answered {response.status_code}")
            return parse_slots(response.json())
        except (httpx.HTTPError, UnknownShapeError) as error:
            raise ValueError(f"/slots: {error or type(error).__name__}") from error

    def _get(self, url: str) -> httpx.Response:
        try:
            return self._client.get(url)
        except httpx.ConnectError:
            self._url = self._moved() or url
            if self._url == url:
                raise
            return self._client.get(self._url)

    def _moved(self) -> str | None:
        """Where the backend's slots are now, by the front's health document."""
        target = self._target
        if target is None or target.kind != "lemonade" or not target.local:
            return None
        try:
            health = self._client.get(f"{target.base_url}{target.prefix}/health").json()
        except (httpx.HTTPError, ValueError):
            return None
        backend = backend_of(health, target.identity.get("model_resolved"), target.model)
        return f"{backend}/slots" if backend else None

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

    def close(self) -> None:
        self._client.close()


def await_idle_slots(reader: SlotsReader, within: float = 10.0) -> dict[str, Any]:
    """At the end of a run no slot may work any more: wait for that, and tell what was seen last."""
    began = time.monotonic()
    busy: list[Slot] | None = None
    trouble = ""
    while time.monotonic() - began < within:
        try:
            busy = [slot for slot in reader.read() if slot.busy]
        except ValueError as error:
            trouble = str(error)
        if busy == []:
            break
        gevent.sleep(0.5)
    return {
        "busy": None if busy is None else len(busy),
        "seeds": [slot.seed for slot in busy or ()],
        "waited_s": round(time.monotonic() - began, 1),
        "reason": trouble if busy is None else "",
    }
