"""Watching a slot being freed, under gevent; `soakproof.release` says when to ask and what it means."""

import time
from typing import Any

import gevent

from soakproof.clock import RunClock
from soakproof.plain import plain
from soakproof.release import NOWHERE, Search
from soakproof.scenario import Release, Released
from soakproof.slots import Slot, parse_slots
from soakproof.target import Target
from soakproof.target.asking import Answer, Asking, NoAnswerError
from soakproof.target.health import backend_of

_WITHIN_S = 5.0


class SlotsReader:
    """Asks the backend's /slots; with its ``target``, follows it to a new address after a reload."""

    def __init__(
        self, url: str | None, headers: dict[str, str], clock: RunClock, target: Target | None = None
    ) -> None:
        self._url = url
        self._target = target
        self._clock = clock
        self._asking = Asking(target.base_url if target else (url or "").removesuffix("/slots"), headers)

    def read(self) -> tuple[Slot, ...]:
        """The slots now. Raises ValueError, in words, when they cannot be seen."""
        if self._url is None:
            raise ValueError(NOWHERE)
        try:
            answer = self._get(self._url)
            if answer.status != 200:
                raise ValueError(f"answered {answer.status}")
            return parse_slots(answer.json())
        except (NoAnswerError, ValueError) as error:
            raise ValueError(f"/slots: {plain(error, 300)}") from error

    def _get(self, url: str) -> Answer:
        try:
            return self._asking.get(url, _WITHIN_S)
        except NoAnswerError:
            self._url = self._moved() or url
            if self._url == url:
                raise
            return self._asking.get(self._url, _WITHIN_S)

    def _moved(self) -> str | None:
        """Where the backend's slots are now, by the front's health document."""
        target = self._target
        if target is None or target.kind != "lemonade" or not target.local:
            return None
        try:
            health = self._asking.get(f"{target.base_url}{target.prefix}/health", _WITHIN_S).json()
        except (NoAnswerError, ValueError):
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
        self._asking.close()


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
