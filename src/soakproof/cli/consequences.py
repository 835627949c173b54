"""What the adjudicators will not be able to say of a run, by the sources that cannot be read here. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from soakproof.judge.rules import Policy
from soakproof.judge.switches import CHOICES

if TYPE_CHECKING:
    from soakproof.watch.source import Reading

SETTINGS = "power settings"  # a profile, a governor or a performance level, whichever source reads it
# By a source's name, what stays unknown without it: adjudicator, and what of it. "gpu" is any that is read.
RESTS_ON: Mapping[str, tuple[tuple[str, str], ...]] = {
    "memory": (("memory", "the floor of available memory, swap"),),
    "gpu": (("memory", "the ceilings of a GPU's memory"), ("conditions", "a GPU's clocks")),
    "process": (
        ("growth", "the server's memory, open files and threads"),
        ("slots", "restarts of the server"),
    ),
    "slots": (
        ("slots", "slots that outlive their work"),
        ("functional", "whether a cancel frees its slot"),
        ("scheduling", "requests that wait while a slot is free"),
    ),
    SETTINGS: (("conditions", "whether one was switched"),),
    "health": (("slots", "servers that are gone"),),
    "server_log": (("server_log", "what the server itself says of faults"),),
    "kernel_log": (("kernel", "faults of the GPU, kills for memory"),),
}
_GPUS = ("amdgpu", "nvidia")


@dataclass(frozen=True, slots=True)
class Consequence:
    """What an adjudicator cannot say; ``decides`` are the policies under which a run then does not pass."""

    adjudicator: str
    unknown: str
    source: str
    decides: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        return {
            "adjudicator": self.adjudicator,
            "unknown": self.unknown,
            "source": self.source,
            "inconclusive_under": list(self.decides),
        }


def consequences(readings: "Sequence[Reading]", policies: Sequence[Policy]) -> Iterator[Consequence]:
    """One for each thing that stays unknown. A source without a reading, as without a target, is left out;
    power settings are of the host, and never are.
    """
    states: dict[str, set[str]] = {}
    for reading in readings:
        base = reading.source.partition(":")[0]
        states.setdefault("gpu" if base in _GPUS else base, set()).add(reading.state)
    told = any(isinstance(r.values.get(choice), str) for r in readings for choice in CHOICES)
    states[SETTINGS] = {"value" if told else "unsupported"}
    for source, rests in RESTS_ON.items():
        if source in states and "value" not in states[source]:
            for adjudicator, unknown in rests:
                decides = tuple(p.name for p in policies if _required(p, adjudicator, source))
                yield Consequence(adjudicator, unknown, source, decides)


def _required(policy: Policy, adjudicator: str, source: str) -> bool:
    """Whether a policy lets nothing pass without it: by the adjudicator's own word, or as coverage."""
    options = {name: rule.adjudicator for name, rule in policy.rules.items() if rule.critical}
    wanted = getattr(options.get("coverage"), "required", ())
    covered = any(str(name).partition(":")[0] == source for name in wanted)
    own = options.get(adjudicator)
    asks = getattr(own, "required", False) if source != "gpu" else _ceiling(own)
    return covered or bool(asks)


def _ceiling(adjudicator: object) -> bool:
    return any(getattr(adjudicator, name, 0) for name in ("gtt_ceiling", "vram_ceiling", "headroom"))
