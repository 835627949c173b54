"""Whether memory is free enough to begin, and whether it came back after the end. Pure."""

from collections.abc import Mapping

from soakproof.watch.guard.limits import Limits, in_words

_SLACK_BYTES = 1 << 29  # other processes, and the kernel's own caches, move that much
_GPU = (("gtt_used_bytes", "GTT"), ("vram_used_bytes", "VRAM"))


def not_clear(limits: Limits, clear_to_bytes: int | None, now: Mapping[str, int]) -> str:
    """Why it is no time to begin, by what is known ``now``; empty when it is.

    Memory that is not known has not cleared to a level that was asked for; else what is not known is clear.
    """
    floor = max(clear_to_bytes or 0, limits.available_floor_bytes or 0)
    available, gtt, vram = (now.get(f"{n}_bytes") for n in ("available", "gtt_used", "vram_used"))
    if available is None and clear_to_bytes is not None:
        return f"available memory cannot be read, {in_words(clear_to_bytes)} are wanted"
    if available is not None and available < floor:
        return f"{in_words(available)} of memory are available, {in_words(floor)} are wanted"
    if gtt is not None and limits.gtt_ceiling_bytes is not None and gtt > limits.gtt_ceiling_bytes:
        return f"{in_words(gtt)} of GTT are used already, more than {in_words(limits.gtt_ceiling_bytes)}"
    if vram is not None and limits.vram_ceiling_bytes is not None and vram > limits.vram_ceiling_bytes:
        return f"{in_words(vram)} of VRAM are used already, more than {in_words(limits.vram_ceiling_bytes)}"
    return ""


def not_returned(
    before: Mapping[str, int], at_end: Mapping[str, int], after: Mapping[str, int]
) -> tuple[str, ...]:
    """What did not come back, in words, by what was known before the launch, at the end, and after it.

    GPU memory has to be within half a GiB of what it was. Of available memory others take their share as time
    goes by: it is told when more than half of what had gone is still missing.
    """
    told = []
    for field, what in _GPU:
        was, now = before.get(field), after.get(field)
        if was is not None and now is None:
            told.append(f"{what} can no longer be read")
        elif was is not None and now is not None and now > was + _SLACK_BYTES:
            told.append(f"{in_words(now)} of {what} are used, {in_words(was)} were before the launch")
    was, least, now = (known.get("available_bytes") for known in (before, at_end, after))
    lost = None if was is None or least is None else was - least
    if lost is not None and now is None:
        told.append("available memory can no longer be read")
    elif was is not None and lost is not None and now is not None and was - now > max(_SLACK_BYTES, lost / 2):
        told.append(f"{in_words(now)} of memory are available, {in_words(was)} were before the launch")
    return tuple(told)


def not_comparable(
    before: Mapping[str, int], at_end: Mapping[str, int], after: Mapping[str, int]
) -> tuple[str, ...]:
    """What cannot be said to have come back, in words: it was known later, and not before the launch."""
    fields = (*_GPU, ("available_bytes", "available memory"))
    return tuple(
        f"{what} was not known before the launch"
        for field, what in fields
        if field not in before and (field in at_end or field in after)
    )
