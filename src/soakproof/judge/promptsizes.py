"""How long the prompts of some requests were, in words: a fault may lie in a length. No I/O."""

from collections.abc import Iterable, Mapping, Sequence

from soakproof.judge.evidence import Evidence
from soakproof.judge.slotwork import seeds_of, sightings
from soakproof.records import Exchange


def told_sizes(evidence: Evidence, exchanges: Sequence[Exchange]) -> str:
    """In tokens where each is known: by usage, or seen in its slot, as of one that never answered; else in
    characters."""
    seen = _seen(evidence)
    tokens = [e.prompt_tokens or seen.get(e.seed) for e in exchanges]
    known = [n for n in tokens if n is not None]
    if len(known) == len(tokens):
        return f"prompts of {_span(known)} tokens"
    return f"prompts of {_span(e.prompt_chars for e in exchanges)} characters"


def _seen(evidence: Evidence) -> Mapping[int, int]:
    """Seed to the most prompt tokens that a busy slot showed for it."""
    found: dict[int, int] = {}
    for sample in sightings(evidence):
        for seed, tokens in zip(seeds_of(sample), sample.values.get("prompt_tokens") or (), strict=False):
            if seed is not None and tokens:
                found[seed] = max(tokens, found.get(seed, 0))
    return found


def _span(sizes: Iterable[int]) -> str:
    ordered = sorted(sizes)
    least, most = ordered[0], ordered[-1]
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"
