"""Judging: how findings become a verdict, and what never passes however the adjudicators behave."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from soakproof.catalog import Catalog
from soakproof.judge import Adjudicator, Evidence, Figure, Finding, Outcome
from soakproof.judge.finding import Verdict, merge
from soakproof.judge.judging import judge, run_safely
from soakproof.judge.rules import Policy, Reconsider, Rule
from soakproof.raw import raw_result
from soakproof.records import Failure
from soakproof.testing.evidence import check, evidence, exchange, iteration

NOW = datetime(2026, 9, 1, 12, tzinfo=UTC)
CLEAN = {"outcome": "clean"}
WORST_FIRST = [Outcome.FAIL, Outcome.ERROR, Outcome.INCONCLUSIVE, Outcome.PASS]


def says(outcome: Outcome = Outcome.PASS, *, critical: bool = True) -> Finding:
    return Finding(
        adjudicator="?", subject="it", question="Is it?", outcome=outcome, answer="So.", critical=critical
    )


@dataclass(frozen=True)
class Fixed(Adjudicator):
    """Finds what it was told to find."""

    findings: tuple[Finding, ...] = ()
    got: list[Evidence | None] = field(default_factory=list)

    def judge(self, evidence: Evidence, baseline: Evidence | None) -> Iterable[Finding]:
        self.got.append(baseline)
        return self.findings


@dataclass(frozen=True)
class Broken(Adjudicator):
    """Raises after its first finding."""

    def judge(self, evidence: Evidence, baseline: Evidence | None) -> Iterable[Finding]:
        yield says()
        raise ZeroDivisionError("no samples were read")


def policy(
    *, baseline_required: bool = False, reconsider: tuple[Reconsider, ...] = (), **rules: Any
) -> Policy:
    """A policy of adjudicators by name; a finding, or several, stand for an adjudicator that finds them."""
    made = {name: _rule(what) for name, what in rules.items()}
    return Policy(name="hand", rules=made, baseline_required=baseline_required, reconsider=reconsider)


def _rule(what: Any) -> Rule:
    if isinstance(what, Rule):
        return what
    if isinstance(what, Adjudicator):
        return Rule(what)
    return Rule(Fixed(what if isinstance(what, tuple) else (what,)))


def verdict(run: Evidence, rules: Policy, baseline: Evidence | None = None, now: datetime = NOW) -> Verdict:
    return judge(run, rules, baseline, judged_at=now, versions={"soakproof": "0"})


def clean(**more: Any) -> Evidence:
    return evidence(exchange(), raw=CLEAN, **more)


def of(found: Verdict, adjudicator: str, subject: str = "") -> Finding:
    return next(
        f for f in found.findings if f.adjudicator == adjudicator and f.subject in (subject or f.subject,)
    )


# -- merging


@given(st.lists(st.sampled_from(WORST_FIRST)))
def test_the_worst_outcome_wins_and_nothing_is_inconclusive(outcomes: list[Outcome]) -> None:
    worst = min(outcomes, key=WORST_FIRST.index, default=Outcome.INCONCLUSIVE)
    assert merge(outcomes) is worst
    assert merge([*outcomes, *outcomes[:1]]) is worst
    assert (merge(outcomes) is Outcome.PASS) == (set(outcomes) == {Outcome.PASS})


@pytest.mark.parametrize("outcome", WORST_FIRST)
def test_a_critical_finding_decides_and_others_do_not(outcome: Outcome) -> None:
    assert verdict(clean(), policy(a=says(), b=says(outcome))).outcome is outcome
    lenient = policy(a=says(), b=Rule(Fixed((says(outcome),)), critical=False))
    assert verdict(clean(), lenient).outcome is Outcome.PASS
    assert (
        verdict(clean(), policy(a=says(), b=(says(), says(outcome, critical=False)))).outcome is Outcome.PASS
    )


def test_a_critical_adjudicator_cannot_make_its_remark_decide() -> None:
    found = verdict(clean(), policy(a=(says(), says(Outcome.FAIL, critical=False))))
    assert [f.critical for f in found.findings if f.adjudicator == "a"] == [True, False]


def test_remarks_alone_are_no_judgement() -> None:
    """However clean the run says that it was."""
    for remarks in (says(critical=False), (says(critical=False), says(Outcome.INCONCLUSIVE, critical=False))):
        found = verdict(clean(), policy(a=remarks))
        assert found.outcome is Outcome.INCONCLUSIVE
        assert "nothing that decides was judged" in of(found, "policy", "decides").answer
    decided = verdict(clean(), policy(a=says(critical=False), b=says()))
    assert decided.outcome is Outcome.PASS
    assert not [f for f in decided.findings if f.adjudicator == "policy"]


@pytest.mark.parametrize(
    ("target", "told"),
    [
        (None, "The run does not tell at which address nor which model."),
        ({"base_url": "http://127.0.0.1:8001"}, "The run does not tell which model."),
        ({"model": "probe", "base_url": ""}, "The run does not tell at which address."),
        ({"model": "probe", "embedded": True}, ""),
        ({"model_resolved": "probe", "base_url": "http://127.0.0.1:8001"}, ""),
    ],
)
def test_a_run_that_does_not_tell_what_was_tested_never_passes(target: Any, told: str) -> None:
    found = verdict(clean(run={"target": target}), policy(a=says()))
    assert found.outcome is (Outcome.INCONCLUSIVE if told else Outcome.PASS)
    assert [f.answer for f in found.findings if f.adjudicator == "target"] == ([told] if told else [])


# -- adjudicators that misbehave


def test_an_adjudicator_that_raises_is_an_error_with_its_text_and_place_and_stops_no_other() -> None:
    found = verdict(clean(), policy(bad=Broken(), good=says()))
    assert found.outcome is Outcome.ERROR
    raised = of(found, "bad", "adjudicator")
    assert "ZeroDivisionError at test_judging.py:" in raised.answer
    assert "no samples were read" in raised.answer
    assert raised.fault == "ours"
    assert of(found, "bad", "it").outcome is Outcome.PASS  # what it found before is kept
    assert of(found, "good").outcome is Outcome.PASS


def test_the_place_is_the_adjudicators_own_line_though_what_it_called_raised(tmp_path: Path) -> None:
    rooms = tmp_path / "adjudicators"
    rooms.mkdir()
    (rooms / "gaps.py").write_text(
        "from dataclasses import dataclass\n"
        "from soakproof.judge import Adjudicator, measure\n"
        "@dataclass(frozen=True)\n"
        "class Gaps(Adjudicator):\n"
        "    def judge(self, evidence, baseline):\n"
        "        return measure('longest_gap', evidence.exchanges)\n"
    )
    found = verdict(clean(), policy(gaps=Catalog(tmp_path).adjudicator("gaps")()))
    assert "It raised ValueError at gaps.py:6: no metric is called" in of(found, "gaps").answer


def test_an_adjudicator_that_yields_no_finding_but_something_else_is_an_error() -> None:
    found = run_safely("odd", Fixed(("nonsense",)), clean(), None)  # type: ignore[arg-type]
    assert [f.outcome for f in found] == [Outcome.ERROR]


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"span": (float("nan"), "q")}, "span: expected two numbers of seconds, found (nan, 'q')"),
        ({"span": (1.0,)}, "span: expected two numbers"),
        ({"exchanges": (1, None)}, "exchanges: expected a tuple of ids, found (1, None)"),
        ({"exchanges": "load-1"}, "exchanges: expected a tuple of ids"),
        ({"outcome": "PASS"}, "outcome: expected an Outcome"),
        ({"answer": None}, "answer: expected a text, found None"),
        ({"critical": 0}, "critical: expected True or False"),
        ({"figures": ("x",)}, "figures: expected a tuple of figures"),
        ({"figures": (Figure(name="f", value=float("inf")),)}, "a figure's value: expected a finite number"),
        ({"figures": (Figure(name="f", value=10**400),)}, "a figure's value: expected a finite number"),
        ({"figures": (Figure(name="f", value=1, unit=3),)}, "a figure's unit"),  # type: ignore[arg-type]
    ],
)
def test_a_finding_that_no_report_could_show_is_an_error(fields: dict[str, Any], told: str) -> None:
    found = verdict(clean(), policy(odd=(replace(says(), **fields), says())))
    assert found.outcome is Outcome.ERROR
    assert told in of(found, "odd", "findings").answer
    assert of(found, "odd", "it").outcome is Outcome.PASS  # what is a finding is kept
    whole = replace(says(), span=(0.0, 1), exchanges=("a",), figures=(Figure(name="f", value=None, n=2),))
    assert verdict(clean(), policy(good=whole)).outcome is Outcome.PASS


def test_an_adjudicator_that_finds_nothing_is_inconclusive() -> None:
    found = verdict(clean(), policy(silent=Fixed()))
    assert found.outcome is Outcome.INCONCLUSIVE
    assert of(found, "silent").adjudicator == "silent"


class Own(BaseException):
    """No Exception, and nothing that ends a program."""


@pytest.mark.parametrize("error", [SystemExit(0), GeneratorExit(), Own()])
def test_an_adjudicator_that_would_end_the_program_is_an_error(error: BaseException) -> None:
    @dataclass(frozen=True)
    class Ends(Adjudicator):
        def judge(self, evidence: Evidence, baseline: Evidence | None) -> Iterable[Finding]:
            raise error

    found = verdict(clean(), policy(bad=Ends(), good=says()))
    assert found.outcome is Outcome.ERROR
    assert f"It raised {type(error).__name__} at test_judging.py:" in of(found, "bad").answer
    assert of(found, "good").outcome is Outcome.PASS


def test_a_stop_is_not_swallowed() -> None:
    @dataclass(frozen=True)
    class Stopped(Adjudicator):
        def judge(self, evidence: Evidence, baseline: Evidence | None) -> Iterable[Finding]:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        verdict(clean(), policy(a=Stopped()))


# -- the raw outcome


@pytest.mark.parametrize(
    ("raw", "outcome", "told"),
    [
        (None, Outcome.INCONCLUSIVE, "no raw outcome"),
        (
            {"outcome": "nothing", "ended": {"why": "time", "reason": "no exchange"}},
            Outcome.INCONCLUSIVE,
            "no exchange",
        ),
        ({"outcome": "error", "ended": {"why": "error", "reason": "disk full"}}, Outcome.ERROR, "disk full"),
        ({"outcome": "failed"}, Outcome.INCONCLUSIVE, "names no failure"),
        (
            {"outcome": "failed", "thresholds": [{"name": "prose-rate", "outcome": "unknown"}]},
            Outcome.INCONCLUSIVE,
            "Nothing failed in the run, but 1 threshold could not be measured: prose-rate.",
        ),
        (
            {"outcome": "failed", "ended": {"why": "guard", "reason": "1 MiB is available"}},
            Outcome.INCONCLUSIVE,
            "The guard ended the load before its time: 1 MiB is available",
        ),
        (
            {"outcome": "failed", "ended": {"why": "unguarded", "reason": "the watch has ended"}},
            Outcome.INCONCLUSIVE,
            "The load was ended before its time, since its guard was lost: the watch has ended",
        ),
        ({}, Outcome.INCONCLUSIVE, "None"),
        ({"outcome": "passed"}, Outcome.INCONCLUSIVE, "'passed'"),
    ],
)
def test_a_run_that_says_nothing_good_of_itself_never_passes(
    raw: dict[str, Any] | None, outcome: Outcome, told: str
) -> None:
    found = verdict(evidence(exchange(), raw=raw), policy(a=says()))
    assert found.outcome is outcome
    assert told in of(found, "raw", "outcome").answer
    assert found.raw == raw


def test_raw_failures_of_checks_are_left_to_functional_and_count_where_it_is_missing() -> None:
    broken = [exchange(f"x{n}", seed=n, outcome="fail", failure=Failure.RESET) for n in range(2)]
    seen = evidence(exchange(), broken, check("json.parse", "fail"), iteration())
    run = replace(seen, raw=raw_result((), seen.records, ended=seen.run["ended"]))
    assert verdict(run, policy(functional=says())).outcome is Outcome.PASS
    assert verdict(run, policy(functional=says(Outcome.FAIL))).outcome is Outcome.FAIL
    alone = verdict(run, policy(coverage=says()))
    assert alone.outcome is Outcome.FAIL
    assert "1 x json.parse, 2 failed exchanges" in of(alone, "raw", "outcome").answer
    shown_only = policy(coverage=says(), functional=Rule(Fixed((says(),)), critical=False))
    assert verdict(run, shown_only).outcome is Outcome.FAIL


KEYS = ["name", "that", "outcome", "observed", "unit", "n", "failed", "failures", "reason"]
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["fail", "pass", ""]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["fail", "name", "outcome", "failures", "broken", "a"]), inner, max_size=3
        )
    ),
    max_leaves=8,
)


@given(
    st.sampled_from(["clean", "failed", "failed", "nothing", "error", None, 7]),
    st.fixed_dictionaries(
        {},
        optional=dict.fromkeys(("checks", "exchanges", "iterations", "ended"), anything)
        | {"thresholds": anything | st.lists(st.dictionaries(st.sampled_from(KEYS), anything), max_size=2)},
    ),
)
@settings(max_examples=60)
def test_a_raw_result_of_any_shape_is_judged_and_passes_only_when_it_says_clean(
    outcome: Any, rest: dict[str, Any]
) -> None:
    found = verdict(evidence(exchange(), raw={"outcome": outcome, **rest}), policy(a=says()))
    assert found.outcome is not Outcome.PASS or outcome == "clean"


# -- reconsiderations

PROSE = {
    "name": "prose-rate",
    "that": "generation_rate{long_prose} each >= 17 tokens/s",
    "outcome": "fail",
    "observed": 12.29,
    "unit": "tokens/s",
    "n": 3,
    "failures": [{"exchange": f"prose-{n}", "value": 12.3} for n in range(3)],
}


def failed(**over: Any) -> Evidence:
    told = {**PROSE, **over}
    planned = {"thresholds": [{"name": told["name"], "that": told["that"]}]}
    return evidence(exchange(), raw={"outcome": "failed", "thresholds": [told]}, plan=planned)


def entry(threshold: str = "prose-rate", *requires: str, expires: date = date(2026, 12, 31)) -> Reconsider:
    return Reconsider(
        threshold=threshold,
        reason="written for another model",
        requires=requires or ("functional", "throughput"),
        who="A. Keeper",
        expires=expires,
    )


def rules(*entries: Reconsider, **over: Any) -> Policy:
    return policy(reconsider=entries, **{"functional": says(), "throughput": says(), **over})


def test_a_raw_threshold_failure_fails_without_an_entry() -> None:
    found = verdict(failed(), rules())
    assert found.outcome is Outcome.FAIL
    threshold = of(found, "raw", "prose-rate")
    assert threshold.exchanges == ("prose-0", "prose-1", "prose-2")
    assert threshold.limit == PROSE["that"]
    assert "3 failures" in threshold.answer


def test_an_entry_overrules_it_and_both_stay_in_sight() -> None:
    found = verdict(failed(), rules(entry()))
    assert found.outcome is Outcome.PASS
    assert found.raw is not None
    assert found.raw["outcome"] == "failed"
    threshold = of(found, "raw", "prose-rate")
    assert threshold.outcome is Outcome.FAIL
    assert not threshold.critical
    assert "The failure stands" in threshold.answer
    assert of(found, "reconsider").outcome is Outcome.PASS
    assert "decided by A. Keeper until 2026-12-31" in of(found, "reconsider").answer
    assert [r.applied for r in found.reconsidered] == [True]


@pytest.mark.parametrize("worse", [Outcome.FAIL, Outcome.ERROR])
@pytest.mark.parametrize("critical", [True, False])
def test_every_required_adjudicator_must_pass_even_where_the_policy_calls_it_uncritical(
    worse: Outcome, critical: bool
) -> None:
    found = verdict(failed(), rules(entry(), throughput=Rule(Fixed((says(), says(worse))), critical)))
    assert found.outcome is Outcome.FAIL
    assert found.reconsidered[0].why_not == f"throughput, which it requires, is {worse}"
    assert not found.reconsidered[0].undecided
    assert of(found, "raw", "prose-rate").critical
    assert of(found, "reconsider").outcome is Outcome.INCONCLUSIVE
    assert of(found, "reconsider").critical


@pytest.mark.parametrize("critical", [True, False])
def test_where_what_it_requires_could_not_be_judged_the_failure_is_neither_overruled_nor_decides(
    critical: bool,
) -> None:
    found = verdict(failed(), rules(entry(), throughput=Rule(Fixed((says(Outcome.INCONCLUSIVE),)), critical)))
    assert found.outcome is Outcome.INCONCLUSIVE
    assert found.reconsidered[0].undecided
    assert not found.reconsidered[0].applied
    assert "could not be judged" in of(found, "raw", "prose-rate").answer
    mixed = rules(entry(), functional=says(Outcome.INCONCLUSIVE), throughput=says(Outcome.FAIL))
    assert verdict(failed(), mixed).outcome is Outcome.FAIL


def test_an_adjudicator_that_only_remarks_has_not_passed() -> None:
    found = verdict(failed(), rules(entry(), throughput=says(critical=False)))
    assert found.outcome is Outcome.INCONCLUSIVE
    assert not found.reconsidered[0].applied
    remark = verdict(
        failed(), rules(entry(), throughput=(says(), says(Outcome.INCONCLUSIVE, critical=False)))
    )
    assert remark.outcome is Outcome.PASS
    fails = verdict(failed(), rules(entry(), throughput=(says(), says(Outcome.FAIL, critical=False))))
    assert fails.outcome is Outcome.FAIL


def test_an_entry_holds_on_its_last_day_and_not_on_the_next() -> None:
    last = datetime(2026, 12, 31, 23, 59, tzinfo=UTC)
    assert verdict(failed(), rules(entry()), now=last).outcome is Outcome.PASS
    late = verdict(failed(), rules(entry()), now=datetime(2027, 1, 1, tzinfo=UTC))
    assert late.outcome is Outcome.FAIL
    assert "expired on 2026-12-31" in late.reconsidered[0].why_not
    assert of(late, "reconsider").outcome is Outcome.INCONCLUSIVE


def test_entries_that_were_not_needed_are_told_and_decide_nothing() -> None:
    kept = verdict(failed(outcome="pass", failures=[]), rules(entry()))
    assert kept.reconsidered[0].why_not == "the threshold was kept"
    assert not of(kept, "reconsider").critical
    unmatched = verdict(clean(), rules(entry("prose-rat")))
    assert unmatched.outcome is Outcome.PASS
    assert "no threshold of this name" in unmatched.reconsidered[0].why_not
    assert of(unmatched, "reconsider").outcome is Outcome.INCONCLUSIVE
    assert not of(unmatched, "reconsider").critical


def test_missing_evidence_cannot_be_reconsidered() -> None:
    found = verdict(failed(outcome="unknown", reason="no exchange", failures=[]), rules(entry()))
    assert found.outcome is Outcome.INCONCLUSIVE
    assert "never reconsidered" in found.reconsidered[0].why_not


def test_no_entry_touches_checks_however_they_are_named() -> None:
    raw = {"outcome": "failed", "checks": {"exact": {"fail": 1}}}
    named = verdict(evidence(exchange(), raw=raw), rules(entry("exact"), functional=says(Outcome.FAIL)))
    assert named.outcome is Outcome.FAIL
    assert "names a check" in named.reconsidered[0].why_not
    counting = failed(that="failed_checks{isolation.foreign} count == 0")
    assert verdict(counting, rules(entry())).outcome is Outcome.FAIL


@pytest.mark.parametrize(
    "that",
    [
        "stalls count == 0",
        " stalls{long_prose} share <= 1 %",
        "unknown_checks count == 0",
        "iterations count >= 3",
        "total_time count >= 3",
        "stalls",
        "",
    ],
)
def test_no_entry_touches_a_threshold_that_counts(that: str) -> None:
    found = verdict(failed(that=that), rules(entry()))
    assert found.outcome is Outcome.FAIL
    assert "which are never reconsidered" in found.reconsidered[0].why_not


def test_a_threshold_of_a_name_that_counts_elsewhere_is_not_overruled() -> None:
    raw = {"outcome": "failed", "thresholds": [PROSE, {**PROSE, "that": "stalls count == 0"}]}
    assert verdict(evidence(exchange(), raw=raw), rules(entry())).outcome is Outcome.FAIL


def test_an_entry_overrules_its_own_threshold_only() -> None:
    raw = {"outcome": "failed", "thresholds": [PROSE, {**PROSE, "name": "first-token"}]}
    assert verdict(evidence(exchange(), raw=raw), rules(entry())).outcome is Outcome.FAIL


def test_a_kernel_fault_is_not_touched_by_an_entry() -> None:
    assert verdict(failed(), rules(entry(), kernel=says(Outcome.FAIL))).outcome is Outcome.FAIL


# -- evidence and baselines


@pytest.mark.parametrize(
    ("broken", "outcome"),
    [
        (
            {"seal_problems": ("evidence/load/SEAL: missing, so evidence/load/ is not sealed",)},
            Outcome.INCONCLUSIVE,
        ),
        ({"seal_problems": ("evidence/load/checks.jsonl: changed: …",)}, Outcome.ERROR),
        ({"problems": ("evidence/load/checks.jsonl: line 3 is torn",)}, Outcome.INCONCLUSIVE),
        ({"recovered": True}, Outcome.INCONCLUSIVE),
    ],
)
def test_evidence_that_is_not_what_was_sealed_never_passes(broken: dict[str, Any], outcome: Outcome) -> None:
    assert verdict(clean(**broken), policy(a=says())).outcome is outcome


def of_evidence(subject: str, outcome: Outcome, *, critical: bool = True) -> Finding:
    return replace(says(outcome, critical=critical), adjudicator="evidence", subject=subject)


@pytest.mark.parametrize(
    ("own", "told"),
    [
        ((of_evidence("seal", Outcome.ERROR),), False),
        ((of_evidence("seal", Outcome.INCONCLUSIVE),), True),  # not as grave as it is
        ((of_evidence("seal", Outcome.ERROR, critical=False),), True),
        ((of_evidence("lines", Outcome.ERROR),), True),
        ((of_evidence("seal", Outcome.PASS),), True),
    ],
)
def test_a_broken_seal_is_told_once_and_never_not_at_all(own: tuple[Finding, ...], told: bool) -> None:
    run = clean(seal_problems=("evidence/load/checks.jsonl: changed",))
    verdict = judge(run, policy(evidence=own), None, judged_at=NOW)
    assert verdict.outcome is Outcome.ERROR
    assert any(f.adjudicator == "seal" for f in verdict.findings) is told


def test_the_bundled_adjudicator_of_evidence_and_the_judges_own_look_say_nothing_twice() -> None:
    rules = {"evidence": Rule(Catalog(Path(__file__).parent).adjudicator("evidence")(), True)}
    for broken in (
        {"seal_problems": ("raw.json: changed",)},
        {"problems": ("line 3 is torn",)},
        {"recovered": True},
    ):
        verdict = judge(clean(**broken), Policy(name="hand", rules=rules), None, judged_at=NOW)
        bad = [f for f in verdict.findings if f.outcome is not Outcome.PASS and f.critical]
        assert "seal" not in {f.adjudicator for f in bad}
        assert {f.subject for f in bad} & {"seal", "lines"}


def test_a_baseline_that_compares_is_handed_on() -> None:
    watching = Fixed((says(),))
    before = clean(id="before")
    found = verdict(clean(), policy(a=watching, baseline_required=True), before)
    assert found.outcome is Outcome.PASS
    assert watching.got == [before]
    assert found.baseline == "before"


@pytest.mark.parametrize(
    "before",
    [
        clean(id="other", target={"model_resolved": "another"}),
        clean(id="less", target={"slot_context": None}),
        clean(id="touched", seal_problems=("raw.json: changed",)),
        clean(id="torn", problems=("line 3 is torn",)),
        clean(id="crashed", recovered=True),
        evidence(exchange(), raw=None, id="killed"),
        evidence(exchange(), raw={"outcome": "nothing"}, id="empty"),
        clean(),
    ],
    ids=["another model", "unknown context", "touched", "torn", "recovered", "killed", "empty", "itself"],
)
def test_a_baseline_that_does_not_compare_is_withheld_and_inconclusive(before: Evidence) -> None:
    watching = Fixed((says(),))
    found = verdict(clean(), policy(a=watching), before)
    assert found.outcome is Outcome.INCONCLUSIVE
    assert watching.got == [None]
    assert of(found, "identity").outcome is Outcome.INCONCLUSIVE
    assert "There was no baseline to compare with" in " ".join(found.not_proven)


def test_a_required_baseline_that_is_missing_is_inconclusive() -> None:
    assert verdict(clean(), policy(a=says(), baseline_required=True)).outcome is Outcome.INCONCLUSIVE
    assert verdict(clean(), policy(a=says())).outcome is Outcome.PASS


def test_what_the_release_changed_is_listed() -> None:
    before = clean(id="before", target={"build": "b0"}, run={"host": {"kernel": "6.17"}})
    found = verdict(clean(run={"host": {"kernel": "6.18"}}), policy(a=says()), before)
    assert found.outcome is Outcome.PASS
    assert {c["field"]: (c["was"], c["is"], c["role"]) for c in found.changed} == {
        "backend_build": ("b0", "b1", "under_test"),
        "kernel": ("6.17", "6.18", "under_test"),
    }


def test_a_verdict_says_when_and_by_what_it_was_reached() -> None:
    found = verdict(
        clean(), Policy(name="p", rules={"a": _rule(says())}, digests={"p.toml": "aa", "a.py": "bb"})
    )
    assert found.judged_at == "2026-09-01T12:00:00+00:00"
    assert found.versions == {"soakproof": "0", "p.toml": "aa", "a.py": "bb"}
    assert found.identity["model"] == "probe"
