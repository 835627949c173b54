"""An entry as TOML. No I/O."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC

from soakproof.decisions.entries import Entry

HEAD = """\
# Candidates and what was decided of each, positive and negative together. `soakproof decide` adds an entry at
# the end and changes none; of a candidate the last one counts, and those before it are its history.
"""


def written(entry: Entry) -> str:
    """The entry's tables, with a blank line before them."""
    return "\n" + "\n".join(_lines(entry)) + "\n"


def _lines(entry: Entry) -> Iterator[str]:
    at = entry.at.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    yield from ("[[entry]]", f"candidate = {_text(entry.candidate)}", f"at = {at}")
    yield from _pairs({name: getattr(entry, name) for name in ("who", "decision")})
    told = {name: getattr(entry, name) for name in ("release", "changed", "reason")}
    yield from _pairs({name: value for name, value in told.items() if value})
    for run in entry.run:
        yield from ("", "[[entry.run]]", *_pairs({"run": run.run, "seal": run.seal, "raw": run.raw}))
        for verdict in run.verdict:
            yield from ("", "[[entry.run.verdict]]", *_pairs(asdict(verdict)))


def _pairs(values: dict[str, str]) -> Iterator[str]:
    yield from (f"{name} = {_text(value)}" for name, value in values.items())


def _text(value: str) -> str:
    """A basic string of TOML, whose escapes are those of JSON; JSON leaves DEL as it is."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
