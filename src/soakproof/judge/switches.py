"""Settings of the host and its GPUs that a run takes as given, and when one was switched. Pure; no I/O."""

from dataclasses import dataclass

from soakproof.clock import NS
from soakproof.judge.evidence import Evidence, load_span

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
    start, end = load_span(evidence)
    latest: dict[str, str] = {}
    switched: list[Switch] = []
    for source, samples in sorted(evidence.samples.items()):
        for sample in samples:
            if sample.t_ns < start or (end is not None and sample.t_ns > end):
                continue
            for choice in CHOICES:
                now = sample.values.get(choice)
                if isinstance(now, str):
                    name = f"{source} {choice.replace('_', ' ')}"
                    was = latest.get(name, now)
                    if was != now:
                        switched.append(Switch(name, was, now, sample.t_ns / NS))
                    latest[name] = now
    return latest, sorted(switched, key=lambda switch: switch.at)
