"""A verdict as JSON, for other programs: every value as it is, nothing of it formatted. No I/O.

verdict.schema.json beside this module is its JSON Schema; `python docs/generate` writes it from the types.
"""

import json
import re

import msgspec

from soakproof.judge.finding import EXIT_CODES, Verdict
from soakproof.plain import commandless
from soakproof.run import to_json

FORMAT = 1
SCHEMA = f"urn:soakproof:verdict:{FORMAT}"
_UNSEEN = re.compile(r"[^\x00-\x7e]")


def render_json(verdict: Verdict) -> str:
    """verdict.json: the verdict's own fields, with ``$schema``, ``format`` and the command's ``exit_code``.

    ``raw`` is the run's raw.json, unchanged. A number that JSON has no form for becomes null.
    """
    head = {"$schema": SCHEMA, "format": FORMAT, "exit_code": EXIT_CODES[verdict.outcome]}
    text = to_json({**head, **msgspec.to_builtins(verdict)}).decode()
    return commandless(_UNSEEN.sub(_escaped, text), "\\u{:04x}")


def _escaped(match: re.Match[str]) -> str:
    """A character that does not show, or that steers a terminal, as JSON's own escape of it."""
    return match[0] if match[0].isprintable() else json.dumps(match[0])[1:-1]
