"""Healthy streams that many clients lose: each is read whole, and nothing in it is called a fault."""

from pathlib import Path

import pytest
from caseinputs import INPUTS
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from replaying import Read
from responses import DONE, ROLE, STOP, answer, events, read, text
from rundirs import judgeable
from varied import CUTS, answered, between, body_of, cut, inserts, unescaped

from soakproof.judge import Outcome
from soakproof.records import Failure, encode
from soakproof.run import load
from soakproof.testing.evidence import adjudicate, evidence

STREAMS = sorted(path.name for path in INPUTS.glob("*.sse"))
LF_ONLY = [name for name in STREAMS if b"\r" not in body_of(name)]
SHORT = [name for name in LF_ONLY if not name.startswith("33-")]  # which is long, and has a test of its own


@pytest.mark.case(22)
def test_comments_and_content_null_are_nothing(read: Read) -> None:
    for exchange in read("22-bare-comment-pings.sse"):
        assert (exchange.outcome, exchange.text, exchange.finish_reason) == ("ok", "Hi there", "stop")
        assert (exchange.pings, exchange.token_events, exchange.parse_errors, exchange.notes) == (5, 2, 0, ())
        assert (exchange.prompt_tokens, exchange.completion_tokens, exchange.cached_tokens) == (20, 4, 0)


@pytest.mark.case(22)
@given(inserts(b":", b": ping", b":\n:", b'data: {"choices":[{"index":0,"delta":{"content":null}}]}'))
def test_any_number_of_comments_anywhere(inserted: list[tuple[int, bytes]]) -> None:
    base = body_of("22-bare-comment-pings.sse")
    exchange = read(between(base, inserted))
    assert answered(exchange) == answered(read(base))
    assert exchange.pings == 5 + sum(frame.count(b":") for _, frame in inserted if frame.startswith(b":"))


@pytest.mark.case(28)
def test_choices_that_are_empty_or_missing(read: Read) -> None:
    for exchange in read("28-leading-empty-choices.sse"):
        assert (exchange.outcome, exchange.text, exchange.empty_events) == ("ok", "ok", 3)
    for exchange in read("28-usage-chunk-variants.sse"):
        assert (exchange.outcome, exchange.text, exchange.finish_reason) == ("ok", "ab", "stop")
        assert (exchange.prompt_tokens, exchange.completion_tokens, exchange.cached_tokens) == (20, 4, 0)


@pytest.mark.case(28)
@given(
    inserts(
        b'data: {"choices":[]}',
        b'data: {"choices":null}',
        b'data: {"object":"chat.completion.chunk"}',
        b'data: {"choices":[],"prompt_progress":{"total":9,"cache":0,"processed":4}}',
        b'data: {"usage":{"prompt_tokens":20,"completion_tokens":4,"total_tokens":24}}',
    )
)
def test_what_has_no_choices_may_stand_anywhere(inserted: list[tuple[int, bytes]]) -> None:
    """Also before content, and numbers in it are read."""
    exchange = read(between(answer("a", "b"), inserted))
    assert (exchange.outcome, exchange.text, exchange.token_events) == ("ok", "ab", 2)
    told = any(b"usage" in frame for _, frame in inserted)
    assert exchange.completion_tokens == (4 if told else None)


@pytest.mark.case(29)
@pytest.mark.parametrize("name", ["29-utf8-split.script.json", "29-one-byte-chunks.script.json"])
def test_characters_that_chunks_share_arrive_whole(name: str, read: Read) -> None:
    for exchange in read(name):
        assert (exchange.outcome, exchange.text, exchange.notes) == ("ok", "你好世界 🌍 café", ())


@pytest.mark.case(29)
@given(st.text(max_size=40), CUTS)
def test_wherever_a_stream_is_cut(said: str, cuts: list[int]) -> None:
    body = unescaped("x", said)
    exchange = cut(body, cuts)
    assert answered(exchange) == answered(read(body))
    assert exchange.text == f"x{said}"


@pytest.mark.case(29)
def test_a_replacement_character_is_the_servers_and_told() -> None:
    lost = read(answer("caf", "\ufffd", "!"))
    assert (lost.outcome, lost.text) == ("ok", "caf\ufffd!")
    assert [note.partition(":")[0] for note in lost.notes] == ["replacement_character"]
    half = read(unescaped("café!").replace("é".encode(), "é".encode()[:1]))
    assert [note.partition(":")[0] for note in half.notes] == ["invalid_utf8", "replacement_character"]
    several = evidence(lost, [replace(lost, id=f"load-{n}") for n in range(2, 4)])
    assert adjudicate("protocol", several)["replacement_character"].outcome is Outcome.INCONCLUSIVE


@pytest.mark.case(31)
def test_unicodes_own_line_separators_end_no_line(read: Read, tmp_path: Path) -> None:
    for exchange in read("31-unicode-line-separators.sse"):
        assert (exchange.outcome, exchange.text) == ("ok", "line one\u2028line two\u2029end\x85.")
        assert encode(exchange).count(b"\n") == 1
    run = judgeable(tmp_path, exchange)
    kept = [r for r in load(run).records if getattr(r, "text", None) is not None]
    assert [record.text for record in kept] == [exchange.text]  # type: ignore[union-attr]


@pytest.mark.case(32)
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("32-crlf-split-at-boundary.script.json", "crlf works"),
        ("32-cr-only.sse", "cr"),
        ("32-no-space-bom-multiline.sse", "no space two lines"),
    ],
)
def test_every_legal_framing(name: str, said: str, read: Read) -> None:
    for exchange in read(name):
        assert (exchange.outcome, exchange.text, exchange.finish_reason) == ("ok", said, "stop")
        assert (exchange.parse_errors, exchange.leftover_bytes, exchange.notes) == (0, 0, ())


@pytest.mark.case(32)
def test_a_stream_without_any_event_is_no_empty_answer(read: Read) -> None:
    for exchange in read("32-single-newline-frames.sse"):
        assert exchange.failure is Failure.PROTOCOL
        assert "no event in 515 bytes" in exchange.reason
        assert "no blank line ends them" in exchange.reason


@pytest.mark.case(32)
@given(st.sampled_from(SHORT), st.sampled_from([b"\r", b"\r\n"]), CUTS)
def test_whatever_ends_the_lines(name: str, line_end: bytes, cuts: list[int]) -> None:
    """CR and LF of one line end may come in two pieces."""
    base = body_of(name)
    assert answered(cut(base.replace(b"\n", line_end), cuts)) == answered(read(base))


@pytest.mark.case(32)
@given(
    st.lists(st.sampled_from([b"event: message", b"id: 7", b"retry: 10", b":x"]), max_size=4), st.booleans()
)
def test_fields_that_say_nothing(more: list[bytes], mark: bool) -> None:
    body = answer("one ", "two")
    frames = body.replace(b"data: {", b"\n".join([*more, b"data:{"]))
    assert answered(read((b"\xef\xbb\xbf" if mark else b"") + frames)) == answered(read(body))


@pytest.mark.case(33)
def test_a_line_of_140_kb(read: Read) -> None:
    for exchange in read("33-one-line-140-kb.sse"):
        assert (exchange.outcome, exchange.text, exchange.token_events) == ("ok", "fine", 2)
        assert exchange.reasoning == "ab cd " * 23_900


@pytest.mark.case(33)
def test_a_line_of_some_mib_and_one_without_end() -> None:
    long = "y" * (4 << 20)
    assert read(events(ROLE, {"choices": [], "note": long}, text("a"), STOP, DONE)).outcome == "ok"
    endless = read([b"data: " + b"y" * (1 << 20)] * 9)
    assert endless.failure is Failure.FRAME
    assert "8388608 bytes" in endless.reason


@pytest.mark.case(34)
def test_an_id_that_changes_is_a_note_and_no_leak(read: Read) -> None:
    for exchange in read("34-id-and-created-change.sse"):
        assert (exchange.outcome, exchange.text) == ("ok", "Understood")
        assert set(exchange.notes) == {"id_changed", "created_changed"}
    run = evidence(exchange)
    found = adjudicate("functional", run)
    assert all(f.outcome is Outcome.PASS for f in found.values() if f.critical and f.subject != "checks")
    assert adjudicate("isolation", run)["foreign"].outcome is not Outcome.FAIL
