"""Asking a server what it is and whether it will do, before any load.

Blocking, by httpx: a few requests. Lemonade and a bare llama.cpp server are told apart by asking. Of a
Lemonade on this host the backend is asked as well; a backend address of another host is not.
"""

import hashlib
import re
from typing import Any, Literal

import httpx

from soakproof.errors import UsageError
from soakproof.slots import UnknownShapeError, parse_slots
from soakproof.target.address import PREFIXES, is_local, listener, split_host
from soakproof.target.credentials import KEY_VARIABLES, Credentials
from soakproof.target.health import entry_of, models
from soakproof.target.identity import Target

_SAMPLE = "\n".join(  # mostly what the long prompts are made of: registers of records
    (
        "Below is a register of records.",
        "Record 0142: station Marlow, keeper Celia, code K7QD-92MX, status open.",
        "Record 0143: station Wharfe, keeper Jonas, code 4TZA-PL8C, status pending.",
        "Record 0144: station Otterby, keeper Hana, code W3NE-J6RS, status closed.",
        "Record 0145: station Zennor, keeper Edwin, code GX2H-5BVK, status review.",
        "Write a long continuous report about the stations above.",
    )
)


def examine(host: str, model: str | None, credentials: Credentials, *, timeout: float = 30.0) -> Target:
    """Ask a server what it is and whether it will do. Raises UsageError with what to do instead.

    Sends one request of one token, so that the model is loaded and its identity can be read.
    """
    base, given_prefix = split_host(host)
    with httpx.Client(
        base_url=base,
        timeout=httpx.Timeout(timeout, connect=5.0),
        headers={**credentials.headers, "Accept-Encoding": "identity", "Connection": "close"},
        limits=httpx.Limits(max_keepalive_connections=0),
        trust_env=False,
    ) as client:
        return _Examination(client, base, given_prefix, model).target()


class _Examination:
    """The questions, in order."""

    def __init__(self, client: httpx.Client, base: str, prefix: str | None, model: str | None) -> None:
        self.client = client
        self.base = base
        self.prefix = prefix
        self.wanted = model
        self.remarks: list[str] = []

    def target(self) -> Target:
        health = self._lemonade_health()
        return self._lemonade(health) if health is not None else self._llamacpp()

    # -- telling apart

    def _lemonade_health(self) -> dict[str, Any] | None:
        """Lemonade's health document, or None for a server that is no Lemonade."""
        for prefix in [self.prefix] if self.prefix else PREFIXES:
            document = self._json(f"{prefix}/health")
            if isinstance(document, dict) and "all_models_loaded" in document:
                self.prefix = prefix
                return document
        return None

    def _json(self, path: str, base: str = "") -> Any:
        """The JSON that a path answers with status 200, or None. Raises UsageError when nobody answers."""
        response = self._get(path, base)
        if response is None or response.status_code != 200:
            return None
        try:
            return response.json()
        except ValueError:
            return None

    def _get(self, path: str, base: str = "") -> httpx.Response | None:
        try:
            response = self.client.get(f"{base}{path}" if base else path)
        except httpx.HTTPError as error:
            if base:  # the backend is optional
                return None
            raise UsageError(
                f"--host: {self.base} does not answer: {_words(error)}",
                "is the server up, and is this its address? Lemonade's default is http://localhost:13305",
            ) from error
        if response.status_code in (401, 403):
            raise self._unauthorized(response)
        return response

    def _unauthorized(self, response: httpx.Response) -> UsageError:
        given = "Authorization" in self.client.headers
        problem = "refuses the API key that was given" if given else "wants an API key"
        return UsageError(
            f"--host: {self.base} {problem} (status {response.status_code})",
            f"give --api-key, or set {' or '.join(KEY_VARIABLES)}",
        )

    # -- Lemonade

    def _lemonade(self, health: dict[str, Any]) -> Target:
        model = self._choose_lemonade_model(health)
        resolved = self._ask_one_token(model)
        loaded = self._json(f"{self.prefix}/health") or health
        entry = entry_of(loaded, resolved, model)
        local = is_local(self.base)
        backend = str(entry["backend_url"]).removesuffix("/v1") if entry.get("backend_url") else None
        if backend and not local:
            self.remarks.append(
                "the backend listens on the server's own loopback: slots are read through Lemonade"
            )
        seen_at = backend if local else None
        slots_url = f"{seen_at}/slots" if seen_at else f"{self.base}{self.prefix}/slots"
        identity = {
            "version": loaded.get("version"),
            "model_resolved": entry.get("model_name") or resolved,
            "checkpoint": entry.get("checkpoint"),
            "recipe": entry.get("recipe"),
            "recipe_options": entry.get("recipe_options"),
            "launch_command": entry.get("launch_command"),
            "device": entry.get("device"),
            "models_loaded": [m.get("model_name") for m in models(loaded)],
            "max_models": loaded.get("max_models"),
        }
        return self._finish("lemonade", model, local, slots_url, seen_at, entry.get("pid"), identity, entry)

    def _choose_lemonade_model(self, health: dict[str, Any]) -> str:
        if self.wanted:
            return self.wanted
        loaded = [
            m["model_name"] for m in models(health) if m.get("type", "llm") == "llm" and m.get("model_name")
        ]
        if len(loaded) == 1:
            return str(loaded[0])
        here = ", ".join(loaded) if loaded else "none is loaded"
        raise UsageError(
            f"--model is missing: Lemonade serves many models ({here})",
            f"choose one: --model NAME; it has: {self._names()}",
        )

    def _names(self) -> str:
        document = self._json(f"{self.prefix}/models")
        data = document.get("data") if isinstance(document, dict) else None
        names = [str(m.get("id")) for m in data if isinstance(m, dict)] if isinstance(data, list) else []
        return (
            ", ".join(names[:20]) + (f" and {len(names) - 20} more" if len(names) > 20 else "") or "no models"
        )

    # -- bare llama.cpp

    def _llamacpp(self) -> Target:
        response = self._get("/health")
        assert response is not None
        if response.status_code == 503:
            raise UsageError(
                f"--host: {self.base} is still loading its model", "wait until /health answers 200"
            )
        if "html" in response.headers.get("content-type", ""):
            raise UsageError(
                f"--host: {self.base} answers HTML: it is no LLM server", "is the port the right one?"
            )
        listed = self._json(f"{self.prefix or '/v1'}/models")
        if not isinstance(listed, dict) or not isinstance(listed.get("data"), list):
            raise UsageError(
                f"--host: {self.base} is no LLM server that is known here: it has no health document of "
                f"Lemonade's and no /v1/models (/health answered {response.status_code})",
                "soakproof tests Lemonade and llama.cpp's server",
            )
        self.prefix = self.prefix or "/v1"
        names = [str(m.get("id")) for m in listed["data"] if isinstance(m, dict)]
        model = self.wanted or (names[0] if names else "default")
        if self.wanted and names and self.wanted not in names:
            raise UsageError(
                f"--model: {self.base} has no model {self.wanted!r}", f"it has: {', '.join(names[:20])}"
            )
        self._ask_one_token(model)
        identity = {"model_resolved": names[0] if names else None}
        local = is_local(self.base)
        pid = listener(self.base) if local else None
        return self._finish("llamacpp", model, local, f"{self.base}/slots", self.base, pid, identity, {})

    # -- both

    def _ask_one_token(self, model: str) -> str | None:
        """Send the smallest request: the model is there, loaded, and we may use it. Its name as answered."""
        body = {
            "model": model,
            "messages": [{"role": "user", "content": "Repeat exactly: ok"}],
            "max_tokens": 1,
        }
        try:
            response = self.client.post(f"{self.prefix}/chat/completions", json=body, timeout=600)
        except httpx.HTTPError as error:
            raise UsageError(f"--host: {self.base} broke off a chat request: {_words(error)}") from error
        if response.status_code == 404:
            raise UsageError(f"--model: {self.base} has no model {model!r}", f"it has: {self._names()}")
        if response.status_code in (401, 403):
            raise self._unauthorized(response)
        try:
            document = response.json()
        except ValueError:
            document = None
        if response.status_code != 200 or not isinstance(document, dict) or not document.get("choices"):
            told = re.sub(r"[^\x20-\x7e]+", " ", response.text)[:300]
            raise UsageError(
                f"--model: {model!r} does not answer a chat request: {response.status_code} {told}"
            )
        named = document.get("model")
        return str(named) if named else None

    def _finish(
        self,
        kind: Literal["lemonade", "llamacpp"],
        model: str,
        local: bool,
        slots_url: str,
        backend: str | None,
        pid: Any,
        identity: dict[str, Any],
        entry: dict[str, Any],
    ) -> Target:
        slots, context, url = self._slots(slots_url, entry)
        props = self._json("/props", backend) if backend else None
        if isinstance(props, dict):
            identity["build"] = props.get("build_info")
            identity["model_path"] = props.get("model_path")
            identity["chat_template_digest"] = _short_digest(props.get("chat_template"))
        return Target(
            kind=kind,
            base_url=self.base,
            prefix=self.prefix or "/v1",
            model=model,
            local=local,
            slots=slots,
            slot_context=context,
            chars_per_token=self._chars_per_token(backend, model),
            slots_url=url,
            backend_url=backend,
            backend_pid=pid if isinstance(pid, int) else None,
            identity=identity,
            remarks=tuple(self.remarks),
        )

    def _slots(self, url: str, entry: dict[str, Any]) -> tuple[int, int, str | None]:
        """Slots, context a slot and the address, from /slots; else from what the front says."""
        try:
            seen = parse_slots(self._json("", url))
        except UnknownShapeError as error:
            self.remarks.append(f"{url}: {error}: a freed slot cannot be seen")
            seen = ()
        context = next((s.context for s in seen if s.context), None)
        if seen and context:
            return len(seen), context, url
        options = entry.get("recipe_options") or {}
        window = entry.get("max_context_window") or options.get("ctx_size") or 4096
        if not seen:
            self.remarks.append(
                f"{url} does not show slots: one slot is assumed, and cancels cannot be judged"
            )
        return max(len(seen), 1), int(context or window), url if seen else None

    def _chars_per_token(self, backend: str | None, model: str) -> float:
        """Characters a token of our kind of text has, from /tokenize, else from a request's usage."""
        if backend:
            try:
                tokens = self.client.post(f"{backend}/tokenize", json={"content": _SAMPLE}).json()["tokens"]
                return len(_SAMPLE) / max(len(tokens), 1)
            except (httpx.HTTPError, ValueError, KeyError, TypeError):
                pass
        body = {"model": model, "messages": [{"role": "user", "content": _SAMPLE}], "max_tokens": 1}
        try:
            usage = self.client.post(f"{self.prefix}/chat/completions", json=body, timeout=600).json()[
                "usage"
            ]
            return max(0.5, len(_SAMPLE) / int(usage["prompt_tokens"]))
        except (httpx.HTTPError, ValueError, KeyError, TypeError, ZeroDivisionError):
            self.remarks.append("characters a token: not told by the server, 2 are assumed")
            return 2.0


def _short_digest(text: Any) -> str | None:
    return hashlib.sha256(text.encode()).hexdigest()[:16] if isinstance(text, str) else None


def _words(error: httpx.HTTPError) -> str:
    return str(error) or type(error).__name__
