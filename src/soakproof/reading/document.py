"""A body that is one document: an answer that was not streamed, or an error. No I/O, no clock."""

from soakproof.reading.answer import Answer
from soakproof.reading.ending import Fault, only_others, said
from soakproof.reading.lenient import parse
from soakproof.reading.notes import Notes
from soakproof.reading.server_error import ServerError, by_status, classify, error_in, note_error, read_error
from soakproof.reading.stray import Stray
from soakproof.records import Failure
from soakproof.sse import MIB

LIMIT = 8 * MIB
REFUSAL_LIMIT = MIB  # of a failing status: no server needs more words, and reading them takes many times that
HEAD = 4096


class Document:
    """Takes a body whole, up to a limit, and reads it at its end."""

    def __init__(self, answer: Answer, notes: Notes, status: int | None) -> None:
        self._answer, self._notes, self._status = answer, notes, status or 0
        self._limit = LIMIT if self._successful() else REFUSAL_LIMIT
        self._body = bytearray()
        self.over_limit = False  # so much came that the rest is passed over
        self._told: Fault | None = None
        self._fault: Fault | None = None
        self.stray = Stray()

    @property
    def evidence(self) -> str:
        return self._body[:HEAD].decode("utf-8", "replace")

    def feed(self, data: bytes) -> None:
        if len(self._body) + len(data) > self._limit:
            self.over_limit = True
            data = data[: self._limit - len(self._body)]
        self._body += data

    def close(self, streamed: bool) -> None:
        """Read what has come. ``streamed``: an event stream was asked for."""
        text = self._body.decode("utf-8", "replace").removeprefix("\ufeff").strip()
        self.stray.add(text)
        if text.startswith("<"):
            self._notes.add("html")
        if "\ufffd".encode() not in self._body and "\ufffd" in text:
            self._notes.add("invalid_utf8")
        if not self._successful():
            self._told = self._refusal(text)
        elif self.over_limit:
            self._told = Fault(Failure.FRAME, f"a body of more than {LIMIT} bytes")
        else:
            self._read(text, streamed)

    def _successful(self) -> bool:
        return 200 <= self._status < 300

    def told(self) -> Fault | None:
        """The failure that the server itself tells, whether the body is whole or not."""
        return self._told

    def fault(self) -> Fault | None:
        """What is wrong with a body that is whole, its answer apart."""
        return self._fault

    def _refusal(self, text: str) -> Fault:
        found = error_in(text) or (self._any_json(text), text)
        error = found[0]
        if error is None:
            shown = "an HTML page" if text.startswith("<") else text or "no body"
            return Fault(by_status(self._status), f"status {self._status}: {said(shown)}")
        note_error(error, self._notes)
        return Fault(classify(error, self._status), f"status {self._status}: {said(error.message)}")

    def _any_json(self, text: str) -> ServerError | None:
        """With a failing status any JSON is an error, whatever its shape."""
        try:
            return read_error(parse(text)[0], certain=True)
        except ValueError:
            return None

    def _read(self, text: str, streamed: bool) -> None:
        found = error_in(text)
        if found is not None:
            note_error(found[0], self._notes)
            if streamed:
                self._notes.add("unframed_error")
            self._told = Fault(classify(found[0], self._status), said(found[0].message))
        elif not text:
            self._fault = Fault(Failure.PROTOCOL, f"status {self._status} with an empty body")
        else:
            self._fault = self._completion(text) or (
                Fault(Failure.PROTOCOL, "one JSON document instead of an event stream") if streamed else None
            )

    def _completion(self, text: str) -> Fault | None:
        try:
            document, strict = parse(text)
        except ValueError as error:
            shown = "an HTML page" if text.startswith("<") else f"{said(str(error))}: {said(text[:80])}"
            return Fault(Failure.PROTOCOL, f"the body is not JSON: {shown}")
        if not strict:
            self._notes.add("not_strict_json")
        if not isinstance(document, dict) or not document.get("choices"):
            return Fault(Failure.PROTOCOL, "JSON that is no chat completion: it has no choices")
        self._answer.document(document)
        if others := only_others(self._answer):
            return Fault(Failure.PROTOCOL, others)
        if self._answer.finish_reason is None:
            return Fault(Failure.PROTOCOL, "the answer has no finish reason")
        return None
