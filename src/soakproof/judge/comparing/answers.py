"""Greedy answers of two arms to the same prompts: how many are the same, and where the first one splits.

At temperature 0 a prompt has one answer, as long as the sums are done alike. No I/O.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from soakproof.judge.comparing.arms import Arm, Measurement

_AFTER = 40  # characters of both answers that are shown from where they split


@dataclass(frozen=True, slots=True)
class Split:
    """The first pair that differs: both names, and from which character on; None where no text is kept."""

    was: str
    now: str
    workload: str
    at: int | None
    was_text: str = ""
    now_text: str = ""


@dataclass(frozen=True, slots=True)
class Answers:
    """Greedy answers of an arm against the first's, a prompt each."""

    arm: str
    compared: int = 0
    identical: int = 0
    unsteady: int = 0  # prompts that one arm alone answers in several ways
    split: Split | None = None
    published: bool | None = None  # what a published change says of the output


def answers(first: Arm, arm: Arm) -> Answers:
    """Prompts that both arms were asked at temperature 0, with the same bound on the answer."""
    before, after = _by_prompt(first.measurements), _by_prompt(arm.measurements)
    shared = [key for key in before if key in after]
    unsteady = sum(len(_outputs(before[k])) > 1 or len(_outputs(after[k])) > 1 for k in shared)
    identical = [key for key in shared if _outputs(before[key]) == _outputs(after[key])]
    other = next((key for key in shared if not _outputs(before[key]) & _outputs(after[key])), None)
    said = [c.same_output for c in arm.changes if c.against == first.name and c.same_output is not None]
    return Answers(
        arm.name,
        len(shared),
        len(identical),
        unsteady,
        _split(before[other][0], after[other][0]) if other else None,
        all(said) if said else None,
    )


def _by_prompt(found: Iterable[Measurement]) -> dict[tuple[object, ...], list[Measurement]]:
    by: dict[tuple[object, ...], list[Measurement]] = {}
    for one in found:
        if one.temperature == 0 and one.prompt and one.output:
            by.setdefault((one.workload, one.prompt, one.max_tokens), []).append(one)
    return by


def _outputs(found: Iterable[Measurement]) -> set[str]:
    return {one.output for one in found}


def _split(was: Measurement, now: Measurement) -> Split:
    if not (was.text and now.text):
        return Split(was.name, now.name, was.workload, None)
    least = min(len(was.text), len(now.text))
    at = next((n for n in range(least) if was.text[n] != now.text[n]), least)
    return Split(was.name, now.name, was.workload, at, was.text[at : at + _AFTER], now.text[at : at + _AFTER])
