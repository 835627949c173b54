"""Routing: every answer came from the model that was asked for, and by a route where there is a router.

Which names a model may answer under is told by run.json; `soakproof.judge.naming` knows what servers make of
them. Requests for another model than the run's are judged by the checks of whoever asked for it.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
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
    model_name,
    plain,
)
from soakproof.judge.naming import forms, known_names, other_names
from soakproof.records import Exchange

SURE = ("build", "model_path")  # of llama.cpp itself: what it calls its model is known then
ROUTER = "collection"
SHOWN = 3


@dataclass(frozen=True)
class Routing(Adjudicator):
    """Did every answer come from the model that was asked for?

    ``names`` are further names under which it may answer. ``router``: the model asked for chooses among
    others, so that answers name a route and may differ in their model; it is told by Lemonade, too.
    """

    names: tuple[str, ...] = ()
    router: bool = False

    def judge(self, evidence: Evidence, baseline: Evidence | None) -> Iterable[Finding]:
        table, asked = evidence.exchange_table, evidence.target.get("model")
        is_ours = [asked in (None, model) for model in table["model_asked"].tolist()]
        ours = table.where(np.array(is_ours, bool) & ~table["refusal_planned"])
        yield self._models(evidence, ours)
        yield from self._routes(evidence, ours.where(ours.is_told("finish_reason")))

    def _models(self, evidence: Evidence, ours: Table[Exchange]) -> Finding:
        target = evidence.target
        is_named = ours["model_answered"].astype(bool)
        named = int(is_named.sum())
        bare = ours["id"][~is_named & ours.is_told("finish_reason")].tolist() if named else []
        known = known_names(target) | {form for name in self.names for form in forms(name)}
        by_name = Counter(filter(None, ours["model_answered"].tolist()))
        strange = {name for name in by_name if not forms(name) & known}
        loaded = {name for name in strange if forms(name) & other_names(target)}
        answered = zip(ours["id"].tolist(), ours["model_answered"].tolist(), strict=True)
        strangers = [id for id, name in answered if name in strange]
        outcome, answer = self._about_models(evidence, by_name, strange, loaded)
        if bare:
            many = f"{len(bare)} of {counted(named + len(bare), 'answer')}"
            answer = f"{many} name no model. Of those that do: {answer}"
            outcome = Outcome.INCONCLUSIVE if outcome is Outcome.PASS else outcome
        return finding(
            self,
            "model",
            outcome,
            answer,
            figures=(Figure(name="under another name", value=len(strangers), n=named),),
            limit=f"names of {plain(target.get('model') or 'the model', 80)}",
            limit_source="run.json, policy",
            exchanges=ids(strangers or bare),
            critical=outcome is not Outcome.INCONCLUSIVE or len(strange) > 1 or bool(bare),
            fault="front" if outcome is Outcome.FAIL else "",
        )

    def _about_models(
        self, evidence: Evidence, by_name: Mapping[str, int], strange: set[str], loaded: set[str]
    ) -> tuple[Outcome, str]:
        told = _listed({name: by_name[name] for name in strange} or _short(by_name))
        n, others = sum(by_name.values()), sum(by_name[name] for name in strange)
        if not strange:
            named = f"All {counted(n, 'answer')} came under a name of the model: {told}."
            return (Outcome.PASS, named) if n else (Outcome.INCONCLUSIVE, "No answer names its model.")
        sure = len(strange) < len(by_name) or all(evidence.target.get(key) for key in SURE)
        if self._is_router(evidence):
            outcome, why = Outcome.PASS, ", as those that a router chooses do"
        elif loaded:
            outcome, why = Outcome.FAIL, ", that of a model which the server had loaded as well"
        elif sure:
            outcome, why = Outcome.FAIL, ""
        else:
            outcome = Outcome.INCONCLUSIVE
            why = ", and it changed" if len(strange) > 1 else ", which the run's identity does not have"
        return outcome, f"{others} of {counted(n, 'answer')} came under another name{why}: {told}."

    def _routes(self, evidence: Evidence, answered: Table[Exchange]) -> Iterable[Finding]:
        has_route = answered["route"].astype(bool)
        routed, bare = answered.where(has_route), answered["id"][~has_route].tolist()
        if not len(routed):
            if self._is_router(evidence):
                yield self._route(Outcome.INCONCLUSIVE, "No answer names its route.", (), len(answered))
            return
        told = _listed(Counter(routed["route"].tolist()))
        if self._is_router(evidence) is False:
            many = f"{counted(len(routed), 'answer')} of {len(answered)} name a route"
            answer = f"{many}, and no router was asked: {told}."
            yield self._route(Outcome.FAIL, answer, routed["id"].tolist(), len(answered))
        elif bare:
            answer = f"{len(bare)} of {counted(len(answered), 'answer')} name no route; the others: {told}."
            yield self._route(Outcome.FAIL, answer, bare, len(answered))
        else:
            yield self._chosen(evidence, routed, told)

    def _chosen(self, evidence: Evidence, routed: Table[Exchange], told: str) -> Finding:
        """Whether what is alike was routed alike."""
        same = _differing(routed, "prompt_digest")
        kinds = _differing(routed, "scenario", "role")
        if same:
            answer = (
                f"The very same prompt took different routes, {counted(len(same), 'answer')} in all: {told}."
            )
            return self._route(Outcome.FAIL, answer, same, len(routed))
        if kinds and not self._is_router(evidence):
            answer = f"Requests of one kind took different routes, and nobody tells of a router: {told}."
            return self._route(Outcome.INCONCLUSIVE, answer, kinds, len(routed))
        return self._route(
            Outcome.PASS, f"All {counted(len(routed), 'answer')} name a route: {told}.", (), len(routed)
        )

    def _route(self, outcome: Outcome, answer: str, exchanges: Sequence[str], n: int) -> Finding:
        return finding(
            self,
            "route",
            outcome,
            answer,
            figures=(Figure(name="concerned", value=len(exchanges), n=n),),
            limit="one route for one prompt, of a router alone",
            exchanges=ids(exchanges),
            fault="front" if outcome is Outcome.FAIL else "",
        )

    def _is_router(self, evidence: Evidence) -> bool | None:
        """Whether what was asked chooses among models; None where nobody tells."""
        if self.router:
            return True
        if evidence.target.get("kind") == "llamacpp":
            return False
        recipe = evidence.target.get("asked_recipe")
        return str(recipe).startswith(ROUTER) if recipe else None


def _differing(routed: Table[Exchange], *alike: str) -> list[str]:
    """Ids of exchanges that are alike by these fields and name different routes."""
    groups: dict[tuple[str, ...], list[tuple[str, str]]] = {}
    columns = (routed[name].tolist() for name in ("id", "route", *alike))
    for id, route, *key in zip(*columns, strict=True):
        groups.setdefault(tuple(key), []).append((id, route))
    return [id for group in groups.values() if len({route for _, route in group}) > 1 for id, _ in group]


def _short(by_name: Mapping[str, int]) -> Counter[str]:
    """The same counts, of a file by its name without its folders."""
    short: Counter[str] = Counter()
    for name, n in by_name.items():
        short[model_name(name)] += n
    return short


def _listed(counts: Mapping[str, int]) -> str:
    """The commonest names with their counts."""
    told = [f"{plain(name, 120)} ({n})" for name, n in Counter(counts).most_common()]
    return listed(told, SHOWN)
