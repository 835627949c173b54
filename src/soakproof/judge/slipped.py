"""Whether a model's slip is its own: at temperature 0 the same prompt has the same answer. Pure; no I/O."""

from collections.abc import Iterable, Sequence

from soakproof.judge.claims import whole
from soakproof.judge.evidence import Evidence
from soakproof.records import Check, Exchange


def contradicted(slips: Sequence[Check], runs: Iterable[Evidence]) -> list[Check]:
    """Those to prompts that one of the runs has answered otherwise: the model need not slip there."""
    if not slips:
        return []
    wrong = {id for slip in slips for id in slip.exchanges}
    answers: dict[str, set[str]] = {}
    asked: dict[str, str] = {}
    for exchange in (e for run in runs for e in run.exchanges if _is_greedy(e)):
        answers.setdefault(exchange.prompt_digest, set()).add(exchange.text_digest)
        if exchange.id in wrong:
            asked.setdefault(exchange.id, exchange.prompt_digest)
    return [s for s in slips if any(len(answers.get(asked.get(id, ""), ())) > 1 for id in s.exchanges)]


def _is_greedy(exchange: Exchange) -> bool:
    return whole(exchange) and bool(exchange.text) and not exchange.temperature
