"""Whether two answers are one that was given twice, told by their ids and by their times. Pure; no I/O.

A cache of answers in front of a model gives what it once was answered: with the same id, or at once and with
the times of work that nobody did.
"""

from soakproof.amounts import amount
from soakproof.clock import NS
from soakproof.records import Exchange

ID_CHARS = 20  # from here on an id is made by chance, and none comes twice; some servers count, or say a word
ID_VARIETY = 8  # different characters in such an id
LEAST_WORK_MS = 20.0  # that is claimed, for the time to say anything
AT_ONCE = 0.5  # of the claimed work's time: no answer that was made comes in less


def tells(id: str | None) -> bool:
    """Whether an id is one by which an answer is known among all others."""
    return id is not None and len(id) >= ID_CHARS and len(set(id)) >= ID_VARIETY and _has_digit(id)


def times(answer: Exchange) -> tuple[float, float] | None:
    """What the server says of its work on prompt and answer, in milliseconds; None where it does not."""
    told = answer.timings or {}
    prompt, predicted = amount(told.get("prompt_ms")), amount(told.get("predicted_ms"))
    return (prompt, predicted) if prompt and predicted else None


def is_faster_than_its_work(answer: Exchange) -> bool:
    """Whether it came in less time than the server says that its own work took."""
    claimed = sum(times(answer) or ())
    elapsed_ms = (answer.done_ns - answer.sent_ns) / NS * 1000
    return claimed >= LEAST_WORK_MS and elapsed_ms < AT_ONCE * claimed


def is_replay(later: Exchange, earlier: Exchange) -> bool:
    """Whether the later answer is the earlier one, given once more."""
    if later is earlier or not later.text or later.text != earlier.text:
        return False
    if tells(later.answer_id) and later.answer_id == earlier.answer_id:
        return True
    same = times(later)
    return same is not None and same == times(earlier) and is_faster_than_its_work(later)


def _has_digit(id: str) -> bool:
    return any(c.isdigit() for c in id)
