"""Slots over the whole run: none outlives its work, all are free at the end, and no server went or came anew.

A busy slot is told apart by the seed of the request that it works on. What the front is known not to do at
once (cancel a request that is queued, in prefill, or not streamed) is told as that, within its own bounds.
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

from soakproof.judge import (
    NS,
    Adjudicator,
    Evidence,
    Figure,
    Finding,
    Outcome,
    Ranges,
    Seconds,
    clause,
    counted,
    finding,
    ids,
    listed,
    plain,
)
from soakproof.judge.arrivals import arrivals
from soakproof.judge.causes import Causes
from soakproof.judge.evidence import load_span
from soakproof.judge.gone import BACKEND, by_guard, ended_for_good, guard_did, took_its_place, whose_end
from soakproof.judge.placement import Placement
from soakproof.judge.series import Known, known, reading
from soakproof.judge.slotwork import (
    Outlived,
    after_load,
    by_seed,
    outlived,
    outlived_tasks,
    phase_at_end,
    resolution,
    seeds_of,
    sightings,
)
from soakproof.judge.staleness import health_is_stale, idle_at_work, stale_slots
from soakproof.judge.unwell import SOURCES, unwell
from soakproof.judge.watched import KNOWN_SHARE
from soakproof.records import Event, Exchange, Sample

KNOWN = {
    "queued": "a cancel while queued is noticed when the request is started",
    "prefill": "a cancel during prefill is noticed when the batch ends, later beside other streams",
    "unstreamed": "a request that does not stream is not cancelled by Lemonade 11.7; it runs to its end",
}
RATE_FROM = 5  # restarts
IDLE_FROM = 2  # readings


@dataclass(frozen=True)
class Slots(Adjudicator):
    """Did every slot end with its request, and did the server stay up?

    ``within`` bounds the release after a request's end; ``queued``, ``prefill`` and ``unstreamed`` bound the
    known limits. ``restarts`` are those that the policy allows; ``alone``: no other client may use the
    server. ``detached``: the front keeps answers for clients that come back (llama.cpp's X-Conversation-Id),
    so that a slot which works on is told and decides nothing.
    """

    required: bool = True
    within: Seconds = Seconds(10)
    prefill: Seconds = Seconds(120)
    queued: Seconds = Seconds(600)
    unstreamed: Seconds = Seconds(1800)
    restarts: int = 0
    alone: bool = False
    detached: bool = False
    ranges = Ranges(
        within=(0, 86400),
        prefill=(0, 86400),
        queued=(0, 86400),
        unstreamed=(0, 86400),
        restarts=(0, 1_000_000),
    )

    def judge(self, evidence: Evidence, baseline: Evidence | None) -> Iterable[Finding]:
        yield self._restarted(evidence)
        yield from self._gone(evidence)
        yield from self._guard(evidence)
        yield from self._unwell(evidence)
        samples = sightings(evidence)
        if not samples:
            yield self._unseen(evidence)
            return
        if stale := stale_slots(evidence, samples):
            yield self._stale(stale, samples)
            return
        yield from self._idle(evidence, samples)
        looks = known(evidence.source("slots").with_value(), reading("busy"))
        if not looks.is_enough:
            yield self._seldom(looks)
        busy = [s for s in samples if s.values.get("busy")]
        untold = [s for s in busy if None in seeds_of(s)]
        if untold:
            yield self._untold(untold, busy)
        if not busy or any(seed is not None for s in busy for seed in seeds_of(s)):
            yield self._released(evidence, samples)
        else:
            yield from self._held_tasks(evidence, samples)
        yield self._at_end(evidence, samples)
        yield from self._strangers(evidence, samples)
        yield from self._one_slot(evidence)

    def _restarted(self, evidence: Evidence) -> Finding:
        restarts = [e for e in evidence.events if e.what == "restart" and not by_guard(evidence, e)]
        seen = restarts or evidence.saw("process")
        count = f"{counted(len(restarts), 'restart')} seen{_load_rate(evidence, len(restarts))}"
        told = f"{count}: {listed([_restart(e) for e in restarts], 5, '; ')}." if restarts else f"{count}."
        if not seen:
            told = "The server's processes were not seen, so a restart would not have been."
        outcome = _outcome(Outcome.PASS if seen else Outcome.INCONCLUSIVE, len(restarts) > self.restarts)
        of, table = Causes(evidence).gone, evidence.exchange_table
        failed = table.where(table["outcome"] == "fail").records if restarts else ()
        victims = [e for e in failed if of(e)]
        if victims:
            told += f" {counted(len(victims), 'exchange')} failed of it."
        return finding(
            self,
            "restarted",
            outcome,
            told,
            figures=(
                Figure(name="restarts", value=len(restarts) if seen else None),
                Figure(name="requests a load", value=_each(evidence, len(restarts)) if seen else None),
                Figure(name="victims", value=len(victims) if seen else None, n=len(evidence.exchange_table)),
            ),
            limit=f"at most {self.restarts}",
            limit_source="policy",
            exchanges=ids(victims),
            span=(restarts[0].t_ns / NS, restarts[-1].t_ns / NS) if restarts else None,
            critical=self.required or outcome is not Outcome.INCONCLUSIVE,
            fault=whose_end(restarts) if outcome is Outcome.FAIL else "",
        )

    def _gone(self, evidence: Evidence) -> Iterable[Finding]:
        """A process of the server's that ended, whenever that was, and was followed by no other."""
        ends = ended_for_good(evidence)
        still = {id(e): answered for e in ends if (answered := health_is_stale(evidence, e))}
        if still:
            yield self._stale_health([e for e in ends if id(e) in still], max(still.values()))
            ends = [e for e in ends if id(e) not in still]
        only_backend = all(e.details.get("role") == BACKEND for e in ends)
        evicted = took_its_place(evidence) if only_backend else ""
        if ends:
            told = "; ".join(f"{_restart(e)}, process {plain(e.details.get('pid'), 20)}" for e in ends)
            many = counted(len(ends), "process", "processes")
            answer = f"{many} of the server ended and did not come back: {told}."
            if evicted:
                answer = (
                    f"The model was evicted and not loaded again; {evicted} was there at the end: {told}."
                )
            yield finding(
                self,
                "gone",
                Outcome.INCONCLUSIVE if evicted else Outcome.FAIL,
                answer,
                figures=(Figure(name="gone", value=len(ends)),),
                limit="none",
                limit_source="policy",
                span=(ends[0].t_ns / NS, ends[-1].t_ns / NS),
                fault="host" if evicted else whose_end(ends),
            )

    def _guard(self, evidence: Evidence) -> Iterable[Finding]:
        """What was done to the server by the tester itself."""
        for action in (event for event in evidence.events if event.what == "guard_action"):
            at = action.t_ns / NS
            yield finding(
                self, "guard", Outcome.INCONCLUSIVE, guard_did(action), span=(at, at), critical=False
            )

    def _unwell(self, evidence: Evidence) -> Iterable[Finding]:
        """A server that says of itself that it, or its backend, is not well: others would send it no work."""
        for source in SOURCES:
            found, whole = unwell(evidence, source), len(evidence.source(source))
            if len(found):
                why = clause(found.reason(), 120)
                yield finding(
                    self,
                    source,
                    Outcome.INCONCLUSIVE,
                    f"In {len(found)} of {whole} readings its {source} said that it, or its backend, is ill, "
                    f"while nothing else showed why{f': {why}' if why else ''}.",
                    figures=(Figure(name="not well", value=len(found), n=whole),),
                    limit="well, but after a restart",
                    span=(float(found.times_s[0]), float(found.times_s[-1])),
                    fault="server",
                )

    def _stale_health(self, ends: Sequence[Event], answered: int) -> Finding:
        """Processes that ended and are listed still, though requests sent after that are answered."""
        first = ends[0]
        pid = plain(first.details.get("pid"), 20)
        return finding(
            self,
            "stale health",
            Outcome.INCONCLUSIVE,
            f"The health document is old: it goes on to list process {pid}, which ended ({_restart(first)}), "
            f"though {counted(answered, 'request')} sent after that came to an answer: by which process, and "
            "what became of that, is not known.",
            figures=(Figure(name="answered after its end", value=answered),),
            limit="a document of now",
            span=(first.t_ns / NS, ends[-1].t_ns / NS),
        )

    def _stale(self, stale: Sequence[tuple[Sample, Sample, int]], samples: Sequence[Sample]) -> Finding:
        """Readings that stayed the same though each answer is a new task for a slot."""
        first, last, made = max(stale, key=lambda s: s[1].t_ns - s[0].t_ns)
        return finding(
            self,
            "stale",
            Outcome.INCONCLUSIVE,
            f"The readings of the slots are old: from {first.t_ns / NS:.1f} to {last.t_ns / NS:.1f} s they "
            f"stayed the same to the last digit, though {counted(made, 'request')} came and went: whether "
            "any slot outlived its work is unknown.",
            figures=(
                Figure(name="stretches", value=len(stale), n=len(samples)),
                Figure(name="answered meanwhile", value=made),
            ),
            limit="readings of now",
            span=(first.t_ns / NS, last.t_ns / NS),
            strength=resolution(samples),
        )

    def _idle(self, evidence: Evidence, samples: Sequence[Sample]) -> Iterable[Finding]:
        """Slots that are shown idle while answers are made: they would show no leak either."""
        found, seen = idle_at_work(evidence, samples)
        if len(found) < IDLE_FROM or 2 * len(found) <= seen:
            return
        sample, id = found[0]
        yield finding(
            self,
            "idle",
            Outcome.INCONCLUSIVE,
            f"The slots are shown idle while answers are made: in {len(found)} of {counted(seen, 'reading')} "
            f"that fell into the making of one; first at {sample.t_ns / NS:.1f} s, amidst {id}. "
            "Whether any slot outlived its work is unknown.",
            figures=(Figure(name="idle", value=len(found), n=seen),),
            limit=f"fewer than {IDLE_FROM}, or at most half of them",
            exchanges=ids(id for _, id in found),
            span=(sample.t_ns / NS, found[-1][0].t_ns / NS),
            strength=resolution(samples),
        )

    def _unseen(self, evidence: Evidence) -> Finding:
        told = evidence.source("slots")
        reason = told.reason() or ("no reading tells how many are busy" if told.has_value.any() else "")
        why = f": {clause(reason, 200)}" if reason else ""
        return finding(
            self,
            "slots",
            Outcome.INCONCLUSIVE,
            f"No slot was seen during the run{why}: whether any outlived its work is unknown.",
            limit=f"{self.within:g} s",
            limit_source="policy",
            critical=self.required,
        )

    def _seldom(self, looks: Known) -> Finding:
        return finding(
            self,
            "busy",
            Outcome.INCONCLUSIVE,
            f"How many slots were busy was not known in {looks.of - looks.n} of "
            f"{counted(looks.of, 'reading')}: what outlived its work then was not seen.",
            figures=(Figure(name="known", value=looks.n, n=looks.of),),
            limit=f"{KNOWN_SHARE:.0%} of the readings",
            critical=self.required,
        )

    def _untold(self, untold: Sequence[Sample], busy: Sequence[Sample]) -> Finding:
        seedless = any(s.values.get("seedless") for s in untold)
        why = (
            "worked for a request without a seed, though each of this run has one: it was taken away on the "
            "way, or somebody else asked"
            if seedless
            else "did not tell the seed of its request"
        )
        return finding(
            self,
            "seeds",
            Outcome.INCONCLUSIVE,
            f"In {len(untold)} of {counted(len(busy), 'sample')} with a busy slot, one {why}.",
            figures=(Figure(name="without a seed", value=len(untold), n=len(busy)),),
            limit="at most half of them",
            critical=self.required and len(untold) > len(busy) / 2,
        )

    def _released(self, evidence: Evidence, samples: Sequence[Sample]) -> Finding:
        """Whether a slot was seen at work for a request that had ended more than its bound ago."""
        late = [o for o in outlived(evidence, samples) if o.seconds > self.within]
        twice = {request.seed for request, _ in arrivals(evidence, samples).twice} if late else set()
        late = [o for o in late if o.exchange.seed not in twice]  # whose twin it is: see delivery
        leaks = [o for o in late if self._is_leak(o)]
        limits = [o for o in late if o not in leaks]
        outcome, answer = _outcome(Outcome.PASS, bool(leaks)), self._told(leaks, limits)
        if leaks and twice:
            answer += " Some requests of this run were worked on twice (delivery): it may be such a twin."
        if leaks and self.detached:
            answer = f"Not applicable, since the policy says that answers are detached from clients: {answer}"
            outcome = Outcome.INCONCLUSIVE
        return finding(
            self,
            "released",
            outcome,
            answer,
            figures=(
                Figure(name="outlived", value=len(leaks), n=len(evidence.exchange_table)),
                Figure(name="known limit", value=len(limits), n=len(evidence.exchange_table)),
                Figure(
                    name="longest",
                    value=max((o.seconds for o in late), default=None),
                    unit="s",
                    n=len(late),
                ),
                _most(leaks),
            ),
            limit=f"{self.within:g} s; {self.prefill:g} s in prefill, {self.queued:g} s queued, "
            f"{self.unstreamed:g} s not streamed",
            limit_source="policy",
            exchanges=ids(o.exchange for o in leaks or limits),
            strength=resolution(samples),
            critical=outcome is not Outcome.INCONCLUSIVE,
            fault=_whose(outcome, twice),
        )

    def _held_tasks(self, evidence: Evidence, samples: Sequence[Sample]) -> Iterable[Finding]:
        """Slots that tell no seed: a task that went on after the end of every request that may own it.

        It may be somebody else's, so it convicts only where the policy says that nobody else is there.
        """
        leaks = outlived_tasks(evidence, samples, self._bound)
        if leaks:
            longest = max(leaks, key=lambda o: o.seconds)
            yield finding(
                self,
                "released",
                Outcome.FAIL if self.alone and not self.detached else Outcome.INCONCLUSIVE,
                f"{counted(len(leaks), 'slot')} worked on after every request that it can have worked for "
                f"had ended, or for somebody else: no seed was told; the longest: {longest.told}.",
                figures=(
                    Figure(name="outlived", value=len(leaks), n=len(evidence.exchange_table)),
                    _most(leaks),
                ),
                limit=f"{self.within:g} s",
                limit_source="policy",
                exchanges=ids(o.exchange for o in leaks),
                strength=resolution(samples),
                critical=not self.detached,
                fault="backend" if self.alone else "",
            )

    def _told(self, leaks: Sequence[Outlived], limits: Sequence[Outlived]) -> str:
        shown = max(leaks or limits, key=lambda o: o.seconds, default=None)
        if shown is None:
            return f"No slot was seen at work for a request more than {self.within:g} s after its end."
        if leaks:
            return f"{counted(len(leaks), 'slot')} outlived its work; the longest: {shown.told}."
        met = f"{counted(len(limits), 'request')} met a known limit of the front, no leak"
        return f"{met}: {KNOWN[shown.phase]}; the longest: {shown.told}."

    def _is_leak(self, outlived: Outlived) -> bool:
        """Beyond its bound; or a stream that goes on to generate: writing to its client shows it gone."""
        unnoticed = outlived.exchange.stream and outlived.generating_s > self.within
        return unnoticed or outlived.seconds > self._bound(outlived.phase)

    def _bound(self, phase: str) -> float:
        bounds: Mapping[str, float] = {
            "queued": self.queued,
            "prefill": self.prefill,
            "unstreamed": self.unstreamed,
        }
        return bounds.get(phase, self.within)

    def _at_end(self, evidence: Evidence, samples: Sequence[Sample]) -> Finding:
        last = after_load(evidence, samples)
        ours = by_seed(evidence.exchange_table, last.seeds)
        held = [ours[seed] for seed in last.seeds if seed in ours]
        at_ns = last.at_ns
        late = [e for e in held if at_ns is not None and (at_ns - e.done_ns) / NS > self.within]
        outcome, answer = _after(last.busy, held, late)
        return finding(
            self,
            "end",
            outcome,
            answer,
            figures=(Figure(name="busy", value=last.busy),),
            limit="none busy",
            limit_source="policy",
            exchanges=ids(held),
            span=None if last.at_ns is None else (last.at_ns / NS, last.at_ns / NS),
            critical=self.required or outcome is not Outcome.INCONCLUSIVE,
            fault="backend" if outcome is Outcome.FAIL else "",
        )

    def _one_slot(self, evidence: Evidence) -> Iterable[Finding]:
        """Whether failures, of exchanges and of checks, cluster in one slot of several."""
        placement = Placement(evidence)
        cluster = placement.cluster()
        if cluster is None:
            return
        placed = [id for id in placement.failures if placement.slots.get(id) == cluster.slot]
        yield finding(
            self,
            "one slot",
            Outcome.FAIL if cluster.clear else Outcome.PASS,
            f"{cluster.told}{'' if cluster.clear else ': no slot stands out'}.",
            figures=(
                Figure(name=f"failed in slot {cluster.slot}", value=cluster.failed, n=cluster.served),
                Figure(name="failed in all", value=cluster.all_failed, n=cluster.all_served),
            ),
            limit="no slot stands out",
            exchanges=ids(placed),
            strength=f"by chance with p = {cluster.chance:.2g} (hypergeometric, exact, of "
            f"{counted(cluster.among, 'slot')})",
            critical=cluster.clear,
            fault="backend" if cluster.clear else "",
        )

    def _strangers(self, evidence: Evidence, samples: Sequence[Sample]) -> Iterable[Finding]:
        """Seeds of busy slots that no request of this run carried."""
        requests = (evidence.exchange_table, evidence.opened_table)
        ours = {seed for table in requests for seed in table["seed"].tolist()}
        began, ended = load_span(evidence)
        during = [s for s in samples if began <= s.t_ns and (ended is None or s.t_ns <= ended)]
        strange = [s for s in during if set(seeds_of(s)) - ours - {None}]
        if strange:
            yield finding(
                self,
                "strangers",
                Outcome.INCONCLUSIVE,
                f"Somebody else used the server: in {len(strange)} of {counted(len(during), 'sample')} "
                "a slot worked for a request that is not of this run.",
                figures=(Figure(name="samples", value=len(strange), n=len(during)),),
                limit="nobody else",
                limit_source="policy",
                span=(strange[0].t_ns / NS, strange[-1].t_ns / NS),
                critical=self.alone,
                fault="host",
            )


def _outcome(otherwise: Outcome, failed: bool) -> Outcome:
    return Outcome.FAIL if failed else otherwise


def _whose(outcome: Outcome, twice: Set[int]) -> str:
    """Whose fault a held slot is; of a front that sends requests twice it may be either's."""
    if outcome is not Outcome.FAIL:
        return ""
    return "server" if twice else "backend"


def _restart(event: Event) -> str:
    return f"{plain(event.details.get('role') or 'a server', 40)} at {event.t_ns / NS:.1f} s"


def _after(busy: int | None, held: Sequence[Exchange], late: Sequence[Exchange]) -> tuple[Outcome, str]:
    """What the slots' state after the load means; ``held`` are this run's exchanges that they work for, and
    ``late`` those of them that had ended long enough before.
    """
    if busy is None:
        return Outcome.INCONCLUSIVE, "What the slots did after the load is unknown."
    if not busy:
        return Outcome.PASS, "Every slot was free after the load."
    owing = [e for e in held if phase_at_end(e) not in KNOWN]
    if any(e in late for e in owing):
        return Outcome.FAIL, f"{busy} still busy after the load, {len(held)} for requests that had ended."
    if owing:
        told = f"{busy} still busy when last seen, for requests that had only just ended: what came of it is"
        return Outcome.INCONCLUSIVE, f"{told} not known."
    if len(held) < busy:
        return Outcome.INCONCLUSIVE, f"{busy} still busy after the load, for requests that are not known."
    return Outcome.PASS, f"{busy} still busy after the load: {KNOWN[phase_at_end(held[0])]}."


def _most(leaks: Sequence[Outlived]) -> Figure:
    """The most tokens that were seen to be generated for nobody."""
    generated = [o.generated for o in leaks if o.generated is not None]
    return Figure(
        name="generated for nobody", value=max(generated, default=None), unit="tokens", n=len(generated)
    )


def _each(evidence: Evidence, restarts: int) -> float:
    """Requests of this run for each time that the server was loaded."""
    return round(len(evidence.exchange_table) / (restarts + 1), 1)


def _load_rate(evidence: Evidence, restarts: int) -> str:
    """How often the server was loaded for its work, where that was more than once; of a few restarts no rate
    is told.
    """
    if not restarts:
        return ""
    sent = counted(len(evidence.exchange_table), "request")
    hours = (evidence.duration or 0) / 3600
    rate = f", {restarts / hours:.3g} restarts an hour" if hours and restarts >= RATE_FROM else ""
    return f" ({sent} took {restarts + 1} loads of the server{rate})"
