"""Finish reasons: which end an answer, which say that it goes on, and which that the server gave up."""

from collections.abc import Sequence

import pytest
from responses import DONE, JSON, ROLE, STOP, chunk, encoded, events, read, text

from soakproof.reading.finish import Meaning, meaning
from soakproof.records import Exchange, Failure

WORDS: dict[Meaning, Sequence[str]] = {
    "whole": [
        *("stop", "length", "tool_calls", "content_filter", "eos_token", "stop-sequence", "end_turn"),
        *("MAX_TOKENS", "model-length", "COMPLETE", "FINISH_REASON_STOP", "content_filter: SAFETY"),
        *("eosFound", "function_call", "sensitive", "repetition"),
    ],
    "none": ["", " ", "null", "None", "NOT_FINISHED", "FINISH_REASON_UNSPECIFIED"],
    "gave_up": [
        *(
            "error",
            "abort",
            "aborted",
            "cancelled",
            "canceled",
            "USER_CANCEL",
            "failed",
            "timeout",
            "timed out",
        ),
        *(
            "time_limit",
            "network_error",
            "insufficient_system_resource",
            "preempted",
            "internal-server-error",
        ),
        *("disconnected", "modelUnloaded", "userStopped", "oom"),
    ],
    "unknown": ["other", "pause_turn", "room", "b\x1b[2J"],
}


@pytest.mark.parametrize(("expected", "word"), [(m, word) for m, words in WORDS.items() for word in words])
def test_meaning(expected: Meaning, word: str) -> None:
    assert meaning(word) == expected


def names(exchange: Exchange) -> set[str]:
    return {note.partition(":")[0] for note in exchange.notes}


def every(finish: str, *end: object) -> bytes:
    """A stream whose every chunk has this finish reason, and what follows them."""
    words = [chunk({"content": word}, finish) for word in ("Once", " upon", " a")]
    return events(chunk({"role": "assistant"}, finish), *words, *end)  # type: ignore[arg-type]


@pytest.mark.parametrize("finish", [*WORDS["none"], "stop", "length", "generating"])
def test_a_reason_on_every_chunk_ends_nothing(finish: str) -> None:
    exchange = read(every(finish))
    assert (exchange.outcome, exchange.failure, exchange.text) == ("fail", Failure.CUT, "Once upon a")


@pytest.mark.parametrize("finish", [*WORDS["none"], "generating"])
def test_the_reason_that_counts_is_the_one_that_ends(finish: str) -> None:
    for end in ([STOP], [STOP, DONE]):
        exchange = read(every(finish, *end))
        assert (exchange.outcome, exchange.finish_reason, exchange.text) == ("ok", "stop", "Once upon a")
        assert not names(exchange) & {"second_finish_reason", "text_after_finish"}


def test_a_reason_that_was_given_too_early_is_replaced() -> None:
    exchange = read(every("stop", chunk(finish="length"), DONE))
    assert (exchange.outcome, exchange.finish_reason) == ("ok", "length")
    assert {"second_finish_reason", "text_after_finish"} <= names(exchange)


@pytest.mark.parametrize("finish", WORDS["gave_up"])
def test_a_server_that_gave_up(finish: str) -> None:
    for reasons in ([finish], ["stop", finish], [finish, "stop"]):
        exchange = read(events(ROLE, text("Once"), *(chunk(finish=r) for r in reasons), DONE))
        assert (exchange.outcome, exchange.failure) == ("fail", Failure.ERROR_EVENT)
        assert exchange.reason == f"the finish reason is {finish}"
    early = events(chunk({"content": "Once"}, finish), text(" upon"), STOP, DONE)
    assert read(early).failure is Failure.ERROR_EVENT
    body = encoded({"choices": [{"message": {"content": "Once"}, "finish_reason": finish}]})
    assert read(body, headers=JSON, stream=False).failure is Failure.ERROR_EVENT


@pytest.mark.parametrize("finish", WORDS["unknown"])
def test_a_word_that_nobody_knows_is_in_doubt(finish: str) -> None:
    """With [DONE] the stream was brought to its end; whether the answer is whole is for a judge to doubt."""
    exchange = read(events(ROLE, text("Once"), chunk(finish=finish), DONE))
    assert (exchange.outcome, names(exchange)) == ("ok", {"finish_reason_unknown"})
    assert read(events(ROLE, text("Once"), chunk(finish=finish))).failure is Failure.CUT


@pytest.mark.parametrize("finish", ["tool_calls", "function_call", "TOOL_USE"])
def test_a_finish_reason_of_a_call_that_is_not_there(finish: str) -> None:
    call = chunk({"tool_calls": [{"index": 0, "function": {"name": "go", "arguments": "{}"}}]})
    assert "finish_without_call" in names(read(events(text("Hi"), chunk(finish=finish), DONE)))
    assert "finish_without_call" not in names(read(events(call, chunk(finish=finish), DONE)))
