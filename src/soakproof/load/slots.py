"""Watching a slot being freed, under gevent; `soakproof.release` says when to ask and what it means."""

from typing import Any

import gevent
from gevent.lock import BoundedSemaphore

from soakproof.clock import RunClock, seconds
from soakproof.plain import plain
from soakproof.release import NOWHERE, SLOW, Look, Looks, Search
from soakproof.scenario import Release, Released
from soakproof.slots import Slot, parse_slots
from soakproof.target import Target
from soakproof.target.asking import Answer, Asking, NoAnswerError
from soakproof.target.health import backend_of

_WITHIN_S = 5.0
IDLE_WITHIN_S = 15.0  # at the end of a run


class SlotsReader:
    """Asks the backend's /slots; with its ``target``, follows it to a new address after a reload.

    One for a run: whoever looks through it shares its looks.
    """

    def __init__(
        self, url: str | None, headers: dict[str, str], clock: RunClock, target: Target | None = None
    ) -> None:
        self._url = url
        self._target = target
        self._clock = clock
        self.looks = Looks()
        self._turn = BoundedSemaphore()  # one asks at a time, and the others have the use of it
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

    def look(self, pace: float, since_ns: int) -> Look:
        """What the slots were at some time after ``since_ns``; waits until it may be asked."""
        while True:
            with self._turn:
                now = self._clock.now()
                if look := self.looks.since(since_ns, pace, now):
                    return look
                pause = self.looks.pause(pace, now)
                if not pause:
                    self.looks.last = self._taken(now)
                    return self.looks.last
            gevent.sleep(pause)

    def _taken(self, now_ns: int) -> Look:
        try:
            return Look(now_ns, self.read(), answers=self.looks.answers)
        except ValueError as error:
            return Look(now_ns, trouble=str(error))

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
            look = self.look(search.pace, search.left_ns)
            release = search.found(look)
            if release is not None:
                return release
            gevent.sleep(search.wait_s(look, self._clock.now()))

    def close(self) -> None:
        self._asking.close()


def await_idle_slots(reader: SlotsReader, clock: RunClock, within: float = IDLE_WITHIN_S) -> dict[str, Any]:
    """At the end of a run no slot may work any more: wait for that, and tell what the last look showed.

    It looks no faster than a wait for a release in prefill, for the same reason.
    """
    began = clock.now()
    while True:
        look = reader.look(SLOW, began)
        busy = [slot for slot in look.slots if slot.busy]
        is_idle = not look.trouble and not busy
        waited = seconds(clock.now() - began)
        if is_idle or look.trouble == NOWHERE or waited + SLOW > within:
            break
        gevent.sleep(SLOW)
    return {
        "busy": None if look.trouble else len(busy),
        "seeds": [slot.seed for slot in busy],
        "waited_s": round(waited, 1),
        "reason": look.trouble,
    }
