"""``metrics``: llama.cpp's own counters; ``metrics:front``: what a Lemonade tells of all its models.

An answer to /metrics is a result as one to /slots is (`soakproof.slots`): whoever asks both asks them at the
same time, so that they together are asked no more often than one.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from soakproof.watch.http import PROBE_BOUND_S, Http, NoAnswerError
from soakproof.watch.known import Known
from soakproof.watch.prometheus import Metric, parse_metrics
from soakproof.watch.settings import WatchConfig
from soakproof.watch.source import Reading

LLAMACPP = ("llamacpp:", "llamacpp_")
FRONT, RELAYED, OF_A_MODEL = "lemonade_", "lemonade_llamacpp_", "lemonade_model_"
# The names that llama.cpp gave and gives them; what it does not tell is left out.
COUNTERS = (
    "requests_processing",
    "requests_deferred",
    "prompt_tokens_total",
    "prompt_tokens_cached_total",
    "prompt_seconds_total",
    "tokens_predicted_total",
    "tokens_predicted_seconds_total",
    "n_decode_total",
    "n_busy_slots_per_decode",
    "n_tokens_max",
    "kv_cache_usage_ratio",
    "kv_cache_tokens",
    "spec_decode_num_draft_tokens_total",
    "spec_decode_num_accepted_tokens_total",
)
_FRONT = (
    "loaded_models",
    "requests_total",
    "prompt_tokens_total",
    "input_tokens_total",
    "cache_tokens_total",
    "output_tokens_total",
)
_MODELS_LIMIT = 16


class BackendMetrics:
    """``metrics``: {requests_processing, requests_deferred, prompt_tokens_total, …, backend}.

    llama.cpp's own names, without its prefix; whatever its build tells.
    """

    name = "metrics"

    def __init__(self, config: WatchConfig, http: Http, known: Known, bound_s: float = PROBE_BOUND_S) -> None:
        self.bound_s = bound_s
        self._config = config
        self._http = http
        self._known = known

    async def read(self) -> Sequence[Reading]:
        base = self._known.main.url if self._known.main else None
        if base is None:
            return [self._no_backend()]
        try:
            text = await self._http.text(f"{base}/metrics")
        except NoAnswerError as error:
            return [Reading(self.name, error.state, {"backend": base}, str(error))]
        values = backend_values(parse_metrics(text))
        if not values:
            return [Reading(self.name, "error", {"backend": base}, "the answer has no metric of llama.cpp's")]
        return [Reading(self.name, values={**values, "backend": base})]

    def _no_backend(self) -> Reading:
        if self._config.is_local:
            return Reading(self.name, "error", reason="the target has no backend now that could be asked")
        return Reading(self.name, "unsupported", reason="the backend is on another host, behind its front")


class FrontMetrics:
    """``metrics:front``: {loaded_models, requests_total, …, models}; ``models`` has an entry for each one.

    An entry is {model, requests_total, input_tokens_total, …} with what the front relays of its llama.cpp.
    """

    name = "metrics:front"

    def __init__(self, config: WatchConfig, http: Http, bound_s: float = PROBE_BOUND_S) -> None:
        self.bound_s = bound_s
        self._http = http
        self._url = f"{config.base_url}/metrics"

    async def read(self) -> Sequence[Reading]:
        try:
            text = await self._http.text(self._url)
        except NoAnswerError as error:
            return [Reading(self.name, error.state, reason=str(error))]
        values = front_values(list(parse_metrics(text)))
        if not values:
            return [Reading(self.name, "error", reason="the answer has no metric of Lemonade's")]
        return [Reading(self.name, values=values)]


def backend_values(metrics: Iterable[Metric]) -> dict[str, float]:
    """llama.cpp's own, by their names without its prefix."""
    bare = {metric.name[len(LLAMACPP[0]) :]: metric.value for metric in metrics if _is_llamacpps(metric)}
    return {name: bare[name] for name in COUNTERS if name in bare}


def _is_llamacpps(metric: Metric) -> bool:
    return metric.name.startswith(LLAMACPP) and not metric.labels


def front_values(metrics: Sequence[Metric]) -> dict[str, Any]:
    """Lemonade's own, and of each model; empty where there are none."""
    own = {m.name.removeprefix(FRONT): m.value for m in metrics if m.name.startswith(FRONT) and not m.labels}
    values: dict[str, Any] = {name: own[name] for name in _FRONT if name in own}
    if not values:
        return {}
    models: dict[str, dict[str, Any]] = {}
    for metric in metrics:
        model = metric.labels.get("model_name", "")[:64]
        name = _of_a_model(metric.name)
        if model and name and (model in models or len(models) < _MODELS_LIMIT):
            models.setdefault(model, {"model": model})[name] = metric.value
    return {**values, "models": list(models.values())}


def _of_a_model(name: str) -> str | None:
    """A model's own count, or one that is relayed of its backend; None for all else."""
    known: Mapping[str, Sequence[str]] = {RELAYED: COUNTERS, OF_A_MODEL: _FRONT}
    for prefix, names in known.items():
        if name.startswith(prefix) and name.removeprefix(prefix) in names:
            return name.removeprefix(FRONT).removeprefix("model_")
    return None
