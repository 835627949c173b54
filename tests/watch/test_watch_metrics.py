"""Metrics of llama.cpp and Lemonade: as servers write them, off, hostile, and asked with the slots."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from soakproof.watch.backend_metrics import BackendMetrics, FrontMetrics, backend_values, front_values
from soakproof.watch.http import Http
from soakproof.watch.known import Known
from soakproof.watch.prometheus import LINE_LENGTH, TEXT_LENGTH, Metric, parse_metrics
from soakproof.watch.service import make_sources
from soakproof.watch.settings import WatchConfig
from soakproof.watch.source import Reading, Source, read_bounded

if TYPE_CHECKING:
    from conftest import Server

    from soakproof.testbed.launch import Testbed

LLAMACPP = """# HELP llamacpp:prompt_tokens_total Number of prompt tokens processed, excluding cached tokens
# TYPE llamacpp:prompt_tokens_total counter
llamacpp:prompt_tokens_total 1204
llamacpp:tokens_predicted_seconds_total 3.25
llamacpp:requests_processing 2
llamacpp:requests_deferred 5
llamacpp:n_busy_slots_per_decode 1.75
llamacpp:something_new 7
"""
LEMONADE = """lemonade_server_up 1
lemonade_server_info{version="11.7.0"} 1
lemonade_loaded_models 2
lemonade_model_loaded{checkpoint="C:\\\\m\\"q\\".gguf",device="gpu",model_name="Probe",type="llm"} 1
lemonade_model_requests_total{checkpoint="/m.gguf",device="gpu",model_name="Probe",type="llm"} 17
lemonade_llamacpp_requests_deferred{checkpoint="/m.gguf",device="gpu",model_name="Probe",type="llm"} 3
lemonade_model_requests_total{checkpoint="/n.gguf",device="gpu",model_name="Other",type="llm"} 1
lemonade_requests_total 18
"""


def read(source: Source) -> Reading:
    (reading,) = trio.run(read_bounded, source)
    assert isinstance(reading, Reading)
    return reading


def parsed(text: str) -> list[Metric]:
    return list(parse_metrics(text))


def test_lines_as_servers_write_them() -> None:
    assert parsed('a:b_c{x="1",y="a\\\\b\\"c\\nd"} 1.5e3 1700000000\r\n# c 1\n\nd 0\n') == [
        Metric("a:b_c", 1500.0, {"x": "1", "y": 'a\\b"c\nd'}),
        Metric("d", 0.0),
    ]


@pytest.mark.parametrize(
    "line", ["a NaN", "a +Inf", "a -1", "a 1_000", "a 1e999", "a", "1a 1", "a{b=} x", "{} 1"]
)
def test_what_is_no_number_is_no_sample(line: str) -> None:
    assert parsed(line) == []


def test_a_flood_is_bounded() -> None:
    assert parsed(f"{'a' * LINE_LENGTH} 1") == []
    assert len(parsed("a 1\n" * 1_000_000)) == 5000
    hostile = "\n".join("a{" + 'b="' * 1200 + "} 1" for _ in range(200))
    assert [metric.name for metric in parsed(hostile + "c 1" * TEXT_LENGTH)] == ["a"] * 199


@given(st.text(max_size=300))
def test_any_text_is_read(text: str) -> None:
    for metric in parse_metrics(text):
        assert 0 <= metric.value <= 2**63


def test_llamacpps_own() -> None:
    assert backend_values(parse_metrics(LLAMACPP)) == {
        "requests_processing": 2,
        "requests_deferred": 5,
        "prompt_tokens_total": 1204,
        "tokens_predicted_seconds_total": 3.25,
        "n_busy_slots_per_decode": 1.75,
    }


def test_lemonades_own_and_of_each_model() -> None:
    assert front_values(parsed(LEMONADE)) == {
        "loaded_models": 2,
        "requests_total": 18,
        "models": [
            {"model": "Probe", "requests_total": 17, "llamacpp_requests_deferred": 3},
            {"model": "Other", "requests_total": 1},
        ],
    }
    many = "".join(f'lemonade_model_requests_total{{model_name="m{n}"}} 1\n' for n in range(100))
    assert len(front_values(parsed(f"lemonade_requests_total 1\n{many}"))["models"]) == 16


def sources(server: "Server", kind: str = "llamacpp") -> Sequence[Source]:
    config = WatchConfig(target={"kind": kind, "base_url": server.url, "backend_url": server.url})
    http = Http(config)
    return BackendMetrics(config, http, Known(config)), FrontMetrics(config, http)


def test_a_server_that_tells(server: "Server") -> None:
    server.answers["/metrics"] = (200, "text/plain; version=0.0.4", (LLAMACPP + LEMONADE).encode())
    backend, front = sources(server)
    reading = read(backend)
    assert (reading.source, reading.state) == ("metrics", "value")
    assert (reading.values["requests_deferred"], reading.values["backend"]) == (5, server.url)
    reading = read(front)
    assert (reading.source, reading.state, reading.values["requests_total"]) == ("metrics:front", "value", 18)


def test_a_server_that_has_it_off_and_others_that_say_no(server: "Server") -> None:
    off = {"error": {"message": "This server does not support metrics endpoint. Start it with `--metrics`"}}
    server.json("/metrics", off, status=501)
    backend, front = sources(server)
    reading = read(backend)
    assert reading.state == "unsupported"
    assert "--metrics" in reading.reason
    for status, kind, body, state in (
        (401, "text/plain", b"no", "denied"),
        (503, "application/json", b'{"error":{"message":"Loading model"}}', "error"),
        (200, "text/html", b"<p>llamacpp:requests_processing 1</p>", "error"),
        (200, "text/plain", b"something 1\n\xff\xfe", "error"),
    ):
        server.answers["/metrics"] = (status, kind, body)
        assert (read(backend).state, read(front).state) == (state, state)


def test_one_that_hangs_is_a_timeout(server: "Server") -> None:
    server.hangs.add("/metrics")
    for source in sources(server):
        source.bound_s = 0.1
        assert read(source).state == "timeout"


def test_a_backend_on_another_host_is_seen_by_its_front_only() -> None:
    config = WatchConfig(target={"kind": "lemonade", "base_url": "http://192.0.2.1:13305", "local": False})
    reading = read(BackendMetrics(config, Http(config), Known(config)))
    assert reading.state == "unsupported"


def test_slots_and_metrics_share_one_schedule() -> None:
    config = WatchConfig(target={"kind": "lemonade", "base_url": "http://127.0.0.1:13305"}, slots_every_s=4)
    periods = {source.name: period for source, period in make_sources(config)}
    assert {periods[name] for name in ("slots", "metrics", "metrics:front")} == {4}


def test_the_testbeds_engine_and_gateway_tell_both(testbed: "Testbed") -> None:
    target = {"kind": "lemonade", "base_url": testbed.url, "backend_url": testbed.backend_url}
    config = WatchConfig(target=target)
    http = Http(config)
    backend = read(BackendMetrics(config, http, Known(config)))
    assert {"requests_processing", "requests_deferred", "prompt_tokens_total"} <= backend.values.keys()
    front = read(FrontMetrics(config, http))
    assert front.values["models"][0].keys() >= {"model", "requests_total", "llamacpp_requests_deferred"}
