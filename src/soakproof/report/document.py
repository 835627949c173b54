"""A verdict as JSON, for other programs: every value as it is, nothing of it formatted. No I/O.

verdict.schema.json beside this module is its JSON Schema; `python docs/generate` writes it from the types.
"""

import msgspec

from soakproof.judge.finding import EXIT_CODES, Verdict
from soakproof.plain import commandless
from soakproof.run import to_json

FORMAT = 1
SCHEMA = f"urn:soakproof:verdict:{FORMAT}"


def render_json(verdict: Verdict) -> str:
    """verdict.json: the verdict's own fields, with ``$schema``, ``format`` and the command's ``exit_code``.

    ``raw`` is the run's raw.json, unchanged. A number that JSON has no form for becomes null.
    """
    head = {"$schema": SCHEMA, "format": FORMAT, "exit_code": EXIT_CODES[verdict.outcome]}
    return commandless(to_json({**head, **msgspec.to_builtins(verdict)}).decode(), "\\u{:04x}")
