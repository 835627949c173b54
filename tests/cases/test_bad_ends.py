"""Streams and refusals that are no answers: each is the class that it is, and the verdict says whose."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from replaying import Read
from responses import DONE, ROLE, STOP, answer, chunk, events, read
from varied import CUTS, body_of, cut, inserts

from soakproof.judge import Finding, Outcome
from soakproof.judge.claims import oddities
from soakproof.records import Exchange, Failure
from soakproof.testing.evidence import adjudicate, check, evidence, sample

PASSED = check("some.check")


def judged(*exchanges: Exchange) -> dict[str, Finding]:
    return adjudicate("functional", evidence(PASSED, *exchanges))


def noted(exchange: Exchange) -> set[str]:
    return {note.partition(":")[0] for note in exchange.notes}


@pytest.mark.case(23)
def test_an_error_in_a_field_of_its_own(read: Read) -> None:
    for exchange in read("23-error-field-line.sse"):
        assert exchange.failure is Failure.CONTEXT
        assert noted(exchange) == {"unknown_fields"}
        assert (exchange.token_events, exchange.text, exchange.done_marker) == (0, "", True)
        assert "context" in (exchange.error_body or "")
    found = judged(exchange)["exchanges: context"]
    assert (found.outcome, found.fault) == (Outcome.ERROR, "ours")


@pytest.mark.case(23)
@given(st.sampled_from(["\n", "\r\n", "\r"]), st.sampled_from(["error: ", "error:", "data: "]), CUTS)
def test_the_same_error_however_it_is_framed(line_end: str, field: str, cuts: list[int]) -> None:
    base = body_of("23-error-field-line.sse").decode()
    body = base.replace("error: ", field).replace("\n", line_end).encode()
    assert cut(body, cuts).failure is Failure.CONTEXT


@pytest.mark.case(25)
def test_done_that_a_proxy_added(read: Read) -> None:
    for exchange in read("25-done-synthesised-by-proxy.sse"):
        assert exchange.failure is Failure.CUT
        assert (exchange.finish_reason, exchange.done_marker) == (None, True)
        assert noted(exchange) == {"done_without_finish"}
        assert exchange.text == "The report has three par"
    found = judged(exchange)["exchanges: cut"]
    assert (found.outcome, found.fault) == (Outcome.FAIL, "server")


@pytest.mark.case(25)
@given(st.integers(1, 6), st.booleans(), st.booleans())
def test_each_end_has_a_verdict_of_its_own(tokens: int, finished: bool, done: bool) -> None:
    end = [*([STOP] if finished else []), *([DONE] if done else [])]
    exchange = read(answer(*("word ",) * tokens, end=end))
    assert exchange.failure is (None if finished else Failure.CUT)
    assert ("finish_without_done" in noted(exchange)) == (finished and not done)
    assert ("done_without_finish" in noted(exchange)) == (done and not finished)


@pytest.mark.case(26)
@pytest.mark.parametrize("name", ["26-error-in-200-stream.sse", "26-error-type-fields.sse"])
def test_an_error_in_a_stream_of_status_200(name: str, read: Read) -> None:
    for exchange in read(name):
        assert (exchange.status, exchange.failure, exchange.parse_errors) == (200, Failure.CONTEXT, 0)
        assert exchange.error_body
    assert judged(exchange)["exchanges: context"].outcome is Outcome.ERROR


ERRORS = [
    {"error": {"message": "boom", "type": "server_error", "code": 500}},
    {"error": "boom"},
    {"error": {"message": "boom"}, "choices": []},
    {"error_type": "InternalError", "error_message": "boom"},
    {"object": "error", "message": "boom"},
    {"detail": "boom"},
    {"code": 500, "message": "boom", "type": "server_error"},
]


@pytest.mark.case(26)
@given(st.sampled_from(ERRORS), st.integers(0, 3), st.booleans(), CUTS)
def test_an_error_of_any_shape_after_any_number_of_tokens(
    error: dict[str, object], tokens: int, done: bool, cuts: list[int]
) -> None:
    end = [dict(reversed(error.items())), *([DONE] if done else [])]
    exchange = cut(answer(*("word ",) * tokens, end=end), cuts)
    assert exchange.failure is Failure.ERROR_EVENT
    assert "boom" in exchange.reason
    assert exchange.token_events == tokens


@pytest.mark.case(26)
@given(inserts(b"data: {oops", b'data: {"choices":[{"delta":', b"data: <html>", b"data: [17]"))
def test_events_that_cannot_be_read_are_counted_and_never_ignored(bad: list[tuple[int, bytes]]) -> None:
    frames = answer("Hi ", "there").split(b"\n\n")
    for place, frame in bad:
        frames.insert(place % 4, frame)  # before the end
    exchange = read(b"\n\n".join(frames))
    assert exchange.parse_errors == len(bad)
    assert exchange.text == "Hi there"
    assert exchange.failure is (Failure.PROTOCOL if bad else None)


@pytest.mark.case(27)
def test_no_finish_reason_to_the_end_is_a_protocol_fault_and_no_truncation(read: Read) -> None:
    for exchange in read("27-finish-null-to-the-end.sse"):
        assert exchange.failure is Failure.PROTOCOL
        assert noted(exchange) == set()
        assert set(oddities(exchange)) == {"finish_reason_missing"}
        assert exchange.text == "It is sunny"
    healthy = read("28-leading-empty-choices.sse")[0]
    found = judged(exchange, healthy)
    assert "exchanges: cut" not in found
    assert found["exchanges: protocol"].answer.startswith("1 exchange of 2 failed")


@pytest.mark.case(27)
def test_an_empty_finish_reason_finishes_nothing(read: Read) -> None:
    for exchange in read("27-finish-empty-string.sse"):
        assert (exchange.outcome, exchange.text, exchange.finish_reason) == ("ok", " Hello there!", "stop")
        assert noted(exchange) == {"finish_reason_empty"}


@pytest.mark.case(27)
@given(st.lists(st.text("ab ", min_size=1, max_size=3), min_size=1, max_size=5), st.booleans())
def test_empty_finish_reasons_all_the_way(words: list[str], ended: bool) -> None:
    frames = [chunk({"content": word}, finish="") for word in words]
    exchange = read(events(ROLE, *frames, *([STOP] if ended else []), DONE))
    assert exchange.text == "".join(words)
    assert exchange.finish_reason == ("stop" if ended else None)
    assert (exchange.outcome == "ok") == ended


@pytest.mark.case(38)
def test_a_router_that_lost_its_child(read: Read) -> None:
    for exchange in read("38-router-proxy-error.http"):
        assert (exchange.status, exchange.failure) == (500, Failure.HTTP_STATUS)
        assert noted(exchange) == {"proxy_error"}
        assert exchange.reason == "status 500: proxy error: Failed to read connection"
    plain_500 = read("49-metrics-501.http")[0]
    assert noted(plain_500) == set()
    assert "proxy error" in judged(exchange)["exchanges: http_status"].answer


@pytest.mark.case(38)
def test_a_refused_request_may_still_hold_a_slot(read: Read) -> None:
    exchange = read("38-router-proxy-error.http")[0]
    at = exchange.done_ns / 1e9

    def slots(seconds: int, busy: int) -> Exchange:
        return sample(
            "slots", at + seconds, total=1, busy=busy, seeds=[exchange.seed] * busy, decoded=[9] * busy
        )

    held = evidence(exchange, [slots(n, 1) for n in range(1, 200, 2)], slots(201, 0), duration=300)
    found = adjudicate("slots", held)["released"]
    assert found.outcome is Outcome.FAIL
    assert exchange.id in found.answer
    freed = evidence(exchange, slots(1, 1), [slots(n, 0) for n in range(3, 200, 2)], duration=300)
    assert adjudicate("slots", freed)["released"].outcome is Outcome.PASS


@pytest.mark.case(49)
@pytest.mark.parametrize(
    ("name", "failure", "notes", "fault"),
    [
        ("49-html-instead.http", Failure.PROTOCOL, {"content_type", "html"}, "front"),
        ("49-metrics-501.http", Failure.HTTP_STATUS, set(), "server"),
        ("49-router-needs-model.http", Failure.CONFIGURATION, set(), "ours"),
    ],
)
def test_a_chat_that_is_answered_so_is_refused(
    name: str, failure: Failure, notes: set[str], fault: str, read: Read
) -> None:
    for exchange in read(name):
        assert (exchange.failure, exchange.text, noted(exchange)) == (failure, "", notes)
    assert judged(exchange)[f"exchanges: {failure}"].fault == fault


@pytest.mark.case(57)
def test_a_body_without_its_last_chunk_is_a_broken_connection(read: Read) -> None:
    for exchange in read("57-evicted-mid-stream.http"):
        assert (exchange.failure, exchange.finish_reason) == (Failure.RESET, None)
        assert (exchange.text, exchange.token_events) == ("Paris has many", 3)
    assert judged(exchange)["exchanges: reset"].outcome is Outcome.FAIL
