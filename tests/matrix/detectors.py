"""Every detector there is, and where those are proven that no plant in the testbed can make fire."""

import ast
from collections.abc import Iterator

from soakproof.catalog import Catalog, bundled
from soakproof.failures import KINDS
from soakproof.judge import unwell
from soakproof.reading.oddities import ODDITIES
from soakproof.records import Failure
from soakproof.watch.server_catalogue import load_server_catalogue
from tests.load.soaks import ROOT

# Adjudicators of the run itself: how much of it there was, whether it is whole, whether the tester kept up.
OF_THE_RUN = ("coverage", "evidence", "generator")
# Subjects that only tell, or say that nothing was seen.
TELLING = {
    "delivery: requests",
    "functional: checks",
    "functional: exchanges",
    "functional: scenarios",
    "functional: slips",
    "isolation: overlap",
    "kernel: gaps",
    "kernel: kernel log",
    "kernel: warnings",
    "memory: headroom",
    "protocol: answers",
    "server_log: log",
    "server_log: warnings",
    "slots: guard",
    "slots: seeds",
    "slots: slots",
    "slots: strangers",
}
# Where a detector fires that no plant can reach: the host's memory and what its owner set while it ran, and
# readings of slots that do not tell which are busy, as the watch itself writes none.
ELSEWHERE = {
    "conditions: settings": "tests/adjudicators/test_conditions.py",
    "memory: available": "tests/adjudicators/test_memory.py",
    "memory: swap": "tests/adjudicators/test_memory.py",
    "slots: busy": "tests/adjudicators/test_slots.py",
}
# Each oddity of the protocol that weighs is made to fire in these rooms' tests, if no plant does it.
ODDITIES_PROVEN = ("tests/adjudicators", "tests/cases", "tests/exchange")


def checks() -> set[str]:
    """Every check that a bundled scenario declares."""
    catalog = Catalog(bundled("scenarios").parent)
    names = catalog.files("scenarios", ".py")
    return {f"functional: {check}" for name in names for check in catalog.scenario(name).checks}


def failures() -> set[str]:
    """Every failure class that a server can be at fault for."""
    return {f"functional: exchanges: {failure}" for failure in Failure if KINDS[failure].fault != "ours"}


def oddities() -> set[str]:
    """Every oddity of the protocol that weighs."""
    return {f"protocol: {name}" for name, odd in ODDITIES.items() if odd.weight != "told"}


def said_by_servers() -> set[str]:
    """Every class of fault that a server's own log can tell of."""
    signatures = load_server_catalogue().signatures
    return {f"server_log: {s.fault_class}" for s in signatures if s.severity == "fail"}


def subjects() -> set[str]:
    """What the adjudicators' sources name as the subject of a finding, where it is a fixed text."""
    found = {f"slots: {source}" for source in unwell.SOURCES}
    for path in (ROOT / "adjudicators").glob("*.py"):
        if path.stem not in OF_THE_RUN:
            found |= {f"{path.stem}: {subject}" for subject in _fixed(path.read_text())}
    return found - TELLING


def _fixed(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "finding" and len(node.args) > 1:
            subject = node.args[1]
            if isinstance(subject, ast.Constant):
                yield str(subject.value)
