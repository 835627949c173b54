"""The whole inventory by its real process: of real files, and of one that would hold it up."""

import os
from pathlib import Path

import pytest
from test_host_files import card, put

from soakproof.inventory import asking
from soakproof.inventory.asking import take
from soakproof.testbed.data import PROBE_MODEL


def test_an_inventory_of_real_files(tmp_path: Path) -> None:
    root = tmp_path / "root"
    card(root, "card0")
    put(root, "opt/rocm/.info/version", "7.2.0\n")
    found = take({"model_file": str(PROBE_MODEL)}, os.getpid(), root=str(root))
    assert found.whole
    assert found.under("host")["rocm"] == "7.2.0"
    assert found.under("target")["gguf"]["file_type"] == "Q8_0"
    assert found.under("target")["model_file"]["bytes"] == PROBE_MODEL.stat().st_size
    assert len(found.under("target")["executable"]["sha256"]) == 64
    assert found.provenance["target.executable"].startswith(f"/proc/{os.getpid()}/exe: the whole")
    assert found.provenance["target.model_file"].startswith(f"{PROBE_MODEL}: the whole")
    assert set(found.values) == set(found.provenance)


def test_files_that_are_none_are_left_out(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    files = {"model_file": str(tmp_path / "pipe"), "draft_file": "/dev/zero", "projector_file": "a\0b\ud800"}
    found = take(files, None, root=str(tmp_path))
    assert (found.values, found.whole) == ({}, True)


def test_time_is_bounded_and_what_was_said_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pipe that nobody writes holds up whoever opens it, as a disk that hangs does."""
    monkeypatch.setattr(asking, "HASHING_S", 0.0)
    put(tmp_path, "opt/rocm/.info/version", "7.2.0\n")
    card(tmp_path, "card0")
    (tmp_path / "sys/class/drm/card0/device/mem_info_gtt_total").unlink()
    os.mkfifo(tmp_path / "sys/class/drm/card0/device/mem_info_gtt_total")
    for patience in (1.0, 5.0, 20.0):  # until a busy machine has said what it could
        monkeypatch.setattr(asking, "_MORE_S", patience)
        found = take({}, None, root=str(tmp_path))
        assert not found.whole
        if found.values:
            break
    assert found.under("host") == {"rocm": "7.2.0"}
