"""What a run writes down: one frozen record, one line of JSON. No I/O here.

Every time is on the run clock (`soakproof.clock`), in nanoseconds; every field that may be unknown is
None when it is unknown, never 0. `encode` and `decode` are each other's inverse for every record.
"""

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Literal

import orjson
from msgspec import DecodeError, Meta, Struct, ValidationError, json

from soakproof.nesting import TooDeepError, bounded

# In UTF-8: DEL, the C1 controls, what has no width, and what turns the direction of writing or ends a line.
_OBEYED = re.compile(
    rb"\x7f|\xc2[\x80-\x9f\xad]|\xd8\x9c|\xe2\x80[\x8b-\x8f\xa8-\xae]|\xe2\x81[\xa0-\xaf]|\xef\xbb\xbf"
)

Int64 = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]  # no time and no count is larger
Outcome = Literal["ok", "fail", "unknown"]
CheckOutcome = Literal["pass", "fail", "unknown"]
SourceState = Literal["value", "unsupported", "denied", "timeout", "error"]
Party = Literal["ours", "front", "backend", "server", "host", "model"]


class Failure(StrEnum):
    """Why an exchange did not succeed. `soakproof.failures` says what each means, and whose fault it is."""

    CONFIGURATION = "configuration"
    CONTEXT = "context"
    GENERATOR = "generator"
    BUDGET = "budget"
    CONNECT = "connect"
    RESET = "reset"
    HTTP_STATUS = "http_status"
    ERROR_EVENT = "error_event"
    BACKEND_LOST = "backend_lost"
    CUT = "cut"
    PROTOCOL = "protocol"
    FRAME = "frame_over_limit"
    HEADERS_TIMEOUT = "headers_timeout"
    FIRST_TOKEN_TIMEOUT = "first_token_timeout"
    STALL = "stall"
    TOTAL_TIMEOUT = "total_timeout"
    EMPTY = "empty"
    STOPPED = "stopped"


# By which a server says itself that it does not answer. Whether one is the right refusal is for checks.
REFUSALS = frozenset((Failure.CONFIGURATION, Failure.CONTEXT, Failure.HTTP_STATUS, Failure.ERROR_EVENT))


class Opened(Struct, frozen=True, kw_only=True, gc=False, tag_field="record", tag="opened"):
    """A request as it was sent: written before its first byte leaves, so that a killed run shows it.

    So its ``sent_ns`` is the time of its opening; the exchange has the time at which it really left.
    """

    id: str
    node: str
    scenario: str  # the plan's kind
    iteration: Int64
    role: str
    seed: Int64  # unique in the run; the backend's /slots shows it in params.seed
    due_ns: Int64
    sent_ns: Int64
    model_asked: str
    stream: bool
    max_tokens: Int64
    prompt_chars: Int64
    prompt_digest: str  # SHA-256 of the messages as sent
    secrets: tuple[str, ...] = ()  # nonces that its own prompt holds
    cancel_planned: str | None = None  # such as "decode: after 20 token events"
    refusal_planned: bool = False  # a refusal is no failure of it
    temperature: float | None = None  # as it was sent


class Exchange(Struct, frozen=True, kw_only=True, gc=False, tag_field="record", tag="closed"):
    """A request and all that came of it. Flat: every later tool reads this one record."""

    id: str
    node: str
    scenario: str
    iteration: Int64
    role: str
    seed: Int64
    due_ns: Int64
    sent_ns: Int64
    model_asked: str
    stream: bool
    max_tokens: Int64
    prompt_chars: Int64
    prompt_digest: str
    secrets: tuple[str, ...] = ()
    cancel_planned: str | None = None
    refusal_planned: bool = False
    temperature: float | None = None

    outcome: Outcome
    failure: Failure | None = None  # of an exchange that is ok: how it was refused, as planned
    reason: str = ""  # the failure in words
    status: Int64 | None = None
    # Times. A token here is a delta with text, reasoning or a tool call in it: role chunks, comments and
    # empty chunks are not progress.
    headers_ns: Int64 | None = None
    first_byte_ns: Int64 | None = None  # of the body, comments included
    first_token_ns: Int64 | None = None  # of any kind: reasoning and tool calls count
    first_content_ns: Int64 | None = None  # of the answer
    first_visible_ns: Int64 | None = None  # of the answer, other than white space
    last_token_ns: Int64 | None = None
    done_ns: Int64  # the exchange's end, whatever ended it
    cancelled_ns: Int64 | None = None  # when the tester closed the connection on purpose
    widest_gap_ns: Int64 | None = None  # between two tokens
    widest_gap_at: Int64 | None = None  # index of the token event after that gap
    token_events: Int64 = 0  # deltas with progress in them; not a token count
    pings: Int64 = 0  # comments
    empty_events: Int64 = 0
    parse_errors: Int64 = 0
    leftover_bytes: Int64 = 0
    # The end
    finish_reason: str | None = None
    done_marker: bool = False  # data: [DONE]
    # What the server says
    model_answered: str | None = None
    answer_id: str | None = None  # by which the server calls the answer; the first that came
    other_ids: tuple[str, ...] = ()  # that came within it besides, at most 8
    fingerprint: str | None = None  # system_fingerprint, which tells llama.cpp's build
    prompt_tokens: Int64 | None = None
    completion_tokens: Int64 | None = None
    cached_tokens: Int64 | None = None
    usage: dict[str, Any] | None = None
    timings: dict[str, Any] | None = None
    route: str | None = None  # x-lemonade-route
    # What it answered
    text: str = ""
    reasoning: str = ""
    tool_calls: str = ""
    stray_secrets: tuple[str, ...] = ()  # what looks like one in all that came, the answer apart
    text_after_done: str = ""  # of events after [DONE], which clients do not read; bounded
    text_digest: str = ""
    error_body: str | None = None  # bounded
    notes: tuple[str, ...] = ()  # oddities of the protocol that are no failure by themselves


class Check(Struct, frozen=True, kw_only=True, gc=False, tag_field="record", tag="check"):
    """One check of one iteration."""

    node: str
    t_ns: Int64
    scenario: str
    iteration: Int64
    name: str
    outcome: CheckOutcome
    grade: str = ""  # a class of its own within the outcome, such as "fenced"
    reason: str = ""
    exchanges: tuple[str, ...] = ()


IterationEnd = Literal["completed", "failed", "stopped", "broken"]


class Iteration(Struct, frozen=True, kw_only=True, gc=False, tag_field="record", tag="iteration"):
    """One iteration of one kind. ``broken`` means that the scenario itself is at fault."""

    node: str
    scenario: str
    number: Int64
    started_ns: Int64
    ended_ns: Int64
    end: IterationEnd
    reason: str = ""
    counts: dict[str, float] = {}


class Sample(Struct, frozen=True, kw_only=True, gc=False, tag_field="record", tag="sample"):
    """One reading of one source on the watch's schedule."""

    node: str
    source: str  # such as "memory", "slots", "process"
    due_ns: Int64
    t_ns: Int64  # when the reading was complete, or was given up
    took_ns: Int64
    state: SourceState
    values: dict[str, Any] = {}  # units are part of the name: available_bytes
    reason: str = ""  # why there is no value


class KernelEvent(Struct, frozen=True, kw_only=True, gc=False, tag_field="record", tag="kernel"):
    """One line of the kernel log, or a gap in it, since the run began."""

    node: str
    t_ns: Int64
    sequence: Int64 | None
    facility: Int64 | None
    message: str
    signature: str | None = None  # id in the catalogue
    fault_class: str | None = None
    severity: str | None = None  # fatal, fail, warn, info
    incident: Int64 | None = None
    process: str | None = None  # the guilty one, where the log names it
    pid: Int64 | None = None
    gap: Int64 = 0  # records lost before this one


class Event(Struct, frozen=True, kw_only=True, gc=False, tag_field="record", tag="event"):
    """Something that happened to the run itself: a server restarted, a node stopped, a stop was asked for."""

    node: str
    t_ns: Int64
    what: str
    details: dict[str, Any] = {}


Record = Opened | Exchange | Check | Iteration | Sample | KernelEvent | Event

# File of each record's kind in a node's folder. Opened and closed exchanges share one, in order.
FILES: Mapping[type[Struct], str] = {
    Opened: "exchanges.jsonl",
    Exchange: "exchanges.jsonl",
    Check: "checks.jsonl",
    Iteration: "iterations.jsonl",
    Sample: "samples.jsonl",
    KernelEvent: "kernel.jsonl",
    Event: "events.jsonl",
}
TAGS: Mapping[type[Struct], str] = {kind: str(kind.__struct_config__.tag) for kind in FILES}
_DECODER = json.Decoder(Record)
_FREE = frozenset((Exchange, Sample, Event))  # with parts of any shape


def encode(record: Record) -> bytes:
    """One line, newline included. Text that UTF-8 cannot carry is replaced; huge integers become text.

    What a terminal would obey or hide stands as its escape: people look at these lines there.
    """
    document: dict[str, Any] = {"record": TAGS[type(record)]}
    document.update((name, getattr(record, name)) for name in record.__struct_fields__)
    return written(document)


def written(document: Mapping[str, Any]) -> bytes:
    """A record's fields as a line, as `encode` writes it."""
    try:
        line = orjson.dumps(document, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError:
        line = orjson.dumps(carriable(document), option=orjson.OPT_APPEND_NEWLINE)
    return harmless(line)


def harmless(json: bytes) -> bytes:
    """JSON with the escapes of what a terminal would obey or hide."""
    return _OBEYED.sub(_escaped, json)


def _escaped(found: re.Match[bytes]) -> bytes:
    return f"\\u{ord(found[0].decode()):04x}".encode()


def carriable(value: Any, levels: int = 64) -> Any:
    """The nearest value that JSON in UTF-8 can carry; what is nested deeper than ``levels`` is left out."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, (Mapping, list, tuple)):
        return _carriable_items(value, levels - 1) if levels else "[nested too deep]"
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        return f"an integer of {value.bit_length()} bits" if abs(value) >= 10**100 else str(value)
    if value is None or isinstance(value, (bool, int, float)):
        return value
    return carriable(str(value))


def _carriable_items(value: Any, levels: int) -> Any:
    if isinstance(value, Mapping):
        return {carriable(str(k)): carriable(v, levels) for k, v in value.items()}
    return [carriable(item, levels) for item in value]


def decode(line: bytes) -> Record:
    """The record of one line. Raises ValueError, with what was wrong, for anything else."""
    try:
        return _bounded(_DECODER.decode(line))
    except RecursionError as error:
        raise ValueError("it is nested too deep") from error
    except ValidationError as error:
        if "`record`" in str(error) or "`$.record`" in str(error):
            raise ValueError("a line without a known record kind") from error
        raise


def _bounded(record: Record) -> Record:
    """The record. Raises TooDeepError where what it holds of others is nested too deep."""
    if isinstance(record, Exchange):
        bounded(record.usage)
        bounded(record.timings)
    elif isinstance(record, Sample):
        bounded(record.values)
    elif isinstance(record, Event):
        bounded(record.details)
    return record


def one_a_line(block: bytes, records: int) -> bool:
    """Whether each of so many records, of which a block of whole lines was decoded, is a line of its own.

    Lines that begin and end as objects do are not parts of one: within a record a comma would stand between.
    """
    return (
        block.startswith(b"{")
        and block.endswith(b"}\n")
        and block.count(b"}\n{") == records - 1 == (block.count(b"\n") - 1)
    )


def decode_block(block: bytes) -> list[Record] | None:
    """The records of many whole lines at once; None unless each line is one record."""
    try:
        records = _DECODER.decode_lines(block)
        if not one_a_line(block, len(records)):
            return None
        for record in records:
            if type(record) in _FREE:
                _bounded(record)
    except (DecodeError, RecursionError, TooDeepError):
        return None
    return records
