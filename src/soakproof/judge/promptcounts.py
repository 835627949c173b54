"""Prompts with far fewer tokens, by the server's count, than others of their sort: cut ones. Pure; no I/O.

The long prompts of many kinds are registers of records, which have about as many tokens a character in
whatever prompt they stand. So an answer whose prompt has clearly fewer has lost some of it, or it is counted
wrong; a system prompt that is dropped, or a context that is silently smaller, shows as that.
"""

from statistics import quantiles

import numpy as np
from numpy.typing import NDArray

from soakproof.amounts import number
from soakproof.columns import Table
from soakproof.judge.evidence import Evidence
from soakproof.records import Exchange

LONG = 2000  # characters: what is not register, the question and the template, weighs little
FEWEST = 8  # long prompts, for a habit
FEW = 1.03  # times the habit's characters a token; single prompts differ by less than 1 %
CUT = 1.25
WORDS = (
    90  # characters that cost nothing: head and question are words, with half as many tokens as a register
)
DENSEST_WORDS = 6.0  # characters a token that no text of ours exceeds
SAMPLE = 2.2  # times the characters a token of the sample before the run: its template counts with it


def cut_prompts(evidence: Evidence) -> dict[str, dict[str, str]]:
    """Long prompts with too few tokens, oddity to id to detail: `prompt_cut` where a fifth is missing."""
    table = evidence.exchange_table
    answers = table.where(table.whole & (table["prompt_tokens"] > 0))
    long = answers.where(_are_registers(evidence, answers))
    found: dict[str, dict[str, str]] = {"prompt_cut": {}, "prompt_tokens_few": {}}
    habit = _habit(evidence, answers, long)
    if not habit:
        return found
    ratio = (long["prompt_chars"] - WORDS) / long["prompt_tokens"]
    is_few = ratio > FEW * habit
    for exchange, cut in zip(long.where(is_few).records, ratio[is_few] > CUT * habit, strict=True):
        due = exchange.prompt_chars / habit
        detail = f"{exchange.prompt_tokens:,} tokens of {exchange.prompt_chars:,} characters, which have "
        found["prompt_cut" if cut else "prompt_tokens_few"][exchange.id] = f"{detail}{due:,.0f} or more"
    return found


def _are_registers(evidence: Evidence, answers: Table[Exchange]) -> NDArray[np.bool_]:
    """Long prompts of kinds whose long prompts are registers, with counts that can be compared.

    A server that tells no cached tokens, or more than the prompt has, may count only what was not cached.
    """
    named = [k.get("name") for k in evidence.plan.get("kinds") or () if k.get("registers")]
    comparable = answers["cached_tokens"] <= answers["prompt_tokens"]
    of_kind = np.isin(answers["scenario"], np.array(named, object))
    return np.asarray(of_kind & (answers["prompt_chars"] >= LONG) & comparable, bool)


def _habit(evidence: Evidence, answers: Table[Exchange], long: Table[Exchange]) -> float:
    """Characters a token of registers, rather too many than too few; 0 where it is not known.

    It is that of the quarter with the fewest, so that most may be cut; of what all are cut the sample tells
    that was counted before the run.
    """
    known = number((evidence.run.get("around") or {}).get("chars_per_token"))
    bounds = [SAMPLE * known] if known else []
    if len(long) >= FEWEST:
        template = float((answers["prompt_tokens"] - answers["prompt_chars"] / DENSEST_WORDS).min())
        tokens = long["prompt_tokens"] - max(template, 0.0)
        ratios = (long["prompt_chars"][tokens > 0] / tokens[tokens > 0]).tolist()
        bounds += quantiles(ratios, n=4)[:1] if len(ratios) >= FEWEST else []
    return min(bounds, default=0.0)
