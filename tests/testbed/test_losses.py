"""The engine lost in every way: seen as Lemonade shows it, and replaced."""

import os
import signal
import threading

import httpx
from wire import Connection, chat, endless, entry, events, get, is_running, text_of, wait_for

from soakproof.testbed.launch import Testbed

ECHO = "Repeat exactly: hello world 12"


def reset_of(stream: Connection) -> dict[str, object]:
    """The one error event that a stream ended with, without [DONE]."""
    error = events(stream.body)[-1]["error"]
    assert b"[DONE]" not in stream.body
    assert (error["type"], error["details"]["code"]) == ("backend_error", "backend_watchdog_reset")
    assert error["details"]["retryable"] is True
    return dict(error["details"])


def new_engine(own: Testbed, was: int) -> dict[str, object]:
    def changed() -> dict[str, object] | None:
        now = entry(own.url)
        return now if now and now["pid"] != was else None

    return wait_for(changed)


def test_lost_in_mid_stream_every_stream_ends_with_the_event_and_the_engine_is_replaced(own: Testbed):
    streams = [Connection(own.url).send(endless(n)).until(b"delta") for n in (1, 2)]
    os.kill(own.backend_pid, signal.SIGKILL)
    for stream in streams:
        reason = reset_of(stream.to_the_end())["reason"]
        assert reason == "backend process exited during streaming request"
    now = new_engine(own, own.backend_pid)  # nobody has asked for anything
    assert now["backend_url"] != f"{own.backend_url}/v1"
    assert text_of(Connection(own.url).send(chat(ECHO, stream=True)).to_the_end().body) == "hello world 12"


def test_lost_before_the_first_token_is_asked_again_unseen(own: Testbed):
    os.kill(own.backend_pid, signal.SIGSTOP)
    stream = Connection(own.url).send(chat(ECHO, stream=True)).until(b"\r\n\r\n")
    os.kill(own.backend_pid, signal.SIGKILL)
    assert text_of(stream.to_the_end().body) == "hello world 12"
    assert stream.body.endswith(b"data: [DONE]\n\n")
    assert b"error" not in stream.body
    assert new_engine(own, own.backend_pid)


def test_lost_under_a_request_that_does_not_stream_is_asked_again_unseen(own: Testbed):
    os.kill(own.backend_pid, signal.SIGSTOP)
    answers: list[httpx.Response] = []
    url = f"{own.url}/v1/chat/completions"
    asking = threading.Thread(
        target=lambda: answers.append(httpx.post(url, json=chat(ECHO), timeout=60, trust_env=False))
    )
    asking.start()
    wait_for(lambda: entry(own.url) and entry(own.url)["is_busy"])  # type: ignore[index]
    os.kill(own.backend_pid, signal.SIGKILL)
    asking.join()
    assert answers[0].json()["choices"][0]["message"]["content"] == "hello world 12"
    assert new_engine(own, own.backend_pid)


def test_lost_when_idle_it_vanishes_and_the_next_requests_bring_one_back(own: Testbed):
    os.kill(own.backend_pid, signal.SIGKILL)
    wait_for(lambda: entry(own.url) is None)
    assert get(f"{own.url}/v1/health")["model_loaded"] is None
    streams = [Connection(own.url).send(chat(ECHO, stream=True)) for _ in range(3)]
    assert [text_of(stream.to_the_end().body) for stream in streams] == ["hello world 12"] * 3
    log = own.log_dir / "engine.log"
    wait_for(
        lambda: log.read_text(errors="replace").count("listening on") > 1
    )  # it is written a little later
    assert log.read_text(errors="replace").count("listening on") == 2  # three requests, one load


def test_a_load_goes_on_when_its_client_has_left(own: Testbed):
    os.kill(own.backend_pid, signal.SIGKILL)
    wait_for(lambda: entry(own.url) is None)
    Connection(own.url).send(chat(ECHO, stream=True)).until(b"\r\n\r\n").close()
    assert new_engine(own, own.backend_pid)


def test_frozen_for_a_while_a_stream_has_pings_and_goes_on(testbed: Testbed):
    pid = entry(testbed.url)["pid"]  # type: ignore[index]
    stream = Connection(testbed.url).send(endless(3, tokens=600)).until(b"delta")
    os.kill(pid, signal.SIGSTOP)
    try:
        stream.until(b": ping\n\n")
        assert entry(testbed.url)["backend_health"] == "busy"  # type: ignore[index]
    finally:
        os.kill(pid, signal.SIGCONT)
    assert stream.to_the_end().body.endswith(b"data: [DONE]\n\n")


def test_frozen_for_good_the_watchdog_ends_it(own: Testbed):
    stream = Connection(own.url).send(endless(4)).until(b"delta")
    os.kill(own.backend_pid, signal.SIGSTOP)
    reason = reset_of(stream.to_the_end())["reason"]
    assert str(reason).startswith("health endpoint did not respond after 3 consecutive probes")
    assert b": ping" in stream.received
    assert new_engine(own, own.backend_pid)
    assert not is_running(own.backend_pid)
