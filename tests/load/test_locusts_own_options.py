"""Locust's own options stay what they are: a configuration file, its tables as CSV, its report as HTML."""

import csv
import socket
from pathlib import Path

import pytest

from soakproof.run import verify
from tests.load.soaks import document, lines, locust, output, the_run

pytestmark = pytest.mark.timeout(240)

CONFIG = """
headless = true
users = 2
run-time = 5s
csv = tables/mine
html = mine.html
seed = 77
runs = elsewhere
"""


def test_a_configuration_file_tables_and_a_report_of_locusts_go_with_a_soak(tmp_path: Path):
    (tmp_path / "mine.conf").write_text(CONFIG)
    (tmp_path / "tables").mkdir()
    (tmp_path / "runs").symlink_to("elsewhere")  # where `the_run` looks
    with locust(tmp_path, "--config", "mine.conf") as process:
        assert process.wait(120) == 0, output(tmp_path)
    run = the_run(tmp_path)
    told = document(run / "run.json")
    assert verify(run).problems == ()
    assert (told["arguments"]["num_users"], told["arguments"]["run_time"]) == (2, 5)
    assert told["plan"]["seed"] == told["arguments"]["seed"] == 77
    closed = [x for x in lines(run, "exchanges.jsonl") if x["record"] == "closed"]
    with (tmp_path / "tables" / "mine_stats.csv").open() as file:
        rows = {row["Name"]: row for row in csv.DictReader(file)}
    # It writes its tables once a second, or later: what ended after the last time is not in them.
    assert len(closed) / 2 <= int(rows["Aggregated"]["Request Count"]) <= len(closed)
    assert int(rows["Aggregated"]["Failure Count"]) == 0
    assert {f"{x['scenario']}/{x['role']}" for x in closed} >= set(rows) - {"Aggregated"} != set()
    assert {p.name for p in (tmp_path / "tables").iterdir()} >= {"mine_failures.csv", "mine_exceptions.csv"}
    assert "Locust" in (tmp_path / "mine.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--headless", "--csv", "taken"), "--csv: taken_stats.csv cannot be written"),
        (("--web-base-path", "ui"), "--web-base-path: expected a path that begins with /"),
        (("--web-port", "99999"), "--web-port: 99999 cannot be had"),
        (("--web-port", "PORT"), "cannot be had: Address already in use"),
        (("--headless", "--server-pid", "1", "--runs", "\udcff"), "--runs: expected text in UTF-8"),
    ],
)
def test_what_locust_would_stumble_over_is_refused(tmp_path: Path, arguments: tuple[str, ...], told: str):
    (tmp_path / "taken_stats.csv").mkdir()
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = str(server.getsockname()[1])
        given = [port if word == "PORT" else word for word in arguments]
        with locust(tmp_path, *given, "-t", "2s") as process:
            assert process.wait(60) == 64, output(tmp_path)
    assert told in output(tmp_path)
