"""Every failure class of an exchange, in one table: what it means, whose fault, what to look at next. No I/O.

`docs/failures.md` is written from it, from `soakproof.grades` and from `soakproof.reading.oddities`.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from soakproof.records import Failure, Party


@dataclass(frozen=True, slots=True)
class Kind:
    """What is known of a failure class before anything is known of its cause.

    ``fault`` is whose it is as far as the class alone can tell. ``victim``: one crash or reset of something
    else can cause many of these.
    """

    meaning: str
    fault: Party
    look: str
    victim: bool = False


KINDS: Mapping[Failure, Kind] = {
    Failure.CONFIGURATION: Kind(
        "refused because of what we asked: unknown model, bad key, bad field",
        "ours",
        "the server's words in `error_body`; the model's name, the key, the plan's options",
    ),
    Failure.CONTEXT: Kind(
        "the prompt does not fit the context",
        "ours",
        "the plan's prompt sizes against `slot_context` in run.json",
    ),
    Failure.GENERATOR: Kind(
        "the tester itself failed", "ours", "the reason, and the folder `locust/` of the run"
    ),
    Failure.BUDGET: Kind(
        "`max_tokens` was spent on reasoning, nothing was left for the answer",
        "ours",
        "the kind's answer size; whether the model can be asked not to reason",
    ),
    Failure.CONNECT: Kind(
        "no connection",
        "front",
        "whether the process that listens was there: `vanished` in events.jsonl, `process:*` samples",
        victim=True,
    ),
    Failure.RESET: Kind(
        "the connection broke before the answer was whole",
        "server",
        "events.jsonl and the kernel log at that time: a crash, a kill, a reset of the GPU",
        victim=True,
    ),
    Failure.HTTP_STATUS: Kind(
        "a status of 5xx, or one that fits no other class",
        "server",
        "the status and `error_body`; whether others failed at that time",
        victim=True,
    ),
    Failure.ERROR_EVENT: Kind(
        "an error inside a stream that began with status 200",
        "backend",
        "`error_body`, and the backend's own log at that time",
        victim=True,
    ),
    Failure.BACKEND_LOST: Kind(
        "the front says that its backend died or was reset",
        "backend",
        "the backend's pid before and after, its last log lines, the kernel log",
        victim=True,
    ),
    Failure.CUT: Kind(
        "the stream ended in good order without a finish reason",
        "server",
        "whether the backend was lost then; else what stands between it and the client",
        victim=True,
    ),
    Failure.PROTOCOL: Kind(
        "not what the API promises: HTML, unframed JSON, no events at all",
        "front",
        "`error_body`, and the notes of the exchange",
    ),
    Failure.FRAME: Kind(
        "one event or body larger than the reader's bound", "server", "what the answer began with"
    ),
    Failure.HEADERS_TIMEOUT: Kind(
        "no status and headers within the bound",
        "front",
        "whether health answered then; many silent connections can fill a front's workers",
        victim=True,
    ),
    Failure.FIRST_TOKEN_TIMEOUT: Kind(
        "no token within the bound, which grows with all prompt work in flight",
        "server",
        "the slots at that time: all idle is a lost request, all busy is a queue; the prompt's size",
        victim=True,
    ),
    Failure.STALL: Kind(
        "the connection stayed open and tokens stopped",
        "server",
        "whether /slots answered, whether its slot went on counting, the kernel log",
        victim=True,
    ),
    Failure.TOTAL_TIMEOUT: Kind(
        "the answer had not ended within the bound",
        "server",
        "the generation rate; whether the answer repeats itself without end",
        victim=True,
    ),
    Failure.EMPTY: Kind(
        "finished well, with no text at all",
        "model",
        "the prompt, the chat template, and whether the baseline answers it",
    ),
    Failure.STOPPED: Kind(
        "ended by the tester's own stop: outcome unknown", "ours", "the plan's `drain`, if there are many"
    ),
}

# Failures that one crash or reset of something else can cause many of.
VICTIMS = frozenset(failure for failure, kind in KINDS.items() if kind.victim)


def fault_of(failure: Failure | None) -> Party:
    """Whose fault a failure is as far as its class can tell; the server's for one without a class."""
    return KINDS[failure].fault if failure else "server"
