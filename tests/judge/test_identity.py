"""Identity: what must match, what may differ, and that missing is neither equal nor different."""

from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soakproof.judge import Evidence, Outcome
from soakproof.judge.baseline import set_beside
from soakproof.judge.identity import FIELDS, Field, compare, identity, provenance, same_run
from soakproof.judge.repeats import unlike
from soakproof.judge.rules import Policy
from soakproof.testing.evidence import evidence, exchange

COMMAND = [
    "/opt/llama/llama-server",
    "-m",
    "/models/Qwen4-Exp-Q8_0-00001-of-00003.gguf",
    "--ctx-size",
    "524288",
    "--port",
    "8001",
    "--api-key",
    "hunter2",
    "-ctk",
    "q8_0",
    "-ctv",
    "q8_0",
    "-np",
    "2",
]


def run(id: str = "now", *, target: dict[str, Any] | None = None, **more: Any) -> Evidence:
    told = {"launch_command": COMMAND, "model_resolved": "user.Qwen4-v13", **(target or {})}
    document = {
        "host": {"machine": "abc", "cpu": "AMD", "memory_bytes": 131_000_000_000, "kernel": "6.17"},
        "digests": {"plan": "p1", "prompts": {"a.txt": "1"}, "scenarios": {"b.py": "2"}},
        **more,
    }
    return evidence(exchange(), target=told, run=document, id=id)


def test_identity_is_read_from_the_target() -> None:
    told = identity(run())
    assert told["model"] == "Qwen4-Exp-Q8_0-00001-of-00003"
    assert told["quantisation"] == "Q8_0"
    assert told["cache_type"] == "K q8_0, V q8_0"
    assert told["slots"] == 2


def test_addresses_model_paths_and_keys_are_no_launch_arguments() -> None:
    told = identity(run())["launch_arguments"]
    assert told == {
        "--ctx-size": "524288",
        "--cache-type-k": "q8_0",
        "--cache-type-v": "q8_0",
        "--parallel": "2",
    }
    moved = [word.replace("8001", "8002").replace("/models", "/mnt") for word in COMMAND]
    assert compare(run(), run("was", target={"launch_command": moved}), {}).changed == ()


def test_equal_runs_compare() -> None:
    found = compare(run(), run("was"), {})
    assert found.comparable
    assert found.changed == ()


@pytest.mark.parametrize(
    ("over", "told"),
    [
        ({"target": {"launch_command": [*COMMAND, "-m", "/models/Gemma-Q4_K_M.gguf"]}}, "not Gemma-Q4_K_M"),
        ({"target": {"slot_context": 8192}}, "slot_context: 16384, not 8192"),
        ({"target": {"slots": 1}}, "slots"),
        ({"digests": {"plan": "p2", "prompts": {"a.txt": "1"}, "scenarios": {"b.py": "2"}}}, "another plan"),
        (
            {"digests": {"plan": "p1", "prompts": {"a.txt": "9"}, "scenarios": {"b.py": "2"}}},
            "prompts: a.txt differ",
        ),
        ({"host": {"machine": "other", "cpu": "AMD", "memory_bytes": 131_000_000_000}}, "another host"),
        ({"host": {"machine": "abc", "cpu": "AMD", "memory_bytes": 65_000_000_000}}, "memory_bytes"),
    ],
)
def test_a_field_that_must_match_and_does_not_is_named(over: dict[str, Any], told: str) -> None:
    found = compare(run(), run("was", **over), {})
    assert not found.comparable
    assert any(told in difference for difference in found.differ)


def test_digests_are_told_by_name_and_stay_in_the_table_of_what_changed() -> None:
    now = run(plan={"name": "mine"}, digests={"plan": "a" * 64})
    found = compare(now, run("was", plan={"name": "quick"}, digests={"plan": "b" * 64}), {})
    assert found.differ[0] == "another plan (mine, not quick)"
    assert not any("aaaa" in told or "bbbb" in told for told in found.differ)
    assert {"field": "plan", "role": "same", "was": "b" * 64, "is": "a" * 64} in found.changed


def test_a_kernel_that_keeps_a_little_more_memory_is_the_same_host() -> None:
    host = {"machine": "abc", "cpu": "AMD", "memory_bytes": 130_700_000_000, "kernel": "6.17"}
    assert compare(run(), run("was", host=host), {}).comparable


def test_a_new_profile_of_the_same_file_is_the_same_model() -> None:
    found = compare(run(), run("was", target={"model_resolved": "user.Qwen4-v12"}), {})
    assert found.comparable
    assert [(c["field"], c["role"]) for c in found.changed] == [("model_name", "noted")]


def test_a_digest_outranks_names() -> None:
    same, other = {"model_digest": "d1"}, {"model_digest": "d2"}
    renamed = {**same, "launch_command": ["llama-server", "-m", "/x/Renamed-Q8_0.gguf", *COMMAND[3:]]}
    assert compare(run(target=same), run("was", target=renamed), {}).comparable
    assert not compare(run(target=same), run("was", target=other), {}).comparable
    assert compare(
        run(target=same), run("was"), {}
    ).comparable  # only one knows a digest: the file's name decides


def test_a_field_that_one_run_does_not_tell_is_not_equal() -> None:
    found = compare(run(), run("was", host={"kernel": "6.17"}), {})
    assert not found.comparable
    assert "host: told by this run only" in found.unknown
    assert "memory_bytes: told by this run only" in found.unknown


def test_a_field_that_neither_tells_is_remarked_and_does_not_stand_in_the_way() -> None:
    found = compare(run(host={}), run("was", host={}), {})
    assert found.comparable
    assert "host: told by neither run" in found.remarks


def test_what_is_under_test_may_differ_and_is_listed_with_unknown_for_missing() -> None:
    found = compare(run(target={"build": "b2", "version": "11.8"}), run("was"), {})
    assert found.comparable
    assert {c["field"]: (c["was"], c["is"]) for c in found.changed} == {
        "backend_build": ("b1", "b2"),
        "front_version": ("unknown", "11.8"),
    }


def test_other_users_or_kinds_left_out_are_another_run() -> None:
    kinds = [{"name": "isolation", "count": 2}, {"name": "cache_pair", "count": 1}]
    all_of_it = run(plan={"users": 4, "kinds": kinds})
    assert compare(all_of_it, run("was", plan={"users": 4, "kinds": kinds}), {}).comparable
    told = compare(all_of_it, run("was", plan={"users": 8, "kinds": kinds}), {}).differ
    assert told == ("users: 4, not 8",)
    told = compare(all_of_it, run("was", plan={"users": 4, "kinds": kinds[:1]}), {}).differ
    assert "mix: 2 isolation, 1 cache_pair, not 2 isolation" in told


def test_updates_of_the_driver_and_of_the_testbeds_wheel_show() -> None:
    host = {"machine": "abc", "cpu": "AMD", "memory_bytes": 131_000_000_000, "kernel": "6.17"}
    now = run(target={"build": "xllamacpp 2"}, host={**host, "gpu_driver": "amdgpu 6.13"})
    was = run("was", target={"build": "xllamacpp 1"}, host={**host, "gpu_driver": "amdgpu 6.12"})
    found = compare(now, was, {})
    assert found.comparable
    assert {c["field"] for c in found.changed} == {"backend_build", "driver"}


def test_a_policy_moves_a_field_and_the_difference_stays_in_sight() -> None:
    was = run("was", target={"slot_context": 8192})
    found = compare(run(), was, {"slot_context": "under_test"})
    assert found.comparable
    assert found.changed == ({"field": "slot_context", "role": "under_test", "was": 8192, "is": 16384},)
    stricter = compare(run(target={"build": "b2"}), run("was"), {"backend_build": "same"})
    assert not stricter.comparable


@given(
    st.dictionaries(
        st.sampled_from(["target", "host", "plan", "digests", "around", "versions", "boot_id", "provenance"]),
        st.none()
        | st.text(max_size=3)
        | st.lists(st.integers(), max_size=2)
        | st.dictionaries(
            st.sampled_from(
                [
                    "launch_command",
                    "kinds",
                    "model_file",
                    "slots",
                    "memory_bytes",
                    "model_path",
                    "gguf",
                    "libraries",
                ]
            ),
            st.none()
            | st.integers()
            | st.text(max_size=4)
            | st.lists(st.none() | st.text(max_size=3), max_size=3),
            max_size=4,
        ),
        max_size=5,
    )
)
def test_a_document_of_any_shape_has_an_identity_and_equals_itself(document: dict[str, Any]) -> None:
    one = Evidence(run=document, raw=None, records=())
    identity(one)
    assert compare(one, one, {}).comparable


FIELDS_OF_EACH_ROLE = [
    ("same", "slots", {"target": {"slots": 4}}),
    ("under_test", "backend_build", {"target": {"build": "b2"}}),
    ("noted", "address", {"target": {"base_url": "http://127.0.0.1:9"}}),
]


@pytest.mark.parametrize(("role", "field", "over"), FIELDS_OF_EACH_ROLE)
def test_one_field_of_each_role_alone(role: str, field: str, over: dict[str, Any]) -> None:
    found = compare(run(), run("was", **over), {})
    assert [(c["field"], c["role"]) for c in found.changed] == [(field, role)]
    assert found.comparable == (role != "same")


@pytest.mark.parametrize("field", [f for f in FIELDS if f.role != "same"], ids=lambda f: f.name)
def test_no_field_under_test_and_no_note_stands_in_the_way(field: Field) -> None:
    """Whatever the two tell of it, and where one alone tells it."""
    other = deepcopy(dict(run().run))
    for told in field.told_at:
        part, _, name = told.partition(".")
        if part in ("target", "host", "versions") and name != "launch_command":
            other.setdefault(part, {})[name] = {"architecture": "other"} if name == "gguf" else "other"
    one, two = Evidence(run=run().run, raw=None, records=()), Evidence(run=other, raw=None, records=())
    assert compare(one, two, {}).comparable
    assert compare(two, one, {}).comparable


def test_launch_arguments_are_compared_option_by_option() -> None:
    command = [*COMMAND[:3], "-c", "524288", "--parallel=2", "-ctk", "f16", "-ctv", "q8_0", "-fa", "on"]
    (changed,) = [
        c
        for c in compare(run(target={"launch_command": command}), run("was"), {}).changed
        if c["field"] == "launch_arguments"
    ]
    assert changed["role"] == "under_test"
    assert changed["parts"] == [
        {"name": "--cache-type-k", "was": "q8_0", "is": "f16"},
        {"name": "--flash-attn", "was": "not there", "is": "on"},
    ]


def test_spelling_and_order_of_options_are_no_difference() -> None:
    command = [*COMMAND[:3], "-np", "2", "--cache-type-v=q8_0", "-ctk", "q8_0", "-c", "524288"]
    assert compare(run(target={"launch_command": command}), run("was"), {}).changed == ()


def test_drafting_is_a_field_of_its_own() -> None:
    drafts = [*COMMAND, "-md", "/models/Draft-Q4_0.gguf", "--draft-max", "16"]
    found = compare(run(target={"launch_command": drafts}), run("was"), {})
    (changed,) = [c for c in found.changed if c["field"] == "speculation"]
    assert (changed["was"], changed["is"]) == ("none", {"--model-draft": "Draft-Q4_0", "--draft-max": "16"})


GGUF = {"file_type": "Q8_0", "architecture": "qwen3", "tokenizer_sha256": "t"}


def test_a_run_of_an_earlier_version_stays_a_baseline() -> None:
    """It told no versions, no header and no provenance: that is no change, and is said once."""
    kept = {"target.gguf": "header of x.gguf"}
    host = {**run().run["host"], "rocm": "7.2", "firmware": {"mec": "0x1f"}}
    found = compare(run(target={"gguf": GGUF}, host=host, provenance=kept), run("was"), {})
    assert found.comparable
    assert found.changed == ()
    (remark,) = found.remarks
    assert remark.startswith("rocm, gpu_firmware, architecture, tokenizer: one of the two was recorded by")


def test_between_two_runs_that_could_tell_it_what_is_gone_is_a_change() -> None:
    kept, host = {"host.kernel": "uname"}, run().run["host"]
    now = run(host={**host, "rocm": "7.2"}, provenance=kept)
    found = compare(now, run("was", provenance=kept), {})
    assert [(c["field"], c["was"], c["is"]) for c in found.changed] == [("rocm", "unknown", "7.2")]


def test_a_field_that_a_policy_wants_the_same_must_be_told_by_an_earlier_run_too() -> None:
    host = {**run().run["host"], "rocm": "7.2"}
    found = compare(run(host=host, provenance={"a": "b"}), run("was"), {"rocm": "same"})
    assert found.unknown == ("rocm: told by this run only",)


def test_a_model_in_shards_is_told_by_all_of_them() -> None:
    def sharded(id: str, all_of_it: str | None, ends: str) -> Evidence:
        told = {"sha256_of_shards": all_of_it, "sha256_of_shards_ends": ends}
        return run(id, target={"model_file": {"sha256": "first", "shards": told}})

    assert compare(sharded("now", "a", "x"), sharded("was", "a", "x"), {}).comparable
    assert not compare(sharded("now", "a", "x"), sharded("was", "b", "x"), {}).comparable
    assert compare(sharded("now", None, "x"), sharded("was", "a", "x"), {}).comparable
    assert not compare(sharded("now", None, "x"), sharded("was", "a", "y"), {}).comparable


def test_the_header_outranks_the_names_and_an_earlier_run_is_compared_by_name() -> None:
    now = run(target={"gguf": GGUF | {"file_type": "Q6_K"}})
    assert identity(now)["quantisation"] == "Q6_K"
    assert not compare(now, run("was", target={"gguf": GGUF}), {}).comparable
    assert compare(now, run("was"), {}).comparable


def test_how_a_digest_was_come_by_is_no_difference() -> None:
    def read(id: str, how: str) -> Evidence:
        return run(id, target={"executable": {"path": "/x", "sha256": "a", "read": how}})

    assert compare(read("now", "kept"), read("was", "whole"), {}).changed == ()


def test_of_a_server_on_another_host_nothing_of_this_one_is_told() -> None:
    there = identity(run(target={"local": False, "driver": "amd_igpu: driver 32.0"}))
    assert "kernel" not in there
    assert there["driver"] == "amd_igpu: driver 32.0"


def test_each_field_says_where_it_was_read() -> None:
    kept = {"target.build": "GET http://x/props", "host.kernel": "uname", "target.gguf": "header of m.gguf"}
    told = provenance(run(target={"gguf": GGUF}, provenance=kept))
    assert told == {
        "backend_build": "GET http://x/props",
        "kernel": "uname",
        "quantisation": "header of m.gguf",
        "architecture": "header of m.gguf",
        "tokenizer": "header of m.gguf",
    }
    assert provenance(run()) == {}


def test_field_names_are_unique() -> None:
    names = [f.name for f in FIELDS]
    assert len(set(names)) == len(names)


def test_a_run_is_the_same_under_another_folders_name() -> None:
    told = {"id": "r1", "zero_ns": 5, "boot_id": "b"}
    a, copy = evidence(run=told, id="r1"), evidence(run=told, id="copy-of-r1")
    assert same_run(a, a)
    assert same_run(a, copy)
    assert not same_run(a, evidence(run={**told, "zero_ns": 6}, id="r2"))
    assert not same_run(evidence(id="x"), evidence(id="y"))


def test_a_finding_names_the_first_differences_and_counts_the_rest() -> None:
    many = [{"name": f"kind_{n}", "count": n} for n in range(20)]
    over = {"digests": {"plan": "p2", "prompts": {"a.txt": "9"}}, "plan": {"name": "quick", "kinds": many}}
    now = run(plan={"name": "mine", "kinds": many[:9]})
    was = replace(run("was", **over), raw={"outcome": "clean"})
    _, baseline, (finding,) = set_beside(now, Policy(name="p", rules={}), was)
    assert baseline is None
    assert "was: not comparable: another plan (mine, not quick); and " in finding.answer
    assert "more, which the report lists" in finding.answer
    assert len(finding.answer) < 300


def test_a_short_run_of_the_same_plan_says_why_it_does_not_compare() -> None:
    def soaked(count: int) -> Evidence:
        kinds = [{"name": "prose", "count": count}]
        return replace(run(plan={"source": "[short]", "kinds": kinds}), raw={"outcome": "clean"})

    _, used, (finding,) = set_beside(soaked(3), Policy(name="p", rules={}), replace(soaked(1), id="was"))
    assert used is None
    assert "The same plan asks other sizes of short runs ([short])" in finding.answer


def whole(id: str, **over: Any) -> Evidence:
    return replace(run(id, **over), raw={"outcome": "clean"})


def test_of_a_baseline_of_several_runs_those_that_will_do_are_used_and_the_others_told() -> None:
    other, now = whole("other", plan={"seed": 9}), run()
    was = replace(other, repeats=(whole("was-1"), whole("was-2")))
    _, used, (finding,) = set_beside(now, Policy(name="p", rules={}), was, ["was-3: gone"])
    assert used is not None
    assert [used.id, *(one.id for one in used.repeats)] == ["was-1", "was-2"]
    assert finding.outcome is Outcome.PASS
    assert finding.answer.startswith("2 runs, was-1, was-2: every field that must be the same is the same")
    assert "left out of the baseline: other: not comparable: seed: " in finding.answer
    assert finding.answer.endswith("was-3: gone.")
    _, used, (finding,) = set_beside(now, Policy(name="p", rules={}), other, ["was-3: gone"])
    assert (used, finding.outcome) == (None, Outcome.INCONCLUSIVE)
    assert "was-3: gone" in finding.answer


def test_runs_of_one_configuration_are_alike_in_what_is_under_test_too() -> None:
    assert not list(unlike(whole("a"), whole("b")))
    assert list(unlike(whole("a", target={"build": "b9"}), whole("b"))) == ["backend_build: b9, not b1"]
    assert list(unlike(whole("a", plan={"seed": 9}), whole("b")))
