"""Settings of the host and its GPUs that a run takes as given, and when one was switched. Pure; no I/O."""

from dataclasses import dataclass

from soakproof.judge.evidence import Evidence, load_span
from soakproof.samples import Readings

# Values of samples that are a choice of whoever runs the machine. An AMD GPU's own power profile is none: its
# driver switches that by itself when compute work begins and ends.
CHOICES = ("platform_profile", "governor", "performance_level")


@dataclass(frozen=True, slots=True)
class Switch:
    """A setting that is another than at the reading before."""

    name: str  # its source and its own name
    was: str
    now: str
    at: float  # seconds of the run


def settings_seen(evidence: Evidence) -> tuple[dict[str, str], list[Switch]]:
    """Each setting as it was read last while the load ran, and every switch of one, in order of time."""
    latest: dict[str, str] = {}
    switched: list[Switch] = []
    for source, told in sorted(evidence.samples.items()):
        for choice in CHOICES:
            if choice in told.values:
                name = f"{source} {choice.replace('_', ' ')}"
                _follow(name, told.during(*load_span(evidence)), choice, latest, switched)
    return latest, sorted(switched, key=lambda switch: switch.at)


def _follow(name: str, told: Readings, choice: str, latest: dict[str, str], switched: list[Switch]) -> None:
    """One setting of one source, from reading to reading."""
    for at, now in zip(told.times_s.tolist(), told.told(choice), strict=True):
        if isinstance(now, str):
            was = latest.get(name, now)
            if was != now:
                switched.append(Switch(name, was, now, at))
            latest[name] = now
