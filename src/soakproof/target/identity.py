"""A server that has been examined, and how run.json tells it. No I/O."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from soakproof.context import Surroundings


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A server that is up and answers for one model."""

    kind: Literal["lemonade", "llamacpp"]
    base_url: str  # without a prefix
    prefix: str
    model: str  # as asked for in every request
    local: bool  # on this host
    slots: int
    slot_context: int  # tokens
    chars_per_token: float
    slots_url: str | None  # where busy slots are seen; None: nowhere
    backend_url: str | None = None
    backend_pid: int | None = None
    cache_tokens: int | None = None  # what the backend's host-memory prompt cache holds, when known
    batch: int | None = None  # prompt tokens that the backend takes at a time, when known
    ubatch: int | None = None  # and that it computes at a time
    identity: dict[str, Any] = field(default_factory=dict)
    provenance: dict[str, str] = field(default_factory=dict)  # where each field of `describe` comes from
    remarks: tuple[str, ...] = ()  # what could not be found out

    @property
    def chat_url(self) -> str:
        return f"{self.base_url}{self.prefix}/chat/completions"

    @property
    def version(self) -> str | None:
        """Of the front, else the build of a bare backend; as the server tells it."""
        return self.identity.get("version") or self.identity.get("build")

    @property
    def served_model(self) -> str:
        """The model that answers, whatever alias was asked for; as the server tells it."""
        return str(self.identity.get("model_resolved") or self.model)

    @property
    def room(self) -> str:
        """Its slots in words."""
        return f"{self.slots} slot{'' if self.slots == 1 else 's'} of {self.slot_context:,} tokens"

    def surroundings(self, corpora: Mapping[str, Sequence[str]]) -> Surroundings:
        """What a scenario may know of it."""
        return Surroundings(
            slots=self.slots,
            slot_context=self.slot_context,
            chars_per_token=self.chars_per_token,
            corpora=corpora,
            cache_tokens=self.cache_tokens,
            front=self.kind,
            batch=self.batch,
            ubatch=self.ubatch,
        )

    def describe(self) -> dict[str, Any]:
        """The target as run.json has it."""
        named = ("kind", "base_url", "prefix", "model", "local", "slots", "slot_context", "slots_url")
        return {
            **self.identity,
            **{name: getattr(self, name) for name in named},
            "backend_url": self.backend_url,
            "backend_pid": self.backend_pid,
            "chars_per_token": round(self.chars_per_token, 3),
            "remarks": list(self.remarks),
        }
