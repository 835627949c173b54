"""Versions, GPUs and libraries by written trees of a host's files."""

import json
import os
from pathlib import Path

import pytest

from soakproof.inventory.gpus import gpus
from soakproof.inventory.process import own_libraries, program, runtime_libraries, seen_by
from soakproof.inventory.software import software

DPKG = """Package: libvulkan1
Status: install ok installed
Version: 1.4.321-0ubuntu1

Package: mesa-vulkan-drivers
Status: install ok installed
Version: 25.2.8-0ubuntu0.24.04.1
Description: Mesa Vulkan graphics drivers
 Version: 1

Package: rocm-core
Status: deinstall ok config-files
Version: 6.0.0
"""


def put(root: Path, path: str, text: str) -> None:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def test_versions_of_a_debian_host(tmp_path: Path) -> None:
    put(tmp_path, "var/lib/dpkg/status", DPKG)
    put(tmp_path, "opt/rocm/.info/version", "7.2.0-63\n")
    icd = {"ICD": {"library_path": "libvulkan_radeon.so", "api_version": "1.4.318"}}
    put(tmp_path, "usr/share/vulkan/icd.d/radeon_icd.json", json.dumps(icd))
    put(tmp_path, "usr/share/vulkan/icd.d/broken.json", "{")
    found = software(tmp_path)
    assert {name: told["value"] for name, told in found.items()} == {
        "mesa": "25.2.8-0ubuntu0.24.04.1",
        "vulkan_loader": "1.4.321-0ubuntu1",
        "rocm": "7.2.0-63",
        "vulkan_drivers": "radeon_icd 1.4.318",
    }
    assert found["mesa"]["from"] == str(tmp_path / "var/lib/dpkg/status")
    assert found["rocm"]["from"] == str(tmp_path / "opt/rocm/.info/version")


def test_versions_of_an_arch_host(tmp_path: Path) -> None:
    for folder in ("vulkan-radeon-1:25.3.1-1", "linux-firmware-20261110-1", "vulkan-radeon-extra-1-1"):
        (tmp_path / "var/lib/pacman/local" / folder).mkdir(parents=True)
    put(tmp_path, "opt/rocm-7.1.1/.info/version", "7.1.1\n")
    put(tmp_path, "usr/lib/libvulkan.so.1.4.328", "")
    assert {name: told["value"] for name, told in software(tmp_path).items()} == {
        "mesa": "1:25.3.1-1",
        "linux_firmware": "20261110-1",
        "rocm": "7.1.1",
        "vulkan_loader": "1.4.328",
    }


def test_a_host_that_tells_nothing(tmp_path: Path) -> None:
    assert software(tmp_path) == {}
    assert gpus(tmp_path) == {}


def card(root: Path, name: str, vendor: str = "0x1002") -> None:
    device = f"sys/class/drm/{name}/device"
    files = {
        "vendor": vendor,
        "device": "0x1586",
        "mem_info_gtt_total": str(96 << 30),
        "mem_info_vram_total": str(512 << 20),
        "vbios_version": "113-STRXLGEN-001",
        "fw_version/mec_fw_version": "0x0000001f",
        "fw_version/uvd_fw_version": "0x00000000",
    }
    for file, text in files.items():
        put(root, f"{device}/{file}", f"{text}\n")


def test_an_amd_gpu_tells_its_memory_and_firmware(tmp_path: Path) -> None:
    card(tmp_path, "card1")
    card(tmp_path, "card0", vendor="0x10de")
    put(tmp_path, "sys/class/drm/card1-HDMI-A-1/status", "connected\n")
    found = gpus(tmp_path)
    assert {name: told["value"] for name, told in found.items()} == {
        "gpu": "0x1586",
        "vbios": "113-STRXLGEN-001",
        "gtt_bytes": 96 << 30,
        "vram_bytes": 512 << 20,
        "firmware": {"mec": "0x0000001f"},
    }
    assert found["gtt_bytes"]["from"].endswith("card1/device/mem_info_gtt_total")


def test_several_gpus_are_told_by_name(tmp_path: Path) -> None:
    card(tmp_path, "card0")
    card(tmp_path, "card1")
    assert gpus(tmp_path)["gpu"]["value"] == {"card0": "0x1586", "card1": "0x1586"}


MAPS = """55d0-55d1 r--p 00000000 103:02 1 /opt/llama/llama-server
7f00-7f01 r-xp 00000000 103:02 2 /opt/llama/libggml-hip.so.0.9.4
7f02-7f03 r--p 00000000 103:02 2 /opt/llama/libggml-hip.so.0.9.4
7f04-7f05 r-xp 00000000 103:02 3 /opt/llama/libllama.so (deleted)
7f06-7f07 r-xp 00000000 103:02 4 /opt/rocm/lib/libamdhip64.so.7.2.70200
7f08-7f09 r--p 00000000 103:02 5 /models/llama.gguf
7f0a-7f0b rw-p 00000000 00:00 0 [heap]
"""


def test_libraries_that_a_server_has_loaded(tmp_path: Path) -> None:
    put(tmp_path, "77/maps", MAPS)
    assert own_libraries(77, tmp_path) == ["/opt/llama/libggml-hip.so.0.9.4"]
    assert runtime_libraries(77, tmp_path) == ["/opt/rocm/lib/libamdhip64.so.7.2.70200"]
    assert own_libraries(78, tmp_path) == []


def test_a_path_is_found_from_the_servers_own_folder_or_container(tmp_path: Path) -> None:
    put(tmp_path, "77/cwd/models/m.gguf", "")
    put(tmp_path, "77/root/models/in.gguf", "")
    assert seen_by(77, "models/m.gguf", tmp_path) == str(tmp_path / "77/cwd/models/m.gguf")
    assert seen_by(77, "/models/in.gguf", tmp_path) == str(tmp_path / "77/root/models/in.gguf")
    assert seen_by(77, "/nowhere.gguf", tmp_path) == "/nowhere.gguf"
    assert seen_by(77, "a\0b", tmp_path) == "a\0b"


@pytest.mark.skipif(os.name != "posix", reason="processes of Linux")
def test_our_own_program() -> None:
    found = program(os.getpid())
    assert found is not None
    assert Path(found[0]).is_file()
