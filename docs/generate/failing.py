"""The page on failures: classes of exchanges, grades of checks, and oddities of the protocol."""

from collections.abc import Iterator

from tables import code, table

from soakproof.failures import KINDS
from soakproof.grades import GRADES
from soakproof.reading.oddities import ODDITIES, Oddity

_WEIGHTS = {
    "violation": "A client that keeps to the standard loses something. FAIL.",
    "doubt": "The numbers, or the times, cannot be trusted. INCONCLUSIVE.",
    "told": "Healthy servers do it as well, or a failure class says it already. Decides nothing.",
}


def page() -> Iterator[str]:
    yield "# Failures"
    yield ""
    yield "Written from the code by `python docs/generate`; do not edit it by hand."
    yield ""
    yield from _classes()
    yield from _grades()
    yield from _oddities()


_CLASSES = """\
An exchange that did not succeed has one of these. Whose fault it is, is said as far as the class alone can
tell: `ours` is the tester's or the plan's; of `server` it is not known which part of it. Those that can be a
victim are told together where one crash, one reset of the GPU or one eviction explains two or more of them:
one finding with its cause and its victims, and the counts of each class beside it."""
_GRADES = """\
A check passes, fails or is unknown; its grade says in which way. Grades that begin with `known:` are known
limits of a front or a server: told as that, and no failure."""
_ODDITIES = """\
What the adjudicator `protocol` looks for in every answer: as reading noted it, or as the numbers of the
exchange give it away. Some weigh only when they are many."""


def _classes() -> Iterator[str]:
    yield "## Classes of exchanges"
    yield ""
    yield _CLASSES
    yield from table(
        ("class", "what happened", "whose fault", "can be a victim", "what to look at next"),
        [
            (code(failure.value), k.meaning, k.fault, "yes" if k.victim else "no", k.look)
            for failure, k in KINDS.items()
        ],
    )


def _grades() -> Iterator[str]:
    yield "## Grades of checks"
    yield ""
    yield _GRADES
    yield from table(("grade", "what it means"), [(code(name), told) for name, told in GRADES.items()])


def _oddities() -> Iterator[str]:
    yield "## Oddities of the protocol"
    yield ""
    yield _ODDITIES
    for weight, told in _WEIGHTS.items():
        yield ""
        yield f"### {weight.capitalize()}"
        yield ""
        yield told
        of_it = {name: oddity for name, oddity in ODDITIES.items() if oddity.weight == weight}
        yield from table(
            ("oddity", "what it means", "whose", "weighs from"),
            [(code(name), o.meaning, o.fault, _from(o)) for name, o in of_it.items()],
        )


def _from(oddity: Oddity) -> str:
    if oddity.weight == "told":
        return ""
    share = f", {oddity.share:.0%} of them" if oddity.share else ""
    proven = f"; a violation from {oddity.proven_from}" if oddity.proven_from else ""
    return f"{oddity.least}{share}{proven}"
