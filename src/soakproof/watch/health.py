"""The target's own health: ``health`` for its document, ``live`` for the bare sign of life of a Lemonade.

A timeout is no crash: Lemonade's health waits while a streaming model is unloaded, a llama.cpp's may wait
behind a prefill. A backend that died is missing from the document.
"""

from collections.abc import Sequence
from typing import Any

from soakproof.watch.http import PROBE_BOUND_S, Http, NoAnswerError
from soakproof.watch.known import Known
from soakproof.watch.settings import WatchConfig
from soakproof.watch.source import Reading

_LIST_LIMIT = 16


class Health:
    """``health``: {status_code, ok} and of a Lemonade {models_loaded, pids, backends}, an entry a model."""

    name = "health"

    def __init__(self, config: WatchConfig, http: Http, known: Known, bound_s: float = PROBE_BOUND_S) -> None:
        self.bound_s = bound_s
        self._http = http
        self._known = known
        self._lemonade = config.is_lemonade
        self._url = f"{config.base_url}{config.prefix if self._lemonade else ''}/health"

    async def read(self) -> Sequence[Reading]:
        try:
            document = await self._http.document(self._url)
        except NoAnswerError as error:
            return [self._unwell(error)]
        values: dict[str, Any] = {"status_code": 200, "ok": True}
        if self._lemonade:
            values |= self._loaded(document)
        return [Reading(self.name, values=values)]

    def _unwell(self, error: NoAnswerError) -> Reading:
        """A 5xx is an answer: the server says of itself that it is not well, or not ready."""
        if error.status is not None and error.status >= 500 and error.state == "error":
            return Reading(self.name, values={"status_code": error.status, "ok": False}, reason=str(error))
        return Reading(self.name, error.state, reason=str(error))

    def _loaded(self, document: Any) -> dict[str, Any]:
        """What a Lemonade says of its models; it also becomes known to the other sources."""
        listed = document.get("all_models_loaded") if isinstance(document, dict) else None
        if not isinstance(listed, list):
            return {"models_loaded": _one_model(document), "pids": None, "backends": None}
        entries = [entry for entry in listed if isinstance(entry, dict)][:_LIST_LIMIT]
        self._known.update(entries)
        backends = [
            {
                "role": backend.role,
                "model": backend.model,
                "pid": backend.pid,
                "url": backend.url,
                "status": _text(entry.get("status")),
                "health": _text(entry.get("backend_health")),
                "alive": _flag(entry.get("backend_alive")),
                "busy": _flag(entry.get("is_busy")),
                "streaming": _flag(entry.get("is_streaming")),
                "watchdog_reset": _flag(entry.get("watchdog_reset")),
            }
            for backend, entry in zip(self._known.backends, entries, strict=True)
        ]
        return {
            "models_loaded": [b["model"] for b in backends],
            "pids": [b["pid"] for b in backends],
            "backends": backends,
        }


def _one_model(document: Any) -> list[str] | None:
    """The model that a Lemonade without that list says is loaded; None where it says nothing of it."""
    if not isinstance(document, dict) or "model_loaded" not in document:
        return None
    if document["model_loaded"] is None:
        return []
    name = _text(document["model_loaded"])
    return [name] if name else None


def _text(value: Any) -> str | None:
    return value[:64] if isinstance(value, str) else None


def _flag(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


class Live:
    """``live``: whether a Lemonade answers at all; it does so while its health is locked."""

    name = "live"

    def __init__(self, config: WatchConfig, http: Http, bound_s: float = PROBE_BOUND_S) -> None:
        self.bound_s = bound_s
        self._http = http
        self._url = f"{config.base_url}/live"

    async def read(self) -> Sequence[Reading]:
        try:
            answer = await self._http.get(self._url)
        except NoAnswerError as error:
            return [Reading(self.name, error.state, reason=str(error))]
        return [Reading(self.name, values={"status_code": answer.status, "ok": answer.status == 200})]
