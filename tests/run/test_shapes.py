"""Documents of a run whose parts have other types than this program writes: left out, and told."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rundirs import sealed

from soakproof.catalog import Catalog
from soakproof.judgement import judge_loaded
from soakproof.report import render_html, render_junit, render_markdown, terminal_table
from soakproof.run import load, seal_run
from soakproof.run.shapes import shaped_raw, shaped_run

RUN: dict[str, Any] = {
    "id": "a-run",
    "started_at": "2026-08-20T10:00:00Z",
    "zero_ns": 1,
    "load_started_ns": 2,
    "load_ended_ns": 60_000_000_002,
    "boot_id": None,
    "plan": {
        "name": "soak",
        "title": "A soak",
        "duration_s": 60.0,
        "queueing": False,
        "kinds": [
            {
                "name": "isolation",
                "scenario": "Isolation",
                "count": 2,
                "options": {},
                "checks": ["a.b"],
                "width": 2,
            }
        ],
        "bounds": {"total_s": 5.0},
        "watch": {"interval_s": 1.0},
        "thresholds": [{"name": "t", "that": "failed_checks count == 0", "why": ""}],
    },
    "target": {
        "kind": "lemonade",
        "model": "llm",
        "model_resolved": "m",
        "slots": 2,
        "slot_context": 4096,
        "launch_command": ["llama-server", "-m", "m.gguf"],
        "remarks": [],
        "version": 11,
        "testbed": True,
    },
    "around": {"slots": 2, "slot_context": 4096, "chars_per_token": 2.5},
    "host": {"memory_bytes": 5, "cpu": "x", "machine": None},
    "versions": {"python": "3.12"},
    "digests": {"plan": "ab", "scenarios": {"a.py": "cd"}, "prompts": {}},
    "ended": {"why": "time", "reason": ""},
    "locust": {"requests": 5, "failures": 0},
    "later": {"version": [1]},
}
RAW: dict[str, Any] = {
    "outcome": "failed",
    "exit_code": 1,
    "thresholds": [
        {
            "name": "t",
            "that": "failed_checks count == 0",
            "why": "",
            "outcome": "fail",
            "observed": 2.0,
            "unit": "",
            "n": 5,
            "failed": 2,
            "failures": [{"exchange": "load-1", "value": 2.0}],
            "reason": "",
        }
    ],
    "checks": {"a.b": {"pass": 3, "fail": 2, "unknown": 0, "known": 0}},
    "exchanges": {"opened": 5, "closed": 5, "ok": 3, "fail": 2, "unknown": 0, "by_failure": {"reset": 2}},
    "iterations": {"isolation": {"completed": 2, "failed": 0, "stopped": 0, "broken": 0}},
    "ended": {"why": "time", "reason": ""},
    "first_failures": ["check a.b failed"],
}
NUMBERS = (0, -1, 1e308, 2**63)
TEXTS = ("", "x", "\x1b[2J<b>", "../../etc/passwd")
ODD = st.sampled_from([None, True, *NUMBERS, *TEXTS, [], {}, [1], {"a": 1}, [[]], [None]])


def test_what_this_program_writes_is_kept_as_it_is() -> None:
    assert shaped_run(RUN) == (RUN, ())
    assert shaped_raw(RAW) == (RAW, ())


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        (("zero_ns",), "now", "zero_ns: expected a whole number, found 'now'"),
        (("zero_ns",), True, "zero_ns: expected a whole number, found True"),
        (("plan",), 5, "plan: expected an object, found 5"),
        (("plan", "kinds", 0), [], "plan.kinds.1: expected an object, found []"),
        (("plan", "kinds", 0, "name"), 5, "plan.kinds.1.name: expected a text, found 5"),
        (("target", "slots"), "\x1b[2J", "target.slots: expected a whole number, found '\\x1b[2J'"),
        (("versions", "python"), {}, "versions.python: expected a text, found {}"),
    ],
)
def test_a_part_of_another_type_is_left_out_and_told(path: tuple[Any, ...], value: Any, told: str) -> None:
    document = changed(RUN, path, value)
    shaped, problems = shaped_run(document)
    assert problems[0] == f"run.json: {told}"
    assert shaped != document


def changed(document: dict[str, Any], path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    made = copy.deepcopy(document)
    place: Any = made
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return made


def paths(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of every part of a document."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path for key, item in items for path in ((*at, key), *paths(item, (*at, key)))]


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sealed(tmp_path_factory.mktemp("shapes"))


@settings(max_examples=25, suppress_health_check=list(HealthCheck))
@given(
    run=st.lists(st.tuples(st.sampled_from(paths(RUN)), ODD), max_size=3),
    raw=st.lists(st.tuples(st.sampled_from(paths(RAW)), ODD), max_size=3),
)
def test_any_document_is_judged_and_reported(
    original: Path, run: list[tuple[Any, Any]], raw: list[tuple[Any, Any]]
) -> None:
    """A seal proves only that nothing was changed after it: who sealed it may have written anything."""
    for name, document, changes in (("run.json", RUN, run), ("raw.json", RAW, raw)):
        made = document
        for path, value in changes:
            try:
                made = changed(made, path, value)
            except (TypeError, KeyError, IndexError):  # an earlier change took its place away
                continue
        (original / name).write_text(json.dumps(made))
    seal_run(original)
    verdict, evidence = judge_loaded(load(original), None, "default", Catalog(original))
    assert all("raised" not in finding.answer for finding in verdict.findings), verdict.findings
    for text in (
        render_markdown(verdict, evidence),
        render_html(verdict, evidence),
        render_junit(verdict),
        terminal_table(verdict, width=100, colour=False),
    ):
        assert "\x1b" not in text
