"""The JSON Schema of verdict.json, from the types of a verdict and the comments beside their fields."""

import json
from collections.abc import Iterator
from typing import Any

import msgspec
from source import named, whole

from soakproof.judge.finding import EXIT_CODES, Figure, Finding, Outcome, Reconsidered, Verdict
from soakproof.report.document import FORMAT, SCHEMA

_KINDS = {kind.__name__: kind for kind in (Figure, Finding, Outcome, Reconsidered, Verdict)}
_OWN = {
    "$schema": {"const": SCHEMA, "description": "the schema that this document keeps to"},
    "format": {
        "const": FORMAT,
        "description": "the schema's version; what breaks a reader raises it",
    },
    "exit_code": {
        "enum": sorted(EXIT_CODES.values()),
        "description": "that of `soakproof adjudicate`: 0 PASS, 1 FAIL, 2 INCONCLUSIVE, 3 ERROR",
    },
}


def document() -> dict[str, Any]:
    """The schema. Fields may be added without a new version, so that more than these are allowed."""
    _, kinds = msgspec.json.schema_components([Verdict], ref_template="#/$defs/{name}")
    for name, kind in kinds.items():
        _describe(_KINDS[name], kind)
    verdict = kinds.pop("Verdict")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCHEMA,
        "title": "A verdict of soakproof",
        "description": verdict["description"],
        "type": "object",
        "required": [*_OWN, *verdict["properties"]],
        "properties": {**_OWN, **verdict["properties"]},
        "$defs": kinds,
    }


def _describe(kind: type, schema: dict[str, Any]) -> None:
    """Every field is always written, so that all are required; its comment says what it is."""
    schema["description"] = whole(kind)
    if "properties" not in schema:
        return
    schema["required"] = list(schema["properties"])
    for field in named(kind):
        about = schema["properties"][field.name]
        about.pop("default", None)
        if field.comment:
            about["description"] = field.comment


def page() -> Iterator[str]:
    yield json.dumps(document(), indent=2, ensure_ascii=False)
