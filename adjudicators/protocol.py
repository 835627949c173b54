"""The protocol: what a standard client loses, and which of the server's own numbers cannot be trusted.

What each oddity means and weighs stands in one table, `soakproof.reading.oddities`. Some weigh only when they
are many: once is chance, or the tester's own lateness.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from soakproof.judge import (
    Adjudicator,
    Evidence,
    Figure,
    Finding,
    Outcome,
    Table,
    counted,
    finding,
    ids,
    listed,
    plain,
)
from soakproof.judge.claims import about, seen_in
from soakproof.judge.habits import (
    CONCERNED,
    alternating_builds,
    denied_alone,
    denied_hits,
    early_length,
    missing,
    spelled_otherwise,
)
from soakproof.judge.lateness import late_answers
from soakproof.judge.lostevents import countable, doubled_events, lost_events, overcounted
from soakproof.judge.promptcounts import cut_prompts
from soakproof.records import Exchange

OUTCOMES: Mapping[str, Outcome] = {
    "violation": Outcome.FAIL,
    "doubt": Outcome.INCONCLUSIVE,
    "told": Outcome.PASS,
}
ORDER = list(OUTCOMES)
SHOWN = 4  # sorts that the summary names


@dataclass(frozen=True)
class Protocol(Adjudicator):
    """Did every answer keep to the protocol, and do the server's numbers agree with each other?

    A violation, by which a client that keeps to the standard loses something, is a failure. Numbers that
    contradict each other make it inconclusive. Those in ``allowed`` are told and decide nothing.
    """

    allowed: tuple[str, ...] = ()

    def judge(self, evidence: Evidence, baseline: Evidence | None) -> Iterable[Finding]:
        table = evidence.exchange_table
        answered = table.where(~np.isnan(table["status"]) | (table["outcome"] == "ok"))
        seen = _seen(evidence, answered)
        for name in sorted(seen, key=lambda n: (ORDER.index(about(n).weight), n)):
            yield self._finding(name, seen[name], answered)
        yield self._summary(answered, seen)

    def _finding(self, name: str, seen: Mapping[str, str], answered: Table[Exchange]) -> Finding:
        """``seen`` has the detail of each exchange that the oddity is in, by the exchange's id."""
        odd = about(name)
        concerned = CONCERNED.get(name, len)(answered)
        weighs = odd.weight != "told" and name not in self.allowed
        enough = len(seen) >= odd.least and len(seen) >= odd.share * concerned
        weight = odd.weight_of(len(seen)) if weighs and enough else odd.weight
        outcome = OUTCOMES[weight] if weighs and enough else Outcome.PASS
        there = np.array([id in seen for id in answered["id"].tolist()], bool)
        those = answered["id"][there].tolist()
        where = " ".join(str(answered[name][there][0]) for name in ("scenario", "iteration", "role"))
        detail = f": {plain(seen[those[0]], 200)}" if seen[those[0]] else ""
        return finding(
            self,
            name,
            outcome,
            f"{odd.meaning[0].upper()}{odd.meaning[1:]}: in {len(seen)} of "
            f"{counted(max(concerned, len(seen)), 'exchange')}; first: {where}{detail}.",
            figures=(Figure(name="seen", value=len(seen), n=max(concerned, len(seen))),),
            limit=odd.bound if weighs else "",
            limit_source="the table of oddities" if weighs else "",
            exchanges=ids(those),
            strength=f"a {weight}" if weighs else "told only",
            critical=outcome is not Outcome.PASS,
            fault=odd.fault if outcome is Outcome.FAIL else "",
        )

    def _summary(self, answered: Table[Exchange], seen: Mapping[str, Mapping[str, str]]) -> Finding:
        return finding(
            self,
            "answers",
            Outcome.PASS if len(answered) else Outcome.INCONCLUSIVE,
            f"In {counted(len(answered), 'answered exchange')}: {_sorts(seen)}."
            if len(answered)
            else "No exchange was answered: the protocol was not seen.",
            figures=(
                Figure(name="sorts of oddities", value=len(seen)),
                Figure(name="exchanges with one", value=len(set().union(*seen.values())), n=len(answered)),
            ),
            limit="at least one answer",
        )


def _sorts(seen: Mapping[str, Mapping[str, str]]) -> str:
    """How many sorts there are, each with a finding of its own, and how many exchanges have one."""
    if not seen:
        return "nothing odd seen"
    concerned = len(set().union(*seen.values()))
    sorts = counted(len(seen), "sort of oddity", "sorts of oddities")
    return f"{sorts}, in {counted(concerned, 'exchange')} ({listed(sorted(seen), SHOWN)})"


def _seen(evidence: Evidence, answered: Table[Exchange]) -> dict[str, dict[str, str]]:
    """Oddity to the exchanges that have it, by id, each with its detail."""
    seen = seen_in(answered)
    denied = denied_hits(answered)
    hits = {"cached_denied": denied["id"].tolist(), "cached_denied_alone": denied_alone(evidence, denied)}
    for name, those in {**missing(evidence), **hits}.items():
        seen[name] = dict.fromkeys(those, "")
    seen |= late_answers(evidence) | cut_prompts(evidence)
    counted_in = countable(answered)
    seen |= {"length_early": early_length(evidence), "events_lost": lost_events(counted_in)}
    seen |= {"builds_alternate": alternating_builds(answered)}
    seen |= {"finish_reason_case": spelled_otherwise(answered)}
    seen |= {"events_doubled": doubled_events(counted_in), "tokens_overcounted": overcounted(counted_in)}
    return {name: exchanges for name, exchanges in seen.items() if exchanges}
