"""Permits: as many as the target has slots, taken all at once and first come first served.

An iteration takes its width before it begins, so that requests which belong together really run
together and a first token never waits behind our own queue.
"""

from collections import deque

from gevent.event import AsyncResult


class Permits:
    """A fair semaphore whose holders take several permits in one step."""

    def __init__(self, total: int) -> None:
        self.total = total
        self._free = total
        self._waiting: deque[tuple[int, AsyncResult]] = deque()

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    def take(self, width: int) -> int:
        """Wait for ``width`` permits, or for all where that is more; how many were taken."""
        width = min(width, self.total)
        if not self._waiting and self._free >= width:
            self._free -= width
            return width
        turn: AsyncResult = AsyncResult()
        place = (width, turn)
        self._waiting.append(place)
        try:
            turn.get()
        except BaseException:
            self._leave(place)
            raise
        return width

    def give(self, width: int) -> None:
        """Give permits back; those that have waited longest go on."""
        self._free += width
        self._wake()

    def _wake(self) -> None:
        while self._waiting and self._waiting[0][0] <= self._free:
            width, turn = self._waiting.popleft()
            self._free -= width
            turn.set()

    def _leave(self, place: tuple[int, AsyncResult]) -> None:
        """A waiter is killed: it leaves the queue, or gives back what it had just been given."""
        if place in self._waiting:
            self._waiting.remove(place)
            self._wake()
        else:
            self.give(place[0])
