"""What the sources tell each other: which backends there are, and where, as the target last said. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from soakproof.watch.settings import WatchConfig, is_loopback

MAIN = "backend"  # the role of the target's own model; further models get backend-2 and so on
_BACKENDS_LIMIT = 16
_SHOWN = 200  # characters of a name or an address


@dataclass(frozen=True, slots=True)
class Backend:
    """A process that serves one model. ``url`` is its own address, without a prefix."""

    role: str
    model: str | None
    pid: int | None
    url: str | None


class Known:
    """The target's backends now. A role stays with its model, so that a reload is seen as a restart."""

    def __init__(self, config: WatchConfig) -> None:
        self._config = config
        self._model = config.target.get("model_resolved")
        self._roles: dict[str | None, str] = {}
        self.backends: tuple[Backend, ...] = ()
        self.processes: dict[str, int] = {}  # pids of those that were seen last, by role
        self._begin(config)

    def _begin(self, config: WatchConfig) -> None:
        pid, url = config.target.get("backend_pid"), config.target.get("backend_url")
        url = self._reachable(url) if url else None
        if config.base_url and not config.is_lemonade:
            pid, url = next(iter(config.server_pids), pid), config.base_url
        if pid or url:
            model = self._model or config.target.get("model")
            self.backends = (Backend(MAIN, model, pid, url),)

    @property
    def main(self) -> Backend | None:
        """The backend of the target's own model."""
        return next((b for b in self.backends if b.role == MAIN), None)

    def update(self, models: Sequence[Mapping[str, Any]]) -> None:
        """Take what a Lemonade health document lists as loaded."""
        self.backends = tuple(self._backend(entry) for entry in models[:_BACKENDS_LIMIT])

    def _backend(self, entry: Mapping[str, Any]) -> Backend:
        model, pid, url = entry.get("model_name"), entry.get("pid"), entry.get("backend_url")
        name = model[:_SHOWN] if isinstance(model, str) else None
        return Backend(
            role=self._role(name),
            model=name,
            pid=pid if isinstance(pid, int) and not isinstance(pid, bool) and pid > 0 else None,
            url=self._reachable(url) if isinstance(url, str) and len(url) <= _SHOWN else None,
        )

    def _reachable(self, url: str) -> str | None:
        """A loopback address is ours to ask only when the target is on this host; no other host's ever is."""
        return without_prefix(url) if self._config.is_local and is_loopback(url) else None

    def _role(self, model: str | None) -> str:
        if model not in self._roles:
            others = sum(role != MAIN for role in self._roles.values())
            ours = MAIN not in self._roles.values() and self._model in (None, model)
            self._roles[model] = MAIN if ours else f"{MAIN}-{others + 2}"
        return self._roles[model]


def without_prefix(url: str) -> str:
    """The root of an address such as http://127.0.0.1:8001/v1."""
    return url.rstrip("/").removesuffix("/v1").rstrip("/")
