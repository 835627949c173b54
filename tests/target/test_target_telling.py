"""What servers tell of their build, model and host, in whatever shape."""

import os
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soakproof.redaction import REMOVED, without_options
from soakproof.target.telling import build_parts, command_of, driver_of, model_meta, system_info

INFO = {
    "OS Version": "Linux-6.17.0",
    "Processor": "AMD RYZEN AI MAX+ 395",
    "Physical Memory": "125.0 GB",
    "devices": {
        "cpu": {"name": "AMD RYZEN AI MAX+ 395", "cores": 16, "available": True},
        "amd_igpu": {"name": "Radeon 8060S", "vram_gb": 96, "driver_version": "6.16.6", "available": True},
        "amd_dgpu": [{"name": "none", "available": False}],
        "amd_npu": {"name": "NPU", "driver_version": "1.0", "available": True},
    },
    "recipes": {"llamacpp": {}},
}


@pytest.mark.parametrize(
    ("build", "number", "commit"),
    [
        ("b11434-6c0fe2a", 11434, "6c0fe2a"),
        ("11434", 11434, None),
        ("unknown", None, None),
        (None, None, None),
        (7, None, None),
    ],
)
def test_a_build_is_a_number_and_a_commit(build: Any, number: int | None, commit: str | None) -> None:
    assert build_parts(build) == {"build_number": number, "build_commit": commit}


def test_a_host_by_lemonades_system_info() -> None:
    found = system_info(INFO)
    assert found == {
        "OS Version": "Linux-6.17.0",
        "Processor": "AMD RYZEN AI MAX+ 395",
        "Physical Memory": "125.0 GB",
        "cpu": "AMD RYZEN AI MAX+ 395",
        "amd_igpu": "Radeon 8060S, driver 6.16.6, vram_gb 96",
        "amd_npu": "NPU, driver 1.0",
    }
    assert driver_of(found) == "amd_igpu: Radeon 8060S, driver 6.16.6, vram_gb 96"
    assert driver_of(None) is None


def test_a_model_by_llamacpps_list() -> None:
    meta = {"n_params": 7_430_000, "size": 7_400_000, "n_vocab": 1024, "other": "x"}
    assert model_meta({"id": "m", "meta": meta}) == {k: v for k, v in meta.items() if k != "other"}
    assert model_meta({"id": "m"}) is None


def test_the_command_of_what_is_no_llama_server_is_not_taken() -> None:
    assert command_of(os.getpid()) is None
    assert command_of(None) is None


NAMES = st.sampled_from(["devices", "meta", "name", "gpu", "OS Version", "available"])
LEAVES = st.none() | st.integers() | st.text(max_size=3)


@pytest.mark.skipif(os.name != "posix", reason="a process under another name")
def test_the_command_of_a_llama_server_is_told_without_its_key() -> None:
    program = "import sys; print(flush=True); sys.stdin.read()"
    words = ["llama-server", "-c", program, "--api-key", "hunter22", "-hft", "hf_secret"]
    pipe = subprocess.PIPE
    with subprocess.Popen(words, executable=sys.executable, stdin=pipe, stdout=pipe) as process:
        assert process.stdout is not None
        process.stdout.readline()  # it runs
        told = command_of(process.pid)
        process.communicate()
    assert told == words
    assert without_options(told) == [*words[:3], "--api-key", REMOVED, "-hft", REMOVED]


@given(st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(NAMES, inner), max_leaves=8))
def test_any_shape_is_read(document: Any) -> None:
    driver_of(system_info(document))
    model_meta(document)
