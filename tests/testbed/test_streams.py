"""Streams in time: headers at once, pings in silence, slots freed when clients leave."""

import threading
import time

import httpx
from wire import Connection, busy_seeds, chat, endless, events, get, long_prompt, wait_for

from soakproof.testbed.launch import Testbed

PATIENT = 2.5  # seconds between two looks at /slots: looking keeps llama.cpp from noticing a client's end


def test_headers_come_before_the_engine_has_answered_and_pings_fill_its_silence(testbed: Testbed):
    """A prompt of 14,000 tokens: its first token is far away. Leaving in prefill frees the slot."""
    body = chat(long_prompt(1900), stream=True, max_tokens=4, seed=71, cache_prompt=False)
    stream = Connection(testbed.url).send(body).until(b"\r\n\r\n")
    assert stream.head.startswith("http/1.1 200")
    assert b"data:" not in stream.received
    stream.until(b": ping\n\n")
    assert b"data:" not in stream.received
    assert 71 in busy_seeds(testbed.backend_url)
    stream.close()
    wait_for(lambda: 71 not in busy_seeds(testbed.backend_url), every=PATIENT)


def test_leaving_in_mid_decode_frees_the_slot(testbed: Testbed):
    stream = Connection(testbed.url).send(endless(72)).until(b"delta")
    assert 72 in busy_seeds(testbed.backend_url)
    stream.close()
    wait_for(lambda: 72 not in busy_seeds(testbed.backend_url), within=5)


def test_a_client_that_only_shuts_its_side_has_left_too(testbed: Testbed):
    stream = Connection(testbed.url).send(endless(73)).until(b"delta")
    stream.socket.shutdown(1)
    wait_for(lambda: 73 not in busy_seeds(testbed.backend_url), within=5)


def test_a_request_that_does_not_stream_runs_to_its_end(testbed: Testbed):
    before = get(f"{testbed.url}/v1/stats")["request_count_total"]
    body = endless(74, tokens=1500, stream=False)  # long enough to be seen at work
    dropped = Connection(testbed.url).send(body)
    wait_for(lambda: 74 in busy_seeds(testbed.backend_url), within=10)
    dropped.close()
    wait_for(lambda: get(f"{testbed.url}/v1/stats")["request_count_total"] == before + 1)
    assert get(f"{testbed.url}/v1/stats")["output_tokens"] == 1500


def test_three_streams_on_two_slots_all_end_well(testbed: Testbed):
    streams = [Connection(testbed.url).send(endless(80 + n, tokens=150)) for n in range(3)]
    readers = [threading.Thread(target=stream.to_the_end) for stream in streams]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    for stream in streams:
        assert events(stream.body)[-1]["choices"][0]["finish_reason"] == "length"
        assert stream.body.endswith(b"data: [DONE]\n\n")


def test_live_and_health_answer_while_streams_run(testbed: Testbed):
    streams = [Connection(testbed.url).send(endless(90 + n)).until(b"delta") for n in range(2)]
    with httpx.Client(base_url=testbed.url, trust_env=False, timeout=30) as client:
        times = []
        for _ in range(20):
            start = time.monotonic()
            assert client.get("/live").json() == {"status": "ok"}
            health = client.get("/v1/health").json()["all_models_loaded"][0]
            times.append(time.monotonic() - start)
            assert (health["backend_health"], health["status"]) == ("busy", "in_use")
            assert health["is_busy"]
            assert health["is_streaming"]
    for stream in streams:
        stream.close()
    assert sorted(times)[10] < 0.5  # a millisecond or two when the host is quiet
    wait_for(lambda: not busy_seeds(testbed.backend_url) & {90, 91})
    wait_for(lambda: not get(f"{testbed.url}/v1/health")["all_models_loaded"][0]["is_busy"])
