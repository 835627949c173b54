"""A whole soak whose plan has a guard: what is left of it when the guard ends the load."""

import signal
from pathlib import Path

import psutil
import pytest

from soakproof.run import verify
from soakproof.target import Credentials, examine
from soakproof.testbed.launch import Testbed
from tests.load.soaks import adjudicated, children, document, lines, loaded, locust, output, the_run, wait_for

pytestmark = pytest.mark.timeout(240)
FLOOR = f"{psutil.virtual_memory().total - 1} B"  # more than can be available
PLAN = """
users = 1
[mix]
structured_json = 1
[guard]
available_floor = "FLOOR"
""".replace("FLOOR", FLOOR)


def write_plan(folder: Path, text: str) -> None:
    (folder / "scenarios").mkdir()
    (folder / "scenarios/guarded.toml").write_text(text)


def soaked(folder: Path, guard: str = "") -> int:
    """The exit code of a soak by the plan with more in its [guard]."""
    write_plan(folder, PLAN + guard)
    with locust(folder, "--headless", "-t", "60s", "--plan", "guarded") as process:
        return process.wait(120)


def test_the_backend_is_ended_and_the_run_is_sealed_and_never_passes(tmp_path: Path) -> None:
    assert soaked(tmp_path, 'then = "end"') == 1
    run = the_run(tmp_path)
    assert verify(run).problems == ()
    assert not verify(run).recovered
    assert document(run / "raw.json")["ended"]["why"] == "guard"
    told = {line["what"]: line["details"] for line in lines(run, "events.jsonl", "watch")}
    assert told["guard_trip"]["caused_by"]
    assert (told["guard_action"]["what"], told["guard_action"]["done"]) == ("end", True)
    assert "the load ends here: " in output(tmp_path)
    code, verdict = adjudicated(run)
    assert [(f["subject"], f["answer"]) for f in verdict["findings"] if f["outcome"] == "FAIL"] == []
    assert code == 2
    assert any("The guard ended the load" in f["answer"] for f in verdict["findings"])


def test_a_required_limit_that_cannot_be_measured_refuses_the_run(tmp_path: Path) -> None:
    assert soaked(tmp_path, 'vram_ceiling = "1 GiB"\nrequire = ["vram"]') == 3
    assert "vram is required and cannot be measured" in output(tmp_path)
    run = the_run(tmp_path)
    assert verify(run).sealed
    assert lines(run, "exchanges.jsonl") == []


def test_a_floor_that_this_host_can_never_have_is_refused(tmp_path: Path) -> None:
    write_plan(tmp_path, PLAN.replace(FLOOR, "409600 GiB"))
    with locust(tmp_path, "--headless", "-t", "60s", "--plan", "guarded") as process:
        assert process.wait(60) == 64
    assert "[guard]: available_floor: 409,600.0 GiB can never be available on this host" in output(tmp_path)


def test_a_guard_that_could_not_act_on_this_server_is_refused(tmp_path: Path) -> None:
    write_plan(tmp_path, PLAN + 'then = "unload"')
    with Testbed.start(tmp_path / "testbed") as pair:
        bare = examine(pair.url, "llm", Credentials()).describe()["backend_url"]
        with locust(tmp_path, "--headless", "-t", "60s", "--plan", "guarded", "--host", bare) as process:
            assert process.wait(60) == 64
    assert "then = 'unload': only Lemonade can unload a model" in output(tmp_path)
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
def test_no_load_goes_on_without_the_guard_that_its_plan_asks_for(
    tmp_path: Path, how: signal.Signals
) -> None:
    write_plan(tmp_path, PLAN.replace(FLOOR, "1 MiB"))
    with locust(tmp_path, "--headless", "-t", "5m", "--plan", "guarded") as process:
        run = loaded(tmp_path)
        children(process)["watch"].send_signal(how)
        assert process.wait(120) == 1
    assert document(run / "raw.json")["ended"]["why"] == "unguarded"
    assert "and with it the guard that the plan asks for" in output(tmp_path)
    assert "the run goes on" not in output(tmp_path)
    code, verdict = adjudicated(run)
    assert code == 2
    assert any("since its guard was lost" in f["answer"] for f in verdict["findings"])


def test_a_guard_that_trips_while_the_load_drains_ends_what_is_in_flight(tmp_path: Path) -> None:
    """Here since the watch is killed, with which a guard that the plan asks for is lost."""
    plan = PLAN.replace(FLOOR, "1 MiB").replace("structured_json", "long_prose")
    write_plan(tmp_path, f'{plan}[kind.long_prose]\nprompt = "200 tokens"\nanswer = "8000 tokens"\n')
    with locust(tmp_path, "--headless", "-t", "60s", "--plan", "guarded") as process:
        run = loaded(tmp_path, 0)
        wait_for(lambda: any(x["record"] == "opened" for x in lines(run, "exchanges.jsonl")))
        process.send_signal(signal.SIGINT)
        wait_for(lambda: "draining" in output(tmp_path))
        children(process)["watch"].kill()
        assert process.wait(60) == 3  # nothing was completed
    assert document(run / "raw.json")["ended"]["why"] == "unguarded"
    assert "the guard that the plan asks for" in output(tmp_path)
    assert adjudicated(run)[0] != 0
