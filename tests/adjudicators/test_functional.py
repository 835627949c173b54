"""Functional: every check, every failure class, whose fault, and what is only told."""

import pytest

from soakproof.judge import Outcome
from soakproof.records import Failure
from soakproof.testing.evidence import adjudicate, check, evidence, exchange, iteration, opened, plan_kind


def passing(n=10, name="json.parse", kind="json"):
    return [check(name, kind=kind, iteration=i) for i in range(1, n + 1)]


def test_a_clean_run_passes_with_its_counts() -> None:
    found = adjudicate("functional", evidence(exchange(), passing()))
    assert found["json.parse"].outcome is Outcome.PASS
    assert found["json.parse"].answer == "Held in 10 of 10."
    assert [(f.name, f.value, f.n) for f in found["json.parse"].figures] == [("passed", 10, 10)]
    assert found["exchanges"].outcome is Outcome.PASS
    assert set(found) == {"json.parse", "exchanges"}


def test_one_failure_in_ten_fails_and_names_the_iteration_the_reason_and_the_exchange() -> None:
    bad = check(
        "json.parse", "fail", kind="json", iteration=7, reason="a fence", grade="fenced", exchanges=("x7",)
    )
    found = adjudicate("functional", evidence(exchange(), passing(), bad))["json.parse"]
    assert found.outcome is Outcome.FAIL
    assert found.answer == "Failed in 1 of 11; first: json 7: fenced: a fence."
    assert found.exchanges == ("x7",)
    assert ("fail: fenced", 1) in [(f.name, f.value) for f in found.figures]


SLIPS = [
    (2, 60, Outcome.PASS),
    (3, 60, Outcome.FAIL),
    (3, 300, Outcome.PASS),
    (4, 300, Outcome.FAIL),
    (3, 3, Outcome.FAIL),
    (2, 2, Outcome.INCONCLUSIVE),
]


@pytest.mark.parametrize(("slips", "of", "outcome"), SLIPS)
def test_a_models_own_slips_are_told_and_many_of_them_fail(slips, of, outcome) -> None:
    graded = [
        check("json.parse", "unknown", kind="json", iteration=99, grade="slip", exchanges=(f"s{n}",))
        for n in range(slips)
    ]
    found = adjudicate("functional", evidence(exchange(), passing(of - slips), graded))["json.parse"]
    assert found.outcome is outcome
    assert ("unknown: slip", slips) in [(f.name, f.value) for f in found.figures]


def test_a_prompt_that_is_asked_three_times_slips_once() -> None:
    asked = [exchange(f"s{n}", at=n, prompt_digest="p") for n in range(3)]
    graded = [check("json.parse", "unknown", kind="json", grade="slip", exchanges=(e.id,)) for e in asked]
    found = adjudicate("functional", evidence(asked, passing(70), graded))["json.parse"]
    assert found.outcome is Outcome.PASS
    assert "slips to 2 prompts" in found.limit


def test_slips_are_told_where_they_decide_nothing() -> None:
    one = check("json.parse", "unknown", kind="json", iteration=99, grade="slip", reason="'A' for 'B'")
    told = adjudicate("functional", evidence(exchange(), passing(60), one))["slips"]
    assert (told.outcome, told.critical) == (Outcome.INCONCLUSIVE, False)
    assert "first: json 99: slip: 'A' for 'B'" in told.answer


@pytest.mark.parametrize("where", ["run", "baseline"])
def test_a_slip_to_a_prompt_that_was_answered_otherwise_is_doubtful(where: str) -> None:
    slipped = exchange("slip", text="AB", prompt_digest="p", temperature=0.0)
    right = exchange("right", text="AC", prompt_digest="p", temperature=0.0)
    graded = check("json.parse", "unknown", kind="json", grade="slip", exchanges=("slip",))
    run = [slipped, graded, passing(60)]
    before = evidence(right, passing(60)) if where == "baseline" else None
    found = adjudicate("functional", evidence(*run, *([right] if where == "run" else [])), before)
    assert (found["slips"].outcome, found["slips"].critical) == (Outcome.INCONCLUSIVE, True)
    same = exchange("same", text="AB", prompt_digest="p", temperature=0.0)
    drawn = exchange("drawn", text="AC", prompt_digest="p", temperature=0.8)
    assert not adjudicate("functional", evidence(*run, same, drawn))["slips"].critical


def test_a_policy_may_allow_no_slip() -> None:
    graded = check("json.parse", "unknown", kind="json", grade="slip", exchanges=("load-1",))
    found = adjudicate("functional", evidence(exchange("load-1"), passing(60), graded), slips="0 %")
    assert found["json.parse"].outcome is Outcome.FAIL


def test_grades_are_told_by_class_within_passes_too() -> None:
    graded = [
        check("json.parse", kind="json", grade="fenced"),
        check("json.parse", kind="json", grade="plain"),
    ]
    figures = adjudicate("functional", evidence(exchange(), graded))["json.parse"].figures
    assert {f.name: f.value for f in figures} == {"passed": 2, "pass: fenced": 1, "pass: plain": 1}


@pytest.mark.parametrize("outcome", ["fail", "unknown"])
def test_a_known_limit_is_told_and_does_not_fail(outcome) -> None:
    limited = check("cancel.released", outcome, grade="known:front-unstreamed", reason="runs to its end")
    found = adjudicate("functional", evidence(exchange(), limited))["cancel.released"]
    assert found.outcome is Outcome.PASS
    assert "known limit: 1" in found.answer
    assert "runs to its end" in found.answer
    assert found.strength == "only the known limit was seen"


def test_a_known_limit_does_not_hide_a_real_failure() -> None:
    checks = [
        check("cancel.released", "fail", grade="known:x"),
        check("cancel.released", "fail", reason="busy"),
    ]
    found = adjudicate("functional", evidence(exchange(), checks))["cancel.released"]
    assert found.outcome is Outcome.FAIL
    assert found.answer.startswith("Failed in 1 of 2")


def test_a_declared_check_that_was_never_made_is_inconclusive() -> None:
    plan = {"kinds": [plan_kind("json", checks=("json.parse",))]}
    found = adjudicate("functional", evidence(exchange(), plan=plan))["json.parse"]
    assert (found.outcome, found.answer) == (Outcome.INCONCLUSIVE, "Never decided: unknown in 0.")


def test_only_unknown_is_inconclusive_with_the_first_reason() -> None:
    unreached = check("json.parse", "unknown", kind="json", grade="unreached", reason="not reached: stall")
    found = adjudicate("functional", evidence(exchange(), unreached))["json.parse"]
    assert found.outcome is Outcome.INCONCLUSIVE
    assert found.answer == "Never decided: unknown in 1; first: json 1: unreached: not reached: stall."


@pytest.mark.parametrize(("unknown", "outcome"), [(1, Outcome.PASS), (2, Outcome.INCONCLUSIVE)])
def test_the_share_of_unknown_checks_is_bounded(unknown, outcome) -> None:
    lost = [check("json.parse", "unknown", kind="json", iteration=50 + i) for i in range(unknown)]
    run = evidence(exchange(), passing(19), lost)
    assert adjudicate("functional", run)["json.parse"].outcome is outcome


def test_what_the_end_of_the_run_cut_off_is_told_and_not_counted_as_unknown() -> None:
    cut = check("json.parse", "unknown", kind="json", iteration=9, grade="unreached", reason="the run ended")
    run = evidence(exchange(), passing(2), cut, iteration("json", 9, end="stopped"))
    found = adjudicate("functional", run)["json.parse"]
    assert found.outcome is Outcome.PASS
    assert found.answer == "Held in 2 of 3; cut off by the end of the run: 1."


def test_a_check_of_two_kinds_is_judged_for_each() -> None:
    run = evidence(exchange(), check("whole", kind="a"), check("whole", "fail", kind="b"))
    found = adjudicate("functional", run)
    assert found["a: whole"].outcome is Outcome.PASS
    assert found["b: whole"].outcome is Outcome.FAIL


@pytest.mark.parametrize(
    ("failure", "outcome", "fault"),
    [
        (Failure.STALL, Outcome.FAIL, "server"),
        (Failure.BACKEND_LOST, Outcome.FAIL, "backend"),
        (Failure.CONNECT, Outcome.FAIL, "front"),
        (Failure.EMPTY, Outcome.FAIL, "model"),
        (Failure.CONFIGURATION, Outcome.ERROR, "ours"),
        (Failure.GENERATOR, Outcome.ERROR, "ours"),
        (None, Outcome.FAIL, "server"),
    ],
)
def test_failed_exchanges_are_told_by_class_and_fault(failure, outcome, fault) -> None:
    bad = exchange("x1", outcome="fail", failure=failure, reason="no token for 60 s")
    found = adjudicate("functional", evidence(bad, exchange("x2"), passing()))
    failed = found[f"exchanges: {failure or 'unclassified'}"]
    assert (failed.outcome, failed.fault, failed.exchanges) == (outcome, fault, ("x1",))
    sizes = "; prompts of 100 characters" if failure is Failure.STALL else ""
    assert failed.answer == f"1 exchange of 2 failed; first: long_prose 1 ask: no token for 60 s{sizes}."
    assert "exchanges" not in found


def test_a_kind_that_is_asked_to_fail_is_judged_by_its_checks() -> None:
    bad = exchange("x1", kind="malformed", outcome="fail", failure=Failure.CONFIGURATION)
    found = adjudicate("functional", evidence(bad, exchange("x2"), passing()), may_fail=["malformed"])
    assert found["exchanges"].outcome is Outcome.PASS
    assert not [subject for subject in found if subject.startswith("exchanges:")]


def stopped(n: int):
    return [exchange(f"s{i}", outcome="unknown", failure=Failure.STOPPED) for i in range(n)]


@pytest.mark.parametrize(("n", "outcome"), [(8, Outcome.PASS), (9, Outcome.INCONCLUSIVE)])
def test_few_exchanges_may_be_cut_off_by_the_end(n, outcome) -> None:
    found = adjudicate("functional", evidence(exchange(), stopped(n), passing()))["exchanges"]
    assert found.outcome is outcome
    assert f"{n} were cut off by the end of the run, 0 are unknown" in found.answer


def test_a_request_that_never_closed_is_unknown() -> None:
    run = evidence(exchange("x1"), opened(exchange("lost")), passing())
    found = adjudicate("functional", run)["exchanges"]
    assert (found.outcome, found.exchanges) == (Outcome.INCONCLUSIVE, ("lost",))


def test_nothing_at_all_passes_nothing() -> None:
    found = adjudicate("functional", evidence())
    assert {f.outcome for f in found.values()} == {Outcome.INCONCLUSIVE}
    assert set(found) == {"checks", "exchanges"}


def test_all_failed_passes_nothing() -> None:
    run = evidence([exchange(f"x{i}", outcome="fail", failure=Failure.HTTP_STATUS) for i in range(20)])
    found = adjudicate("functional", run)
    assert found["exchanges: http_status"].outcome is Outcome.FAIL
    assert found["exchanges"].outcome is Outcome.INCONCLUSIVE


def test_a_broken_scenario_is_ours_and_an_error() -> None:
    run = evidence(
        exchange(), passing(), iteration("json", 3, end="broken", reason="KeyError: 'x' (json.py:9)")
    )
    found = adjudicate("functional", run)["scenarios"]
    assert (found.outcome, found.fault) == (Outcome.ERROR, "ours")
    assert found.answer == (
        "1 iteration ended by a fault of the scenario itself; first: json 3: KeyError: 'x' (json.py:9)."
    )


def test_ids_are_bounded_and_hostile_text_is_neutralised() -> None:
    bad = [check("c", "fail", iteration=i, reason="\x1b[2Jgone\n", exchanges=(f"x{i}",)) for i in range(50)]
    found = adjudicate("functional", evidence(exchange(), bad))["c"]
    assert len(found.exchanges) == 20
    assert "\x1b" not in found.answer
    assert "\n" not in found.answer


def in_reasoning(n, text, **more):
    """An answer without content, as its exchange is recorded."""
    values = {"outcome": "fail", "failure": Failure.EMPTY, "text": "", "reasoning": text, **more}
    return exchange(f"r{n}", kind="echo", iteration=n, at=n, **values)


def in_content(n, **more):
    return exchange(f"c{n}", kind="echo", iteration=n, at=n, text="JKLMNPQR-01 JKLMNPQR-02", **more)


def test_an_exact_answer_in_the_reasoning_of_a_model_that_does_not_reason_was_moved() -> None:
    """With it whatever else has no content: our own limit is not to blame for it."""
    exact = in_reasoning(7, "ABCDEFGH-01 ABCDEFGH-02", secrets=("ABCDEFGH",))
    spent = in_reasoning(8, "Once upon a time", failure=Failure.BUDGET)
    found = adjudicate("functional", evidence([in_content(n) for n in range(4)], exact, spent))
    assert (found["misplaced"].outcome, found["misplaced"].fault) == (Outcome.FAIL, "front")
    assert found["misplaced"].exchanges == ("r7", "r8")
    assert set(found) == {"checks", "misplaced"}


@pytest.mark.parametrize(
    ("moved", "others"),
    [
        (in_reasoning(7, "The user wants ABCDEFGH-01 repeated.", secrets=("ABCDEFGH",)), {}),
        (in_reasoning(7, "ABCDEFGH-01", secrets=("ABCDEFGH",)), {"reasoning": "Let me see."}),
        (in_reasoning(7, "ABCDEFGH-01, or should it " + "be " * 40, secrets=("ABCDEFGH",)), {}),
    ],
    ids=["thoughts about it", "a model that reasons", "thoughts that begin with it"],
)
def test_a_model_that_only_reasons_is_the_models_own_fault(moved, others) -> None:
    found = adjudicate("functional", evidence([in_content(n, **others) for n in range(4)], moved))
    assert "misplaced" not in found
    assert found["exchanges: empty"].fault == "model"
