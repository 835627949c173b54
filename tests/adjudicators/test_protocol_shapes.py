"""Protocol: parts of a chunk that are of the wrong kind, and JSON without its frame."""

import pytest
from responses import DONE, STOP, answer, events, read, text

from soakproof.judge import Outcome
from soakproof.judge.claims import about
from soakproof.records import Exchange
from soakproof.testing.evidence import adjudicate, evidence

# By the oddity that it is: an answer that has it.
SHAPES: dict[str, Exchange] = {
    "choice_not_object": read(events({"choices": [7]}, text("Hi"), STOP, DONE)),
    "delta_not_object": read(events({"choices": [{"index": 0, "delta": "Hi"}]}, text("Hi"), STOP, DONE)),
    "content_not_text": read(
        events({"choices": [{"index": 0, "delta": {"content": 7}}]}, text("Hi"), STOP, DONE)
    ),
    "timings_not_object": read(events(text("Hi"), STOP | {"timings": "fast"}, DONE)),
    "unframed_json": read(answer("Hi").replace(b"data: [DONE]", b'{"choices":[]}\n\ndata: [DONE]')),
    "content_encoding": read(
        answer("Hi"), headers={"content-type": "text/event-stream", "content-encoding": "br"}
    ),
}


@pytest.mark.parametrize("name", SHAPES)
def test_each_is_found_and_weighs(name: str) -> None:
    found = adjudicate("protocol", evidence([SHAPES[name]]))[name]
    weighs = {"violation": Outcome.FAIL, "doubt": Outcome.INCONCLUSIVE}
    assert found.outcome is weighs[about(name).weight]


def test_none_of_them_is_in_a_whole_answer() -> None:
    found = adjudicate("protocol", evidence([read(answer("Hi"))]))
    assert not set(SHAPES) & set(found)
