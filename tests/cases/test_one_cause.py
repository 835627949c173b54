"""One request breaks the server and many suffer: the length, the moment and the process tell them apart."""

import json
from collections.abc import Iterator
from dataclasses import replace

import pytest
from caseinputs import INPUTS
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from playing import AROUND, make, play
from replaying import Read

from soakproof.judge import Outcome
from soakproof.records import Exchange, Failure
from soakproof.testing.evidence import adjudicate, check, event, evidence, exchange, sample

PASSED = check("some.check")


def boundary() -> dict[int, str]:
    """Prompt tokens to what came of them."""
    case = json.loads((INPUTS / "39-length-boundary-hang.json").read_text())
    return {found["prompt_tokens"]: found["result"] for found in case["cases"]}


def hung(size: int, at: float) -> Exchange:
    """A request that never answered: its size is not told by any usage."""
    made = exchange(f"hung-{size}", at=at, took=60, kind="near_context", outcome="fail", seed=size)
    failed = structs.replace(made, failure=Failure.HEADERS_TIMEOUT, reason="no headers in time")
    return structs.replace(failed, prompt_chars=4 * size)


def refused(number: int, at: float) -> Exchange:
    """What a server with a wedged slot tells all who come later."""
    later = exchange(f"later-{number}", at=at, took=0.1, iteration=number, seed=9000 + number, outcome="fail")
    return structs.replace(
        later, status=503, failure=Failure.HTTP_STATUS, reason="status 503: no slot available"
    )


@pytest.mark.case(39)
def test_a_hang_tells_the_length_of_its_prompt() -> None:
    (size,) = [tokens for tokens, result in boundary().items() if result != "ok"]
    held = [sample("slots", at, total=1, busy=1, seeds=[size], prompt_tokens=[size]) for at in (3, 6, 9)]
    fine = [
        exchange(f"ok-{tokens}", at=n, prompt_tokens=tokens, seed=tokens)
        for n, tokens in enumerate(boundary())
        if tokens != size
    ]
    found = adjudicate("functional", evidence(PASSED, fine, hung(size, 2.5), held))
    assert found["exchanges: headers_timeout"].outcome is Outcome.FAIL
    assert "prompts of 1,542 tokens" in found["exchanges: headers_timeout"].answer
    unseen = adjudicate("functional", evidence(PASSED, fine, hung(size, 2.5)))
    assert "prompts of 6,168 characters" in unseen["exchanges: headers_timeout"].answer


@pytest.mark.case(39)
def test_what_a_wedge_makes_of_the_rest_is_a_class_of_its_own() -> None:
    later = [refused(n, 70 + n) for n in range(12)]
    found = adjudicate("functional", evidence(PASSED, hung(1542, 2.5), later, duration=120))
    assert found["exchanges: headers_timeout"].exchanges == ("hung-1542",)
    assert found["exchanges: http_status"].answer.startswith("12 exchanges of 13 failed")
    assert "no slot available" in found["exchanges: http_status"].answer


@pytest.mark.case(39)
def test_prompts_come_by_every_length_around_a_batch() -> None:
    """Over a soak; one iteration straddles each batch."""
    scenario, around = make("near_context", prompt=2400), replace(AROUND, batch=1536, ubatch=512)
    sizes = {
        e.prompt_tokens or 0
        for number in range(40)
        for e in play(scenario, number=number, around=around).exchanges
    }
    for batch in (512, 1536):
        near = {size - batch for size in sizes if abs(size - batch) <= 40}
        assert min(near) < 0 < max(near)
        assert len(near) > 20


@pytest.mark.case(43)
def test_a_server_that_dies_of_one_request(read: Read) -> None:
    for trigger in read("43-grammar-abort-kills-server.script.json"):
        assert (trigger.failure, trigger.text, trigger.finish_reason) == (Failure.RESET, '{"', None)
    run = evidence(PASSED, list(abort(trigger, victims=3)))
    found = adjudicate("functional", run)
    assert found["exchanges: reset"].outcome is Outcome.FAIL
    assert found["exchanges: reset"].answer.startswith("4 exchanges of 6 failed")
    assert "Of them 4 when the server's backend had ended" in found["exchanges: reset"].answer
    assert found["exchanges: connect"].exchanges == ("after-0", "after-1")
    one = found["victims 1"]
    assert (one.outcome, len(one.exchanges)) == (Outcome.FAIL, 6)
    assert one.answer.startswith("One cause, 6 victims")
    assert one.answer.endswith("(seen at 16.0 s): 4 reset, 2 connect.")
    restarted = adjudicate("slots", run)["restarted"]
    assert (restarted.outcome, restarted.fault) == (Outcome.FAIL, "backend")
    log = (INPUTS / "43-grammar-abort.server-log.txt").read_text()
    assert "after accepting piece" in log  # where the request that did it is told, and nowhere else


@pytest.mark.case(43)
@given(st.integers(0, 6), st.booleans())
def test_a_reset_alone_has_no_cause_until_the_process_was_seen_to_end(victims: int, ended: bool) -> None:
    records = [r for r in abort(exchange("t", at=10), victims) if ended or isinstance(r, Exchange)]
    answer = adjudicate("functional", evidence(PASSED, records))["exchanges: reset"].answer
    assert ("when the server's backend had ended" in answer) == ended


def abort(trigger: Exchange, victims: int) -> Iterator[object]:
    """The structured answer that was cut, the streams beside it, and what came before the restart."""
    died = 12.0
    for n, kind in enumerate(["structured_json", *["long_prose"] * victims]):
        made = exchange(f"cut-{n}", at=died - 2, took=2, kind=kind, iteration=n, seed=n)
        cut = structs.replace(made, outcome="fail", failure=Failure.RESET, reason="reset by peer")
        yield structs.replace(cut, text=trigger.text, finish_reason=None)
    for n in range(2):
        made = exchange(f"after-{n}", at=died + 1 + n, took=0.1, iteration=n, outcome="fail")
        yield structs.replace(made, failure=Failure.CONNECT, reason="refused", done_ns=made.sent_ns)
    yield event("restart", died + 4, role="backend", was_pid=10, is_pid=11)
