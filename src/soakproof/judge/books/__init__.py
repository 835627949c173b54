"""Whether a run's books agree: what it wrote down in one place against what it wrote in another. No I/O.

A seal shows that nothing was changed after it was written; it cannot show that what was sealed is whole.
A run keeps the same facts several times over (requests are opened and closed, iterations and their checks
counted in raw.json, readings counted by the watch), so a line that was lost, doubled, moved or edited leaves
two books that disagree. Each module here has the rules of one book. All are linear in the records.
"""

from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING

from soakproof.judge.books.disagreement import Disagreement
from soakproof.judge.books.iterations import iterations
from soakproof.judge.books.order import order
from soakproof.judge.books.processes import processes
from soakproof.judge.books.rawresult import raw_result_told
from soakproof.judge.books.requests import requests
from soakproof.judge.books.success import success
from soakproof.judge.books.tester import tester
from soakproof.judge.books.watching import watching

if TYPE_CHECKING:
    from soakproof.judge.evidence import Evidence

__all__ = ["SUBJECTS", "Disagreement", "disagreements"]

RULES = (requests, success, iterations, order, tester, watching, processes, raw_result_told)
SUBJECTS = ("requests", "answers", "iterations", "checks", "order", "times", "tester", "watch", "raw result")


def disagreements(evidence: "Evidence") -> Iterator[Disagreement]:
    """Everything in which the run's books do not agree, by subject."""
    return chain.from_iterable(rule(evidence) for rule in RULES)
