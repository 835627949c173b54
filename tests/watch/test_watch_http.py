"""Health, live and slots against a real HTTP server: what is a value, and what is which kind of no value."""

import socket
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pytest
import trio
from caseinputs import INPUTS

from soakproof.watch.backend_slots import BackendSlots
from soakproof.watch.health import Health, Live
from soakproof.watch.http import Http
from soakproof.watch.known import Known
from soakproof.watch.settings import WatchConfig
from soakproof.watch.source import Reading, Source, read_bounded

if TYPE_CHECKING:
    from conftest import Server

BOUND_S = 10.0  # generous: an answer may be slow on a busy machine


def lemonade(server: "Server", **target: Any) -> WatchConfig:
    return WatchConfig(target={"kind": "lemonade", "base_url": server.url, "prefix": "/v1", **target})


def llamacpp(server: "Server") -> WatchConfig:
    return WatchConfig(target={"kind": "llamacpp", "base_url": server.url, "prefix": "/v1"})


def sources(config: WatchConfig, bound_s: float = BOUND_S) -> tuple[Health, Live, BackendSlots, Known]:
    http, known = Http(config), Known(config)
    return (
        Health(config, http, known, bound_s),
        Live(config, http, bound_s),
        BackendSlots(config, http, known, bound_s),
        known,
    )


def read(source: Source) -> Reading:
    async def once() -> Sequence[Any]:
        return await read_bounded(source)

    (reading,) = trio.run(once)
    assert isinstance(reading, Reading)
    return reading


def loaded(backend_url: str, pid: int, model: str = "user.Probe") -> dict[str, Any]:
    entry = {
        "model_name": model,
        "pid": pid,
        "backend_url": f"{backend_url}/v1",
        "backend_alive": True,
        "is_busy": True,
        "is_streaming": "yes",
        "backend_health": "busy",
        "status": "in_use",
        "launch_command": ["llama-server", "--api-key", "hunter2"],
    }
    return {"status": "ok", "all_models_loaded": [entry]}


def slot(busy: bool, seed: int, decoded: int) -> dict[str, Any]:
    return {
        "id": 0,
        "n_ctx": 16384,
        "is_processing": busy,
        "id_task": 7,
        "params": {"seed": seed},
        "next_token": [{"n_decoded": decoded}],
    }


def test_lemonades_health_names_models_and_backends(server: "Server") -> None:
    server.json("/v1/health", loaded("http://127.0.0.1:8001", 4242))
    health, _, _, known = sources(lemonade(server))
    reading = read(health)
    assert reading.state == "value"
    assert reading.values["models_loaded"] == ["user.Probe"]
    assert reading.values["pids"] == [4242]
    assert reading.values["backends"] == [
        {
            "role": "backend",
            "model": "user.Probe",
            "pid": 4242,
            "url": "http://127.0.0.1:8001",
            "status": "in_use",
            "health": "busy",
            "alive": True,
            "busy": True,
            "streaming": None,  # no flag
            "watchdog_reset": None,
        }
    ]
    assert known.main is not None
    assert "hunter2" not in str(reading)


@pytest.mark.parametrize("levels", [65, 900, 100_000])
def test_documents_that_become_deep_are_errors_as_long_as_they_are(server: "Server", levels: int) -> None:
    health, _, slots, _ = sources(lemonade(server, model_resolved="user.Probe"))
    good = loaded(server.url, 1)
    deep = b'{"all_models_loaded":' + b"[" * levels + b"]" * levels + b"}"
    server.json("/slots", [slot(True, 11, 5)])
    server.json("/v1/health", good)
    assert read(health).state == "value"
    server.body("/slots", deep)
    server.body("/v1/health", deep)
    for source in (health, slots):
        reading = read(source)
        assert (reading.state, "JSON" in reading.reason) == ("error", True)
    server.json("/v1/health", good)
    assert read(health).state == "value"


def test_slots_follow_the_backend_after_a_reload(server: "Server", backend: "Server") -> None:
    server.json("/slots", [slot(True, 11, 5)])  # the server plays the first backend, too
    backend.json("/slots", [slot(True, 12, 60), slot(False, 13, 99)])
    server.json("/v1/health", loaded(server.url, 1))
    health, _, slots, _ = sources(lemonade(server, model_resolved="user.Probe"))
    before = read(slots)
    assert (before.state, before.reason) == (
        "error",
        "the target has no backend now whose slots could be seen",
    )
    read(health)
    assert read(slots).values["seeds"] == [11]
    server.json("/v1/health", loaded(backend.url, 2))
    read(health)
    reading = read(slots)
    assert reading.values == {
        "total": 2,
        "busy": 1,
        "context": 16384,
        "ids": [0],
        "seeds": [12],
        "tasks": [7],
        "decoded": [60],
        "prompt_processed": [None],
        "temperatures": [None],
        "max_tokens": [None],
        "seedless": 0,
        "last_tasks": [7, 7],
        "prompt_tokens": [None],
        "backend": backend.url,
    }
    assert "/v1/slots" not in server.paths()  # that would count as a use of the model


def test_slots_of_the_backend_that_the_identity_names(server: "Server", backend: "Server") -> None:
    backend.json("/slots", {"slots": [slot(False, 1, 1)]})
    _, _, slots, _ = sources(lemonade(server, backend_url=f"{backend.url}/v1"))
    assert read(slots).values["busy"] == 0


def test_a_backend_address_elsewhere_is_not_asked(server: "Server") -> None:
    server.json("/v1/health", loaded("http://192.0.2.7:8001", 4242))
    health, _, slots, known = sources(lemonade(server))
    read(health)
    assert known.main is not None
    assert known.main.url is None
    assert read(slots).state == "error"


def test_a_backend_that_is_gone_vanishes_from_what_is_known(server: "Server") -> None:
    server.json("/v1/health", loaded("http://127.0.0.1:8001", 4242))
    health, _, _, known = sources(lemonade(server))
    read(health)
    server.json("/v1/health", {"status": "ok", "all_models_loaded": []})
    assert read(health).values["models_loaded"] == []
    assert known.backends == ()


def test_roles_stay_with_their_models(server: "Server") -> None:
    config = lemonade(server, model_resolved="Main")
    known = Known(config)
    known.update(
        [{"model_name": "Other", "pid": 1}, {"model_name": "Main", "pid": 2}, {"model_name": "Third"}]
    )
    assert [b.role for b in known.backends] == ["backend-2", "backend", "backend-3"]
    known.update([{"model_name": "Main", "pid": 9}, {"model_name": "Other", "pid": 8}])
    assert [(b.role, b.pid) for b in known.backends] == [("backend", 9), ("backend-2", 8)]


@pytest.mark.parametrize(
    "document",
    [
        [],
        {"all_models_loaded": None},
        {"all_models_loaded": ["x", 3]},
        {"all_models_loaded": [{"pid": "no", "model_name": 4, "backend_url": {}}]},
    ],
)
def test_odd_health_documents_are_survived(server: "Server", document: Any) -> None:
    server.json("/v1/health", document)
    health, _, _, known = sources(lemonade(server))
    assert read(health).values["ok"] is True
    assert all(b.pid is None and b.url is None for b in known.backends)


def test_what_a_health_document_says_is_bounded(server: "Server") -> None:
    server.json("/v1/health", loaded("http://127.0.0.1:1/" + "x" * 9000, 1, "m" * 9000))
    health, _, _, known = sources(lemonade(server))
    reading = read(health)
    assert reading.values["models_loaded"] == ["m" * 200]
    assert known.backends[0].url is None


def test_bare_llamacpp(server: "Server") -> None:
    server.json("/health", {"status": "ok"})
    server.json("/slots", [slot(True, 5, 1)])
    health, _, slots, _ = sources(llamacpp(server))
    assert read(health).values == {"status_code": 200, "ok": True}
    assert read(slots).values["seeds"] == [5]


def test_a_server_that_is_loading_says_so_of_itself(server: "Server") -> None:
    server.json("/health", {"error": {"code": 503, "message": "Loading model"}}, status=503)
    health, *_ = sources(llamacpp(server))
    reading = read(health)
    assert (reading.state, reading.values) == ("value", {"status_code": 503, "ok": False})
    assert reading.reason == "status 503: Loading model"


def test_live(server: "Server") -> None:
    server.json("/live", {"status": "ok"})
    _, live, _, _ = sources(lemonade(server))
    assert read(live).values == {"status_code": 200, "ok": True}


def test_a_probe_that_waits_behind_a_prefill_is_a_timeout(server: "Server") -> None:
    server.hangs |= {"/health", "/slots"}
    health, _, slots, _ = sources(llamacpp(server), bound_s=0.2)
    assert (read(health).state, read(slots).state) == ("timeout", "timeout")


def test_a_server_that_is_not_there_is_an_error(server: "Server") -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))  # bound and not listening: connections are refused
        target = {"kind": "lemonade", "base_url": f"http://127.0.0.1:{unused.getsockname()[1]}"}
        health, live, _, _ = sources(WatchConfig(target=target))
        for reading in (read(health), read(live)):
            assert reading.state == "error"
            assert "Connect" in reading.reason
            assert reading.values == {}


@pytest.mark.parametrize(
    ("case", "state", "word"),
    [
        ("49-metrics-501.http", "unsupported", "does not support"),
        ("49-router-needs-model.http", "error", "model name is missing"),
        ("49-html-instead.http", "error", "text/html"),
    ],
)
def test_backends_without_slots(server: "Server", case: str, state: str, word: str) -> None:
    server.raw("/slots", (INPUTS / case).read_bytes())
    _, _, slots, _ = sources(llamacpp(server))
    reading = read(slots)
    assert reading.state == state
    assert word in reading.reason
    assert "busy" not in reading.values


def test_an_unknown_shape_is_not_evaluable_and_shown(server: "Server") -> None:
    server.json("/slots", [{"id": 0, "phase": "warm"}])
    _, _, slots, _ = sources(llamacpp(server))
    reading = read(slots)
    assert reading.state == "error"
    assert "not evaluable" in reading.reason
    assert "warm" in reading.reason


def test_the_key_goes_to_the_front_only_and_never_into_the_evidence(
    server: "Server", backend: "Server", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_KEY", "sk-secret")
    target = {"kind": "lemonade", "base_url": server.url, "prefix": "/v1", "backend_url": backend.url}
    config = WatchConfig(target=target, headers_env="SOME_KEY")
    server.json("/v1/health", {"error": {"message": "Invalid API key: sk-secret"}}, status=401)
    backend.json("/slots", [])
    health, _, slots, _ = sources(config)
    reading = read(health)
    assert (reading.state, reading.reason) == ("denied", "status 401: Invalid API key: [removed]")
    read(slots)
    assert server.asked == [("/v1/health", "Bearer sk-secret")]
    assert backend.asked == [("/slots", None)]
    assert "sk-secret" not in config.to_json()


def test_a_key_that_a_health_document_repeats_is_not_kept(
    server: "Server", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_KEY", "sk-secret-0123")
    target = {"kind": "lemonade", "base_url": server.url, "prefix": "/v1"}
    entry = {"model_name": "m-sk-secret-0123", "pid": 1, "status": "for sk-secret-0123"}
    entry |= {"backend_health": "sk-secret-0123", "backend_url": "http://127.0.0.1:1/v1"}
    server.json("/v1/health", {"all_models_loaded": [entry]})
    health, *_ = sources(WatchConfig(target=target, headers_env="SOME_KEY"))
    reading = read(health)
    assert reading.values["models_loaded"] == ["m-[removed]"]
    assert "sk-secret" not in str(reading)


def test_an_endless_answer_is_cut_off(server: "Server") -> None:
    server.answers["/slots"] = (200, "application/json", b"[" + b" " * (9 << 20))
    _, _, slots, _ = sources(llamacpp(server))
    assert read(slots).reason == "an answer of more than 8 MiB"


def test_proxies_are_not_used(server: "Server", monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
    server.json("/health", {"status": "ok"})
    health, *_ = sources(llamacpp(server))
    assert read(health).state == "value"
