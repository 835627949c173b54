"""Recorded machines: the sources say from a recording what they said of the machine; no secret is in it."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from soakproof.cli import main
from soakproof.errors import UsageError
from soakproof.gates.looking import look_at_host
from soakproof.watch.process import read_boot_time
from soakproof.watch.recorded_files import kept
from soakproof.watch.recording import Recording, recorded_pids
from soakproof.watch.settings import WatchConfig
from soakproof.watch.source import Reading

TREES = Path(__file__).parent / "trees"
WRITTEN: dict[str, tuple[int, ...]] = {"gfx1151": (4242, 4100), "navi31": (2200,), "none": ()}
GONE = 2**22 + 1  # above the largest pid that Linux gives
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="records a Linux host")


def look(root: Path, *pids: int) -> dict[str, Reading]:
    config = WatchConfig(server_pids=pids, proc_root=f"{root}/proc", sys_root=f"{root}/sys")
    return {reading.source: reading for reading in look_at_host(config)}


def record(
    folder: Path, root: str, pids: Sequence[int] = (), seconds: int = 0, bound_s: float = 5
) -> Recording:
    recording = Recording(folder, Path(f"{root}/proc"), Path(f"{root}/sys"), pids, bound_s)
    recording.run(seconds)
    return recording


@pytest.mark.parametrize("name", WRITTEN)
def test_every_source_says_of_a_recording_what_it_said_of_the_machine(name: str, tmp_path: Path) -> None:
    record(tmp_path / "copy", str(TREES / name), WRITTEN[name])
    assert recorded_pids(tmp_path / "copy") == WRITTEN[name]
    machine, copy = look(TREES / name, *WRITTEN[name]), look(tmp_path / "copy", *WRITTEN[name])
    assert {s: (r.state, r.values) for s, r in copy.items()} == {
        s: (r.state, r.values) for s, r in machine.items()
    }


STATES: dict[str, dict[str, str]] = {
    "gfx1151": {
        "memory": "value",
        "psi": "value",
        "cpu": "value",
        "thermal": "value",
        "amdgpu:card1": "value",
        "nvidia": "unsupported",
        "gpu:card0": "unsupported",
        "process:backend": "value",
        "process:front": "value",
        "gpu_memory:backend": "value",
        "gpu_memory:front": "unsupported",
        "cgroup:backend": "value",
        "cgroup:front": "value",
        "cgroup:tester": "value",
    },
    "navi31": {
        "memory": "value",
        "psi": "value",
        "cpu": "value",
        "thermal": "value",
        "amdgpu:card0": "value",
        "nvidia": "unsupported",
        "process:backend": "value",
        "gpu_memory:backend": "value",
        "cgroup:backend": "value",
        "cgroup:tester": "value",
    },
    "none": {
        "memory": "value",
        "psi": "unsupported",
        "cpu": "value",
        "thermal": "unsupported",
        "amdgpu": "unsupported",
        "nvidia": "unsupported",
        "gpu:card0": "unsupported",
        "cgroup:tester": "unsupported",
    },
}


@pytest.mark.parametrize("name", STATES)
def test_what_can_be_read_of_each_written_tree(name: str) -> None:
    found = look(TREES / name, *WRITTEN[name])
    assert {source: reading.state for source, reading in found.items()} == STATES[name]


@pytest.mark.parametrize(
    ("file", "sources"),
    [
        ("proc/meminfo", ["memory", "cgroup:tester"]),
        ("proc/pressure/io", ["psi"]),
        ("proc/loadavg", ["cpu"]),
        ("sys/class/hwmon/hwmon3/temp1_input", ["thermal"]),
        ("sys/class/drm/card1/device/hwmon/hwmon5/temp1_label", ["amdgpu:card1"]),
        ("proc/4242/status", ["process:backend"]),
        ("proc/4242/fdinfo/12", ["gpu_memory:backend"]),
        ("sys/fs/cgroup/system.slice/lemonade-server.service/memory.current", ["cgroup:backend"]),
    ],
)
def test_a_file_that_hangs_is_a_timeout_of_those_who_read_it(
    file: str, sources: list[str], tmp_path: Path
) -> None:
    host = Path(shutil.copytree(TREES / "gfx1151", tmp_path / "host"))
    (host / file).unlink()
    os.mkfifo(host / file)
    states = {name: reading.state for name, reading in look(host, 4242).items()}
    well = {name: state for name, state in STATES["gfx1151"].items() if not name.endswith(":front")}
    assert states == {**well, **dict.fromkeys(sources, "timeout")}


@linux_only
def test_a_tree_of_odd_files_is_read_all_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A FIFO in the place of what names a process, no numbers, no text, and a file of a TiB."""
    host = Path(shutil.copytree(TREES / "gfx1151", tmp_path / "host"))
    (host / "proc/4242/stat").unlink()
    os.mkfifo(host / "proc/4242/stat")
    (host / "proc/loadavg").write_text("nan inf 1.5 1/2 3\n")
    stat = (host / "proc/stat").read_text()
    (host / "proc/stat").write_text(re.sub("btime .*", "btime nan", stat))
    vendor = host / "sys/class/drm/card0/device/vendor"
    vendor.write_bytes(b"\xff\xfe\x00")
    os.truncate(host / "proc/pressure/io", 1 << 40)
    command = ["watch", "sources", "--root", str(host), "--server-pid", "4242", "--json"]
    assert main(command) == 0
    printed = capsys.readouterr().out
    assert "NaN" not in printed
    assert "Infinity" not in printed
    told = {one["source"]: one for one in map(json.loads, printed.splitlines())}
    assert told["process:backend"]["state"] == "timeout"
    assert told["amdgpu:card1"]["state"] == "value"
    loads = [told["cpu"]["values"][f"load_{minutes}min"] for minutes in (1, 5, 15)]
    assert loads == [None, None, 1.5]
    assert told["psi"]["state"] == "error"
    assert read_boot_time(host / "proc") is None
    assert read_boot_time(TREES / "gfx1151" / "proc") is not None


def test_a_recording_leaves_out_what_hangs_and_names_it(tmp_path: Path) -> None:
    host = Path(shutil.copytree(TREES / "gfx1151", tmp_path / "host"))
    hung = host / "sys/class/drm/card1/device/gpu_busy_percent"
    hung.unlink()
    os.mkfifo(hung)
    recording = record(tmp_path / "copy", str(host), (4242, 99), bound_s=0.3)
    assert "did not come back" in recording.refused["GPUs"]
    told = json.loads((tmp_path / "copy/manifest.json").read_text())
    assert set(told["refused"]) >= {"GPUs", f"{host}/proc/99/stat"}
    assert (tmp_path / "copy/proc/meminfo").is_file()
    assert look(tmp_path / "copy", 4242)["cgroup:backend"].state == "value"


@pytest.fixture
def process() -> Iterator[int]:
    """A process with secrets where a careless recording would find them."""
    command = [sys.executable, "-c", "import sys; print(flush=True); sys.stdin.read()", "--api-key=hunter2"]
    environment = {**os.environ, "API_KEY": "hunter2"}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as child:
        assert child.stdout is not None
        child.stdout.readline()
        yield child.pid
        child.kill()


@linux_only
def test_this_machine_and_a_recording_of_it(process: int, tmp_path: Path) -> None:
    (tmp_path / "hunter2").write_text("")
    record(tmp_path / "copy", "", [process], seconds=1)
    machine, copy = look(Path("/"), process), look(tmp_path / "copy", process)
    at_hand = {"nvidia"}  # which asks a driver and not files
    assert {s: r.state for s, r in copy.items() if s not in at_hand} == {
        s: r.state for s, r in machine.items() if s not in at_hand
    }
    assert copy["process:backend"].values["name"] == machine["process:backend"].values["name"]
    assert look(tmp_path / "copy/later/0001", process)["process:backend"].state == "value"
    files = [file for file in (tmp_path / "copy").rglob("*") if file.is_file()]
    assert not [file for file in files if b"hunter2" in file.read_bytes()]
    assert not [file for file in files if file.name in ("cmdline", "environ", "maps")]


def test_only_the_lines_that_are_needed_are_kept() -> None:
    stat = "cpu  1 2\ncpu0 1 2\nintr 5 0 0\nbtime 7\nprocesses 9\n"
    assert kept("proc", "stat", stat) == "cpu  1 2\ncpu0 1 2\nbtime 7\n"
    assert (
        kept("process", "status", "Name:\tx\nUid:\t5\nGroups:\t7\nVmRSS:\t3 kB\n")
        == "Name:\tx\nVmRSS:\t3 kB\n"
    )
    assert kept("sys", "uevent", "DRIVER=amdgpu\nPCI_SUBSYS_ID=1:2\n") == "DRIVER=amdgpu\n"
    assert kept("process", "fdinfo", "pos:\t0\ndrm-driver:\txe\n") == "drm-driver:\txe\n"
    assert kept("sys", "vendor", "0x1002\n") == "0x1002\n"


def test_a_folder_that_holds_something_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("")
    with pytest.raises(UsageError, match="not empty"):
        record(tmp_path, str(TREES / "none"))
    assert [file.name for file in tmp_path.iterdir()] == ["mine"]


def test_a_recording_without_its_manifest_is_said_to_show_no_process(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(TREES / "gfx1151", tmp_path / "tree")
    (tmp_path / "tree/manifest.json").unlink(missing_ok=True)
    assert main(["watch", "sources", "--root", str(tmp_path / "tree")]) == 0
    assert "name the server's processes" in capsys.readouterr().err
    assert main(["watch", "sources", "--root", str(tmp_path / "tree"), "--server-pid", "4242"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("link", ["sys/firmware/acpi/platform_profile", "proc/beyond"])
def test_a_link_out_of_a_recording_is_not_followed(
    link: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tree = tmp_path / "tree"
    shutil.copytree(TREES / "gfx1151", tree)
    (tree / "sys/inside").symlink_to("class")
    (tree / "sys/round").symlink_to("round")
    assert main(["watch", "sources", "--root", str(tree)]) == 0
    (tree / link).parent.mkdir(parents=True, exist_ok=True)
    (tree / link).unlink(missing_ok=True)
    (tmp_path / "secret").write_text("not of the recording")
    (tree / link).symlink_to("../" * (link.count("/") + 1) + "secret")
    capsys.readouterr()
    assert main(["watch", "sources", "--root", str(tree)]) == 64
    told = capsys.readouterr()
    assert "is a link that leads out of" in told.err
    assert "not of the recording" not in told.out + told.err


def test_a_manifest_of_somebody_else(tmp_path: Path) -> None:
    assert recorded_pids(tmp_path) == ()
    manifest = tmp_path / "manifest.json"
    manifest.write_text('{"server_pids": [true, -1, "7", 8]}')
    assert recorded_pids(tmp_path) == (8,)
    for text in ("", "[]", '{"server_pids": 5}', "[" * 200_000):
        manifest.write_text(text)
        with pytest.raises(UsageError, match="no manifest"):
            recorded_pids(tmp_path)


@linux_only
def test_a_manifest_that_hangs_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "manifest.json")
    with pytest.raises(UsageError, match="no manifest"):
        recorded_pids(tmp_path)


@pytest.mark.parametrize("gone", [GONE, 10**12])
def test_a_process_that_is_not_there_is_refused_before_anything_is_written(
    gone: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, pids = tmp_path / "copy", ["--server-pid", str(os.getpid()), "--server-pid", str(gone)]
    assert main(["watch", "record", str(folder), *pids]) == 64
    assert f"--server-pid: no process has the pid {gone}" in capsys.readouterr().err
    assert not folder.exists()
    assert main(["watch", "sources", *pids]) == 64
    assert f"no process has the pid {gone}" in capsys.readouterr().err
    recorded = ["watch", "sources", "--root", str(TREES / "gfx1151"), "--server-pid"]
    assert main([*recorded, "4242"]) == 0
    assert main([*recorded, str(gone)]) == 64
    assert f"the process {gone} is not recorded in" in capsys.readouterr().err


@linux_only
def test_the_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(tmp_path / "copy")
    assert main(["watch", "record", folder, "--server-pid", str(os.getpid())]) == 0
    assert "KiB" in capsys.readouterr().out
    assert main(["watch", "sources", "--root", folder]) == 0
    assert "process:backend" in capsys.readouterr().out
    assert main(["watch", "sources", "--root", str(TREES / "gfx1151"), "--json"]) == 0
    told: list[dict[str, Any]] = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {one["source"]: one["state"] for one in told}["amdgpu:card1"] == "value"
    assert main(["watch", "sources", "--root", str(tmp_path)]) == 64
    assert main(["watch", "record", folder]) == 64
