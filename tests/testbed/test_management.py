"""Health, models, slots, statistics, aliases, loading and unloading."""

import threading

import httpx
import pytest
from wire import Connection, chat, endless, entry, get, wait_for

from soakproof.testbed.launch import Testbed

LOADED = {
    *("backend_alive", "backend_health", "backend_url", "checkpoint", "device", "is_busy", "is_streaming"),
    *("last_use", "launch_command", "loaded", "max_context_window", "model_name", "pid", "pinned", "recipe"),
    *("recipe_options", "residency_class", "slot_pool", "status", "type", "watchdog_reset"),
}
HEALTH = {
    *("all_models_loaded", "max_models", "model_loaded", "pinned_helper_models", "pinned_models", "status"),
    *("telemetry", "update_check_done", "version", "websocket_port"),
}


def test_the_health_document_has_lemonades_keys(client: httpx.Client, testbed: Testbed):
    health = client.get("/v1/health").json()
    assert set(health) == HEALTH | {"soakproof_testbed"}
    (loaded,) = health["all_models_loaded"]
    assert set(loaded) == LOADED
    assert loaded["pid"] == testbed.backend_pid
    assert loaded["max_context_window"] == 32768
    assert loaded["launch_command"][:3] == ["llama-server", "-m", loaded["checkpoint"]]
    port = testbed.backend_url.rpartition(":")[2]
    assert ["--port", port] == loaded["launch_command"][5:7]
    assert loaded["recipe_options"]["ctx_size"] == 32768
    assert " ".join(loaded["launch_command"]).endswith(loaded["recipe_options"]["llamacpp_args"])


def test_models_are_listed_without_the_alias_and_found_by_every_name(client: httpx.Client):
    assert [model["id"] for model in client.get("/v1/models").json()["data"]] == ["Probe"]
    for asked, id in (("Probe", "Probe"), ("user.Probe", "Probe"), ("llm", "llm")):
        assert client.get(f"/v1/models/{asked}").json()["id"] == id
    assert client.get("/v1/models/nope").status_code == 404


def test_slots_are_the_engines(client: httpx.Client, testbed: Testbed):
    def shape(slots: list[dict[str, object]]) -> list[tuple[object, object]]:
        return [(slot["id"], slot["n_ctx"]) for slot in slots]

    assert shape(client.get("/v1/slots").json()) == shape(get(f"{testbed.backend_url}/slots"))


@pytest.mark.parametrize("stream", [False, True])
def test_statistics_count_each_request(client: httpx.Client, stream: bool):
    before = client.get("/v1/stats").json()
    client.post("/v1/chat/completions", json=chat("Repeat exactly: hello", stream=stream)).read()
    after = client.get("/v1/stats").json()
    assert after["request_count_total"] == before["request_count_total"] + 1
    assert after["output_tokens_total"] == before["output_tokens_total"] + after["output_tokens"]
    assert after["prompt_tokens"] == after["input_tokens"] + after["cache_tokens"]


def test_metrics_tell_of_both(client: httpx.Client):
    answer = client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert "\nlemonade_loaded_models 1\n" in answer.text
    assert "lemonade_llamacpp_requests_processing{" in answer.text
    assert client.get("/v1/system-info").json()["devices"]["cpu"]["available"] is True


def test_aliases_come_and_go_at_once(client: httpx.Client):
    assert client.post("/internal/aliases", json={"alias": "llm-exact", "target": "Probe"}).json() == {
        "alias": "llm-exact",
        "status": "ok",
        "target": "Probe",
    }
    assert [alias["alias"] for alias in client.get("/internal/aliases").json()["aliases"]] == [
        "llm-exact",
        "llm",
    ]
    assert [model["id"] for model in client.get("/v1/models").json()["data"]] == ["Probe", "llm-exact"]
    assert client.delete("/internal/aliases/llm-exact").json() == {"alias": "llm-exact", "status": "deleted"}
    assert client.delete("/internal/aliases/llm-exact").json()["error"]["code"] == "alias_not_found"
    assert client.post("/v1/chat/completions", json=chat("x", model="llm-exact")).status_code == 404


@pytest.mark.parametrize(
    ("alias", "target", "status", "code"),
    [
        ("Probe", "llm", 409, "alias_conflict"),
        ("user.Probe", "llm", 409, "alias_conflict"),
        ("same", "same", 409, "alias_conflict"),
        ("half", None, 400, "invalid_request"),
    ],
)
def test_an_alias_that_cannot_be(client: httpx.Client, alias: str, target: object, status: int, code: str):
    answer = client.post("/internal/aliases", json={"alias": alias, "target": target})
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)


def test_unloading_waits_for_streams_and_blocks_all_but_live_and_stats(own: Testbed):
    stream = Connection(own.url).send(endless(1)).until(b"delta")
    done = threading.Event()

    def unload() -> None:
        httpx.post(f"{own.url}/v1/unload", json={"model_name": "llm"}, timeout=60, trust_env=False)
        done.set()

    threading.Thread(target=unload, daemon=True).start()

    def blocked() -> bool:
        try:
            httpx.get(f"{own.url}/v1/health", timeout=0.5, trust_env=False)
        except httpx.ReadTimeout:
            return True
        return False

    wait_for(blocked)
    assert get(f"{own.url}/live") == {"status": "ok"}
    assert get(f"{own.url}/v1/stats")
    assert not done.is_set()
    stream.close()
    assert done.wait(30)
    assert entry(own.url) is None


def test_unloaded_loaded_and_loaded_with_other_options(own: Testbed):
    with httpx.Client(base_url=own.url, timeout=60, trust_env=False) as client:
        assert client.post("/v1/unload").json()["status"] == "success"
        assert client.get("/v1/health").json()["model_loaded"] is None
        assert client.get("/v1/slots").status_code == 400
        nothing = client.post("/v1/chat/completions", json={"messages": []})
        assert nothing.json() == {"error": "No model loaded and no model specified in request"}
        assert client.post("/v1/unload", json={"model_name": "Probe"}).status_code == 404

        assert client.post("/v1/load", json={"model_name": "llm"}).json()["model_name"] == "user.Probe"
        first = entry(own.url)
        client.post("/v1/load", json={"model_name": "llm"})
        assert entry(own.url) == first | {"last_use": entry(own.url)["last_use"]}  # type: ignore[operator, index]
        assert client.post("/v1/load", json={"model_name": "llm", "ctx_size": 8192}).status_code == 200
        second = entry(own.url)
        assert first is not None
        assert second is not None
        assert second["pid"] != first["pid"]
        assert second["recipe_options"]["ctx_size"] == 8192
        assert [slot["n_ctx"] for slot in client.get("/v1/slots").json()] == [4096, 4096]


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"model_name": "nope"}, 404, "model_not_found"),
        ({}, 400, "invalid_request"),
        ({"model_name": "llm", "llamacpp_args": "--frobnicate 3"}, 500, "model_load_error"),
        ({"model_name": "llm", "llamacpp_args": "-np two"}, 500, "model_load_error"),
    ],
)
def test_a_load_that_cannot_be(client: httpx.Client, body: dict[str, str], status: int, code: str):
    answer = client.post("/v1/load", json=body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert client.get("/v1/health").json()["model_loaded"] == "Probe"
