"""The load node's records: written down first, then told to Locust."""

from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any

from soakproof.clock import RunClock, seconds
from soakproof.errors import RecorderError
from soakproof.iteration import Result
from soakproof.plan import Kind
from soakproof.quantities import check_outcome
from soakproof.records import Event, Exchange, Failure, Iteration, Opened, Record, Sample
from soakproof.run import NodeWriter

FireRequest = Callable[..., None]
_NO_WORK = (Failure.RESET, Failure.PROTOCOL, Failure.BACKEND_LOST)  # without a token: nobody works there
_CHANCE = 2  # of these in a row are no sign of that yet: one request may be to blame, or one iteration


class Recorder:
    """Writes the load node's evidence. A record that cannot be written stops the run, once."""

    def __init__(self, writer: NodeWriter, clock: RunClock, fire: FireRequest) -> None:
        self.node = writer.node
        self.counts: Counter[str] = Counter()  # for progress lines
        self.completed: Counter[str] = Counter()  # iterations, by kind
        self.roles: defaultdict[str, set[str]] = defaultdict(set)  # that requests had, by kind
        self.unreachable = 0  # exchanges in a row that found nobody, or nobody who works
        self.none_works = False  # and no one kind of traffic can be to blame for that
        self._idle = 0
        self._idle_kinds: set[str] = set()
        self.on_trouble: Callable[[RecorderError], None] = lambda error: None  # whoever stops the run
        self._writer = writer
        self._clock = clock
        self._fire = fire
        self._broken: RecorderError | None = None

    def _write(self, record: Record, *, sync: bool = False) -> None:
        if self._broken:
            raise self._broken
        try:
            self._writer.write(record, sync=sync)
        except RecorderError as error:
            self._broken = error
            self.on_trouble(error)
            raise

    def opened(self, record: Opened) -> None:
        self._write(record)
        self.roles[record.scenario].add(record.role)

    def closed(self, record: Exchange) -> None:
        self._write(record)
        self.counts[record.outcome] += 1
        self._note_absence(record)
        failed = record.outcome == "fail"
        self._fire(
            request_type="CHAT" if record.outcome != "unknown" else "STOPPED",
            name=f"{record.scenario}/{record.role}",
            response_time=seconds(record.done_ns - record.sent_ns) * 1000,
            response_length=len(record.text.encode("utf-8", "replace")),
            exception=ExchangeFailed(f"{record.failure}: {record.reason[:200]}") if failed else None,
            context={},
        )

    def _note_absence(self, record: Exchange) -> None:
        refused = record.failure is Failure.CONNECT
        if not refused and not _without_work(record):
            self._idle, self.unreachable, self.none_works = 0, 0, False
            self._idle_kinds.clear()
            return
        self._idle += 1
        self._idle_kinds.add(record.scenario)
        self.unreachable = self.unreachable + 1 if refused else max(0, self._idle - _CHANCE)
        self.none_works = refused or len(self._idle_kinds) > 1

    def iteration(self, kind: Kind, number: int, started_ns: int, result: Result) -> None:
        """The iteration's checks and then itself."""
        now = self._clock.now()
        for checked in result.checked:
            check = checked.record(node=self.node, t_ns=now, scenario=kind.name, iteration=number)
            self.counts[f"check {check_outcome(check)}"] += 1
            self._write(check)
        self.counts["iterations"] += result.end == "completed"
        self.completed[kind.name] += result.end == "completed"
        self._write(
            Iteration(
                node=self.node,
                scenario=kind.name,
                number=number,
                started_ns=started_ns,
                ended_ns=now,
                end=result.end,
                reason=result.reason,
                counts=result.counts,
            )
        )

    def event(self, what: str, **details: Any) -> None:
        self._write(Event(node=self.node, t_ns=self._clock.now(), what=what, details=details), sync=True)

    def sample(self, sample: Sample) -> None:
        self._write(sample)


def _without_work(record: Exchange) -> bool:
    """A failure by which a server shows that it does no work at all."""
    fault = record.failure is Failure.HTTP_STATUS and (record.status or 0) >= 500
    return record.token_events == 0 and (fault or record.failure in _NO_WORK)


class ExchangeFailed(Exception):
    """What Locust's statistics show for a failed exchange."""
