"""Bounded pieces of the exchanges that failed a check, so that a reader sees what was answered. No I/O."""

from collections.abc import Iterator

import numpy as np

from soakproof.judge.evidence import Evidence
from soakproof.judge.telling import counted
from soakproof.plain import listed
from soakproof.quantities import check_outcome
from soakproof.records import Check, Exchange
from soakproof.report.page import Excerpt
from soakproof.report.visible import bounded

EACH, CHECKS = 3, 30  # exchanges of one check, and checks in all
HEAD, TAIL = 320, 160  # characters


def excerpts(evidence: Evidence) -> tuple[Excerpt, ...]:
    """Up to three exchanges for each check that failed."""
    shown = [pair for checks in list(_failed(evidence).values())[:CHECKS] for pair in _first(checks)]
    wanted, table = {id for _, id in shown}, evidence.exchange_table
    there = table.where(np.array([id in wanted for id in table["id"].tolist()], bool))
    by_id = {exchange.id: exchange for exchange in there.records}
    return tuple(_excerpt(check, id, by_id.get(id)) for check, id in shown)


def left_out(evidence: Evidence) -> str:
    """What of the failing checks `excerpts` does not show, in a sentence; empty where it shows all."""
    failed = {name: len(checks) for name, checks in _failed(evidence).items()}
    more = {name: n - EACH for name, n in list(failed.items())[:CHECKS] if n > EACH}
    others = list(failed.values())[CHECKS:]
    told = [f"{n:,} of {name}" for name, n in more.items()]
    told += [f"{sum(others):,} of {len(others):,} other checks"] if others else []
    if not told:
        return ""
    many = sum(more.values()) + sum(others)
    return f"{counted(many, 'more failure')} not shown: {listed(told, CHECKS)}."


def _failed(evidence: Evidence) -> dict[str, list[Check]]:
    """Failures by the check's name, in the order of their first ones."""
    failed: dict[str, list[Check]] = {}
    table = evidence.check_table
    for check in table.where(table["outcome"] == "fail").records:
        if check_outcome(check) == "fail":
            failed.setdefault(check.name, []).append(check)
    return failed


def _first(checks: list[Check]) -> Iterator[tuple[Check, str]]:
    """The first exchanges of a check's failures, from as many failures as there are."""
    taken: set[str] = set()
    for depth in range(EACH):
        for check in checks:
            id = check.exchanges[depth] if depth < len(check.exchanges) else ""
            if id and id not in taken and len(taken) < EACH:
                taken.add(id)
                yield check, id


def _excerpt(check: Check, id: str, exchange: Exchange | None) -> Excerpt:
    why = f"{check.grade}: {check.reason}" if check.grade and check.reason else check.grade or check.reason
    about = f"{check.scenario} {check.iteration}" + (f", {why}" if why else "")
    if exchange is None:
        return Excerpt(check.name, about, id, "", "this exchange is not in the evidence")
    what, text = _told(exchange)
    end = exchange.failure or exchange.finish_reason or exchange.outcome
    about = f"{about}; {exchange.role} ended with {end}"
    return Excerpt(check.name, about, id, bounded(text, HEAD, TAIL), what)


def _told(exchange: Exchange) -> tuple[str, str]:
    if exchange.text:
        return f"answer, {len(exchange.text):,} characters", exchange.text
    if exchange.reasoning:
        return f"no answer; reasoning, {len(exchange.reasoning):,} characters", exchange.reasoning
    if exchange.error_body:
        return "error", exchange.error_body
    return "no text" if not exchange.text_digest else "its text was not kept", ""
