"""The host as run.json tells it."""

import platform
from pathlib import Path

from soakproof.host import describe_host, gpu_driver


def test_a_driver_is_told_by_its_module_and_version(tmp_path: Path) -> None:
    module = tmp_path / "sys" / "module" / "amdgpu"
    module.mkdir(parents=True)
    assert gpu_driver(str(tmp_path)) == f"amdgpu of kernel {platform.release()}"
    (module / "version").write_text("6.12.12\n")
    assert gpu_driver(str(tmp_path)) == "amdgpu 6.12.12"


def test_nvidias_driver_is_told_by_the_first_line(tmp_path: Path) -> None:
    folder = tmp_path / "proc" / "driver" / "nvidia"
    folder.mkdir(parents=True)
    (folder / "version").write_text("NVRM version: NVIDIA 570.1\nGCC version: 12\n")
    assert gpu_driver(str(tmp_path)) == "NVRM version: NVIDIA 570.1"


def test_no_driver_is_unknown(tmp_path: Path) -> None:
    assert gpu_driver(str(tmp_path)) is None
    assert "gpu_driver" in describe_host()
