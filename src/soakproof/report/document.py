"""A verdict as JSON, for other programs: every value as it is, nothing of it formatted. No I/O."""

from typing import Any

import msgspec

from soakproof.judge.finding import EXIT_CODES, Verdict
from soakproof.run import to_json

FORMAT = 1


def render_json(verdict: Verdict) -> str:
    """verdict.json: the verdict's own fields, with ``format`` and the command's ``exit_code``.

    ``raw`` is the run's raw.json, unchanged. A number that JSON has no form for becomes null.
    """
    document = {"format": FORMAT, "exit_code": EXIT_CODES[verdict.outcome], **msgspec.to_builtins(verdict)}
    try:
        return to_json(document).decode()
    except TypeError:
        return to_json(_encodable(document)).decode()


def _encodable(value: Any) -> Any:
    """The same with what UTF-8 or 64 bits cannot hold replaced: half a surrogate pair, a huge integer."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_encodable(str(key)): _encodable(found) for key, found in value.items()}
    if isinstance(value, (list, tuple)):
        return [_encodable(found) for found in value]
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        return str(value)
    return value
