"""The sections on records, failure classes, exit codes and the environment."""

import re
import typing
from collections.abc import Iterator

from source import Named, named, whole
from tables import code, table

from soakproof import errors, records
from soakproof.cli.app import DEBUG
from soakproof.failures import KINDS
from soakproof.target import KEY_VARIABLES


def section() -> Iterator[str]:
    yield "## Records"
    yield ""
    yield "One line of JSON each; its `record` says of which kind it is. What ends in `_ns` is in nanoseconds"
    yield "on the run clock. `null` means that it is not known."
    yield ""
    known = {f.name for f in named(records.Opened)}
    for kind, tag in records.TAGS.items():
        yield f"### `{tag}`, in {records.FILES[kind]}"
        yield ""
        yield whole(kind)
        fields = [f for f in named(kind) if kind is not records.Exchange or f.name not in known]
        if kind is records.Exchange:
            yield "It has all that its `opened` has, and:"
        yield from table(("field", "type", "what it is"), [_field(f) for f in fields])


def _field(field: Named) -> tuple[str, str, str]:
    return code(field.name), _type(field.annotation), field.comment


def _type(annotation: str) -> str:
    """The type as JSON has it; names of choices are told by their choices."""
    plain, *null = annotation.split(" | ")
    choices = typing.get_args(getattr(records, plain, None))
    if plain == "Failure":
        told = "a failure class"
    elif plain == "Int64":
        told = "whole number"
    elif choices:
        told = ", ".join(code(choice) for choice in choices)
    else:
        told = {
            "str": "text",
            "bool": "true or false",
            "tuple[str, ...]": "texts",
        }.get(plain, "object" if re.match(r"dict\b", plain) else plain)
    return f"{told} or null" if null else told


def failures() -> Iterator[str]:
    yield "## Failure classes"
    yield ""
    yield "Of exchanges, and whose fault each is as far as that can be known. What to look at next, the"
    yield "grades of checks and the oddities of the protocol: [failures](failures.md)."
    yield from table(
        ("class", "whose fault", "what happened"),
        [(code(failure.value), kind.fault, kind.meaning) for failure, kind in KINDS.items()],
    )


def exit_codes() -> Iterator[str]:
    yield "## Exit codes"
    rows = (
        (errors.EXIT_OK, "the run is clean", "PASS"),
        (errors.EXIT_FAIL, "raw failures: a threshold, a check, an exchange or a scenario", "FAIL"),
        (errors.EXIT_INCONCLUSIVE, "", "INCONCLUSIVE: too little was seen to say"),
        (errors.EXIT_ERROR, "could not be carried out, or nothing completed", "ERROR"),
        (errors.EXIT_USAGE, "a wrong plan or target", "a wrong option, run or policy"),
    )
    yield from table(("code", "`locust`", "`soakproof adjudicate`"), [(str(n), *told) for n, *told in rows])
    yield "`soakproof try` ends with 0 when every check passed, 1 when one failed or a request did, 2 when"
    yield "nothing failed and something could not be seen, 3 when it could not be carried out. `compare` ends"
    yield "with 0 when nothing is worse by more than the margin, 1 when an arm is or a check failed, 2 when"
    yield "there is too little to say. `verify` ends with 1 when a run is not as it was sealed, `doctor` with"
    yield "1 when a run could not be made. An option that Locust cannot read ends it with 2."


def environment() -> Iterator[str]:
    yield "## Environment variables"
    yield from table(
        ("variable", "what it does"),
        [
            (", ".join(map(code, KEY_VARIABLES)), "the API key without `--api-key`: the first that is set"),
            (code(DEBUG), "shows the traceback of an unexpected error"),
            (code("NO_COLOR"), "no colours on a terminal"),
        ],
    )
