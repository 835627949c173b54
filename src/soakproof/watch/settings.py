"""What the watch is told when it is started: one JSON object, without secrets. No I/O but `load_config`."""

import ipaddress
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec
import orjson

from soakproof.errors import UsageError
from soakproof.slots import LEAST_PAUSE_S
from soakproof.watch.guard.limits import Limits, Then

INTERVAL_FLOOR_S = 0.05
# What the watch needs of the target as run.json has it. The rest stays out of argv: a launch command can
# hold a key.
_TARGET_KEYS = (
    "kind",
    "base_url",
    "prefix",
    "model",
    "model_resolved",
    "backend_url",
    "backend_pid",
    "slots_url",
    "local",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardConfig:
    """What ends the load, and what is done to the server then."""

    limits: Limits = field(default_factory=lambda: Limits(kernel=True))
    then: Then = "stop"


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchConfig:
    """One watch. ``target`` is the target's identity as run.json has it, or the part of it that is known.

    Raises ValueError for a period that is too short.
    """

    run: str = ""  # the run directory
    zero_ns: int = 0  # of the run clock
    interval_s: float = 1.0
    slots_every_s: float = 2.5
    target: Mapping[str, Any] = field(default_factory=dict)
    server_pids: tuple[int, ...] = ()  # that are known, or that the user named
    server_logs: tuple[str, ...] = ()  # files that the servers write their own logs to
    proc_root: str = "/proc"
    sys_root: str = "/sys"
    kmsg: str = "/dev/kmsg"
    guard: GuardConfig = field(default_factory=GuardConfig)
    headers_env: str = ""  # environment variable that holds the API key

    def __post_init__(self) -> None:
        known = {key: self.target[key] for key in _TARGET_KEYS if self.target.get(key) is not None}
        object.__setattr__(self, "target", known)
        object.__setattr__(self, "server_pids", tuple(self.server_pids))
        object.__setattr__(self, "server_logs", tuple(self.server_logs))
        for name, floor in (("interval_s", INTERVAL_FLOOR_S), ("slots_every_s", LEAST_PAUSE_S)):
            every = getattr(self, name)
            if not floor <= every < math.inf:
                raise ValueError(f"{name}: expected {floor:g} s or more, found {every:g} s")

    @property
    def base_url(self) -> str:
        return str(self.target.get("base_url", "")).rstrip("/")

    @property
    def prefix(self) -> str:
        return str(self.target.get("prefix", "/v1"))

    @property
    def is_lemonade(self) -> bool:
        return self.target.get("kind") == "lemonade"

    @property
    def is_local(self) -> bool:
        """Whether the target runs on this host: memory, kernel, pids and loopback here are its own."""
        return bool(self.target.get("local", not self.base_url or is_loopback(self.base_url)))

    @property
    def why_powerless(self) -> str:
        """Why the guard cannot do to this target what it is told to do then; nothing where it can."""
        if self.guard.then == "unload" and not self.is_lemonade:
            return "only Lemonade can unload a model"
        if self.guard.then == "end" and not (self.is_local and is_loopback(self.base_url)):
            return "only a process behind a loopback address is ended"
        return ""

    def to_json(self) -> str:
        """One line."""
        return orjson.dumps(asdict(self)).decode()

    @classmethod
    def from_json(cls, text: str | bytes) -> "WatchConfig":
        """Raises UsageError for what is no configuration."""
        try:
            return msgspec.json.decode(text, type=cls)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise UsageError(
                f"--config: {error}", "the watch is started by a run; see soakproof.watch.launch"
            ) from error


def load_config(given: str) -> WatchConfig:
    """From JSON itself, or from the path of a file that holds it."""
    if given.lstrip().startswith("{"):
        return WatchConfig.from_json(given)
    try:
        return WatchConfig.from_json(Path(given).read_bytes())
    except OSError as error:
        raise UsageError(f"--config: cannot read {given}: {error.strerror}") from error


def is_loopback(url: str) -> bool:
    """Whether an address can only be this host's own."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
        if port != 0 and (host == "localhost" or host.endswith(".localhost")):
            return True
        return port != 0 and ipaddress.ip_address(host).is_loopback
    except ValueError:  # no address, or no port that there is
        return False
