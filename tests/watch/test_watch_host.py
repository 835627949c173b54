"""Processor, temperatures, control groups and GPUs without a source, on written trees and on this machine."""

import os
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from soakproof.watch.amdgpu import AmdGpu
from soakproof.watch.cgroup import Cgroup, group_path
from soakproof.watch.cpu import CORES_LIMIT, Cpu, parse_load, parse_ticks, shares
from soakproof.watch.gpu_memory import GpuMemory
from soakproof.watch.known import Known
from soakproof.watch.memory import Memory, Pressure
from soakproof.watch.other_gpus import OtherGpus
from soakproof.watch.processes import Processes
from soakproof.watch.settings import WatchConfig
from soakproof.watch.source import Reading, Source, read_bounded
from soakproof.watch.thermal import Thermal

TREES = Path(__file__).parent / "trees"
GFX1151, NAVI31, NONE = TREES / "gfx1151", TREES / "navi31", TREES / "none"


def read(source: Source) -> Sequence[Any]:
    return trio.run(read_bounded, source)


def known(**pids: int) -> Known:
    there = Known(WatchConfig())
    there.processes |= pids
    return there


def cgroup(tree: Path, **pids: int) -> Cgroup:
    return Cgroup(f"{tree}/proc", f"{tree}/sys", known(**pids))


@pytest.fixture
def host(tmp_path: Path) -> Path:
    """A copy of the written integrated GPU's host, to be changed."""
    return Path(shutil.copytree(GFX1151, tmp_path / "host"))


def test_the_first_reading_of_the_processor_has_no_shares() -> None:
    (reading,) = read(Cpu(f"{GFX1151}/proc", f"{GFX1151}/sys"))
    assert (reading.state, reading.reason) == ("value", "")
    assert reading.values == {
        "cores": 4,
        "busy_percent": None,
        "stolen_percent": None,
        "cores_busy_percent": None,
        "load_1min": 3.2,
        "load_5min": 2.8,
        "load_15min": 1.9,
        "clock_mean_hz": 2643500000,
        "cores_clock_hz": [4950000000, 3000000000, 2000000000, 624000000],
        "governor": "powersave",
    }


def test_shares_are_of_the_time_between_two_readings(host: Path) -> None:
    source = Cpu(f"{host}/proc", f"{host}/sys")
    read(source)
    lines = ["cpu 155060 0 28050 3410250 1050 0 650 50", "cpu0 90060 0 12000 800030 500 0 300 10"]
    (host / "proc/stat").write_text("\n".join(lines))
    (reading,) = read(source)
    assert reading.values["cores_busy_percent"] == [60.0]
    assert reading.values["busy_percent"] == pytest.approx(100 * 110 / 410, abs=0.1)
    assert reading.values["stolen_percent"] == pytest.approx(100 * 50 / 410, abs=0.1)


def test_no_clocks_is_none_with_a_reason() -> None:
    (reading,) = read(Cpu(f"{NONE}/proc", f"{NONE}/sys"))
    assert reading.state == "value"
    assert (reading.values["clock_mean_hz"], reading.values["governor"]) == (None, None)
    assert reading.reason == "cpufreq: no core is shown"


def test_many_cores_are_bounded(tmp_path: Path) -> None:
    ticks = {f"cpu{n}": [n, 0, 0, 1, 0, 0, 0, 0] for n in range(600)} | {"cpu": [1, 0, 0, 1, 0, 0, 0, 0]}
    later = {name: [t[0] + 1, *t[1:]] for name, t in ticks.items()}
    values = shares(ticks, later)
    assert values["cores"] == 600
    assert values["cores_busy_percent"] == [100.0] * CORES_LIMIT
    (tmp_path / "stat").write_text("cpu 1 2 3 4 5 6 7 8\n")
    for n in range(300):
        folder = tmp_path / f"devices/system/cpu/cpu{n}/cpufreq"
        folder.mkdir(parents=True)
        (folder / "scaling_cur_freq").write_text(f"{1000 + n}\n")
    (reading,) = read(Cpu(str(tmp_path), str(tmp_path)))
    assert reading.values["cores_clock_hz"] == [(1000 + n) * 1000 for n in range(CORES_LIMIT)]


def test_a_core_that_went_off_and_a_count_that_went_back() -> None:
    before = {"cpu": [9, 0, 0, 9, 9, 0, 0, 0], "cpu0": [9, 0, 0, 9, 0, 0, 0, 0]}
    now = {"cpu": [10, 0, 0, 10, 5, 0, 0, 0], "cpu1": [1, 0, 0, 1, 0, 0, 0, 0]}
    assert shares(before, now)["busy_percent"] == 50.0
    assert shares(before, now)["cores_busy_percent"] is None
    assert shares(now, now)["busy_percent"] is None


@given(st.text())
def test_whatever_proc_stat_says_is_ticks_or_refused(text: str) -> None:
    try:
        found = parse_ticks(text)
    except ValueError:
        return
    assert all(len(ticks) == 8 for ticks in found.values())


@given(st.one_of(st.none(), st.text()))
def test_load_averages_are_three_numbers_or_none(text: str | None) -> None:
    assert list(parse_load(text)) == ["load_1min", "load_5min", "load_15min"]


def test_zones_profile_and_the_processors_own_sensor() -> None:
    (reading,) = read(Thermal(f"{GFX1151}/sys"))
    assert (reading.state, reading.reason) == ("value", "")
    assert reading.values == {
        "hottest_celsius": 58.0,
        "processor_celsius": 71.2,
        "platform_profile": "performance",
        "zones": [{"zone": "thermal_zone0", "type": "acpitz", "celsius": 58.0}],
    }
    (reading,) = read(Thermal(f"{NONE}/sys"))
    assert reading.state == "unsupported"


def test_a_zone_that_is_off_is_none_and_not_0(host: Path) -> None:
    zone = host / "sys/class/thermal/thermal_zone1"
    (zone / "temp").mkdir(parents=True)  # reading it fails with EISDIR
    (zone / "type").write_text("iwlwifi_1\n")
    (reading,) = read(Thermal(f"{host}/sys"))
    assert reading.values["zones"][1] == {"zone": "thermal_zone1", "type": "iwlwifi_1", "celsius": None}
    assert reading.values["hottest_celsius"] == 58.0
    assert "temp: " in reading.reason


def test_a_zone_without_a_sensor_has_no_temperature(host: Path) -> None:
    (host / "sys/class/thermal/thermal_zone0/temp").write_text("-263200\n")
    (reading,) = read(Thermal(f"{host}/sys"))
    assert reading.values["zones"][0]["celsius"] is None
    assert reading.values["hottest_celsius"] is None


def test_groups_without_a_limit_and_whose_memory_is_shown() -> None:
    backend, tester = read(cgroup(GFX1151, backend=4242))
    assert backend.source == "cgroup:backend"
    assert backend.values == {
        "pid": 4242,
        "path": "/system.slice/lemonade-server.service",
        "memory_max_bytes": None,
        "memory_high_bytes": None,
        "swap_max_bytes": None,
        "cpu_max_cores": None,
        "unlimited": ["memory_max_bytes", "memory_high_bytes", "swap_max_bytes", "cpu_max_cores"],
        "memory_bytes": 9879000000,
        "swap_bytes": 512000000,
        "oom_events": 0,
        "oom_kills": 0,
        "throttled": None,
        "throttled_us": None,
    }
    assert (tester.source, tester.values["meminfo_shows"]) == ("cgroup:tester", "host")
    assert tester.values["meminfo_total_bytes"] == 131000000 * 1024


def test_a_container_with_less_memory_than_the_host_shows() -> None:
    backend, tester = read(cgroup(NAVI31, backend=2200))
    assert tester.values["memory_max_bytes"] == 16 * 2**30
    assert (tester.values["meminfo_shows"], tester.values["cpu_max_cores"]) == ("host", 4.0)
    assert tester.values["swap_max_bytes"] == 0
    assert tester.values["unlimited"] == ["memory_high_bytes"]
    assert (backend.values["oom_kills"], backend.values["throttled_us"]) == (1, 910000)
    assert backend.reason == ""


def test_a_container_that_is_shown_its_own_memory(host: Path) -> None:
    limit = host / "sys/fs/cgroup/user.slice/user-1000.slice/memory.max"
    limit.write_text(f"{131000000 * 1024}\n")
    (tester,) = read(cgroup(host))
    assert tester.values["memory_max_bytes"] == 131000000 * 1024  # of a group above its own
    assert tester.values["meminfo_shows"] == "container"


def test_a_limit_that_cannot_be_read_is_not_the_same_as_none_set(host: Path) -> None:
    (host / "sys/fs/cgroup/user.slice/memory.max").write_text("many\n")
    (tester,) = read(cgroup(host))
    assert tester.values["memory_max_bytes"] is None
    assert tester.values["unlimited"] == ["memory_high_bytes", "swap_max_bytes", "cpu_max_cores"]
    assert tester.reason == "memory.max: expected a limit, found 'many'"


def test_groups_of_the_first_version_of_another_container_and_of_nobody(host: Path) -> None:
    (reading,) = read(cgroup(NONE))
    assert reading.state == "unsupported"
    assert "control groups v2 do not control memory here" in reading.reason
    (host / "proc/4242/cgroup").write_text("0::/../../other\n")
    backend, gone, _ = read(cgroup(host, backend=4242, front=99))
    assert (backend.state, "outside" in backend.reason) == ("unsupported", True)
    assert (gone.source, gone.state, gone.reason) == ("cgroup:front", "error", "process 99 is gone")


@given(st.text())
def test_a_groups_path_begins_at_the_root(text: str) -> None:
    path = group_path(text)
    assert path is None or str(path).startswith("/")


def test_gpus_of_other_makers_are_named() -> None:
    (reading,) = read(OtherGpus(f"{GFX1151}/sys"))
    assert (reading.source, reading.state) == ("gpu:card0", "unsupported")
    assert "Intel, driver i915" in reading.reason
    (reading,) = read(OtherGpus(f"{NONE}/sys"))
    assert "virtio, driver virtio-pci" in reading.reason
    assert read(OtherGpus(f"{NAVI31}/sys")) == []
    assert read(OtherGpus("/nonexistent")) == []


def test_an_nvidia_card_is_another_source_s_unless_nvml_cannot_see_it(host: Path) -> None:
    device = host / "sys/class/drm/card0/device"
    (device / "vendor").write_text("0x10de\n")
    (device / "uevent").write_text("DRIVER=nvidia\n")
    assert read(OtherGpus(f"{host}/sys")) == []
    (device / "uevent").write_text("DRIVER=nouveau\n")
    (reading,) = read(OtherGpus(f"{host}/sys"))
    assert "driver nouveau" in reading.reason


HANGING: dict[str, tuple[str, Callable[[Path], Source]]] = {
    "cpu": ("proc/stat", lambda host: Cpu(f"{host}/proc", f"{host}/sys")),
    "cpu clocks": (
        "sys/devices/system/cpu/cpu2/cpufreq/scaling_cur_freq",
        lambda host: Cpu(f"{host}/proc", f"{host}/sys"),
    ),
    "thermal": ("sys/class/thermal/thermal_zone0/temp", lambda host: Thermal(f"{host}/sys")),
    "cgroup": ("proc/4242/cgroup", lambda host: cgroup(host, backend=4242)),
    "gpu": ("sys/class/drm/card0/device/vendor", lambda host: OtherGpus(f"{host}/sys")),
}


@pytest.mark.parametrize("what", HANGING)
def test_a_file_that_hangs_is_a_timeout_and_delays_no_other_process(host: Path, what: str) -> None:
    name, make = HANGING[what]
    (host / name).unlink()
    os.mkfifo(host / name)
    first, *others = read(make(host))
    assert first.state == "timeout"
    assert all(reading.state == "value" for reading in others)


@pytest.mark.skipif(not Path("/proc/stat").exists(), reason="needs Linux")
def numbers(value: Any) -> Iterator[float]:
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from numbers(inner)
    elif isinstance(value, int | float):
        yield value


def told(host: Path, pid: int) -> list[Reading]:
    """By every source of files, of one moment."""
    proc, sys_root, there = f"{host}/proc", f"{host}/sys", known(backend=pid)
    config = WatchConfig(proc_root=proc, sys_root=sys_root, server_pids=(pid,))
    sources: list[Source] = [Memory(proc), Pressure(proc), Cpu(proc, sys_root), Thermal(sys_root)]
    sources += [Cgroup(proc, sys_root, there), GpuMemory(proc, there), AmdGpu(sys_root)]
    sources.append(Processes(config, there))

    async def read_all() -> list[Reading]:
        return [r for source in sources for r in await read_bounded(source) if isinstance(r, Reading)]

    return trio.run(read_all)


def test_what_cannot_be_less_than_none_never_is(host: Path) -> None:
    """Each file in turn with every number negative: its figures are unknown or as they were."""
    pid = 4242
    assert all(number >= 0 for reading in told(host, pid) for number in numbers(reading.values))
    assert sum(reading.state == "value" for reading in told(host, pid)) > 6
    for file in filter(Path.is_file, host.rglob("*")):
        text = file.read_bytes()
        file.write_bytes(re.sub(rb"\d+", b"-7", text))
        for reading in told(host, pid):
            assert "ours" not in reading.reason
            assert all(number >= 0 for number in numbers(reading.values)), (file, reading)
        file.write_bytes(text)


def test_this_machine() -> None:
    async def twice() -> Reading:
        source = Cpu("/proc", "/sys")
        await source.read()
        with trio.fail_after(10):
            while (reading := (await source.read())[0]).values["busy_percent"] is None:
                await trio.sleep(0.02)
        return reading

    values = trio.run(twice).values
    assert 0 <= values["busy_percent"] <= 100
    assert values["cores"] == os.cpu_count()
    (reading, *_) = read(Cgroup("/proc", "/sys", known()))
    assert reading.state in ("value", "unsupported")
