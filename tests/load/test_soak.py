"""The main command, for real: Locust, the watch and the testbed as processes, ended in every way."""

import os
import pty
import select
import signal
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from pathlib import Path

import psutil
import pytest

from soakproof.run import recover, verify
from tests.load.soaks import (
    ROOT,
    adjudicated,
    children,
    document,
    findings,
    gone,
    lines,
    loaded,
    locust,
    output,
    the_run,
    wait_for,
)

pytestmark = pytest.mark.timeout(240)


def closed(run: Path) -> list[dict]:
    return [x for x in lines(run, "exchanges.jsonl") if x["record"] == "closed"]


def test_a_clean_soak_of_the_testbed(tmp_path: Path):
    """Five kinds, nothing failed, everything accounted for, sealed, exit 0, nothing left behind."""
    with locust(tmp_path, "--headless", "-t", "20s", "--api-key", "sk-very-secret") as process:
        loaded(tmp_path)
        mine = list(children(process).values())
        assert process.wait(120) == 0, output(tmp_path)
    run = the_run(tmp_path)
    assert {"watch", "load"} == {p.name for p in (run / "evidence").iterdir()}
    assert verify(run).problems == ()
    raw, told = document(run / "raw.json"), document(run / "run.json")
    assert raw["outcome"] == "clean"
    assert all(kind["completed"] >= 1 for kind in raw["iterations"].values())
    assert len(raw["iterations"]) == 5
    records = lines(run, "exchanges.jsonl")
    count = Counter(x["record"] for x in records)
    assert count["opened"] == count["closed"] == told["locust"]["requests"]
    assert "no --host of a server was given" in output(tmp_path)
    assert output(tmp_path).rstrip().endswith(f"judge it: soakproof adjudicate {run.name}")
    assert told["target"]["kind"] == "lemonade"
    assert told["target"]["testbed"] is True
    assert gone(mine)
    assert not any(b"sk-very-secret" in p.read_bytes() for p in run.rglob("*") if p.is_file())
    assert "sk-very-secret" not in output(tmp_path)
    assert told["plan"]["users"] == told["arguments"]["num_users"] == 2
    assert told["target"]["build"] == f"xllamacpp {metadata.version('xllamacpp')}"


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_drains_and_seals(tmp_path: Path, how: signal.Signals):
    with locust(tmp_path, "--headless", "-t", "5m") as process:
        run = loaded(tmp_path)
        mine = list(children(process).values())
        process.send_signal(how)
        assert process.wait(90) == 0, output(tmp_path)
    assert verify(run).problems == ()
    assert {x["id"] for x in lines(run, "exchanges.jsonl") if x["record"] == "opened"} == {
        x["id"] for x in closed(run)
    }
    assert "stopped" not in {x["failure"] for x in closed(run)}
    assert {x["end"] for x in lines(run, "iterations.jsonl")} == {"completed"}
    assert gone(mine)


def test_a_terminal_that_is_closed_drains_and_seals(tmp_path: Path):
    """The kernel sends SIGHUP then, and nothing that is said is read any more."""
    ours, its = pty.openpty()
    over = threading.Event()

    def read() -> None:
        while not over.is_set():
            if select.select([ours], [], [], 0.1)[0]:
                os.read(ours, 1 << 16)

    with locust(tmp_path, "--headless", "-t", "5m", terminal=its) as process:
        os.close(its)
        reader = threading.Thread(target=read)
        reader.start()
        run = loaded(tmp_path)
        mine = list(children(process).values())
        over.set()
        reader.join()
        os.close(ours)
        assert process.wait(90) == 0
    assert verify(run).problems == ()
    assert document(run / "raw.json")["ended"]["why"] == "interrupt"
    assert "stopped" not in {x["failure"] for x in closed(run)}
    assert gone(mine)


def test_a_second_ctrl_c_does_not_wait_and_still_seals(tmp_path: Path):
    with locust(tmp_path, "--headless", "-t", "5m", "-u", "4") as process:
        run = loaded(tmp_path)
        process.send_signal(signal.SIGINT)
        wait_for(lambda: "draining" in output(tmp_path) or process.poll() is not None, 20)
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        code = process.wait(60)
    assert code in (0, 3), output(tmp_path)
    assert verify(run).problems == ()


@pytest.mark.parametrize("stopped", [(), ("watch", "gateway", "engine")], ids=["none", "all"])
def test_kill_9_of_locust_leaves_nothing_running_and_a_run_that_recovers(
    tmp_path: Path, stopped: tuple[str, ...]
):
    with locust(tmp_path, "--headless", "-t", "5m") as process:
        run = loaded(tmp_path)
        mine = list(children(process).values())
        assert len(mine) == 3
        for role in stopped:
            children(process)[role].suspend()
        process.kill()
        process.wait()
        wait_for(lambda: gone(mine), 10, f"still there: {mine}")
    assert not verify(run).sealed
    assert (run / "evidence/watch/SEAL").is_file()  # by the watch itself
    done = recover(run)
    assert any("sealed" in line for line in done)
    assert verify(run).problems == ()
    assert verify(run).recovered
    code, verdict = adjudicated(run)
    assert (code, verdict["outcome"]) == (2, "INCONCLUSIVE")
    assert {("evidence", "seal"), ("coverage", "watch")} <= findings(verdict, "INCONCLUSIVE")


@pytest.mark.parametrize("role", ["engine", "gateway", "watch"])
def test_kill_9_of_a_server_or_the_watch_ends_in_a_sealed_run_that_says_so(tmp_path: Path, role: str):
    with locust(tmp_path, "--headless", "-t", "12s") as process:
        run = loaded(tmp_path)
        psutil.Process(children(process)[role].pid).kill()
        code = process.wait(120)
    assert verify(run).problems == ()
    told = {e["what"] for node in ("load", "watch") for e in lines(run, "events.jsonl", node)}
    judged, verdict = adjudicated(run)
    if role == "watch":
        assert "child_ended" in told
        assert output(tmp_path).count("the watch has ended by itself") == 2  # at once, and at the end
        assert judged == 2
        assert ("coverage", "watch") in findings(verdict, "INCONCLUSIVE")
    elif role == "engine":  # the gateway reloads it, and may replay a request unseen: only the pid tells
        assert "restart" in told
        assert judged == 1
        assert ("slots", "restarted") in findings(verdict, "FAIL")
    else:
        assert code == 1, output(tmp_path)
        assert {x["failure"] for x in closed(run) if x["outcome"] == "fail"} & {"reset", "connect"}
        assert judged == 1
        assert ("slots", "gone") in findings(verdict, "FAIL")
        (told,) = [f["answer"] for f in verdict["findings"] if f["subject"] == "gone"]
        assert "front at " in told
        assert "did not come back" in told
        assert "the testbed has ended by itself" in output(tmp_path)


def test_a_target_that_goes_away_is_not_hammered(tmp_path: Path):
    """Users back off while nobody is there: seconds of absence cost few requests."""
    with locust(tmp_path, "--headless", "-t", "10s", "-u", "4") as process:
        run = loaded(tmp_path)
        children(process)["gateway"].kill()
        process.wait(120)
    refused = [x for x in closed(run) if x["failure"] == "connect"]
    assert 1 <= len(refused) <= 100


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--plan", "quikc"], "quick"),
        (["--host", "localhost:1"], "address"),
        (["--host", "http://127.0.0.1:9"], "does not answer"),
        (["--tags", "nosuchkind"], "names of its kinds: structured_json"),
        (["--tags", "isolation", "isolatoin"], "did you mean 'isolation'?"),
        (
            ["--exclude-tags", "structured_json,isolation"],
            "apart by spaces: --exclude-tags structured_json isol",
        ),
        (
            ["--exclude-tags", "isolation,nope"],
            "no kind 'isolation,nope'\n  names stand apart by spaces; they",
        ),
        (["--processes", "2"], "not supported"),
        (["--testbed-model", "/no/such/file.gguf"], "file.gguf"),
        (["--runs", "/proc/nowhere"], "--runs"),
        (["--model", "nope"], "the testbed has no model 'nope'"),
        (["--host", ""], "--host: expected a value"),
        (["--host", " "], "--host: expected a value"),
        (["--host", "http://user:sk-secret@127.0.0.1:1"], "a key goes into --api-key"),
        (["--host", "user:sk-secret@127.0.0.1:1"], "'[removed]@127.0.0.1:1' is not an address"),
        (["--runs", ""], "--runs: expected a value"),
        (["--api-key", ""], "--api-key: expected a value"),
        (["--html", ""], "--html: expected a value"),
        (["--csv", " "], "--csv: expected a value"),
        (["--server-log", ""], "--server-log: expected a value"),
        (["--testbed-model", " "], "--testbed-model: expected a value"),
        (["--autoquit", "3"], "--autoquit ends the web UI after a load that --autostart began"),
        (["-t", "9999h"], "at most 366 days"),
        (["-t", "99999999999h"], "a number is too large"),
        (["-f", f"{ROOT}/locustfiles/quick.py,{ROOT}/locustfiles/soak.py"], "one locustfile at a time"),
    ],
)
def test_what_is_wrong_ends_with_64_before_any_load(tmp_path: Path, arguments: list[str], told: str):
    with locust(tmp_path, "--headless", "-t", "5s", *arguments) as process:
        assert process.wait(60) == 64, output(tmp_path)
    assert told in output(tmp_path)
    assert "Traceback" not in output(tmp_path)
    assert "secret" not in output(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["locust.log"]


def test_tags_choose_kinds(tmp_path: Path):
    arguments = ["-u", "3", "--tags", "structured_json", "--reset-stats"]
    with locust(tmp_path, "--headless", "-t", "8s", *arguments) as process:
        assert process.wait(90) == 0, output(tmp_path)
    run = the_run(tmp_path)
    assert set(document(run / "raw.json")["iterations"]) == {"structured_json"}
    told = document(run / "run.json")
    plan = told["plan"]
    assert [(k["name"], k["count"]) for k in plan["kinds"]] == [("structured_json", 2)]
    assert set(plan["left_out"]) == {"isolation", "cache_pair", "cancellation", "long_prose"}
    assert "not asked, by --tags or the plan's own [short]: isolation, cache_pair" in output(tmp_path)
    assert (plan["users"], plan["deck"], plan["duration_s"]) == (3, 2, 8)
    assert told["arguments"]["tags"] == ["structured_json"]
    assert "stats_reset" in [e["what"] for e in lines(run, "events.jsonl")]


def test_two_starts_from_the_web_ui_are_two_runs(tmp_path: Path, unused_port: int):
    import httpx

    with locust(tmp_path, "--web-port", str(unused_port)) as process:
        ui = httpx.Client(base_url=f"http://127.0.0.1:{unused_port}", timeout=60, trust_env=False)
        wait_for(lambda: "Starting web interface" in output(tmp_path), 30)
        for number in (1, 2):
            wait_for(lambda: _answers(ui), 20)
            assert ui.post("/swarm", data={"user_count": 2, "spawn_rate": 2}).json()["success"]
            wait_for(
                lambda n=number: (
                    (tmp_path / "runs").exists() and len(list((tmp_path / "runs").iterdir())) == n
                )
            )
            loaded(tmp_path, 2)
            assert ui.post("/stop").json()["success"]
            wait_for(lambda: verify(the_run(tmp_path)).sealed, 60)
            time.sleep(1.1)  # a run's name has seconds
        process.send_signal(signal.SIGINT)
        process.wait(30)
    runs = sorted((tmp_path / "runs").iterdir())
    assert len(runs) == 2
    assert all(verify(run).problems == () for run in runs)
    for run in runs:  # what was in flight at the stop came to its own end
        stopping = document(run / "run.json")["load_stopping_ns"]
        iterations = lines(run, "iterations.jsonl")
        assert any(x["ended_ns"] > stopping for x in iterations)
        assert {x["end"] for x in iterations} == {"completed"}
        assert {x["outcome"] for x in closed(run)} == {"ok"}
        assert len(closed(run)) == sum(x["record"] == "opened" for x in lines(run, "exchanges.jsonl"))


def test_a_wrong_start_in_the_web_ui_is_told_and_its_run_time_counts_from_the_load(
    tmp_path: Path, unused_port: int
):
    import httpx

    with locust(tmp_path, "--web-port", str(unused_port)) as process:
        ui = httpx.Client(base_url=f"http://127.0.0.1:{unused_port}", timeout=60, trust_env=False)
        wait_for(lambda: _answers(ui), 30)
        form = {"user_count": 3, "spawn_rate": 3}
        for odd, why in (
            ({"host": "http://127.0.0.1:9"}, "does not answer"),
            ({"host": ""}, "Host is empty"),
            ({"runs": str(tmp_path), "api_key": "x"}, "no fields of this page: api_key, runs"),
            ({"user_count": 1_000_000_000}, "expected 1 to 10000"),
        ):
            answer = ui.post("/swarm", data={**form, **odd}).json()
            assert not answer["success"]
            assert why in answer["message"]
        for named in ({"Origin": "http://evil.example"}, {"Host": "evil.example"}):
            assert ui.post("/swarm", data=form, headers=named).status_code == 403
        assert "does not answer" in ui.get("/logs").text
        assert ui.get("/stats/requests").json()["state"] == "ready"
        assert not (tmp_path / "runs").exists()

        form = {**form, "host": "http://testbed", "run_time": "8s"}
        answer = ui.post("/swarm", data=form).json()
        assert (answer["success"], answer["host"]) == (True, "http://testbed")
        assert document(the_run(tmp_path) / "run.json")["state"] == "running"
        ratios = ui.get("/tasks").json()["total"]["SoakUser"]["tasks"]["Cards"]["tasks"]
        assert ratios["isolation"]["ratio"] > ratios["long_prose"]["ratio"]  # as the plan mixes them
        form["user_count"] = 4
        assert ui.post("/swarm", data=form).json()["success"]  # an edit of the load, not a start
        run = loaded(tmp_path, 2)
        ui.post("/stats/reset")
        wait_for(lambda: verify(run).sealed, 90)
        process.send_signal(signal.SIGINT)
        process.wait(30)
    told = document(run / "run.json")
    assert told["ended"]["why"] == "time"
    assert told["load_ended_ns"] - told["load_started_ns"] >= 7.9e9
    assert (told["plan"]["users"], told["plan"]["duration_s"]) == (3, 8)
    assert [change["users"] for change in told["users_changed"]] == [4]
    assert "stats_reset" in [e["what"] for e in lines(run, "events.jsonl")]
    assert "Traceback" not in output(tmp_path)


def test_fewer_users_in_mid_run_are_recorded_and_end_what_they_began(tmp_path: Path, unused_port: int):
    import httpx

    with locust(tmp_path, "--web-port", str(unused_port)) as process:
        ui = httpx.Client(base_url=f"http://127.0.0.1:{unused_port}", timeout=60, trust_env=False)
        wait_for(lambda: _answers(ui), 30)
        form = {"user_count": 4, "spawn_rate": 4}
        assert ui.post("/swarm", data={**form, "run_time": "3s"}).json()["success"]
        run = loaded(tmp_path, 2)
        assert ui.post("/swarm", data={**form, "user_count": 1}).json()["success"]  # and no run time
        wait_for(lambda: ui.get("/stats/requests").json()["user_count"] == 1, 60)
        time.sleep(3)
        assert ui.post("/stop").json()["success"]
        wait_for(lambda: verify(run).sealed, 90)
        process.send_signal(signal.SIGINT)
        process.wait(30)
    told = document(run / "run.json")
    assert told["ended"]["why"] == "stopped"
    assert [change["users"] for change in told["users_changed"]] == [1]
    assert "users_changed" in [e["what"] for e in lines(run, "events.jsonl")]
    assert {x["end"] for x in lines(run, "iterations.jsonl")} == {"completed"}
    assert {x["outcome"] for x in closed(run)} == {"ok"}


def test_starts_and_stops_of_the_web_ui_in_each_others_way_leave_sealed_runs(
    tmp_path: Path, unused_port: int
):
    import httpx

    def start(_: int) -> bool:
        form = {"user_count": 1, "spawn_rate": 1}
        return ui.post("/swarm", data=form).json()["success"]

    with locust(tmp_path, "--web-port", str(unused_port)) as process, ThreadPoolExecutor(6) as several:
        ui = httpx.Client(base_url=f"http://127.0.0.1:{unused_port}", timeout=60, trust_env=False)
        wait_for(lambda: _answers(ui), 30)
        starts = several.map(start, range(3))
        wait_for(lambda: list((tmp_path / "runs").glob("*/testbed")))
        assert {r.status_code for r in several.map(lambda _: ui.post("/stop"), range(3))} == {200}
        assert sum(starts) == 0
        wait_for(lambda: verify(the_run(tmp_path)).sealed)
        assert "stopped before the load began" in document(the_run(tmp_path) / "run.json")["ended"]["reason"]

        time.sleep(1.1)  # a run's name has seconds
        again = several.submit(start, 0)  # where Locust has stopped before
        wait_for(lambda: len(list((tmp_path / "runs").glob("*/testbed"))) == 2)
        ui.post("/stop")
        assert not again.result()

        time.sleep(1.1)
        watched = len(list((tmp_path / "runs").glob("*/evidence/watch/SEAL"))) + 1
        assert sum(several.map(start, range(3))) == 1
        several.submit(ui.post, "/stop")
        wait_for(lambda: len(list((tmp_path / "runs").glob("*/evidence/watch/SEAL"))) == watched)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
    assert "the run is being sealed" in output(tmp_path)
    runs = list((tmp_path / "runs").iterdir())
    assert len(runs) == 3
    assert all(verify(run).problems == () for run in runs)


def test_ctrl_c_while_a_start_of_the_web_ui_is_prepared_leaves_a_sealed_run(tmp_path: Path, unused_port: int):
    import httpx

    with locust(tmp_path, "--web-port", str(unused_port)) as process, ThreadPoolExecutor(1) as other:
        ui = httpx.Client(base_url=f"http://127.0.0.1:{unused_port}", timeout=60, trust_env=False)
        wait_for(lambda: _answers(ui), 30)
        other.submit(ui.post, "/swarm", data={"user_count": 1, "spawn_rate": 1})
        wait_for(lambda: list((tmp_path / "runs").glob("*/testbed")))
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 3
    assert verify(the_run(tmp_path)).problems == ()


def _answers(ui) -> bool:
    import httpx

    try:
        return ui.get("/").status_code == 200
    except httpx.HTTPError:
        return False


def test_slots_are_followed_to_a_reloaded_backend(tmp_path: Path):
    """Kill -9 of the engine moves it to another port; cancels after that are still judged."""
    with locust(tmp_path, "--headless", "-t", "5m", "--tags", "cancellation") as process:
        run = loaded(tmp_path, 3)
        children(process)["engine"].kill()
        wait_for(lambda: any(e["what"] == "restart" for e in lines(run, "events.jsonl", "watch")), 30)
        seen = len(lines(run, "checks.jsonl"))

        def judged() -> bool:
            later = lines(run, "checks.jsonl")[seen + 4 :]  # past the iteration that the kill fell into
            return any(c["name"] == "cancel.released" and c["outcome"] == "pass" for c in later)

        wait_for(judged, 60, f"no released slot was seen: {lines(run, 'checks.jsonl')[-8:]}")
        process.send_signal(signal.SIGINT)
        process.wait(90)
