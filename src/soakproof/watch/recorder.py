"""From readings to records: the watch's only writer of evidence. Decides nothing but what is worth a line."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from soakproof.clock import RunClock
from soakproof.records import Event, KernelEvent, Sample
from soakproof.run import NodeWriter
from soakproof.watch.catalogue import load_catalogue
from soakproof.watch.incidents import Incidents
from soakproof.watch.kernel_log import KERNEL, Line
from soakproof.watch.source import Happening, Reading

_ORDINARY_LIMIT = 2000  # kernel lines without a signature that are kept of a run
_SAID_ONCE = ("unsupported", "denied")


class Recorder:
    """Writes samples, events and kernel lines; keeps the last reading of each source."""

    def __init__(self, writer: NodeWriter, clock: RunClock) -> None:
        self.latest: dict[str, Reading] = {}
        self.states: dict[str, Counter[str]] = {}
        self.incidents = Incidents(load_catalogue(), writer.node)
        self.restarts = 0
        self._writer = writer
        self._clock = clock
        self._ordinary = 0  # kernel lines without a signature

    @property
    def lines_not_kept(self) -> int:
        return max(0, self._ordinary - _ORDINARY_LIMIT)

    def reading(self, reading: Reading, due_ns: int, began_ns: int) -> None:
        """A sample. What is not supported or not allowed is said once, until that changes."""
        before = self.latest.get(reading.source)
        self.latest[reading.source] = reading
        self.states.setdefault(reading.source, Counter())[reading.state] += 1
        if reading.state in _SAID_ONCE and reading == before:
            return
        now = self._clock.now()
        self._writer.write(
            Sample(
                node=self._writer.node,
                source=reading.source,
                due_ns=due_ns,
                t_ns=now,
                took_ns=now - began_ns,
                state=reading.state,
                values=reading.values,
                reason=reading.reason,
            )
        )

    def state_of(self, reading: Reading) -> None:
        """A sample of a source that has no schedule."""
        now = self._clock.now()
        self.reading(reading, now, now)

    def happening(self, happening: Happening) -> None:
        self.restarts += happening.what == "restart"
        self.event(happening.what, happening.details)

    def event(self, what: str, details: Mapping[str, Any]) -> None:
        self._writer.write(
            Event(node=self._writer.node, t_ns=self._clock.now(), what=what, details={**details})
        )

    def kernel(self, lines: Sequence[tuple[Line, int]], *, sync: bool = True) -> None:
        """The kernel's own lines among these, and every gap; with ``sync`` all on disk when this returns."""
        events = [e for line, lost in lines if (e := self._kernel_event(line, lost))]
        for event in events:
            self._writer.write(event, sync=sync and event is events[-1])

    def _kernel_event(self, line: Line, lost: int) -> KernelEvent | None:
        if line.facility not in (KERNEL, None):  # user space can write what it likes there
            return self._gap(line, lost) if lost else None
        event = self.incidents.event(line, self._clock.now(), lost)
        if event.signature is None and event.incident is None and not lost:
            self._ordinary += 1
            return event if self._ordinary <= _ORDINARY_LIMIT else None
        return event

    def _gap(self, line: Line, lost: int) -> KernelEvent:
        return KernelEvent(
            node=self._writer.node,
            t_ns=self._clock.now(),
            sequence=line.sequence,
            facility=line.facility,
            message="",
            gap=lost,
        )
