"""What a trial came to: tables, advice and an exit code. Pure; no I/O."""

import statistics
from collections import Counter
from collections.abc import Iterable, Sequence

from soakproof.errors import EXIT_ERROR, EXIT_FAIL, EXIT_INCONCLUSIVE, EXIT_OK
from soakproof.gates.advice import advice
from soakproof.gates.trial import Book, Trial
from soakproof.metrics import values
from soakproof.plain import plain
from soakproof.quantities import KNOWN, check_outcome
from soakproof.records import Exchange
from soakproof.tables import fitted, paragraph


def exit_code(book: Book) -> int:
    """FAIL over ERROR over unknown over all passed; nothing at all is unknown."""
    outcomes = Counter(check_outcome(check) for check in book.checks)
    if outcomes["fail"] or any(e.outcome == "fail" for e in book.exchanges):
        return EXIT_FAIL
    if book.stopped or any(result.end == "broken" for result in book.results):
        return EXIT_ERROR
    if outcomes["unknown"] or not outcomes:
        return EXIT_INCONCLUSIVE
    return EXIT_OK


def summary(trial: Trial, book: Book, width: int) -> list[str]:
    """The tables, what they come to, and what may help, in lines of at most ``width``."""
    lines = [_checks(trial, book, width), ""]
    lines += [_roles(book.exchanges, width), ""] if book.exchanges else ["nothing was asked", ""]
    lines += [paragraph(f"- {told}", width, "  ") for told in advice(trial, book)]
    return [*lines, paragraph(_verdict(trial, book), width)]


def _checks(trial: Trial, book: Book, width: int) -> str:
    """A row a declared check, with the grades of what did not pass."""
    rows = []
    for name in trial.kind.scenario.checks:
        mine = [check for check in book.checks if check.name == name]
        counts = Counter(check_outcome(check) for check in mine)
        grades = Counter(plain(c.grade, 40) for c in mine if c.grade and check_outcome(c) != "pass")
        told = ", ".join(f"{grade} {n}" for grade, n in grades.most_common())
        rows.append((name, counts["pass"], counts["fail"], counts["unknown"], counts[KNOWN], told))
    heads = ("check", "pass", "fail", "unknown", "known limit", "graded")
    return fitted(heads, rows, width, right=heads[1:-1], whole=heads[:1])


_MEDIANS = (
    ("first token, s", "first_token_time"),
    ("in all, s", "total_time"),
    ("tokens/s", "generation_rate"),
    ("prompt tokens", "prompt_tokens"),
    ("cached", "cached_tokens"),
    ("generated", "completion_tokens"),
)


def _roles(exchanges: Sequence[Exchange], width: int) -> str:
    """A row a role, with medians of what was measured; an empty cell was not."""
    rows = []
    for role in dict.fromkeys(e.role for e in exchanges):
        mine = [e for e in exchanges if e.role == role]
        outcomes = Counter(e.outcome for e in mine)
        medians = [_told(_median(name, mine)) for _, name in _MEDIANS]
        rows.append((plain(role, 30), outcomes["ok"], outcomes["fail"], outcomes["unknown"], *medians))
    heads = ("request", "ok", "failed", "unknown", *(head for head, _ in _MEDIANS))
    return f"{fitted(heads, rows, width, right=heads[1:])}\n(medians)"


def _median(metric: str, exchanges: Iterable[Exchange]) -> float | None:
    found = values(metric, exchanges)
    return statistics.median(found) if found else None


def _told(median: float | None) -> str:
    return "" if median is None else f"{median:,.4g}"


def _verdict(trial: Trial, book: Book) -> str:
    """One sentence."""
    name, done = trial.kind.name, sum(result.end == "completed" for result in book.results)
    runs = f"{done} of {trial.times} iterations completed"
    if book.stopped:
        return f"{name}: {book.stopped}; {runs}"
    failed = sorted({c.name for c in book.checks if check_outcome(c) == "fail"})
    fits = "the testbed and its own small model" if trial.on_probe else "this model and this server"
    words = {
        EXIT_OK: f"every check passed: this scenario fits {fits}",
        EXIT_FAIL: f"FAILED: {', '.join(failed) or 'requests failed'}",
        EXIT_INCONCLUSIVE: "nothing failed, and not everything could be seen",
        EXIT_ERROR: "the scenario itself is at fault",
    }
    return f"{name}: {runs}; {words[exit_code(book)]}"
