"""What a server says went wrong, in all the shapes that servers use, and which failure that is. No I/O."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from soakproof.reading.lenient import parse
from soakproof.reading.notes import Notes
from soakproof.records import Failure

MAX_DEPTH = 6
MAX_MESSAGES = 16
MAX_TEXT = 64 * 1024
MAX_LINES = 256
_NESTED = ("error", "errors", "details", "detail", "response")
_MESSAGES = ("message", "error_message", "msg", "reason", "text")
_NAMES = ("type", "code", "error_type", "error_code", "status", "status_code")

_LOST_NAMES = {"backend_watchdog_reset", "enginedeaderror"}
_LOST = re.compile(
    r"backend (?:process )?(?:exited|died|crashed)|enginecore encountered|model has crashed"
    r"|runner (?:process )?(?:has (?:unexpectedly )?(?:terminated|stopped)|no longer running)",
    re.I,
)
_CONTEXT_NAMES = {
    "exceed_context_size_error",
    "context_length_exceeded",
    "context_window_exceeded",
    "contextwindowexceedederror",
}
_CONTEXT = re.compile(
    r"exceeds? .{0,40}context|context (?:size|length|window).{0,40}exceed|maximum context length"
    r"|longer than .{0,30}context|prompt.{0,40}too long|tokens.{0,40}must be <="
    r"|(?:input|prompt) length.{0,40}exceeds? .{0,12}(?:max|allowed)"
    r"|reached context length|context length of only",
    re.I,
)
_OURS_NAMES = {
    "model_not_found",
    "invalid_request",
    "invalid_request_error",
    "badrequesterror",
    "authentication_error",
    "permission_error",
    "not_found_error",
}
_OURS = re.compile(r"no model (?:loaded|specified)|model not (?:found|loaded)|invalid api key", re.I)
# Statuses of 4xx that say nothing about what was asked: the server was busy, slow, or failed at its work
# (TGI's 424), or it believes that we have left (499).
_NOT_OURS = {408, 424, 425, 429, 499}
# How an object without choices, and with words of its own, says that it is an error or that it is none.
_ERROR_TYPE = re.compile(
    r"error|exception|fail|invalid|bad_?request|not_?found|denied|refused|unavailable|time_?out|exceed"
    r"|overload|abort|crash|fault",
    re.I,
)
_CODES_OF_SUCCESS = {"", "0", "200", "ok", "success", "none"}
_FAILED = {"error", "failed", "failure", "fail"}


@dataclass(frozen=True, slots=True)
class ServerError:
    """An error as the server told it."""

    message: str
    names: frozenset[str] = frozenset()  # every type and code in it, lower case
    status: int | None = None  # the status that it names itself
    text: str = ""  # every message in it, those of a wrapped error included


def read_error(document: Any, *, certain: bool = False) -> ServerError | None:
    """The error that a JSON value is, or None. ``certain``: it is one, whatever it looks like."""
    if not isinstance(document, Mapping):
        told = document if isinstance(document, str) else f"a JSON {type(document).__name__}"
        return ServerError(told[:4096], text=told[:4096]) if certain else None
    part = document if certain else _error_part(document)
    if part is None:
        return None
    messages: list[str] = []
    names: list[str] = []
    _collect(part, messages, names, MAX_DEPTH)
    status = next((int(n) for n in names if re.fullmatch("[1-5][0-9]{2}", n)), None)
    told = ": ".join(dict.fromkeys(messages[:3])) or ", ".join(names) or "no message"
    return ServerError(told, frozenset(names), status, "\n".join(messages))


def _error_part(document: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The part of a document that tells an error: all of it, or one of its choices."""
    if document.get("error") or document.get("object") == "error":
        return document
    if document.get("error_type") or document.get("error_message") or document.get("error_code"):
        return document
    if "choices" not in document:
        return document if _is_bare_error(document) else None
    choices = document["choices"]
    if isinstance(choices, list):
        for choice in choices:
            if isinstance(choice, dict) and choice.get("error"):
                return {"error": choice["error"]}
    return None


def _is_bare_error(document: Mapping[str, Any]) -> bool:
    """Whether an object without choices is an error by its words alone."""
    if document.get("error") in ({}, [], "") and not (document.get("usage") or document.get("timings")):
        return True
    status, kind = document.get("status"), document.get("type")
    failed = isinstance(status, str) and status.lower() in _FAILED
    if isinstance(document.get("message"), str):
        code = document.get("code")
        coded = isinstance(code, (str, int)) and str(code)[:100].lower() not in _CODES_OF_SUCCESS
        return failed or coded or (isinstance(kind, str) and _ERROR_TYPE.search(kind) is not None)
    if not document.get("detail"):
        return False
    failed = failed or (isinstance(status, int) and status >= 400)
    return failed or "title" in document or set(document) == {"detail"}


def _collect(value: Any, messages: list[str], names: list[str], depth: int) -> None:
    """Messages, outermost first, and names of an error and of those it wraps."""
    if not depth or len(messages) >= MAX_MESSAGES:
        return
    if isinstance(value, str):
        inner = _wrapped(value)
        if inner is None:
            messages.append(value[:4096])
        else:
            _collect(inner, messages, names, depth - 1)
    elif isinstance(value, list):
        for item in value[:MAX_MESSAGES]:
            _collect(item, messages, names, depth - 1)
    elif isinstance(value, Mapping):
        _collect_object(value, messages, names, depth - 1)


def _collect_object(value: Mapping[str, Any], messages: list[str], names: list[str], depth: int) -> None:
    for key in _NAMES:
        name = value.get(key)
        if isinstance(name, (str, int)) and not isinstance(name, bool):
            names.append(str(name)[:100].lower())
    for key in _MESSAGES:
        if isinstance(value.get(key), str):
            _collect(value[key], messages, names, depth)
    for key in _NESTED:
        _collect(value.get(key), messages, names, depth)


def _wrapped(text: str) -> Any:
    """The JSON object that a front put into a string of its own error, if it is one."""
    if not text.startswith("{"):
        return None
    try:
        return parse(text)[0]
    except ValueError:
        return None


def note_error(error: ServerError, notes: Notes) -> None:
    """Which part of the server speaks, where its words tell."""
    told = error.text.lower()
    if "proxy error" in told:
        notes.add("proxy_error")  # a router in front lost its backend, which may still work on the request
    if "unavailable_error" in error.names or "loading model" in told:
        notes.add("loading")


def error_in(text: str) -> tuple[ServerError, str] | None:
    """An error in text that is not framed as it should be, and that part of the text.

    A JSON body, or lines of one that lack their blank line, their ``data:`` or both.
    """
    for part in (text, *text[:MAX_TEXT].split("\n")[:MAX_LINES]):
        candidate = part.strip().removeprefix("data:").removeprefix("error:").lstrip()
        if candidate.startswith("{"):
            try:
                error = read_error(parse(candidate)[0], certain=part.lstrip().startswith("error:"))
            except ValueError:
                continue
            if error is not None:
                return error, candidate
    return None


def classify(error: ServerError, status: int) -> Failure:
    """Which failure an error is that came with this HTTP status."""
    if error.names & _LOST_NAMES or _LOST.search(error.text):
        return Failure.BACKEND_LOST
    if error.names & _CONTEXT_NAMES or _CONTEXT.search(error.text):
        return Failure.CONTEXT
    if not 200 <= status < 300:
        return by_status(status) if "model_not_found" not in error.names else Failure.CONFIGURATION
    named = error.status or 0
    refused = 400 <= named < 500 and named not in _NOT_OURS
    if refused or error.names & _OURS_NAMES or _OURS.search(error.text):
        return Failure.CONFIGURATION
    return Failure.ERROR_EVENT


def by_status(status: int) -> Failure:
    """Which failure a status is by itself, other than 2xx."""
    return Failure.CONFIGURATION if 400 <= status < 500 and status not in _NOT_OURS else Failure.HTTP_STATUS
