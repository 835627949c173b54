"""How many characters a token of our kind of text has on a target: prompts are sized by it."""

from soakproof.target.asking import Answer, Asking, NoAnswerError
from soakproof.target.health import count

SAMPLE = "\n".join(  # mostly what the long prompts are made of: registers of records
    (
        "Below is a register of records.",
        "Record 0142: station Marlow, keeper Celia, code K7QD-92MX, status open.",
        "Record 0143: station Wharfe, keeper Jonas, code 4TZA-PL8C, status pending.",
        "Record 0144: station Otterby, keeper Hana, code W3NE-J6RS, status closed.",
        "Record 0145: station Zennor, keeper Edwin, code GX2H-5BVK, status review.",
        "Write a long continuous report about the stations above.",
    )
)
_BELIEVABLE = (0.5, 16.0)  # characters a token


def tokenized(asking: Asking, backend: str, within: float) -> float | None:
    """By the backend's own /tokenize; None where it does not tell, or not in a way to be believed."""
    try:
        tokens = asking.post(f"{backend}/tokenize", {"content": SAMPLE}, within).json()["tokens"]
    except (NoAnswerError, ValueError, KeyError, TypeError):
        return None
    return _believed(len(tokens)) if isinstance(tokens, list) else None


def in_usage(answer: Answer) -> float | None:
    """By the usage of the answer to a prompt that was the sample."""
    tokens = prompt_tokens(answer)
    return None if tokens is None else _believed(tokens)


def prompt_tokens(answer: Answer) -> int | None:
    """Of the prompt, as the answer's usage counts them; None where it does not."""
    try:
        return count(answer.json()["usage"]["prompt_tokens"])
    except (ValueError, KeyError, TypeError):
        return None


def _believed(tokens: int) -> float | None:
    found = len(SAMPLE) / max(tokens, 1)
    return found if _BELIEVABLE[0] <= found <= _BELIEVABLE[1] else None
