"""Parts of the guard by themselves: processes, who is a backend, what is clear, what hangs."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from soakproof.cli.app import main
from soakproof.watch.guard.clearing import not_clear, not_comparable, not_returned
from soakproof.watch.guard.ending import end
from soakproof.watch.guard.limits import Limits, Measured
from soakproof.watch.guard.lookout import Lookout
from soakproof.watch.guard.measuring import CountGauge, GpuGauge, host_gauges
from soakproof.watch.guard.processes import Process, below, command_of, find, is_there, send
from soakproof.watch.guard.residents import is_backend, residents

GIB = 2**30
GFX1151 = Path(__file__).parent / "trees" / "gfx1151"
linux = pytest.mark.skipif(sys.platform != "linux", reason="signals processes of a Linux host")

# -- processes


@pytest.fixture
def sleeper() -> Iterator["subprocess.Popen[bytes]"]:
    process = subprocess.Popen(["sleep", "100"])
    yield process
    process.kill()
    process.wait()


@linux
def test_a_process_is_signalled(sleeper: "subprocess.Popen[bytes]") -> None:
    found = find(sleeper.pid)
    assert found is not None
    assert (found.parent, found.name, command_of(found.pid)) == (os.getpid(), "sleep", ["sleep", "100"])
    assert send(found, signal.SIGTERM)
    assert sleeper.wait(10) == -signal.SIGTERM
    assert not is_there(found)
    assert not send(found, signal.SIGTERM)


@linux
@pytest.mark.parametrize("pidfds", [True, False])
def test_a_recycled_pid_is_not_touched(
    sleeper: "subprocess.Popen[bytes]", pidfds: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process that was guarded had this pid, and another start time."""
    if not pidfds:
        monkeypatch.delattr(os, "pidfd_open")
    found = find(sleeper.pid)
    assert found is not None
    earlier = replace(found, start_ticks=found.start_ticks - 1)
    assert not send(earlier, signal.SIGKILL)
    ended = trio.run(end, lambda: [earlier], 0.1)
    assert (ended.asked, ended.killed, ended.left) == ((), (), ())
    assert sleeper.poll() is None
    assert send(found, signal.SIGTERM)
    assert sleeper.wait(10) == -signal.SIGTERM


@linux
def test_a_dead_process_that_nobody_has_asked_about_is_not_there() -> None:
    process = subprocess.Popen(["true"])
    until = time.monotonic() + 10
    while (found := find(process.pid)) and not found.is_dead and time.monotonic() < until:
        time.sleep(0.01)
    assert found is not None
    assert found.is_dead
    assert not is_there(found)
    assert process.wait() == 0
    assert find(process.pid) is None
    assert command_of(process.pid) == []


def process(pid: int, parent: int) -> Process:
    return Process(pid, start_ticks=1, parent=parent, session=1, state="S", name="p")


@given(st.lists(st.tuples(st.integers(2, 30), st.integers(1, 30)), unique_by=lambda pair: pair[0]))
def test_below_is_all_that_leads_up_to_the_root(pairs: list[tuple[int, int]]) -> None:
    """Also when what was read at different moments makes a ring."""
    found = {p.pid for p in below(1, [process(*pair) for pair in pairs])}
    parents = dict(pairs)
    for pid in parents:
        seen, at = set(), pid
        while at in parents and at not in seen:
            seen.add(at)
            at = parents[at]
        assert (pid in found) is (at == 1)


# -- other backends


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("llama-server", ["/opt/llama.cpp/llama-server", "-m", "x.gguf"]),
        ("llama-server-ro", ["/opt/llama-server-rocm"]),
        ("lemond", ["/usr/bin/lemond"]),
        ("lemonade-server", ["lemonade-server", "serve"]),
        ("lemonade-router", []),
        ("python3.11", ["/usr/bin/python3.11", "-u", "/opt/bin/lemonade-server-dev", "serve"]),
        ("sh", ["sh", "/usr/local/bin/lemonade"]),
        ("renamed", ["llama-server"]),
    ],
)
def test_backends_are_told_by_their_program(name: str, command: list[str]) -> None:
    assert is_backend(name, command)


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("tail", ["tail", "-f", "/var/log/llama-server.log"]),
        ("vim", ["vim", "lemonade.conf"]),
        ("grep", ["grep", "llama-server"]),
        ("python3", ["python3", "-m", "soakproof", "guard", "--", "llama-server"]),
        ("python3", ["python3", "/opt/venv/bin/soakproof", "guard", "--", "llama-server"]),
        ("sh", ["sh", "-c", "exec true", "llama-server"]),
        ("llama-cli", ["llama-cli"]),
        ("lemondrop", ["lemondrop"]),
        ("kworker/0:0", []),
    ],
)
def test_what_only_mentions_a_backend_is_none(name: str, command: list[str]) -> None:
    assert not is_backend(name, command)


@linux
def test_this_test_is_no_backend() -> None:
    assert os.getpid() not in {process.pid for process, _ in residents()}


# -- what is clear

FOUNDING = Limits(available_floor_bytes=18 * GIB, gtt_ceiling_bytes=90 * GIB, vram_ceiling_bytes=GIB)


@pytest.mark.parametrize(
    ("clear_to", "now", "told"),
    [
        (None, {"available_bytes": 18 * GIB, "gtt_used_bytes": 90 * GIB}, ""),
        (None, {"available_bytes": 17 * GIB}, "17 GiB of memory are available, 18 GiB are wanted"),
        (60 * GIB, {"available_bytes": 59 * GIB}, "59 GiB of memory are available, 60 GiB are wanted"),
        (60 * GIB, {"available_bytes": 60 * GIB}, ""),
        (9 * GIB, {"available_bytes": 10 * GIB}, "10 GiB of memory are available, 18 GiB are wanted"),
        (60 * GIB, {}, "available memory cannot be read, 60 GiB are wanted"),
        (None, {"gtt_used_bytes": 91 * GIB}, "91 GiB of GTT are used already, more than 90 GiB"),
        (None, {"vram_used_bytes": 2 * GIB}, "2 GiB of VRAM are used already, more than 1 GiB"),
        (None, {}, ""),
    ],
)
def test_what_is_clear(clear_to: int | None, now: dict[str, int], told: str) -> None:
    assert not_clear(FOUNDING, clear_to, now) == told


BEFORE = {"available_bytes": 100 * GIB, "gtt_used_bytes": GIB, "vram_used_bytes": GIB}
AT_END = {"available_bytes": 17 * GIB, "gtt_used_bytes": 80 * GIB, "vram_used_bytes": GIB}


@pytest.mark.parametrize(
    ("after", "told"),
    [
        (BEFORE, ()),
        ({"available_bytes": 90 * GIB, "gtt_used_bytes": GIB + 2**28, "vram_used_bytes": 0}, ()),
        (
            {"available_bytes": 55 * GIB, "gtt_used_bytes": 45 * GIB, "vram_used_bytes": GIB},
            (
                "45 GiB of GTT are used, 1 GiB were before the launch",
                "55 GiB of memory are available, 100 GiB were before the launch",
            ),
        ),
        ({"available_bytes": 100 * GIB, "gtt_used_bytes": GIB}, ("VRAM can no longer be read",)),
        ({"gtt_used_bytes": GIB, "vram_used_bytes": GIB}, ("available memory can no longer be read",)),
    ],
)
def test_what_has_come_back(after: dict[str, int], told: tuple[str, ...]) -> None:
    """Others have taken 10 GiB meanwhile; a GPU that hangs keeps what it had."""
    assert not_returned(BEFORE, AT_END, after) == told
    assert not_returned({}, AT_END, after) == ()


def test_memory_that_others_took_is_not_the_commands() -> None:
    """It has ended by itself: what it had taken is not known."""
    assert not_returned(BEFORE, {}, BEFORE | {"available_bytes": 50 * GIB}) == ()


def test_what_was_not_known_before_cannot_be_said_to_be_back() -> None:
    for known in (BEFORE, AT_END):
        assert not_comparable(BEFORE, known, known) == ()
    assert not_comparable({}, {}, {}) == ()  # as a host without a GPU
    without = {"available_bytes": GIB}
    told = ("GTT was not known before the launch", "VRAM was not known before the launch")
    assert not_comparable(without, AT_END, without) == not_comparable(without, {}, AT_END) == told


# -- looking


@linux
def test_a_gpu_that_hangs_delays_no_look_at_memory(tmp_path: Path) -> None:
    """The card's file is a pipe that nobody writes: reading it hangs as a driver does."""
    shutil.copytree(GFX1151, tmp_path / "host")
    used = tmp_path / "host/sys/class/drm/card1/device/mem_info_gtt_used"
    used.unlink()
    os.mkfifo(used)
    limits = Limits(available_floor_bytes=1 << 50, gtt_ceiling_bytes=1)
    gauges = host_gauges(limits, f"{tmp_path}/host/proc", f"{tmp_path}/host/sys")
    lookout = Lookout(limits, gauges, time.monotonic_ns)

    async def look() -> None:
        with trio.fail_after(20):
            decision = await lookout.wait_for_trip()
        assert len(decision.reasons) == 1
        assert "of memory are available" in decision.reasons[0]
        await lookout.look_once()
        assert "gtt" in lookout.unknown()

    try:
        trio.run(look)
    finally:
        os.close(os.open(used, os.O_WRONLY))  # lets the thread go that was left behind


def test_gtt_is_that_of_all_cards_and_vram_of_the_fullest(tmp_path: Path) -> None:
    shutil.copytree(GFX1151, tmp_path / "host")
    cards = tmp_path / "host/sys/class/drm"
    shutil.copytree(cards / "card1", cards / "card2")
    for card, gtt, vram in (("card1", 40, 1), ("card2", 2, 16)):
        (cards / card / "device/mem_info_gtt_used").write_text(f"{gtt * GIB}\n")
        (cards / card / "device/mem_info_vram_used").write_text(f"{vram * GIB}\n")
    gauges = host_gauges(Limits(), f"{tmp_path}/host/proc", f"{tmp_path}/host/sys")
    told = trio.run(Lookout(Limits(), gauges, time.monotonic_ns).look_once)
    assert (told["gtt_used_bytes"], told["vram_used_bytes"]) == (42 * GIB, 16 * GIB)


def hide(used: Path, how: str) -> None:
    """A card's file that hangs, that cannot be read, or that has gone with its card."""
    if how == "gone":
        return shutil.rmtree(used.parent)
    used.unlink()
    if how == "refuses":
        return used.mkdir()
    return os.mkfifo(used)


@linux
@pytest.mark.parametrize("how", ["hangs", "refuses", "gone"])
@pytest.mark.parametrize("field", ["gtt", "vram"])
def test_a_card_that_tells_no_more_is_not_0(tmp_path: Path, field: str, how: str) -> None:
    """Nor is one that fails from the start. What the other card uses trips by itself."""
    shutil.copytree(GFX1151 / "sys/class/drm/card1", tmp_path / "sys/class/drm/card1")
    shutil.copytree(tmp_path / "sys/class/drm/card1", tmp_path / "sys/class/drm/card2")
    hidden, other = (tmp_path / f"sys/class/drm/{c}/device/mem_info_{field}_used" for c in ("card1", "card2"))
    limits = Limits(gtt_ceiling_bytes=200 * GIB, vram_ceiling_bytes=200 * GIB)
    gauge = GpuGauge(str(tmp_path), str(tmp_path / "sys"), limits)
    name = f"{field}_used_bytes"

    async def look() -> int | None:
        return (await gauge.look(time.monotonic_ns)).known().get(name)

    async def looks() -> None:
        assert await look() is not None
        hide(hidden, how)
        for _ in range(2):
            assert await look() is None
        assert "card1" in gauge.why_unknown(name)
        other.write_text(str(201 * GIB))
        assert await look() == 201 * GIB

    try:
        trio.run(looks)
        if how == "refuses" and field == "gtt":
            hide(
                hidden.with_name("mem_info_vram_used"), how
            )  # with its other figure it would only lack this one
            other.write_text(str(GIB))
            gauge = GpuGauge(str(tmp_path), str(tmp_path / "sys"), limits)
            assert trio.run(look) is None
    finally:
        if how == "hangs":
            os.close(os.open(hidden, os.O_WRONLY))  # lets the thread go that was left behind


def test_swap_counts_from_the_first_look(tmp_path: Path) -> None:
    shutil.copytree(GFX1151, tmp_path / "host")
    limits = Limits(swap_growth_bytes=1 << 20)
    meminfo = tmp_path / "host/proc/meminfo"
    lookout = Lookout(limits, host_gauges(limits, f"{tmp_path}/host/proc", "/nowhere"), time.monotonic_ns)
    grown = []
    for free in (8_000_000, 7_000_000, None):
        swap = "" if free is None else f"SwapTotal: 9000000 kB\nSwapFree: {free} kB\n"
        meminfo.write_text(f"MemTotal: 9000 kB\nMemAvailable: 9000 kB\n{swap}")
        grown.append(trio.run(lookout.look_once).get("swap_growth_bytes"))
    assert grown == [0, 1_000_000 * 1024, None]


def test_what_no_gauge_is_for_has_a_reason() -> None:
    limits = Limits(gtt_ceiling_bytes=1, kernel=True, restart=True)
    counts = CountGauge(lambda: None, lambda: None, lambda: "denied")
    lookout = Lookout(limits, [counts], time.monotonic_ns, "elsewhere")
    assert trio.run(lookout.look_once).keys() == {"t_ns"}
    assert lookout.unknown() == {
        "gtt": "elsewhere",
        "kernel": "denied",
        "restart": "no process of a server is watched",
    }


def test_looks_are_kept_for_a_minute_only() -> None:
    lookout = Lookout(Limits(), [], time.monotonic_ns)
    for second in range(200):
        lookout._keep(Measured(t_ns=second * 10**9))
    assert [lookout.samples[0].t_ns, lookout.samples[-1].t_ns] == [139 * 10**9, 199 * 10**9]


# -- other systems


@pytest.mark.parametrize("system", ["win32", "darwin"])
def test_other_systems_say_what_is_not_supported(
    system: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """By a system that says that it is another."""
    monkeypatch.setattr(sys, "platform", system)
    assert main(["guard", "--", "true"]) == 64
    assert "soakproof guard is for Linux" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--require", "gtt", "--", "true"], "no limit of gtt was given"),
        (["--available-floor", "18", "--", "true"], "--available-floor: expected a size with its unit"),
        (["--grace", "soon", "--", "true"], "--grace: expected a duration with its unit"),
        (["--available-floor", "18GiB"], "Missing argument 'COMMAND...'"),
        (["--available-floor", "20000GiB", "--", "true"], "can never be available on this host"),
        (["--runs", "", "--", "true"], "--runs: expected a value, found nothing"),
        (["--", "no-such-command"], "no such command: no-such-command"),
    ],
)
@linux
def test_wrong_usage(arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["guard", *arguments]) == 64
    assert told in capsys.readouterr().err
