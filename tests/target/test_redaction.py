"""No secret in what is written down, and nothing else taken out with it."""

import base64
import binascii
import html
import json
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soakproof.redaction import REMOVED, redacted, without_key, without_options

KEY = "hunter2-SECRET-42"


@pytest.mark.parametrize(
    "value",
    [
        ["llama-server", "--api-key", KEY, "--port", "8001"],
        ["llama-server", f"--api-key={KEY}"],
        ["llama-server", "-hft", KEY],
        ["llama-server", "--hf-token", KEY],
        {"llamacpp_args": f"--ctx-size 8192 --api-key {KEY} -np 2"},
        {"llamacpp_args": f"--hf-token={KEY}"},
        {"llamacpp_args": f'--api-key "{KEY} {KEY}"'},
        {"llamacpp_args": f"-hft {KEY}"},
        f"HF_TOKEN={KEY} llama-server",
        {"api_key": KEY, "nested": [{"hf_token": KEY}]},
        f"https://user:{KEY}@example.org/model",
        f"https://example.org/model?download=1&access_token={KEY}",
        f"Authorization: Bearer {KEY}",
    ],
)
def test_what_follows_a_secret_looking_option_is_removed(value: Any) -> None:
    told = json.dumps(without_options(value))
    assert KEY not in told
    assert REMOVED in told


@pytest.mark.parametrize(
    "value",
    [
        ["llama-server", "-m", "/models/token.gguf", "--ctx-size", "8192", "--special-tokens", "x"],
        ["llama-server", "--api-key-file", "/etc/keys", "--tokenizer", "x", "-np", "2"],
        "--ctx-size 8192 --max-tokens 5 -ctk q8_0",
        {"ctx_size": 8192, "max_tokens": "5", "chars_per_token": 3.5},
        "http://127.0.0.1:8000/v1?name=a@b",
        'that = "first_token each <= 5 s"',
    ],
)
def test_everything_else_is_kept(value: Any) -> None:
    assert without_options(value) == value


def test_an_option_without_a_value_takes_no_other_option_away() -> None:
    assert without_options(["x", "--api-key", "--port", "1"]) == ["x", "--api-key", "--port", "1"]


@given(
    st.recursive(
        st.text() | st.just(KEY) | st.integers() | st.none(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_a_key_that_was_given_is_nowhere(value: Any) -> None:
    document = {"a": value, "b": f"x{KEY}y", KEY: 1}
    assert KEY not in json.dumps(without_key(document, KEY))


def _in_ascii(key: str) -> str:
    return json.dumps(key)[1:-1]


@given(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=8),
    st.sampled_from(
        (
            str,
            _in_ascii,
            lambda key: _in_ascii(_in_ascii(key)),
            lambda key: json.dumps(key, ensure_ascii=False)[1:-1].replace("/", "\\/"),
            html.escape,
            lambda key: quote(key, safe=""),
            lambda key: quote(quote(key, safe=""), safe=""),
            lambda key: html.escape(html.escape(key)),
            lambda key: "".join(f"\\u{ord(c):04x}" if ord(c) < 0x10000 else c for c in key),
        )
    ),
)
def test_a_key_is_found_in_whatever_form_a_server_repeats_it(key: str, form: Callable[[str], str]) -> None:
    assert without_key(f"bad key '{form(key)}'!", key) == f"bad key '{REMOVED}'!"


@pytest.mark.parametrize(
    "cut",
    ["s3cr3t|k3y^0", "s3cr3t%7Ck3y%5E0", "s3cr3t%7Ck3y%5", "s3cr3t%257Ck3y%5E…", "s3cr3t\\u007ck3y\\u00"],
)
def test_a_key_that_a_bound_cuts_off_is_taken_out(cut: str) -> None:
    told = redacted(f"no such key: {cut}", ["s3cr3t|k3y^01234"])
    assert told.removesuffix("…") == f"no such key: {REMOVED}"


@given(
    st.text("ABab12-_+/é", min_size=8, max_size=40),
    st.binary(max_size=5),
    st.binary(max_size=5),
    st.sampled_from([base64.b64encode, base64.urlsafe_b64encode, binascii.hexlify]),
)
def test_a_long_key_is_found_encoded_with_whatever_stands_around_it(
    key: str, before: bytes, after: bytes, encode: Callable[[bytes], bytes]
) -> None:
    text = encode(before + key.encode() + after).decode()
    left = without_key(f"said {text}", key).replace(REMOVED, "")
    assert len(left) <= len("said ") + len(text) - (len(key) * 4 // 3 - 3)


def test_what_only_begins_like_a_key_stays() -> None:
    told = "s3cr3t|k3y^ is the beginning, s3cr3t|"
    assert redacted(told, ["s3cr3t|k3y^01234"]) == told


def test_a_key_that_is_a_word_names_no_field() -> None:
    assert without_key({"text": "the text", "usage": {}}, "text") == {"text": f"the {REMOVED}", "usage": {}}


def test_a_key_is_found_as_an_address_has_it() -> None:
    assert without_key("?k=a%2Fb%2Bc%2Fd%2Fe", "a/b+c/d/e") == f"?k={REMOVED}"


@pytest.mark.parametrize("key", [None, "", "lemonade"])
def test_what_manuals_write_for_no_key_is_a_word_like_others(key: str | None) -> None:
    assert without_key({"kind": "lemonade"}, key) == {"kind": "lemonade"}


def test_a_short_key_is_taken_out_as_a_word_only() -> None:
    assert without_key("user=llm the llm-server is a llmodel", "llm") == (
        f"user={REMOVED} the {REMOVED}-server is a llmodel"
    )
