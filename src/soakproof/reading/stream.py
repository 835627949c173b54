"""A streamed body: events to an answer, with what was wrong on the way. No I/O, no clock."""

from typing import Any

from soakproof.plain import listed
from soakproof.reading.answer import Answer
from soakproof.reading.delta import whole
from soakproof.reading.ending import Fault, only_others, said
from soakproof.reading.lenient import parse
from soakproof.reading.notes import Notes
from soakproof.reading.progress import TokenTimes
from soakproof.reading.server_error import ServerError, classify, error_in, note_error, read_error
from soakproof.reading.stray import Stray
from soakproof.records import Failure
from soakproof.sse import MIB, Comment, FrameTooLargeError, ServerSentEvent, SSEReader

DONE = ("[DONE]", "DONE")
LONGEST_ANSWER = 8 * MIB  # characters; a million tokens have half of that
AFTER_DONE_CHARS = 4096  # that are kept of what comes after [DONE]
HEARTBEATS = {"ping", "heartbeat", "keepalive", "keep-alive"}


class EventStream:
    """Takes the body of a stream that began with a status of 2xx."""

    def __init__(self, answer: Answer, times: TokenTimes, notes: Notes) -> None:
        self.pings = 0
        self.empty_events = 0
        self.parse_errors = 0
        self.leftover_bytes = 0
        self.done = False
        self.evidence: str | None = None  # the event that tells the failure best, as it was sent
        self._answer, self._times, self._notes = answer, times, notes
        self.text_after_done = ""  # no part of the answer; bounded
        self.stray = Stray()
        self._reader = SSEReader()
        self._events = 0  # with data, [DONE] not counted
        self._bytes = 0
        self._error: ServerError | None = None
        self._too_large = ""
        self._unframed = 0  # lines with data that no blank line ended
        self._closed_without_token = False  # the last chunk came after a token and held none

    @property
    def settled(self) -> bool:
        """Nothing that may still come can change the outcome."""
        return self.done or self._error is not None or bool(self._too_large)

    @property
    def over_limit(self) -> bool:
        """Whether so much came that the rest is passed over."""
        return bool(self._too_large)

    def feed(self, t_ns: int, data: bytes) -> None:
        if self._too_large:
            return
        self._bytes += len(data)
        try:
            made = self._reader.feed(data)
        except FrameTooLargeError as error:
            made, self._too_large = error.before, str(error)
        for item in made:
            if isinstance(item, Comment):
                self.pings += 1
                self.stray.add(item.text)
            else:
                self._event(t_ns, item)
            if self._answer.chars > LONGEST_ANSWER:
                self._too_large = f"an answer of more than {LONGEST_ANSWER} characters"
                self._answer.shorten()
                return

    def close(self) -> None:
        """The body is over, however it ended."""
        pending = self._reader.pending().decode("utf-8", "replace")
        self.leftover_bytes = self._reader.close()
        self._unframed = sum(line.startswith("data:") for line in pending.split("\n"))
        found = error_in(pending) if self._error is None else None
        if found is not None:
            self._notes.add("unframed_error")
            self._fail(*found)
        if not self._events and pending:
            self.evidence = self.evidence or pending
        if self._reader.replaced:
            self._notes.add("invalid_utf8", f"{self._reader.replaced} characters")

    def told(self) -> Fault | None:
        """The failure that the stream itself tells, whether it came to its end or not."""
        if self._error is not None:
            return Fault(classify(self._error, 200), said(self._error.message))
        return Fault(Failure.FRAME, self._too_large) if self._too_large else None

    def fault(self) -> Fault | None:
        """What is wrong with a stream that ended in good order, its answer apart."""
        if self._answer.finish_reason is None:
            return self._unfinished()
        if not self.done:
            if self._answer.text_after_finish or self._answer.finish == "unknown":
                return Fault(Failure.CUT, self._unproven())
            self._notes.add("finish_without_done")
        if self.parse_errors:
            return Fault(Failure.PROTOCOL, f"{self._unreadable()}: the answer may not be whole")
        return None

    def _unfinished(self) -> Fault:
        if self.parse_errors:
            return Fault(Failure.PROTOCOL, f"{self._unreadable()}, and no finish reason came")
        if not self._events and not self.done:
            return self._no_events()
        if self._events and not self._answer.choices_seen:
            return Fault(Failure.PROTOCOL, f"none of {self._events} events is a chunk of a chat completion")
        if others := only_others(self._answer):
            return Fault(Failure.PROTOCOL, others)
        if self.done and self._closed_without_token:
            # A cut stream breaks off behind a token. This one was brought to its close by the server.
            return Fault(Failure.PROTOCOL, "the stream was closed in good order, but it has no finish reason")
        if self.done:
            self._notes.add("done_without_finish")
        what = "[DONE]" if self.done else "the end"
        where = f"after {self._times.events} token events" if self._times.events else "before the first token"
        return Fault(Failure.CUT, f"{what} came without a finish reason, {where}")

    def _unproven(self) -> str:
        reason = self._answer.finish_reason
        said_early = (
            "which came before the last text as well" if self._answer.text_after_finish else "unknown"
        )
        return f"the end came without [DONE], and the finish reason is {reason}, {said_early}"

    def _no_events(self) -> Fault:
        if self._unframed:
            return Fault(
                Failure.PROTOCOL,
                f"no event in {self._bytes} bytes: {self._unframed} data lines, but no blank line ends them",
            )
        if self.pings:
            return Fault(Failure.CUT, f"the end came before the first event, after {self.pings} comments")
        return Fault(Failure.PROTOCOL, f"no event in {self._bytes} bytes")

    def _unreadable(self) -> str:
        return f"{self.parse_errors} of {self._events} events could not be read"

    def _event(self, t_ns: int, event: ServerSentEvent) -> None:
        self.stray.add(event.data, event.event, event.id or "")
        if self.done:
            self._late(event)
            return
        data = event.data
        if len(data) < 16 and data.strip().upper() in DONE:
            self.done = True
            if data != DONE[0]:
                self._notes.add("done_variant", data)
            return
        self._events += 1
        if event.event in HEARTBEATS:
            self.empty_events += 1
            return
        if event.fields and self._odd_fields(event):
            return
        try:
            document, strict = parse(data)
        except ValueError as error:
            self._not_json(event, error)
            return
        if not strict:
            self._notes.add("not_strict_json")
        self._document(t_ns, event, document)

    def _late(self, event: ServerSentEvent) -> None:
        """An event after [DONE]: told, and its text kept, which may be somebody else's."""
        if event.data.strip().upper() in DONE:
            self._notes.add("done_twice")
            return
        self._notes.add("data_after_done")
        if len(self.text_after_done) < AFTER_DONE_CHARS:
            self.text_after_done = (self.text_after_done + _text_of(event.data))[:AFTER_DONE_CHARS]

    def _document(self, t_ns: int, event: ServerSentEvent, document: Any) -> None:
        error = read_error(document, certain=event.event == "error")
        if error is not None:
            self._fail(error, event.data)
        if isinstance(document, dict):
            self._chunk(t_ns, document)
        elif not document or _is_heartbeat(document):
            self.empty_events += 1
        else:
            self._unread(event.data, f"a JSON {type(document).__name__}")

    def _chunk(self, t_ns: int, document: dict[str, Any]) -> None:
        unfinished = self._answer.finish_reason is None
        delta = self._answer.chunk(document)
        if any(delta):
            self._times.token(t_ns, delta.content)
            self._closed_without_token = False
            return
        if "choices" in document:
            self._closed_without_token = self._times.events > 0
        finishes = unfinished and self._answer.finish_reason is not None
        if not (finishes or document.get("usage") or document.get("timings") or self._error):
            self.empty_events += 1

    def _not_json(self, event: ServerSentEvent, error: ValueError) -> None:
        if event.event == "error":
            self._fail(ServerError(event.data[:4096], text=event.data[:4096]), event.data)
        elif not event.data.strip() or event.data.strip().lower() in HEARTBEATS:
            self.empty_events += 1
        elif event.event not in ("", "message") and event.data.lstrip()[:1] not in ("{", "["):
            self.empty_events += 1  # words for whoever listens to that name
            self._notes.add("named_event", f"{event.event} {event.data[:80]}")
        else:
            self._unread(event.data, str(error))

    def _odd_fields(self, event: ServerSentEvent) -> bool:
        """Fields that the standard ignores; whether they are all that there is to read in this event."""
        if "error" in event.fields:
            value = event.fields["error"]
            found = error_in(f"error: {value}")
            self._fail(found[0] if found else ServerError(value[:4096], text=value[:4096]), value)
        for name, value in event.fields.items():
            if name.startswith("{"):
                self._unframed_json(f"{name}:{value}")
        self._notes.add("unknown_fields", listed(list(event.fields), 4))
        self.stray.add(*event.fields.values())
        if event.data:
            return False
        if self._events == 1:  # plain text in place of a stream
            self.evidence = self.evidence or "\n".join(event.fields)
        self.empty_events += 1
        return True

    def _unframed_json(self, text: str) -> None:
        self._notes.add("unframed_json")
        found = error_in(text)
        if found is not None:
            self._fail(*found)
        else:
            self._unread(text, "JSON without data:")

    def _unread(self, data: str, why: str) -> None:
        self.parse_errors += 1
        self._notes.add("parse_error", f"{why[:60]} in {data[:80]}")
        self.evidence = self.evidence or data

    def _fail(self, error: ServerError, data: str) -> None:
        """Take an error. The first one counts: what follows is its consequence."""
        if self._error is None:
            self._error, self.evidence = error, data
            note_error(error, self._notes)


def _text_of(data: str) -> str:
    """The text of one chunk by itself; what is no chunk with text, as it was sent."""
    try:
        document, _ = parse(data)
    except ValueError:
        return data
    if not isinstance(document, dict):
        return data
    delta = Answer(Notes()).chunk(document)
    return whole(delta.content + delta.reasoning) or whole(data)


def _is_heartbeat(value: Any) -> bool:
    """A number, or a word for one. (null, "" and [] are none of these, and hold nothing either.)"""
    return isinstance(value, (int, float)) or (isinstance(value, str) and value.strip().lower() in HEARTBEATS)
