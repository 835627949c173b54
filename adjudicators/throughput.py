"""Speed against a baseline of the same model, and against the run's own beginning.

Never against a number that another model was given, and never between answers that are not alike.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from statistics import median

from soakproof.judge import (
    METRICS,
    Adjudicator,
    Evidence,
    Figure,
    Finding,
    Metric,
    Outcome,
    Ranges,
    Ratio,
    Seconds,
    Table,
    counted,
    finding,
    ids,
    of_kind,
)
from soakproof.judge.contention import busier, contended
from soakproof.judge.drift import CLOCKS, Drift, drift, rates
from soakproof.judge.repeats import Apart, apart, by_run
from soakproof.judge.statistics import INFERENCE_FROM, hodges_lehmann_ratio, mann_whitney, thinned
from soakproof.judge.telling import length
from soakproof.records import Exchange

DECIDES = "generation_rate"
FEWEST = 3  # values of an arm from which a median is taken for anything
FAR_APART = (
    1.25  # times the least of few values, the greatest: medians of what lies further apart say nothing
)
MOST = 1000  # values of an arm that are compared
PROMPTS, FIRST = "prompt_rate", "first_token_time"
LONGER = 1.5  # times the baseline's: a first token that takes longer is told as that
DRIFTED: Mapping[str, tuple[Outcome, str]] = {
    "slower": (Outcome.FAIL, "It becomes slower and slower: {by} over the run, by {clock}."),
    "contended": (Outcome.INCONCLUSIVE, "It becomes slower ({by}, by {clock}), but {others}."),
    "steps": (
        Outcome.INCONCLUSIVE,
        "It fell ({by}, by {clock}) in one or two steps: what else the host did?",
    ),
    "ended": (Outcome.INCONCLUSIVE, "It fell ({by}, by {clock}) in the first half, and no more after it."),
    "unclear": (Outcome.INCONCLUSIVE, "Whether it falls cannot be told: {by}, by {clock}."),
    "short": (Outcome.INCONCLUSIVE, "Too short, or too few answers that are alike ({n}), to tell."),
    "steady": (Outcome.PASS, "It does not fall over the run: {by}, by {clock}."),
}
WORST = list(DRIFTED)
Judged = tuple[Outcome, str, str]  # with the answer, and what it rests on


@dataclass(frozen=True)
class Throughput(Adjudicator):
    """Is the generation rate of each kind at least that of the same model's baseline?

    ``kinds`` are those whose answers have a forced length. Slower by up to ``margin`` is taken for the same.
    With five or more values in each arm the interval of their ratio decides. With three or four the medians
    do, where ``accept_few`` and where an arm's values lie no further apart than by a quarter; slower is only
    what no value contradicts; fewer decide nothing. Where the
    baseline has several runs, slower is besides only what is beyond their own run-to-run range, and where
    others kept the host's processors busier than they did then, slower is nobody's fault. Prompts may be
    processed slower by ``prompts``: they share the processor with whatever is generated beside them. The time
    to the first token is told: it depends on the queue as well. By ``drift``
    the rate may fall in the course of a run of ``drift_from`` or more, by the server's own clock or by ours:
    more than that, proven and going on, is a failure.
    """

    kinds: tuple[str, ...] = ("long_prose",)
    margin: Ratio = Ratio(0.03)
    prompts: Ratio = Ratio(0.25)
    require_baseline: bool = False
    accept_few: bool = True
    drift: Ratio = Ratio(0.10)
    drift_from: Seconds = Seconds(600)
    ranges = Ranges(margin=(0, 0.99), prompts=(0, 0.99), drift=(0, 0.99), drift_from=(0, 366 * 86400))

    def judge(self, evidence: Evidence, baseline: Evidence | None) -> Iterable[Finding]:
        planned = {str(k["name"]) for k in evidence.plan.get("kinds") or () if k.get("count")}
        for kind in self.kinds:
            if planned and kind not in planned:
                yield self._unplanned(evidence, kind)
                continue
            yield self._rate(evidence, baseline, kind)
            yield self._drift(evidence, kind)
            yield from self._prompts(evidence, baseline, kind)
            yield from self._first_token(evidence, baseline, kind)

    @property
    def _not_slower(self) -> str:
        return f"not slower than the baseline by more than {self.margin:.1%}"

    def _unplanned(self, evidence: Evidence, kind: str) -> Finding:
        """Nothing can be said of a kind that the plan does not ask for. That decides where a policy insists,
        and where it names a kind of its own that the plan does not even leave out.
        """
        named = kind not in (*Throughput.kinds, *evidence.left_out)
        return finding(
            self,
            kind,
            Outcome.INCONCLUSIVE,
            f"The plan, as it was run, asks for no {kind}: no rate to judge.",
            limit=self._not_slower,
            limit_source="baseline, policy",
            critical=self.require_baseline or named,
        )

    def _rate(self, evidence: Evidence, baseline: Evidence | None, kind: str) -> Finding:
        ours, before = of_kind(DECIDES, evidence.exchange_table, kind), by_run(DECIDES, baseline, kind)
        decides = True
        if not ours:
            outcome, answer, strength = Outcome.INCONCLUSIVE, "No generation rate could be measured.", ""
        elif baseline is None:
            outcome = Outcome.INCONCLUSIVE
            answer = f"The median is {median(ours):.4g} tokens/s; nothing to compare it with."
            strength, decides = f"{len(ours)} values, no baseline: descriptive only", self.require_baseline
        elif not before:
            answer, strength = "The baseline has no generation rate to compare with.", ""
            outcome = Outcome.INCONCLUSIVE
        else:
            outcome, answer, strength = _excused(*self.against(ours, before), evidence, baseline)
        return finding(
            self,
            kind,
            outcome,
            answer,
            figures=_figures(METRICS[DECIDES], ours, before),
            limit=self._not_slower,
            limit_source="baseline, policy",
            exchanges=ids(_of_kind(evidence, kind)["id"]) if ours else (),
            strength=strength,
            critical=decides,
        )

    def against(self, ours: Sequence[float], before: Mapping[str, Sequence[float]]) -> Judged:
        """Outcome, answer and strength of a run's values against those of a baseline, run by run; neither
        side is without values.
        """
        return self._bounded(*self._compare(ours, _all(before)), median(ours), before)

    def _compare(self, ours: Sequence[float], theirs: Sequence[float]) -> Judged:
        """The same of two arms, whatever runs their values are of."""
        if min(len(ours), len(theirs)) < INFERENCE_FROM:
            return self._describe(ours, theirs)
        arms = f"{len(ours)} against {len(theirs)}"
        mine, yours = thinned(ours, MOST), thinned(theirs, MOST)
        ratio, low, high = hodges_lehmann_ratio(mine, yours)
        answer = f"{ratio - 1:+.1%} against the baseline, between {low - 1:+.1%} and {high - 1:+.1%}"
        some = f", {MOST} of each at most compared" if max(len(ours), len(theirs)) > MOST else ""
        strength = (
            f"{arms}{some}: Hodges-Lehmann ratio with a 95 % interval, Mann-Whitney p = "
            f"{mann_whitney(mine, yours):.3g}; the arms were not interleaved"
        )
        if low >= 1 - self.margin:
            return Outcome.PASS, f"{answer}{self._verdict(False)}.", strength
        if high < 1 - self.margin:
            return Outcome.FAIL, f"{answer}{self._verdict(True)}.", strength
        return Outcome.INCONCLUSIVE, f"{answer}: too wide to tell whether it is within the margin.", strength

    def _describe(self, ours: Sequence[float], theirs: Sequence[float]) -> Judged:
        """The same of arms that are too small for an interval."""
        strength = f"{len(ours)} against {len(theirs)}: descriptive only, medians compared"
        ratio = median(ours) / median(theirs)
        slower = ratio < 1 - self.margin
        answer = f"The median is {ratio - 1:+.1%} against the baseline's{self._verdict(slower)}"
        if min(len(ours), len(theirs)) < FEWEST or not (slower or self.accept_few):
            return Outcome.INCONCLUSIVE, f"{answer}; these are too few values to rest on.", strength
        if not slower and (wide := next((arm for arm in (ours, theirs) if _is_wide(arm)), None)):
            least, most = f"{min(wide):.4g}", f"{max(wide):.4g}"
            arm = "these" if wide is ours else "the baseline's"
            told = f"{answer}, but {arm} {len(wide)} range from {least} to {most}: too few to rest on"
            return Outcome.INCONCLUSIVE, f"{told}.", strength
        if not slower:
            return Outcome.PASS, f"{answer}.", strength
        if max(ours) < min(theirs):
            return Outcome.FAIL, f"{answer}, and every answer than every one of the baseline's.", strength
        return (
            Outcome.INCONCLUSIVE,
            f"{answer}, but of so few values some are as fast as some of the baseline's.",
            strength,
        )

    def _bounded(
        self, outcome: Outcome, answer: str, strength: str, ours: float, before: Mapping[str, Sequence[float]]
    ) -> Judged:
        """The same, with no more claimed than the baseline's own runs allow: a run is a repeat."""
        if len(before) == 1:
            return outcome, answer, strength
        runs = apart(before, min(FEWEST, max(map(len, before.values()))))
        if (n := len(runs.medians)) == 1:
            return outcome, answer, f"{strength}; of the baseline's runs only one has {FEWEST} values"
        strength = f"{strength}; the medians of {n} runs against 1: descriptive only"
        change = ours / runs.level - 1
        told = (
            f"{answer.rstrip('.')}; the baseline's {n} runs differ by {runs.spread:.1%} among themselves, "
            f"and this median is {change:+.1%} against theirs, {runs.place(ours)}"
        )
        if outcome is Outcome.FAIL and -change <= runs.spread:
            return Outcome.INCONCLUSIVE, f"{told}: no more than they differ.", strength
        if outcome is Outcome.PASS and change < -self.margin:
            return Outcome.INCONCLUSIVE, f"{told}: run by run it is slower.", strength
        if runs.spread > self.margin:
            told += "; a fall of the margin could not be told from that"
        return outcome, f"{told}.", strength

    def _verdict(self, slower: bool) -> str:
        return f", {'' if slower else 'not '}slower by more than the margin of {self.margin:.1%}"

    def _drift(self, evidence: Evidence, kind: str) -> Finding:
        """Whether the rate falls from the beginning of the run to its end."""
        told, answers = evidence.target.get("slots"), _of_kind(evidence, kind)
        slots = told if isinstance(told, int) else None
        clocks = {}
        for clock, rate in CLOCKS.items():
            found = rates(evidence.exchange_table, answers, rate(answers), slots)
            clocks[clock] = drift(found, self.drift, self.drift_from)
        clock = min(clocks, key=lambda c: WORST.index(clocks[c].answer))
        worst = clocks[clock]
        others = contended(evidence) if worst.answer == "slower" else ""
        outcome, answer = DRIFTED["contended" if others else worst.answer]
        change = worst.change
        return finding(
            self,
            f"{kind} drift",
            outcome,
            answer.format(
                by=f"{change.estimate:+.1%}" if change else "", n=worst.n, clock=clock, others=others
            ),
            figures=tuple(
                Figure(
                    name=f"change by {name}",
                    value=round(100 * found.change.estimate, 2) if found.change else None,
                    unit="%",
                    n=found.n,
                    note=_told(found),
                )
                for name, found in clocks.items()
            ),
            limit=f"no fall of more than {self.drift:.1%}",
            limit_source="policy",
            exchanges=ids(_of_kind(evidence, kind)["id"]) if outcome is Outcome.FAIL else (),
            strength=f"Theil-Sen among answers that are alike, {_told(worst)}",
            critical=outcome is not Outcome.INCONCLUSIVE,
            fault="backend" if outcome is Outcome.FAIL else "",
        )

    def _prompts(self, evidence: Evidence, baseline: Evidence | None, kind: str) -> Iterable[Finding]:
        """How fast prompts were processed: slower by far fails, and what cannot be told decides nothing."""
        ours, before = of_kind(PROMPTS, evidence.exchange_table, kind), by_run(PROMPTS, baseline, kind)
        if not ours:
            return
        metric, limit, decides = METRICS[PROMPTS], "", False
        if baseline is not None and before and min(len(ours), len(_all(before))) >= INFERENCE_FROM:
            judged = replace(self, margin=self.prompts).against(ours, before)
            outcome, answer, strength = _excused(*judged, evidence, baseline)
            decides = judged[0] is Outcome.FAIL
            limit = f"not slower than the baseline by more than {self.prompts:.1%}"
        else:
            slower = bool(before) and median(ours) < (1 - self.prompts) * apart(before).level
            outcome = Outcome.INCONCLUSIVE if slower else Outcome.PASS
            strength = f"{counted(len(ours), 'value')}: described, not judged"
            doubt = "; of so few values that is no more than a doubt" if slower else ""
            answer = f"The median is {median(ours):.4g} {metric.unit}{_change(ours, before)}{doubt}."
        yield finding(
            self,
            f"{kind} {PROMPTS}",
            outcome,
            answer,
            figures=_figures(metric, ours, before),
            limit=limit,
            limit_source="baseline, policy" if limit else "",
            exchanges=ids(_of_kind(evidence, kind)["id"]) if outcome is Outcome.FAIL else (),
            strength=strength,
            critical=decides,
        )

    def _first_token(self, evidence: Evidence, baseline: Evidence | None, kind: str) -> Iterable[Finding]:
        """What is told of the time to the first token: it depends on the mix, the cache and the queue."""
        ours, before = of_kind(FIRST, evidence.exchange_table, kind), by_run(FIRST, baseline, kind)
        if not ours:
            return
        metric, longer = METRICS[FIRST], ""
        theirs = _all(before)
        if min(len(ours), len(theirs)) >= INFERENCE_FROM and min(*ours, *theirs) > 0:
            _, low, _ = hodges_lehmann_ratio(thinned(ours, MOST), thinned(theirs, MOST))
            longer = f"; it takes longer by more than {LONGER - 1:.0%}" if low > LONGER else ""
        yield finding(
            self,
            f"{kind} {FIRST}",
            Outcome.INCONCLUSIVE if longer else Outcome.PASS,
            f"The median is {median(ours):.4g} {metric.unit}{_change(ours, before)}{longer}.",
            figures=_figures(metric, ours, before),
            strength="described, not judged",
            critical=False,
        )


def _excused(
    outcome: Outcome, answer: str, strength: str, evidence: Evidence, baseline: Evidence | None
) -> Judged:
    """The same, with no server blamed for what others did to the host."""
    others = busier(evidence, baseline) if baseline is not None and outcome is Outcome.FAIL else ""
    if not others:
        return outcome, answer, strength
    return Outcome.INCONCLUSIVE, f"{answer.rstrip('.')}; but {others}.", strength


def _is_wide(few: Sequence[float]) -> bool:
    """Whether few values lie so far apart that their median says nothing."""
    return len(few) < INFERENCE_FROM and max(few) > FAR_APART * min(few)


def _change(ours: Sequence[float], before: Mapping[str, Sequence[float]]) -> str:
    """Of the medians."""
    was = apart(before).level if before else 0
    return f", {median(ours) / was - 1:+.1%} against the baseline's" if was else ""


def _told(found: Drift) -> str:
    """The interval, and what it rests on."""
    within = f"between {found.change.low:+.1%} and {found.change.high:+.1%} " if found.change else ""
    return f"{within}over {length(found.seconds)}, {counted(found.n, 'answer')}"


def _of_kind(evidence: Evidence, kind: str) -> Table[Exchange]:
    table = evidence.exchange_table
    return table.where((table["scenario"] == kind) & (table["outcome"] == "ok"))


def _all(before: Mapping[str, Sequence[float]]) -> list[float]:
    return [value for values in before.values() for value in values]


def _figures(
    metric: Metric, ours: Sequence[float], before: Mapping[str, Sequence[float]]
) -> tuple[Figure, ...]:
    """Median, least and greatest of both arms; and how far the baseline's runs lie apart."""
    if not ours:
        return (Figure(name=metric.name, value=None, unit=metric.unit, n=0, note="not measured"),)
    theirs = _all(before)
    runs = apart(before) if before else None
    note = f"baseline n={len(theirs)}" + (f" in {len(before)} runs" if len(before) > 1 else "")
    was = (runs.level, min(theirs), max(theirs)) if runs else (None, None, None)
    now = (median(ours), min(ours), max(ours))
    found = tuple(
        Figure(
            name=f"{metric.name} {name}",
            value=value,
            unit=metric.unit,
            n=len(ours),
            baseline=baseline,
            note=note if runs else "",
        )
        for name, value, baseline in zip(("median", "min", "max"), now, was, strict=True)
    )
    return found if runs is None or len(before) == 1 else (*found, _run_to_run(metric, runs))


def _run_to_run(metric: Metric, runs: Apart) -> Figure:
    told = ", ".join(f"{run} {value:.4g}" for run, value in runs.medians.items())
    return Figure(
        name=f"{metric.name} run-to-run",
        value=round(100 * runs.spread, 2) if isfinite(runs.spread) else None,
        unit="%",
        n=len(runs.medians),
        note=f"medians of the baseline's runs: {told}",
    )
