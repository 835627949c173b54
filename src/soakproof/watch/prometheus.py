"""Metrics in Prometheus' text format, as a hostile server may send them. Pure; no I/O.

    llamacpp:requests_deferred 3
    lemonade_model_requests_total{model_name="Probe",device="gpu"} 17

What is no sample of a finite number that is not negative is passed over, as are comments and timestamps.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

LINES = 5000  # looked at, of one text
TEXT_LENGTH = 1 << 20  # characters
LINE_LENGTH = 4000  # characters; a longer one is no sample
_LARGEST = 2.0**63

_SAMPLE = re.compile(
    r"(?P<name>[a-zA-Z_:][a-zA-Z0-9_:]{0,199})(?:\{(?P<labels>.*)\})?[ \t]+"
    r"(?P<value>\+?(?:\d{1,30}(?:\.\d{0,30})?|\.\d{1,30})(?:[eE][+-]?\d{1,4})?)(?:[ \t]+-?\d{1,20})?[ \t]*"
)
_LABEL = re.compile(r'[, ]*([a-zA-Z_][a-zA-Z0-9_]{0,99})="((?:[^"\\]|\\.)*)"')
_ESCAPED = re.compile(r"\\(.)")


@dataclass(frozen=True, slots=True)
class Metric:
    """One sample."""

    name: str
    value: float
    labels: dict[str, str] = field(default_factory=dict)


def parse_metrics(text: str) -> Iterator[Metric]:
    """The samples of a text, in its order."""
    for line in text[:TEXT_LENGTH].split("\n", LINES)[:LINES]:
        found = _SAMPLE.fullmatch(line.rstrip("\r")) if len(line) <= LINE_LENGTH else None
        value = float(found["value"]) if found else None
        if found and value is not None and value <= _LARGEST:
            yield Metric(found["name"], value, _labels(found["labels"] or ""))


def _labels(text: str) -> dict[str, str]:
    """Up to the first that is none."""
    labels: dict[str, str] = {}
    found = _LABEL.match(text)
    while found:
        labels[found[1]] = _ESCAPED.sub(_unescaped, found[2])
        found = _LABEL.match(text, found.end())
    return labels


def _unescaped(found: re.Match[str]) -> str:
    return "\n" if found[1] == "n" else found[1]
