"""What arrives of one response, and when, to its Exchange record: outcome and failure. No I/O, no clock.

Two drivers feed it, one under gevent and one under trio. Nothing that a server sends makes it raise.
An exchange is ok only with a status of 2xx, a finish reason, text unless none was due, and no error in
the stream: 200 alone is nothing, nor is [DONE].
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from soakproof.clock import nanoseconds
from soakproof.context import disguised, nonces
from soakproof.reading.answer import Answer
from soakproof.reading.counts import Counts, counts, raw
from soakproof.reading.document import Document
from soakproof.reading.ending import Fault, fault_of_answer, note_buffered, note_oddities
from soakproof.reading.notes import Notes, printable
from soakproof.reading.progress import TokenTimes
from soakproof.reading.stray import Stray
from soakproof.reading.stream import EventStream
from soakproof.records import REFUSALS, Exchange, Failure, Opened, Outcome
from soakproof.redaction import redacted, without_key

if TYPE_CHECKING:
    from soakproof.plan import Bounds

ERROR_BODY_BYTES = 4096
MAX_BLANK_START = 4096
_BOM = b"\xef\xbb\xbf"
_OPENED = tuple(name for name in Opened.__struct_fields__ if name != "sent_ns")  # which it has of its own


class Reading:
    """One response being read: fed with what arrives and when; makes the Exchange record.

    ``expect_text=False`` accepts an answer without text. ``redact`` has strings that no record may hold,
    such as the API key: some servers quote it in their refusal.
    """

    def __init__(self, opened: Opened, *, expect_text: bool = True, redact: Sequence[str] = ()) -> None:
        self._opened = opened
        self._sent_ns = opened.sent_ns
        self._expect_text = expect_text
        self._redact = tuple(redact)
        self._notes = Notes()
        self._answer = Answer(self._notes)
        self._times = TokenTimes()
        self._status: int | None = None
        self._route: str | None = None
        self._stray = Stray()  # of the headers
        self._headers_ns: int | None = None
        self._first_byte_ns: int | None = None
        self._start = b""  # white space before the body shows what it is
        self._stream: EventStream | None = None
        self._document: Document | None = None
        self._counts = Counts(None, None, None)
        self._closed: Exchange | None = None

    @property
    def sent_ns(self) -> int:
        """When the request was sent; until it is, when it was opened."""
        return self._sent_ns

    def sent(self, t_ns: int) -> None:
        """The request leaves now: connected, and with whom it is to leave together."""
        self._sent_ns = t_ns

    @property
    def token_events(self) -> int:
        """Deltas with progress in them so far."""
        return self._times.events

    @property
    def last_progress_ns(self) -> int | None:
        return self._times.last_ns

    @property
    def finished(self) -> bool:
        """[DONE] or an error came: nothing that may still come changes the outcome."""
        return self._stream is not None and self._stream.settled

    @property
    def over_limit(self) -> bool:
        """More came than is read of any response: it is over, and its connection may be closed."""
        source = self._stream or self._document
        return source is not None and source.over_limit

    def headers(self, t_ns: int, status: int, headers: Mapping[str, str]) -> None:
        """The head of the response, names in lower case. Interim ones (1xx) are passed over."""
        if status < 200:
            return
        self._headers_ns, self._status = t_ns, status
        self._stray.add(*headers.values())
        route = headers.get("x-lemonade-route")
        self._route = printable(route, 200) if route else None
        if "retry-after" in headers:
            self._notes.add("retry_after", headers["retry-after"])
        if headers.get("content-encoding", "identity").lower() != "identity":
            self._notes.add("content_encoding", headers["content-encoding"])
        if self._successful():
            wanted = "text/event-stream" if self._opened.stream else "application/json"
            found = headers.get("content-type", "")
            if found.partition(";")[0].strip().lower() != wanted or not _is_utf8(found):
                self._notes.add("content_type", found or "missing")

    def body(self, t_ns: int, data: bytes) -> None:
        """De-chunked bytes of the body as they arrive."""
        if not data or self._closed is not None:
            return
        if self._first_byte_ns is None:
            self._first_byte_ns = t_ns
        if self._stream is not None:
            self._stream.feed(t_ns, data)
        elif self._document is not None:
            self._document.feed(data)
        else:
            self._begin(t_ns, self._start + data)

    def behind(self) -> None:
        """Something came on the connection behind the whole response."""
        self._notes.add("bytes_after_end")

    def end(self, t_ns: int) -> Exchange:
        """The body ended in good order."""
        self._settle()
        fault = self._told() or self._fault()
        return self._close(t_ns, "fail" if fault and not self._refused() else "ok", fault)

    def broke(self, t_ns: int, failure: Failure, reason: str) -> Exchange:
        """The exchange was ended by ``failure``: the connection, a bound, or the tester's own stop.

        What the server itself told before that explains more and is kept as the failure. An answer
        that was whole, [DONE] included, stays one.
        """
        self._settle()
        broken = Fault(failure, printable(reason, 300))
        if failure is Failure.GENERATOR:
            return self._close(t_ns, "fail", broken)
        told = self._told()
        whole = self._stream is not None and self._stream.done and self._answer.finish_reason is not None
        if told or whole:
            self._notes.add(f"{failure.value}_after_{'error' if told else 'done'}", reason)
            fault = told or self._fault()
            return self._close(t_ns, "fail" if fault and not self._refused() else "ok", fault)
        return self._close(t_ns, "unknown" if failure is Failure.STOPPED else "fail", broken)

    def cancelled(self, t_ns: int) -> Exchange:
        """The tester closed the connection on purpose, as planned."""
        self._settle()
        fault = self._told()
        return self._close(t_ns, "fail" if fault else "ok", fault, cancelled_ns=t_ns)

    def deadline(self, bounds: "Bounds", ahead_tokens: float, held_ns: int = 0) -> tuple[int, Failure]:
        """The next bound to fall, on the run clock, and the failure that it is then.

        ``ahead_tokens``: prompt tokens of this request, of its neighbours and of those queued before it.
        ``held_ns``: how long it waited for a slot, which is not its own time to the first token.
        The headers may take as long as the first token: a bare llama.cpp sends them together.
        """
        total = self._sent_ns + nanoseconds(bounds.total)
        if not self._opened.stream:
            return total, Failure.TOTAL_TIMEOUT
        if self._times.last_ns is not None:
            due, failure = self._times.last_ns + nanoseconds(bounds.between_tokens), Failure.STALL
        else:
            due = self._sent_ns + nanoseconds(bounds.first_token_bound(ahead_tokens)) + held_ns
            failure = Failure.HEADERS_TIMEOUT if self._headers_ns is None else Failure.FIRST_TOKEN_TIMEOUT
        return (due, failure) if due < total else (total, Failure.TOTAL_TIMEOUT)

    def _successful(self) -> bool:
        return self._status is not None and 200 <= self._status < 300

    def _begin(self, t_ns: int, start: bytes) -> None:
        """Decide by the first character what the body is: headers lie about that."""
        shown = start[:MAX_BLANK_START].removeprefix(_BOM).lstrip()
        streamed = self._opened.stream and self._successful()
        if streamed and len(start) < MAX_BLANK_START and (not shown or _BOM.startswith(start)):
            self._start = start
            return
        self._start = b""
        if streamed and shown[:1] not in (b"{", b"[", b"<"):
            self._stream = EventStream(self._answer, self._times, self._notes)
            self._stream.feed(t_ns, start)
        else:
            self._document = Document(self._answer, self._notes, self._status)
            self._document.feed(start)

    def _settle(self) -> None:
        """Read what is left, once."""
        if self._closed is not None:
            return
        if self._stream is not None:
            self._stream.close()
        elif self._headers_ns is not None and self._document is None:
            self._document = Document(self._answer, self._notes, self._status)
        if self._document is not None:
            self._document.close(self._opened.stream)
        self._counts = counts(self._answer.usage, self._answer.timings, self._notes)

    def _told(self) -> Fault | None:
        source = self._stream or self._document
        return source.told() if source else None

    def _refused(self) -> bool:
        """Whether the server refused what it may refuse, before any token."""
        told = self._told()
        return (
            self._opened.refusal_planned
            and told is not None
            and told.failure in REFUSALS
            and not self._times.events
        )

    def _fault(self) -> Fault | None:
        source = self._stream or self._document
        if source is None:
            return Fault(Failure.PROTOCOL, "the connection ended before any response")
        return source.fault() or fault_of_answer(
            self._answer, self._counts, self._opened.max_tokens, self._expect_text
        )

    def _close(
        self, t_ns: int, outcome: Outcome, fault: Fault | None, cancelled_ns: int | None = None
    ) -> Exchange:
        if self._closed is None:
            note_oddities(self._answer, self._counts, self._opened.max_tokens, self._notes)
            note_buffered(self._answer, self._times, self._counts, self._notes)
            self._closed = self._record(t_ns, outcome, fault, cancelled_ns)
        return self._closed

    def _record(self, t_ns: int, outcome: Outcome, fault: Fault | None, cancelled_ns: int | None) -> Exchange:
        times, stream = self._times, self._stream
        said = self._said()
        return Exchange(
            **{name: getattr(self._opened, name) for name in _OPENED},
            sent_ns=self._sent_ns,
            outcome=outcome,
            failure=fault.failure if fault else None,
            reason=redacted(fault.reason, self._redact) if fault else "",
            status=self._status,
            headers_ns=self._headers_ns,
            first_byte_ns=self._first_byte_ns,
            first_token_ns=times.first_ns,
            first_content_ns=times.first_content_ns,
            first_visible_ns=times.first_visible_ns,
            last_token_ns=times.last_ns,
            done_ns=t_ns,
            cancelled_ns=cancelled_ns,
            widest_gap_ns=times.widest_gap_ns,
            widest_gap_at=times.widest_gap_at,
            token_events=times.events,
            pings=stream.pings if stream else 0,
            empty_events=stream.empty_events if stream else 0,
            parse_errors=stream.parse_errors if stream else 0,
            leftover_bytes=stream.leftover_bytes if stream else 0,
            done_marker=stream is not None and stream.done,
            prompt_tokens=self._counts.prompt,
            completion_tokens=self._counts.completion,
            cached_tokens=self._counts.cached,
            **said,
            text_digest=_digest(said["text"]),
            error_body=self._error_body() if fault else None,
            notes=tuple(redacted(note, self._redact) for note in self._notes.all()),
        )

    def _said(self) -> dict[str, Any]:
        """What the server chose, without the secrets that it may have repeated."""
        answer = self._answer
        said: dict[str, Any] = {
            "finish_reason": answer.finish_reason,
            "model_answered": answer.model,
            "answer_id": answer.id,
            "other_ids": answer.other_ids,
            "fingerprint": answer.fingerprint,
            "usage": raw(answer.usage, "usage", self._notes),
            "timings": raw(answer.timings, "timings", self._notes),
            "route": self._route,
            "text": answer.text,
            "reasoning": answer.reasoning,
            "tool_calls": str(answer.calls),
            "stray_secrets": self._stray_secrets(),
            "text_after_done": self._stream.text_after_done if self._stream else "",
        }
        for secret in self._redact:
            said = {name: without_key(value, secret) for name, value in said.items()}
        said["other_ids"] = tuple(said["other_ids"])
        said["stray_secrets"] = tuple(said["stray_secrets"])
        return said

    def _stray_secrets(self) -> tuple[str, ...]:
        """Of the whole response, those that do not stand in the answer itself."""
        source, answer = self._stream or self._document, self._answer
        beside = source.stray.secrets if source else set()
        said = "\n".join((answer.text, answer.reasoning, str(answer.calls)))
        return tuple(sorted((self._stray.secrets | beside) - nonces(said) - disguised(said)))

    def _error_body(self) -> str | None:
        """The server's own words on a failure, bounded."""
        source = self._stream or self._document
        if source is None or not source.evidence:
            return None
        words = redacted(source.evidence, self._redact)
        return words.encode("utf-8", "replace")[:ERROR_BODY_BYTES].decode("utf-8", "ignore")


def _is_utf8(content_type: str) -> bool:
    """Whether it tells the one charset of JSON and of event streams, a part of it, or none."""
    told = [p.partition("=") for p in content_type.lower().replace(",", ";").split(";")[1:]]
    charsets = [value.strip().strip("\"'") for name, _, value in told if name.strip() == "charset"]
    return all(charset in ("", "utf-8", "utf8", "us-ascii", "ascii") for charset in charsets)


def _digest(text: str) -> str:
    """SHA-256 of the text as a record keeps it; empty for no text."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest() if text else ""
