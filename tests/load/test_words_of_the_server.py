"""A line in the log of a server under load: from the file over the sealed run to the verdict."""

from pathlib import Path

import pytest

from tests.load.soaks import adjudicated, document, findings, lines, loaded, locust, output

pytestmark = pytest.mark.timeout(240)
# server_log: device_lost. As llama.cpp wrote it on a Strix Halo.
SAID = b"""radv/amdgpu: The CS has been cancelled because the context is lost. This context is innocent.
terminate called after throwing an instance of 'vk::DeviceLostError'
  what():  vk::Queue::submit: ErrorDeviceLost
"""


def test_the_servers_own_words_fail_a_run_whose_requests_are_all_well(tmp_path: Path) -> None:
    named = tmp_path / "lemonade-server.log"
    named.write_bytes(SAID)  # from before: it does not count
    with locust(tmp_path, "--headless", "-t", "6s", "-u", "2", "--server-log", str(named)) as process:
        run = loaded(tmp_path, 1)
        with (run / "testbed" / "engine.log").open("ab") as log:
            log.write(SAID)
        assert process.wait(120) in (0, 1), output(tmp_path)
    events = [e["details"] for e in lines(run, "events.jsonl", "watch") if e["what"] == "server_log"]
    assert [(e["source"], e["signature"]) for e in events] == [
        ("server_log:engine.log", "V2"),
        ("server_log:engine.log", "V1"),
        ("server_log:engine.log", "V1"),
    ]
    assert document(run / "run.json")["arguments"]["server_log"] == [str(named)]
    code, verdict = adjudicated(run)
    assert (code, ("server_log", "device_lost") in findings(verdict, "FAIL")) == (1, True)
