"""Counters of tokens, as Lemonade's /stats and /metrics show them: of the last request and in all."""

import json
from dataclasses import dataclass, field
from typing import Any

_COUNTED = ("cache_tokens", "input_tokens", "output_tokens", "prompt_tokens")


@dataclass
class Stats:
    """``last`` is None for what the last request did not tell; ``total`` sums what was told."""

    requests: int = 0
    last: dict[str, Any] = field(default_factory=lambda: dict.fromkeys(_COUNTED))
    total: dict[str, int] = field(default_factory=lambda: dict.fromkeys(_COUNTED, 0))

    def note(self, answer: dict[str, Any]) -> None:
        """Count an answer, or the last event of a stream, by its `timings` and `usage`."""
        timings, usage = answer.get("timings") or {}, answer.get("usage") or {}
        cached, fresh = timings.get("cache_n"), timings.get("prompt_n")
        whole = usage.get("prompt_tokens")
        self.requests += 1
        self.last = {
            "cache_tokens": cached,
            "input_tokens": fresh,
            "output_tokens": timings.get("predicted_n", usage.get("completion_tokens")),
            "prompt_tokens": whole if whole is not None else (fresh or 0) + (cached or 0),
            "time_to_first_token": timings.get("prompt_ms", 0.0) / 1000,
            "tokens_per_second": timings.get("predicted_per_second", 0.0),
        }
        for key in _COUNTED:
            self.total[key] += self.last[key] or 0

    def note_stream(self, tail: bytes) -> None:
        """Count a stream by the last bytes of it."""
        for line in reversed(tail.splitlines()):
            if line.startswith(b"data: {") and b'"timings"' in line:
                self.note(json.loads(line[len(b"data: ") :]))
                return
        self.note({})

    def document(self) -> dict[str, Any]:
        return {
            **self.last,
            **{f"{key}_total": value for key, value in self.total.items()},
            "request_count_total": self.requests,
            "routing_decisions_total": 0,
            "routing_switches_total": 0,
        }
