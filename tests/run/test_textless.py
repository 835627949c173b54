"""What a model wrote or was asked is in no byte of a bundle without text; numbers, times and names are."""

import hashlib
import io
import types
import typing
from pathlib import Path
from typing import Any

import orjson
import pytest
from golden.founding import Facts, write_run
from hypothesis import given, settings
from hypothesis import strategies as st
from rundirs import judgeable

from soakproof import report
from soakproof.catalog import Catalog
from soakproof.judgement import judge_loaded
from soakproof.raw import raw_result
from soakproof.records import TAGS, Exchange, decode, encode
from soakproof.run import load
from soakproof.run.bundle import check_bundle, write_bundle
from soakproof.run.textless import (
    DIGEST,
    DOCUMENTS,
    RECORDS,
    bare_document,
    bare_line,
    is_bare_document,
    is_bare_line,
)
from soakproof.testing.evidence import check, event, exchange, iteration, kernel, sample

SAID = "zebra"  # in every text that must go, and in none that stays
NONCE = "ZBKC-VJFG"


def text(where: str) -> str:
    return f"{SAID} says {where}"


def bundled(run: Path, *, with_text: bool) -> bytes:
    to = io.BytesIO()
    write_bundle(run, to, text=with_text)
    return to.getvalue()


@pytest.fixture(scope="module")
def talkative(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A judged run in which every place that may hold text does."""
    told = exchange(
        "load-1",
        outcome="fail",
        failure="protocol",
        secrets=(NONCE, text("a secret")),
        stray_secrets=(NONCE,),
        other_ids=(NONCE, text("an id")),
        answer_id=NONCE,
        finish_reason=text("a finish"),
        model_answered=text("a model"),
        route=text("a route"),
        usage={text("a key"): 1, "prompt_tokens": 7, "details": {"words": text("usage")}},
        timings={"words": [text("timings")]},
        notes=(f"content_after_finish: {text('a note')}", "usage_missing"),
        **{name: text(name) for name in _TEXTS},
    )
    records = (
        told,
        check("prose.foreign", "fail", grade="foreign", reason=text("a check"), exchanges=("load-1",)),
        iteration("long_prose", end="broken", reason=text("an iteration")),
        sample("health", 1.0, state="error", reason=text("a probe")),
        sample("metrics", 1.0, backend=text("a value"), nested=[{"words": text("a value")}]),
        sample("memory", 1.0, state="denied", reason="a reason of the system's"),
        kernel("amdgpu: a line of the kernel's"),
        event("server_log", 1.0, message=text("a log"), signature="S1"),
    )
    ended = {"why": "error", "reason": text("an end")}
    kinds = [{"name": "long_prose", "options": {"prompt": text("an option"), "tokens": 12}}]
    run = judgeable(
        tmp_path_factory.mktemp("runs"),
        *records,
        raw=raw_result((), records, ended=ended),
        plan={"name": "soak", "title": "a title", "kinds": kinds, "source": f'prompt = "{text("a plan")}"'},
        target={"remarks": [text("a remark")]},
        run={"ended": ended},
    )
    write_verdict(run)
    return run


_TEXTS = ("reason", "text", "reasoning", "tool_calls", "text_after_done", "error_body")


def write_verdict(run: Path) -> Path:
    verdict, evidence = judge_loaded(load(run), None, "default", Catalog())
    return report.write(run, verdict, evidence)


def test_the_search_finds_all_of_it_in_a_bundle_with_text(talkative: Path) -> None:
    whole = bundled(talkative, with_text=True)
    assert whole.count(SAID.encode()) > 30
    assert whole.count(NONCE.encode()) >= 4
    assert [name for name in _TEXTS if text(name).encode() not in whole] == []


def test_nothing_of_it_is_in_one_without(talkative: Path) -> None:
    bare = bundled(talkative, with_text=False)
    found = [line for line in bare.split(b"\n") if SAID.encode() in line.lower() or NONCE.encode() in line]
    assert found == []
    state = check_bundle(io.BytesIO(bare))
    assert state.problems == ()
    assert state.manifest is not None
    gone = {path.rpartition("/")[2] for path, part in state.manifest.parts.items() if not part.kept}
    assert gone == {"report.html", "report.md", "junit.xml"}


def test_what_says_nothing_of_it_stays(talkative: Path) -> None:
    bare = bundled(talkative, with_text=False)
    for kept in (
        "a line of the kernel's",
        "a reason of the system's",
        "a title",
        "content_after_finish: [removed]",
    ):
        assert kept.encode() in bare
    assert (talkative / "evidence/load/SEAL").read_bytes() in bare
    assert b'"prompt_tokens":7' in bare
    digest = next(r.text_digest for r in load(talkative).records if isinstance(r, Exchange))
    assert digest.encode() in bare


def test_a_soak_of_prose_and_secrets_loses_them_and_keeps_its_samples(tmp_path: Path) -> None:
    run = write_run(tmp_path, Facts(foreign=True))
    bare = bundled(run, with_text=False)
    said: set[str] = set()
    for record in load(run).records:
        said |= set(getattr(record, "secrets", ()))
        said |= {t for t in (getattr(record, "text", ""), getattr(record, "reasoning", "")) if len(t) > 3}
    assert len(said) > 20
    assert [words for words in said if words.encode() in bare] == []
    state = check_bundle(io.BytesIO(bare))
    assert (state.problems, state.manifest is not None) == ((), True)
    changed = {path for path, part in state.manifest.parts.items() if part.sealed}  # type: ignore[union-attr]
    assert changed == {"evidence/load/exchanges.jsonl", "evidence/load/checks.jsonl", "raw.json"}


# -- line by line


def test_each_text_of_a_record_is_named_as_kept_or_not() -> None:
    """A field that is added to a record must be decided on, and not only be taken out."""
    for kind, tag in TAGS.items():
        hints = typing.get_type_hints(kind, include_extras=False)
        texts = {name for name, hint in hints.items() if not _is_number(hint)}
        assert texts - {"record"} == set(RECORDS[tag]) - {"record"}, tag


def _is_number(hint: Any) -> bool:
    parts = typing.get_args(hint) if isinstance(hint, types.UnionType) or typing.get_args(hint) else (hint,)
    return all(part in (int, float, bool, type(None)) for part in parts)


def test_a_line_without_text_stays_as_it_is() -> None:
    for record in (iteration("prose"), check("prose.length"), kernel(), sample("memory", 1.0, free_bytes=7)):
        assert bare_line(encode(record)) == encode(record)


def test_a_line_that_lost_its_text_is_still_a_record_and_tells_its_digest() -> None:
    line = encode(exchange(text=text("an answer")))
    bare = bare_line(line)
    record = decode(bare)
    assert isinstance(record, Exchange)
    assert (record.text, record.text_digest) == ("[removed]", decode(line).text_digest)  # type: ignore[union-attr]
    assert orjson.loads(bare)[DIGEST] == hashlib.sha256(line).hexdigest()


@pytest.mark.parametrize(
    "line",
    [
        b'{"record":"check","reason":"zebra","reason":""}\n',
        b'{"record":"closed","text":"","new_field":"zebra"}\n',
        b'{"record":"new","name":"zebra"}\n',
        b'{"record":"check","name":{"said":"zebra"}}\n',
        b'{"record":"check","name":"x","zebra says":1}\n',
        b'{"record":["zebra"]}\n',
        b"zebra\n",
        b"[" * 900 + b'"zebra"' + b"]" * 900 + b"\n",
        b'{"record":"event","details":' + b'{"a":' * 990 + b'"zebra says"' + b"}" * 991 + b"\n",
        b'{"record":"event","details":{"x":"zebra says"}}',
    ],
)
def test_text_in_odd_places_goes_as_well(line: bytes) -> None:
    bare = bare_line(line)
    assert b"zebra" not in bare
    assert is_bare_line(bare)
    assert not is_bare_line(line)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)
FIELDS = sorted({name for fields in RECORDS.values() for name in fields} | {DIGEST, "new", "t_ns"})


@settings(max_examples=50)
@given(
    st.fixed_dictionaries({"record": st.sampled_from([*RECORDS, "new"])}),
    st.dictionaries(st.sampled_from(FIELDS), JSON),
)
def test_doing_it_twice_changes_nothing_more(kind: dict[str, str], fields: dict[str, Any]) -> None:
    line = orjson.dumps({**fields, **kind}) + b"\n"
    assert is_bare_line(bare_line(line))


@settings(max_examples=50)
@given(st.sampled_from(sorted(DOCUMENTS)), JSON, JSON)
def test_nor_to_a_document(name: str, one: Any, other: Any) -> None:
    document = {
        "plan": one,
        "ended": other,
        "findings": [one, {"figures": one, "answer": "said"}],
        "target": other,
    }
    assert is_bare_document(name, bare_document(name, orjson.dumps(document)))


@pytest.mark.parametrize(
    ("subject", "kept"),
    [
        ("source memory", True),
        ("process:backend fds", True),
        ("Once upon a", False),
        (f"leak {NONCE}", False),
    ],
)
def test_what_a_finding_is_about_stays_where_it_is_a_label(subject: str, kept: bool) -> None:
    verdict = orjson.dumps({"findings": [{"subject": subject, "answer": "said"}]})
    bare = orjson.loads(bare_document("verdict.json", verdict))["findings"][0]
    assert bare == {"subject": subject if kept else "[removed]", "answer": "[removed]"}
