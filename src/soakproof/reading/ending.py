"""How an answer that came whole is judged: whether it is an answer at all. No I/O."""

from typing import NamedTuple

from soakproof.reading.answer import Answer
from soakproof.reading.counts import Counts, milliseconds
from soakproof.reading.finish import is_of_calls
from soakproof.reading.notes import Notes, printable
from soakproof.reading.progress import TokenTimes
from soakproof.records import Failure

# A stream is called buffered when its tokens arrived in less than this share of the time that making them
# took. With eight tokens or more a stream that is passed on at once spreads over 7/8 of it.
BUFFERED_SHARE = 0.25
BUFFERED_MIN_MS = 500
BUFFERED_MIN_TOKENS = 8


class Fault(NamedTuple):
    """A failure, and its reason in words."""

    failure: Failure
    reason: str


def fault_of_answer(answer: Answer, counts: Counts, max_tokens: int, expect_text: bool) -> Fault | None:
    """What is wrong with an answer that has a finish reason, if anything."""
    finish = answer.finish_reason or ""
    if answer.finish == "gave_up":
        return Fault(Failure.ERROR_EVENT, f"the finish reason is {finish}")
    if answer.text or str(answer.calls) or not expect_text:
        return None
    spent = 0 < max_tokens <= (counts.completion or 0)
    if answer.thought() and (finish == "length" or spent):
        return Fault(Failure.BUDGET, f"all of the {max_tokens} tokens went into reasoning")
    if answer.thought():
        return Fault(Failure.EMPTY, f"only reasoning, no answer; the finish reason is {finish}")
    return Fault(Failure.EMPTY, f"no text; the finish reason is {finish}")


def only_others(answer: Answer) -> str:
    """Which choices came where the one that was asked for did not; empty where it did, or none came."""
    if answer.own_choice_seen or not answer.other_index:
        return ""
    return f"no choice of index 0, which was asked for: only others came (index {answer.other_index})"


def note_oddities(answer: Answer, counts: Counts, max_tokens: int, notes: Notes) -> None:
    """What is no failure, but must be known of whoever judges the answer."""
    if answer.finish == "unknown":
        notes.add("finish_reason_unknown", answer.finish_reason or "")
    if answer.finish_reason and is_of_calls(answer.finish_reason) and not str(answer.calls):
        notes.add("finish_without_call", answer.finish_reason)
    if answer.finish_reason == "content_filter":
        notes.add("finish_reason_filtered")
    if 0 < max_tokens <= (counts.completion or 0):
        if answer.finish_reason == "stop":
            notes.add("stop_at_limit", f"{counts.completion} of {max_tokens} tokens")
        if (counts.completion or 0) > max_tokens:
            notes.add("over_max_tokens", f"{counts.completion} of {max_tokens} tokens")
    if answer.text and answer.text.isspace():
        notes.add("blank_text")


def note_buffered(answer: Answer, times: TokenTimes, counts: Counts, notes: Notes) -> None:
    """Told when something between the model and us held the tokens back and let them go at once."""
    made_ms, spread_ns = milliseconds(answer.timings, "predicted_ms"), times.spread_ns()
    if made_ms is None or spread_ns is None or (counts.completion or 0) < BUFFERED_MIN_TOKENS:
        return
    spread_ms = spread_ns / 1e6
    if made_ms >= BUFFERED_MIN_MS and spread_ms < BUFFERED_SHARE * made_ms:
        notes.add("buffered", f"made in {made_ms:.0f} ms, arrived within {spread_ms:.0f} ms")


def said(text: str) -> str:
    """A server's words as part of a reason."""
    return printable(" ".join(text[:1000].split()), 300)
