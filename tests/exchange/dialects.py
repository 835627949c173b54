"""Streams that differ from llama.cpp's, as servers in the field write them: each is read for what it means.

The shapes are those of OpenAI, Azure, vLLM, SGLang, TGI, Ollama, LM Studio, LiteLLM, OpenRouter, Mistral and
older llama.cpp; the bytes are written here.
"""

from typing import Any

from responses import DONE, ROLE, STOP, answer, chunk, events, text

LENGTH = chunk(finish="length")
USAGE = {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11}


def choices(*entries: dict[str, Any]) -> dict[str, Any]:
    return {"choices": list(entries)}


# name -> body, text, names of notes, other fields
HEALTHY: dict[str, tuple[bytes, str, set[str], dict[str, Any]]] = {
    "azure begins with its filter's results and an empty identity": (
        events(
            {
                "id": "",
                "choices": [],
                "created": 0,
                "model": "",
                "prompt_filter_results": [{"prompt_index": 0}],
            },
            text("Hi"),
            STOP,
            DONE,
        ),
        "Hi",
        set(),
        {"model_answered": "m1", "empty_events": 1},
    ),
    "a second choice is told and is no part of the answer": (
        events(
            choices({"index": 1, "delta": {"content": "other"}}, {"index": 0, "delta": {"content": "mine"}}),
            choices({"index": 1, "delta": {"content": "!"}, "finish_reason": "length"}),
            STOP,
            DONE,
        ),
        "mine",
        {"other_choices"},
        {"token_events": 1, "finish_reason": "stop"},
    ),
    "a choice without an index is the first": (
        events(choices({"delta": {"content": "Hi"}}), STOP, DONE),
        "Hi",
        set(),
        {},
    ),
    "the finish reason of a content filter": (
        answer("Well", end=[chunk(finish="content_filter"), DONE]),
        "Well",
        {"finish_reason_filtered"},
        {"finish_reason": "content_filter"},
    ),
    "done without a space": (
        answer("Hi", end=[STOP]) + b"data:[DONE]\n\n",
        "Hi",
        set(),
        {"done_marker": True},
    ),
    "done in lower case": (answer("Hi", end=[STOP, "[done]"]), "Hi", {"done_variant"}, {"done_marker": True}),
    "done twice": (answer("Hi", end=[STOP, DONE, DONE]), "Hi", {"done_twice"}, {}),
    "data after done is no part of the answer": (
        answer("Hi", end=[STOP, DONE, text(" there")]),
        "Hi",
        {"data_after_done"},
        {"token_events": 1},
    ),
    "no done at all": (answer("Hi", end=[STOP]), "Hi", {"finish_without_done"}, {"done_marker": False}),
    "done without the blank line that would end it": (
        answer("Hi", end=[STOP]) + b"data: [DONE]\n",
        "Hi",
        {"finish_without_done"},
        {"leftover_bytes": 12},
    ),
    "heartbeats as data": (
        events(ROLE, "{}", "null", text("Hi"), "", "{}", '""', "[]", "ping", STOP, DONE),
        "Hi",
        set(),
        {"empty_events": 8, "token_events": 1},
    ),
    "heartbeats as events of their own": (
        b'event: ping\ndata: {"type":"ping"}\n\n' + answer("Hi") + b"event: heartbeat\n\n",
        "Hi",
        set(),
        {"empty_events": 2},
    ),
    "log probabilities alone are no token": (
        events(
            choices({"index": 0, "delta": {}, "logprobs": {"content": [{"token": "H", "logprob": -1}]}}),
            text("Hi"),
            STOP,
            DONE,
        ),
        "Hi",
        set(),
        {"token_events": 1},
    ),
    "a null delta": (
        events(choices({"index": 0, "delta": None}), text("Hi"), STOP, DONE),
        "Hi",
        set(),
        {"token_events": 1},
    ),
    "null choices": (events({"choices": None}, text("Hi"), STOP, DONE), "Hi", set(), {"empty_events": 1}),
    "the completions API's text": (
        events(
            choices({"index": 0, "text": "Hi"}),
            choices({"index": 0, "text": "", "finish_reason": "stop"}),
            DONE,
        ),
        "Hi",
        {"completions_style"},
        {"finish_reason": "stop"},
    ),
    "a whole message in place of a delta": (
        events(choices({"index": 0, "message": {"content": "Hi"}, "finish_reason": "stop"}), DONE),
        "Hi",
        {"message_in_stream"},
        {},
    ),
    "a message at the end that repeats the answer": (
        events(
            text("Hi"), choices({"index": 0, "message": {"content": "Hi"}, "finish_reason": "stop"}), DONE
        ),
        "Hi",
        {"message_in_stream"},
        {"finish_reason": "stop"},
    ),
    "content as a list of parts, thinking among them": (
        events(
            chunk({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}]}),
            chunk({"content": [{"type": "text", "text": "Hi"}, " there", {"type": "image_url"}, 3]}),
            STOP,
            DONE,
        ),
        "Hi there",
        {"content_parts"},
        {"reasoning": "hm", "token_events": 2},
    ),
    "reasoning under both names is counted once": (
        events(chunk({"reasoning_content": "hm", "reasoning": "hm"}), text("Hi"), STOP, DONE),
        "Hi",
        set(),
        {"reasoning": "hm"},
    ),
    "a legacy function call": (
        events(
            chunk({"function_call": {"name": "look", "arguments": ""}}),
            chunk({"function_call": {"arguments": '{"a":1}'}}),
            chunk(finish="function_call"),
            DONE,
        ),
        "",
        set(),
        {"tool_calls": '[{"name":"look","arguments":"{\\"a\\":1}"}]', "token_events": 2},
    ),
    "tool calls in fragments": (
        events(
            chunk({"tool_calls": [{"index": 0, "id": "c1", "function": {"name": "look", "arguments": ""}}]}),
            chunk({"tool_calls": [{"index": 0, "function": {"arguments": '{"a"'}}]}),
            chunk({"tool_calls": [{"index": 1, "function": {"name": "go", "arguments": {"b": 2}}}]}),
            chunk({"tool_calls": [{"index": 0, "function": {"name": "look", "arguments": ":1}"}}, None, {}]}),
            chunk({"tool_calls": []}, finish="tool_calls"),
            DONE,
        ),
        "",
        set(),
        {
            "tool_calls": '[{"name":"look","arguments":"{\\"a\\":1}"},'
            '{"name":"go","arguments":"{\\"b\\":2}"}]',
            "token_events": 4,
            "finish_reason": "tool_calls",
        },
    ),
    "counts as text": (
        answer(
            "Hi", end=[STOP, {"choices": [], "usage": {"prompt_tokens": "9", "completion_tokens": "2"}}, DONE]
        ),
        "Hi",
        {"count_as_text"},
        {"prompt_tokens": 9, "completion_tokens": 2},
    ),
    "usage on every chunk": (
        events(
            ROLE | {"usage": {"prompt_tokens": 9, "completion_tokens": 0}},
            text("H", usage={"prompt_tokens": 9, "completion_tokens": 1}),
            text("i", usage={"prompt_tokens": 9, "completion_tokens": 2}),
            STOP | {"usage": USAGE},
            DONE,
        ),
        "Hi",
        set(),
        {"completion_tokens": 2, "usage": USAGE},
    ),
    "usage is null until the end": (
        events(text("Hi", usage=None), STOP | {"usage": None}, {"choices": [], "usage": USAGE}, DONE),
        "Hi",
        set(),
        {"usage": USAGE},
    ),
    "usage that is no object": (
        answer("Hi", end=[STOP | {"usage": [1]}, DONE]),
        "Hi",
        {"usage_not_object"},
        {},
    ),
    "a byte order mark before it": (b"\xef\xbb\xbf" + answer("Hi"), "Hi", set(), {}),
    "white space and blank lines before it": (b"\n\r\n\n" + answer("Hi"), "Hi", set(), {}),
    "trailing white space after the data": (
        answer("Hi").replace(b"}\n\n", b"} \t\n\n").replace(b"[DONE]", b"[DONE] "),
        "Hi",
        {"done_variant"},
        {},
    ),
    "trailing blank lines and comments": (answer("Hi") + b"\n\n: bye\n\n\n", "Hi", set(), {"pings": 1}),
    "comments with words": (
        b": OPENROUTER PROCESSING\n\n" * 3 + answer("Hi"),
        "Hi",
        set(),
        {"pings": 3, "token_events": 1},
    ),
    "very many comments": (b":\n\n" * 50_000 + answer("Hi"), "Hi", set(), {"pings": 50_000}),
    "an event name on each chunk": (
        b"".join(b"event: message\nid: 3\n" + line + b"\n\n" for line in answer("Hi").split(b"\n\n") if line),
        "Hi",
        set(),
        {},
    ),
    "a field that the standard does not know": (
        answer("Hi").replace(b"data: [DONE]", b"trace: 1\ndata: [DONE]"),
        "Hi",
        set(),
        {},
    ),
    "content after the usage chunk": (
        events(text("H"), {"choices": [], "usage": USAGE}, text("i"), STOP, DONE),
        "Hi",
        set(),
        {"token_events": 2},
    ),
    "the finish reason before the last content": (
        events(text("H"), STOP, text("i"), DONE),
        "Hi",
        {"text_after_finish"},
        {"finish_reason": "stop"},
    ),
    "the finish reason with the last content": (
        events(text("H"), chunk({"content": "i"}, "stop"), DONE),
        "Hi",
        set(),
        {},
    ),
    "the finish reason twice": (events(text("Hi"), STOP, STOP, DONE), "Hi", set(), {"finish_reason": "stop"}),
    "two finish reasons": (
        events(text("Hi"), STOP, LENGTH, DONE),
        "Hi",
        {"second_finish_reason"},
        {"finish_reason": "stop"},
    ),
    "finish reasons that only other servers have": (
        answer("Hi", end=[chunk(finish="eos_token"), DONE]),
        "Hi",
        set(),
        {"finish_reason": "eos_token"},
    ),
    "a chunk sent twice is text sent twice": (events(text("Hi"), text("Hi"), STOP, DONE), "HiHi", set(), {}),
    "the model changes in mid-stream": (
        events(text("H"), text("i", model="m2"), STOP, DONE),
        "Hi",
        {"model_changed"},
        {"model_answered": "m1"},
    ),
    "prompt progress, a batch at a time": (
        events(
            *({"choices": [], "prompt_progress": {"processed": n}} for n in range(3)), text("Hi"), STOP, DONE
        ),
        "Hi",
        set(),
        {"empty_events": 3, "token_events": 1},
    ),
    "timings on every chunk": (
        events(text("H", timings={"predicted_n": 1}), text("i", timings={"predicted_n": 2}), STOP, DONE),
        "Hi",
        set(),
        {"completion_tokens": 2},
    ),
    "a null error key beside the choices": (
        events(text("Hi", error=None), STOP | {"error": {}}, DONE),
        "Hi",
        set(),
        {},
    ),
    "error keys that say nothing beside the choices": (
        events(text("Hi", error_type=None, error_message=None, error_code=0), STOP, DONE),
        "Hi",
        set(),
        {},
    ),
    "an error key that says no, on the chunk of the usage": (
        answer("Hi", end=[STOP, {"choices": None, "error": False, "usage": USAGE}, {"error": False}, DONE]),
        "Hi",
        set(),
        {"usage": USAGE},
    ),
    "an empty error beside the usage alone": (
        answer("Hi", end=[STOP, {"error": "", "usage": USAGE}, DONE]),
        "Hi",
        set(),
        {"usage": USAGE},
    ),
    "an index that is a text": (
        events(choices({"index": "0", "delta": {"content": "Hi"}}), STOP, DONE),
        "Hi",
        set(),
        {"token_events": 1},
    ),
    "heartbeats as texts and numbers of JSON": (
        events('"ping"', "1", "17.5", '"Keep-Alive"', text("Hi"), STOP, DONE),
        "Hi",
        set(),
        {"empty_events": 4, "token_events": 1},
    ),
    "an event of another name, with words, before the end": (
        answer("Hi", end=[STOP]) + b"event: close\ndata: stream closed\n\n" + events(DONE),
        "Hi",
        {"named_event"},
        {"empty_events": 2, "done_marker": True},
    ),
    "a place in the queue is told before the answer": (
        events(
            {"status": "queued", "detail": "position 3"},
            {"type": "status", "message": "loading the model"},
            {"code": 0, "message": "Success"},
            {"type": "message", "message": "begins", "code": 200},
            ROLE,
            text("Hi"),
            STOP,
            DONE,
        ),
        "Hi",
        set(),
        {"empty_events": 5},
    ),
    "white space alone is text, and is told": (
        answer(" ", "\n"),
        " \n",
        {"blank_text"},
        {"first_visible_ns": None},
    ),
    "a refusal beside text": (
        events(text("Hi"), chunk({"refusal": "I cannot"}), STOP, DONE),
        "Hi",
        {"refusal"},
        {"token_events": 2},
    ),
    "numbers with a decimal point": (
        answer("Hi", end=[STOP | {"usage": {"prompt_tokens": 9.0, "completion_tokens": 2.0}}, DONE]),
        "Hi",
        set(),
        {"prompt_tokens": 9, "completion_tokens": 2},
    ),
}
