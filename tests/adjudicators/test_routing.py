"""Routing: another model's name, a change of it, a strange route fire; the model's names do not."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soakproof.judge import Finding, Outcome
from soakproof.judge.naming import forms, known_names
from soakproof.records import Exchange, Failure
from soakproof.testing.evidence import adjudicate, evidence, exchange

GGUF = "/var/lib/models/soak-probe-7m-q8_0.gguf"
SHARD = "/cache/snapshots/a/Repo-Q4_0-00001-of-00002.gguf"
LEMONADE: dict[str, Any] = {
    "kind": "lemonade",
    "model": "llm",
    "model_resolved": "Probe",
    "checkpoint": GGUF,
    "model_path": GGUF,
    "build": "b11434",
    "recipe": "llamacpp",
    "asked_recipe": "llamacpp",
    "launch_command": ["llama-server", "-m", GGUF, "--port", "8001"],
    "models_loaded": ["Probe", "Qwen3-8B"],
}
BARE = {"kind": "llamacpp", "model": "default", "model_resolved": GGUF, "model_path": GGUF, "build": "b11434"}
OTHER = {"kind": "llamacpp", "model": "qwen3:8b", "model_resolved": "qwen3:8b", "build": None}


def judged(*names: str | None, target: dict[str, Any] | None = None, routes: Any = (), **options: Any):
    """One answer a name, each with the route of the same place, if there is one."""
    target = LEMONADE if target is None else target
    run = [
        exchange(
            f"x{i}",
            at=float(i),
            iteration=i,
            model_asked=target["model"],
            model_answered=name,
            route=routes[i] if i < len(routes) else None,
            prompt_digest=f"p{i}",
        )
        for i, name in enumerate(names)
    ]
    return adjudicate("routing", evidence(run, target=target), **options)


@pytest.mark.parametrize(
    ("target", "names"),
    [
        (LEMONADE, [GGUF, GGUF, "Probe", "user.Probe", "llm", "Probe:latest", "LLM"]),
        (BARE, [GGUF, GGUF.rpartition("/")[2], "soak-probe-7m-q8_0", "default"]),
        (OTHER, ["qwen3:8b", "Qwen3:8B"]),
        ({**OTHER, "model": "llama3", "model_resolved": "llama3:latest"}, ["llama3", "llama3:latest"]),
        ({**OTHER, "model": "openai/gpt-oss-20b", "model_resolved": "x"}, ["openai/gpt-oss-20b"]),
        ({**LEMONADE, "launch_command": ["llama-server", "--alias=mine"]}, ["mine"]),
        ({**LEMONADE, "checkpoint": "org/Repo:Q4_0", "model_path": SHARD}, [SHARD, "org/Repo", "Repo-Q4_0"]),
    ],
    ids=["lemonade", "bare llama.cpp", "ollama", "latest", "lm studio", "its command's", "hugging face"],
)  # fmt: skip
def test_every_name_of_the_model_passes(target: dict[str, Any], names: list[str]) -> None:
    found = judged(*names, target=target)
    assert set(found) == {"model"}
    assert found["model"].outcome is Outcome.PASS, found["model"].answer


@pytest.mark.parametrize("names", [[GGUF, GGUF, "Qwen3-8B"], ["Qwen3-8B"] * 3])
def test_an_answer_of_another_loaded_model_fails(names: list[str]) -> None:
    found = judged(*names)["model"]
    assert (found.outcome, found.fault) == (Outcome.FAIL, "front")
    assert "which the server had loaded as well: Qwen3-8B" in found.answer
    assert "x2" in found.exchanges


@pytest.mark.parametrize("target", [LEMONADE, BARE, OTHER])
def test_a_name_that_appears_in_mid_run_fails(target: dict[str, Any]) -> None:
    found = judged(*[target["model"]] * 9, "/tmp/other-model.gguf", target=target)["model"]
    assert found.outcome is Outcome.FAIL
    assert found.answer == "1 of 10 answers came under another name: /tmp/other-model.gguf (1)."
    assert found.exchanges == ("x9",)


def test_another_model_all_along_fails_where_the_models_file_is_known() -> None:
    assert judged(*["/x/other.gguf"] * 5)["model"].outcome is Outcome.FAIL
    far = {**LEMONADE, "model_path": None, "build": None, "checkpoint": None, "launch_command": None}
    told = judged(*["/x/other.gguf"] * 5, target=far)["model"]
    assert (told.outcome, told.critical) == (Outcome.INCONCLUSIVE, False)
    two = judged("/x/a.gguf", "/x/b.gguf", target=far)["model"]
    assert (two.outcome, two.critical) == (Outcome.INCONCLUSIVE, True)
    assert judged(*["/x/other.gguf"] * 5, names=["other"])["model"].outcome is Outcome.PASS


def test_no_name_at_all_is_inconclusive_and_decides_nothing() -> None:
    found = judged(None, None)["model"]
    assert (found.outcome, found.critical) == (Outcome.INCONCLUSIVE, False)


def test_answers_without_a_name_beside_named_ones_are_inconclusive() -> None:
    found = judged(*[GGUF] * 17, *[None] * 18)["model"]
    assert (found.outcome, found.critical) == (Outcome.INCONCLUSIVE, True)
    assert found.answer.startswith("18 of 35 answers name no model. Of those that do: All 17 answers came")
    assert "x17" in found.exchanges
    assert judged(GGUF, None, "Qwen3-8B")["model"].outcome is Outcome.FAIL
    cut = exchange("x1", model_answered=None, finish_reason=None, outcome="fail", failure=Failure.CUT)
    run = evidence([exchange(model_asked="llm", model_answered="Probe"), cut], target=LEMONADE)
    assert adjudicate("routing", run)["model"].outcome is Outcome.PASS


def test_requests_for_another_model_are_left_to_whoever_asked() -> None:
    other = exchange("x1", model_asked="nobody", model_answered="/x/other.gguf")
    found = adjudicate(
        "routing", evidence([other, exchange(model_asked="llm", model_answered="Probe")], target=LEMONADE)
    )
    assert found["model"].outcome is Outcome.PASS


@pytest.mark.parametrize("target", [LEMONADE, {**BARE, "model": "llm"}])
def test_a_route_without_a_router_fails(target: dict[str, Any]) -> None:
    found = judged(GGUF, GGUF, GGUF, target=target, routes=[None, "candidate-b"])["route"]
    assert found.outcome is Outcome.FAIL
    assert "no router was asked: candidate-b (1)" in found.answer
    assert found.exchanges == ("x1",)


ROUTER = {**LEMONADE, "model": "auto", "asked_recipe": "collection.router"}


def test_a_router_may_choose_other_models_and_other_routes() -> None:
    found = judged(GGUF, "Qwen3-8B", "/x/qwen.gguf", target=ROUTER, routes=["default", "long", "long"])
    assert {f.outcome for f in found.values()} == {Outcome.PASS}
    assert found["route"].answer == "All 3 answers name a route: long (2), default (1)."


@pytest.mark.parametrize(
    ("routes", "outcome"), [(["a", None, "a"], Outcome.FAIL), ([], Outcome.INCONCLUSIVE)]
)
def test_a_routers_answer_without_a_route_fires(routes: list[str], outcome: Outcome) -> None:
    assert judged(GGUF, GGUF, GGUF, target=ROUTER, routes=routes)["route"].outcome is outcome


def test_the_same_prompt_by_different_routes_fails() -> None:
    def asked(id: str, route: str, digest: str) -> Exchange:
        return exchange(id, model_asked="auto", model_answered=GGUF, route=route, prompt_digest=digest)

    def route(*run: Exchange, **target: Any) -> Finding:
        return adjudicate("routing", evidence(list(run), target=ROUTER | target))["route"]

    twice = [asked("a", "default", "p"), asked("b", "code", "p")]
    assert route(*twice, asked("c", "default", "q")).outcome is Outcome.FAIL
    alike = [asked("a", "default", "p"), asked("b", "code", "q")]
    assert route(*alike).outcome is Outcome.PASS
    assert route(*alike, asked_recipe=None).outcome is Outcome.INCONCLUSIVE


@given(st.text("aZ9./-_:\\", max_size=30))
def test_a_name_is_known_by_its_own_forms_whatever_it_is(name: str) -> None:
    known = known_names({"model": name})
    assert forms(name) <= known
    for seen in (f"{name}:latest", f"user.{name}", f" {name.upper()} "):
        assert forms(seen) & known or not forms(name)


@given(
    st.recursive(
        st.none() | st.text(max_size=9) | st.integers(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)
    )
)
def test_an_identity_of_any_shape_never_raises(value: Any) -> None:
    keys = (
        "model",
        "model_resolved",
        "model_path",
        "checkpoint",
        "launch_command",
        "models_loaded",
        "asked_recipe",
    )
    run = evidence(exchange(model_answered="x"), target=dict.fromkeys(keys, value))
    assert adjudicate("routing", run)["model"].outcome in Outcome
