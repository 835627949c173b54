"""Whether a model's slip is its own: at temperature 0 the same prompt has the same answer. Pure; no I/O."""

from collections.abc import Iterable, Sequence

import numpy as np

from soakproof.columns import Table
from soakproof.judge.evidence import Evidence
from soakproof.records import Check, Exchange


def contradicted(slips: Sequence[Check], runs: Iterable[Evidence]) -> list[Check]:
    """Those to prompts that one of the runs has answered otherwise: the model need not slip there."""
    if not slips:
        return []
    wrong = {id for slip in slips for id in slip.exchanges}
    answers: dict[str, set[str]] = {}
    asked: dict[str, str] = {}
    for greedy in (_greedy(run.exchange_table) for run in runs):
        columns = (greedy[name].tolist() for name in ("id", "prompt_digest", "text_digest"))
        for id, prompt, text in zip(*columns, strict=True):
            answers.setdefault(prompt, set()).add(text)
            if id in wrong:
                asked.setdefault(id, prompt)
    return [s for s in slips if any(len(answers.get(asked.get(id, ""), ())) > 1 for id in s.exchanges)]


def _greedy(table: Table[Exchange]) -> Table[Exchange]:
    """Answers of which no token was drawn."""
    return table.where(table.whole & table.fact("has_text") & (np.nan_to_num(table["temperature"]) == 0))
