"""GPU memory of processes by fdinfo: both spellings, each client once, and what is not told is not 0."""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st

from soakproof.watch.gpu_memory import GpuMemory, client_sizes, distinct, parse_fdinfo
from soakproof.watch.known import Known
from soakproof.watch.settings import WatchConfig
from soakproof.watch.source import read_bounded

TREES = Path(__file__).parent / "trees"
KIB = 1024


def look(tree: Path, **pids: int) -> Sequence[Any]:
    known = Known(WatchConfig())
    known.processes |= pids
    return trio.run(read_bounded, GpuMemory(f"{tree}/proc", known))


@pytest.fixture
def host(tmp_path: Path) -> Path:
    return Path(shutil.copytree(TREES / "gfx1151", tmp_path / "host"))


def test_a_client_that_is_open_twice_counts_once() -> None:
    backend, front = look(TREES / "gfx1151", backend=4242, front=4100)
    gtt, vram = (20656128 + 16384) * KIB, (98304 + 2048) * KIB
    sizes = {
        "gtt_bytes": gtt,
        "vram_bytes": vram,
        "system_bytes": 0,
        "gtt_allocated_bytes": gtt,
        "vram_allocated_bytes": vram,
    }
    assert (backend.source, backend.state, backend.reason) == ("gpu_memory:backend", "value", "")
    gpus = [{"gpu": "amdgpu 0000:c4:00.0", **sizes}]
    assert backend.values == {"pid": 4242, "clients": 2, **sizes, "gpus": gpus}
    assert (front.source, front.state) == ("gpu_memory:front", "unsupported")
    assert "no GPU open" in front.reason


def test_the_older_spelling_says_nothing_of_what_was_allocated() -> None:
    (backend,) = look(TREES / "navi31", backend=2200)
    assert backend.values["clients"] == 1
    assert backend.values["vram_bytes"] == 19922944 * KIB
    assert backend.values["gtt_bytes"] == 65536 * KIB
    assert backend.values["vram_allocated_bytes"] is None


def test_memory_that_was_moved_out_of_the_card() -> None:
    """As a card whose VRAM is full shows it: allocated there, resident in system memory."""
    told = "drm-driver: amdgpu\ndrm-total-vram: 23564136 KiB\ndrm-memory-vram: 16896 KiB\n"
    sizes = client_sizes(parse_fdinfo(told + "drm-memory-gtt: 15993932 KiB\n"))
    assert sizes["vram_allocated_bytes"] == 23564136 * KIB
    assert (sizes["vram_bytes"], sizes["gtt_bytes"]) == (16896 * KIB, 15993932 * KIB)


def test_regions_of_other_drivers_and_units() -> None:
    told = (
        "drm-driver: xe\ndrm-resident-vram0: 23992 KiB\ndrm-resident-vram1: 1 MiB\ndrm-resident-gtt: 4096\n"
    )
    sizes = client_sizes(parse_fdinfo(told + "drm-resident-stolen: 5 KiB\ndrm-total-gtt: 3 parsecs\n"))
    assert sizes == {"vram_bytes": (23992 + 1024) * KIB, "gtt_bytes": 4096}


def test_ids_count_within_one_device_and_without_an_id_nothing_is_taken_for_the_same() -> None:
    one = {"drm-driver": "amdgpu", "drm-pdev": "0000:03:00.0", "drm-client-id": "7"}
    other = {**one, "drm-pdev": "0000:04:00.0"}
    nameless = {"drm-driver": "amdgpu"}
    assert distinct([one, other, one, nameless, nameless]) == [one, other, nameless, nameless]


@given(st.text())
def test_whatever_a_driver_writes_is_sizes_or_nothing(text: str) -> None:
    assert all(size >= 0 for size in client_sizes(parse_fdinfo(text)).values())


def test_only_descriptors_of_gpus_are_read_where_links_are_shown(host: Path) -> None:
    fd = host / "proc/4242/fd"
    fd.mkdir()
    for name, target in (
        ("3", "socket:[1]"),
        ("9", "/dev/dri/renderD128"),
        ("10", "/tmp/x"),
        ("12", "pipe:[2]"),
    ):
        (fd / name).symlink_to(target)
    (backend,) = look(host, backend=4242)
    assert (backend.values["clients"], backend.values["gtt_bytes"]) == (1, 20656128 * KIB)


def test_a_driver_that_hangs_and_a_process_that_is_gone(host: Path) -> None:
    fdinfo = host / "proc/4242/fdinfo/9"
    fdinfo.unlink()
    os.mkfifo(fdinfo)
    hung, gone = look(host, backend=4242, front=77)
    assert (hung.source, hung.state) == ("gpu_memory:backend", "timeout")
    assert (gone.state, gone.reason) == ("error", "process 77 is gone")


@pytest.mark.skipif(not Path("/proc/self/fdinfo").exists(), reason="needs Linux")
def test_a_process_of_this_machine_that_has_no_gpu_open() -> None:
    known = Known(WatchConfig())
    known.processes["backend"] = os.getpid()
    (reading,) = trio.run(read_bounded, GpuMemory("/proc", known))
    assert reading.state == "unsupported"
