"""A verdict as JSON, for other programs: every value as it is, nothing of it formatted. No I/O."""

import msgspec

from soakproof.judge.finding import EXIT_CODES, Verdict
from soakproof.run import to_json

FORMAT = 1


def render_json(verdict: Verdict) -> str:
    """verdict.json: the verdict's own fields, with ``format`` and the command's ``exit_code``.

    ``raw`` is the run's raw.json, unchanged. A number that JSON has no form for becomes null.
    """
    document = {"format": FORMAT, "exit_code": EXIT_CODES[verdict.outcome], **msgspec.to_builtins(verdict)}
    return to_json(document).decode()
