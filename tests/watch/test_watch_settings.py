"""The configuration: what goes over argv, and what never does."""

import math
from pathlib import Path

import pytest

from soakproof.errors import UsageError
from soakproof.watch.settings import WatchConfig, is_loopback, load_config

TARGET = {
    "kind": "lemonade",
    "base_url": "http://localhost:13305/",
    "prefix": "/api/v1",
    "backend_pid": 4242,
    "launch_command": ["llama-server", "--api-key", "hunter2"],
    "recipe_options": {"llamacpp_args": "--api-key hunter2"},
}


def test_there_and_back_and_by_file(tmp_path: Path) -> None:
    config = WatchConfig(run="runs/x", zero_ns=5, target=TARGET, server_pids=(1, 2), headers_env="KEY")
    assert WatchConfig.from_json(config.to_json()) == config == load_config(config.to_json())
    (tmp_path / "config.json").write_text(config.to_json())
    assert load_config(str(tmp_path / "config.json")) == config
    assert "\n" not in config.to_json()


def test_what_may_hold_a_secret_stays_out_of_argv() -> None:
    assert "hunter2" not in WatchConfig(target=TARGET).to_json()


def test_what_it_says_of_the_target() -> None:
    config = WatchConfig(target=TARGET)
    assert (config.base_url, config.prefix, config.is_lemonade, config.is_local) == (
        "http://localhost:13305",
        "/api/v1",
        True,
        True,
    )
    assert WatchConfig(target={"base_url": "http://192.0.2.1", "local": True}).is_local
    assert not WatchConfig(target={"base_url": "http://192.0.2.1"}).is_local


@pytest.mark.parametrize("key", ["slots_every_s", "interval_s"])
@pytest.mark.parametrize("value", [0.01, -1.0, math.nan, math.inf])
def test_what_is_asked_too_often_is_refused(key: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"{key}: expected .* s or more, found"):
        WatchConfig(**{key: value})
    assert WatchConfig(interval_s=0.05, slots_every_s=2.0).interval_s == 0.05


@pytest.mark.parametrize(
    "text", ["{}x", '{"zero_ns": "soon"}', '{"interval_s": 0.01}', "{", "/nonexistent/config.json"]
)
def test_a_wrong_configuration_is_told(text: str) -> None:
    with pytest.raises(UsageError, match="--config"):
        load_config(text)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://127.0.0.1:8001/v1", True),
        ("http://[::1]:8001", True),
        ("http://localhost", True),
        ("http://127.0.0.1.example.org", False),
        ("http://10.0.0.1", False),
        ("http://127.0.0.1:99999/v1", False),  # no port that there is
        ("http://localhost:x", False),
        ("", False),
    ],
)
def test_loopback(url: str, expected: bool) -> None:
    assert is_loopback(url) is expected
