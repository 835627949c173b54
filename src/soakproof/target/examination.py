"""Asking a server what it is and whether it will do, before any load.

Blocking: a few requests. Lemonade and a bare llama.cpp server are told apart by asking. Of a Lemonade on
this host the backend is asked as well; a backend address of another host is not. Whatever a server says, in
whatever shape, ends in a Target or in a UsageError.
"""

import contextlib
import hashlib
from typing import Any, Literal
from urllib.parse import quote

from soakproof.errors import UsageError
from soakproof.nesting import TooDeepError
from soakproof.plain import listed, plain
from soakproof.redaction import without_key, without_options
from soakproof.slots import UnknownShapeError, parse_slots
from soakproof.target.address import PREFIXES, backend_root, is_local, listener, split_host
from soakproof.target.asking import Answer, Asking, NoAnswerError
from soakproof.target.batches import batch_tokens
from soakproof.target.credentials import KEY_VARIABLES, Credentials
from soakproof.target.health import count, entry_of, kept, model_names, models, name_of, pid_of, texts
from soakproof.target.hostcache import cache_tokens
from soakproof.target.identity import Target
from soakproof.target.telling import build_parts, command_of, driver_of, model_meta, system_info
from soakproof.target.tokens import SAMPLE, in_usage, prompt_tokens, tokenized

_LOADING_S = 600.0  # a large model may take that long to be loaded for its first request


def examine(host: str, model: str | None, credentials: Credentials, *, timeout: float = 30.0) -> Target:
    """Ask a server what it is and whether it will do. Raises UsageError with what to do instead.

    Sends one request of one token, so that the model is loaded and its identity can be read. ``timeout``
    seconds are what every other question may take.
    """
    base, given_prefix = split_host(host)
    if model is not None and not model.isprintable():
        raise UsageError(f"--model: {plain(model, 80)} is not the name of a model")
    asking = Asking(base, credentials.headers)
    try:
        return _Examination(asking, base, given_prefix, model, credentials.key, timeout).target()
    finally:
        asking.close()


class _Examination:
    """The questions, in order."""

    def __init__(
        self,
        asking: Asking,
        base: str,
        prefix: str | None,
        model: str | None,
        key: str | None,
        timeout: float,
    ) -> None:
        self.asking = asking
        self.base = base
        self.prefix = prefix
        self.wanted = model
        self.key = key
        self.timeout = timeout
        self.remarks: list[str] = []
        self.provenance = {
            "kind": "how it answers",
            "base_url": "--host",
            "model": "--model" if model else "the only one that it serves",
            "local": "the addresses of this host",
        }

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
        answer = self._get(path, base)
        if answer is None or answer.status != 200:
            return None
        try:
            return answer.json()
        except ValueError:
            return None

    def _get(self, path: str, base: str = "") -> Answer | None:
        try:
            answer = self.asking.get(f"{base or self.base}{path}", self.timeout)
        except NoAnswerError as error:
            if base:  # the backend is optional
                return None
            hint = "is the server up, and is this its address? Lemonade's default is http://localhost:13305"
            if "WRONG_VERSION_NUMBER" in str(error):  # OpenSSL's words for an answer that is not TLS
                hint = f"it does not speak TLS there: try http://{self.base.removeprefix('https://')}"
            raise UsageError(f"--host: {self.base} does not answer: {plain(error)}", hint) from error
        if not base and answer.status in (401, 403):
            raise self._unauthorized(answer)
        return answer

    def _unauthorized(self, answer: Answer) -> UsageError:
        by = f"--api-key, or {' or '.join(KEY_VARIABLES)}"
        problem, hint = "wants an API key", f"give it by {by}"
        if self.key:
            problem, hint = "refuses the API key that was given", f"is it this server's? It came by {by}"
        return UsageError(f"--host: {self.base} {problem} (status {answer.status})", hint)

    # -- Lemonade

    def _lemonade(self, health: dict[str, Any]) -> Target:
        model = self._choose_lemonade_model(health)
        resolved = self._ask_one_token(model)
        again = self._json(f"{self.prefix}/health")
        loaded = again if isinstance(again, dict) else health
        entry = entry_of(loaded, resolved, model)
        local = is_local(self.base)
        backend = backend_root(entry.get("backend_url"))
        if entry.get("backend_url") and not (backend and local):
            self.remarks.append("the backend cannot be reached from here: slots are read through Lemonade")
        seen_at = backend if local else None
        slots_url = f"{seen_at}/slots" if seen_at else f"{self.base}{self.prefix}/slots"
        identity = {
            "version": loaded.get("version"),
            "model_resolved": name_of(entry.get("model_name")) or resolved,
            "checkpoint": entry.get("checkpoint"),
            "recipe": entry.get("recipe"),
            "recipe_options": entry.get("recipe_options"),
            "launch_command": texts(entry.get("launch_command")),
            "device": entry.get("device"),
            "models_loaded": model_names(models(loaded)),
            "max_models": loaded.get("max_models"),
            "testbed": loaded.get("soakproof_testbed") is True,
        }
        health_url = f"GET {self.base}{self.prefix}/health"
        self.provenance |= dict.fromkeys((*identity, "backend_pid", "backend_url"), health_url)
        identity |= self._beside_health(model, seen_at, local)
        return self._finish("lemonade", model, local, slots_url, seen_at, pid_of(entry), identity, entry)

    def _beside_health(self, model: str, backend: str | None, local: bool) -> dict[str, Any]:
        """What other documents of Lemonade tell; of its host only where that is not this one."""
        info = None if local else system_info(self._json(f"{self.prefix}/system-info"))
        root = f"GET {self.base}{self.prefix}"
        self.provenance |= {
            "asked_recipe": f"{root}/models/{model}",
            "prompt_counts": "two requests of one token",
            "system_info": f"{root}/system-info",
            "driver": f"{root}/system-info",
        }
        return {
            "asked_recipe": self._asked_recipe(model),
            "prompt_counts": self._prompt_counts(model, backend),
            "system_info": info,
            "driver": driver_of(info),
        }

    def _prompt_counts(self, model: str, backend: str | None) -> dict[str, int] | None:
        """The tokens of a prompt as the front's answer counts them and as its backend's own does: they are
        the same where the front passes on what it is sent. None where either does not tell.

        Of a prompt with a system prompt and one without it is the one that differs, if one does.
        """
        counts = None
        for system in ("", "Answer in one word.") if backend else ():
            asked = _one_token(model, "Repeat exactly: ok", system=system)
            with contextlib.suppress(NoAnswerError):
                front = prompt_tokens(self._post(asked))
                own = prompt_tokens(self.asking.post(f"{backend}/v1/chat/completions", asked, _LOADING_S))
                if front and own and (counts is None or front != own):
                    counts = {"front": front, "backend": own}
        return counts

    def _asked_recipe(self, model: str) -> Any:
        """The recipe of what is asked for: an alias's is its target's, and a router has one of its own."""
        document = self._json(f"{self.prefix}/models/{quote(model)}")
        return document.get("recipe") if isinstance(document, dict) else None

    def _choose_lemonade_model(self, health: dict[str, Any]) -> str:
        if self.wanted:
            return self.wanted
        loaded = model_names(m for m in models(health) if m.get("type", "llm") == "llm")
        if len(loaded) == 1:
            return loaded[0]
        here = f"{_listed(loaded)} loaded" if loaded else "none is loaded"
        raise UsageError(
            f"--model is missing: Lemonade serves many models ({here})",
            f"choose one: --model NAME; it has: {self._names()}",
        )

    def _not_there(self, model: str) -> UsageError:
        """A chat request was answered with 404: of a model that is listed, the path was meant."""
        names = self._listed_names()
        if model in names:
            return UsageError(
                f"--host: {self.base} lists the model {model!r}, and answered 404 to a chat request at "
                f"{self.prefix}/chat/completions",
                "is its API at another address? soakproof tests Lemonade and llama.cpp's server",
            )
        told = _listed(names) or "no models"
        return UsageError(f"--model: {self.base} has no model {model!r}", f"it has: {told}")

    def _names(self) -> str:
        return _listed(self._listed_names()) or "no models"

    def _listed_names(self) -> list[str]:
        """Models and aliases; Lemonade leaves some aliases out of its list of models."""
        listed = model_names(_data(self._json(f"{self.prefix}/models")) or (), "id")
        document = self._json("/internal/aliases")
        aliases = document.get("aliases") if isinstance(document, dict) else None
        names = model_names(aliases if isinstance(aliases, list) else (), "alias")
        return list(dict.fromkeys((*listed, *names)))

    # -- bare llama.cpp

    def _llamacpp(self) -> Target:
        answer = self._get("/health")
        assert answer is not None
        if answer.status == 503:
            raise UsageError(
                f"--host: {self.base} is still loading its model", "wait until /health answers 200"
            )
        if "html" in answer.content_type:
            raise UsageError(
                f"--host: {self.base} answers HTML: it is no LLM server", "is the port the right one?"
            )
        listed = _data(self._json(f"{self.prefix or '/v1'}/models"))
        if listed is None:
            raise UsageError(
                f"--host: {self.base} is no LLM server that is known here: it has no health document of "
                f"Lemonade's and no /v1/models (/health answered {answer.status})",
                "soakproof tests Lemonade and llama.cpp's server",
            )
        self.prefix = self.prefix or "/v1"
        names = model_names(listed, "id")
        model = self.wanted or (names[0] if names else "default")
        if self.wanted and names and self.wanted not in names:
            raise UsageError(
                f"--model: {self.base} has no model {self.wanted!r}", f"it has: {_listed(names)}"
            )
        self._ask_one_token(model)
        local = is_local(self.base)
        pid = listener(self.base) if local else None
        identity = {
            "model_resolved": names[0] if names else None,
            "model_meta": model_meta(listed[0] if listed else None),
            "launch_command": command_of(pid),
        }
        models_url = f"GET {self.base}{self.prefix}/models"
        self.provenance |= {"model_resolved": models_url, "model_meta": models_url}
        self.provenance |= {
            "launch_command": f"/proc/{pid}/cmdline",
            "backend_pid": "who listens on the port",
        }
        return self._finish("llamacpp", model, local, f"{self.base}/slots", self.base, pid, identity, {})

    # -- both

    def _ask_one_token(self, model: str) -> str | None:
        """Send the smallest request: the model is there, loaded, and we may use it. Its name as answered."""
        try:
            answer = self._post(_one_token(model, "Repeat exactly: ok"))
        except NoAnswerError as error:
            raise UsageError(f"--host: {self.base} broke off a chat request: {plain(error)}") from error
        if answer.status == 404:
            raise self._not_there(model)
        if answer.status in (401, 403):
            raise self._unauthorized(answer)
        try:
            document = answer.json()
        except TooDeepError as error:
            raise UsageError(f"--model: the answer of {model!r} to a chat request is {error}") from error
        except ValueError:
            document = None
        if answer.status != 200 or not isinstance(document, dict) or not document.get("choices"):
            told = plain(without_key(without_options(answer.text), self.key), 300)
            raise UsageError(f"--model: {model!r} does not answer a chat request: {answer.status} {told}")
        return name_of(document.get("model"))

    def _post(self, body: dict[str, Any]) -> Answer:
        return self.asking.post(f"{self.base}{self.prefix}/chat/completions", body, _LOADING_S)

    def _finish(
        self,
        kind: Literal["lemonade", "llamacpp"],
        model: str,
        local: bool,
        slots_url: str,
        backend: str | None,
        pid: int | None,
        identity: dict[str, Any],
        entry: dict[str, Any],
    ) -> Target:
        slots, context, url = self._slots(slots_url, entry)
        props = self._json("/props", backend) if backend else None
        batch, ubatch = batch_tokens(identity)
        if isinstance(props, dict):
            told = {
                "build": props.get("build_info"),
                **build_parts(props.get("build_info")),
                "model_path": props.get("model_path"),
                "chat_template_digest": _short_digest(props.get("chat_template")),
            }
            identity |= told
            self.provenance |= dict.fromkeys(told, f"GET {backend}/props")
        seen = f"GET {url or slots_url}" if url else "what the front says, or 1"
        self.provenance |= dict.fromkeys(("slots", "slot_context"), seen)
        self.provenance["slots_url"] = "where slots are shown"
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
            backend_pid=pid,
            cache_tokens=cache_tokens(identity, slots * context),
            batch=batch,
            ubatch=ubatch,
            identity={name: kept(without_options(value)) for name, value in identity.items()},
            provenance={
                name: source
                for name, source in self.provenance.items()
                if identity.get(name, True) is not None
            },
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
        options = entry.get("recipe_options")
        told = options.get("ctx_size") if isinstance(options, dict) else None
        window = count(entry.get("max_context_window")) or count(told) or 4096
        if not seen:
            self.remarks.append(
                f"{url} does not show slots: one slot is assumed, and cancels cannot be judged"
            )
        return max(len(seen), 1), context or window, url if seen else None

    def _chars_per_token(self, backend: str | None, model: str) -> float:
        """By the backend, else by the usage of a request for one token."""
        found = tokenized(self.asking, backend, self.timeout) if backend else None
        if found is None:
            with contextlib.suppress(NoAnswerError):
                found = in_usage(self._post(_one_token(model, SAMPLE)))
        if found is None:
            self.remarks.append(
                "characters a token: not told by the server in a way to be believed, 2 are assumed"
            )
        return found or 2.0


def _one_token(model: str, text: str, *, system: str = "") -> dict[str, Any]:
    """The smallest request."""
    messages = [{"role": "system", "content": system}] if system else []
    return {"model": model, "messages": [*messages, {"role": "user", "content": text}], "max_tokens": 1}


def _data(document: Any) -> list[Any] | None:
    """The entries of a list of models as OpenAI's API has it; None for what is none."""
    data = document.get("data") if isinstance(document, dict) else None
    return data if isinstance(data, list) else None


def _listed(names: list[str]) -> str:
    return listed(names, 20, limit=80)


def _short_digest(text: Any) -> str | None:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16] if isinstance(text, str) else None
