"""The founding case, from bytes on disk to the verdict: raw FAIL with three failures, PASS, both shown.

Each variant changes one fact, and must change the verdict as that fact deserves.
"""

import hashlib
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from golden.founding import DURATION, GIB, OURS, THEIRS, Facts, page_fault, write_run
from golden.traffic import MIX
from rundirs import orphaned

from soakproof.catalog import Catalog
from soakproof.errors import UsageError
from soakproof.judge import Finding, Outcome
from soakproof.judge.finding import Verdict
from soakproof.judgement import evidence_of, judge_loaded
from soakproof.run import load, recover, seal_folder, seal_run

HERE = Path(__file__).parent
CATALOG = Catalog(HERE)
NOW = datetime(2026, 9, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="module")
def baseline(runs: Path) -> Path:
    return write_run(runs, Facts(id="baseline", rates=THEIRS, build="b11320"))


@pytest.fixture(scope="module")
def founding(runs: Path) -> Path:
    return write_run(runs)


@pytest.fixture(scope="module")
def verdict(founding: Path, baseline: Path) -> Verdict:
    return judged(founding, baseline)


def judged(run: Path, baseline: Path | None, *, policy: str = "founding", now: datetime = NOW) -> Verdict:
    verdict, _ = judge_loaded(load(run), load(baseline) if baseline else None, policy, CATALOG, now)
    return verdict


def variant(tmp_path: Path, **facts: object) -> Path:
    return write_run(tmp_path, replace(Facts(id="variant"), **facts))  # type: ignore[arg-type]


def of(verdict: Verdict, adjudicator: str, subject: str) -> Finding:
    return next(f for f in verdict.findings if (f.adjudicator, f.subject) == (adjudicator, subject))


def bad(verdict: Verdict) -> list[tuple[str, str]]:
    return [
        (f.adjudicator, f.subject) for f in verdict.findings if f.critical and f.outcome is not Outcome.PASS
    ]


def test_the_run_holds_the_published_facts(founding: Path) -> None:
    evidence = evidence_of(load(founding))
    assert evidence.duration == pytest.approx(DURATION)
    assert Counter(i.scenario for i in evidence.iterations if i.end == "completed") == MIX
    memory = evidence.samples["memory"]
    assert len(memory) == 1832
    assert min(s.values["available_bytes"] for s in memory) == 45.64 * GIB
    assert max(s.values["gtt_used_bytes"] for s in evidence.samples["amdgpu:card1"]) == 70.91 * GIB
    prose = [e for e in evidence.exchanges if e.scenario == "long_prose"]
    assert {(e.prompt_tokens, e.completion_tokens) for e in prose} == {(31_012, 768)}


def test_raw_fails_three_times_and_the_adjudicated_run_passes_with_both_in_sight(verdict: Verdict) -> None:
    assert bad(verdict) == []
    assert verdict.outcome is Outcome.PASS
    assert verdict.raw is not None
    assert (verdict.raw["outcome"], verdict.raw["exit_code"]) == ("failed", 1)
    threshold = of(verdict, "raw", "prose-rate")
    assert threshold.outcome is Outcome.FAIL
    assert len(threshold.exchanges) == 3
    assert threshold.limit == "generation_rate{long_prose} each >= 17 tokens/s"
    assert [(r.threshold, r.applied, r.who) for r in verdict.reconsidered] == [
        ("prose-rate", True, "the machine's owner")
    ]


def test_the_comparison_is_the_published_one_and_says_what_it_rests_on(verdict: Verdict) -> None:
    rate = of(verdict, "throughput", "long_prose")
    median = next(f for f in rate.figures if f.name.endswith("median"))
    assert (round(median.value or 0, 2), round(median.baseline or 0, 2)) == (12.29, 11.86)
    assert "+3.6%" in rate.answer
    assert "3 against 3: descriptive only" in rate.strength


def test_what_the_release_changed_and_what_is_not_proven_are_told(verdict: Verdict) -> None:
    assert ("backend_build", "b11320", "b11434") in [(c["field"], c["was"], c["is"]) for c in verdict.changed]
    text = " ".join(verdict.not_proven)
    assert "no two near-full prompts" in text
    assert "24-hour" in text
    assert "Isolation rests on 10 pairs" in text
    assert "Fewer than 5 repeats of long_prose" in text
    assert {"founding.toml", "throughput.py", "soakproof"} <= set(verdict.versions)


def test_judging_changes_no_byte_and_comes_to_the_same_each_time(founding: Path, baseline: Path) -> None:
    before, first = contents(founding), judged(founding, baseline)
    assert judged(founding, baseline) == first
    assert contents(founding) == before


def contents(folder: Path) -> dict[str, str]:
    files = sorted(p for p in folder.rglob("*") if p.is_file())
    return {str(p): hashlib.sha256(p.read_bytes()).hexdigest() for p in files}


def test_without_the_entry_the_three_failures_fail_the_run(
    founding: Path, baseline: Path, tmp_path: Path
) -> None:
    text = (HERE / "adjudicators" / "founding.toml").read_text(encoding="utf-8")
    plain = tmp_path / "plain.toml"
    plain.write_text(text.partition("[[reconsider]]")[0], encoding="utf-8")
    verdict = judged(founding, baseline, policy=str(plain))
    assert verdict.outcome is Outcome.FAIL
    assert bad(verdict) == [("raw", "prose-rate")]


def test_an_expired_entry_does_not_pass(founding: Path, baseline: Path) -> None:
    verdict = judged(founding, baseline, now=datetime(2027, 1, 1, tzinfo=UTC))
    assert verdict.outcome is Outcome.FAIL
    assert bad(verdict) == [("raw", "prose-rate"), ("reconsider", "prose-rate")]


def test_one_failed_isolation_check_fails_and_takes_the_reconsideration_with_it(
    baseline: Path, tmp_path: Path
) -> None:
    verdict = judged(variant(tmp_path, foreign=True), baseline)
    assert verdict.outcome is Outcome.FAIL
    assert ("functional", "isolation.foreign") in bad(verdict)
    assert ("raw", "prose-rate") in bad(verdict)
    assert verdict.reconsidered[0].why_not == "functional, which it requires, is FAIL"


def test_a_baseline_of_another_model_is_inconclusive_and_overrules_nothing(
    founding: Path, tmp_path: Path
) -> None:
    other = write_run(tmp_path, Facts(id="other", rates=THEIRS, model_file="Gemma-Q4_K_M"))
    verdict = judged(founding, other)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "Qwen4-Exp-Q8_0, not Gemma-Q4_K_M" in of(verdict, "identity", "baseline").answer
    assert of(verdict, "throughput", "long_prose").outcome is Outcome.INCONCLUSIVE
    assert of(verdict, "raw", "prose-rate").outcome is Outcome.FAIL
    assert not verdict.reconsidered[0].applied


def test_slower_than_the_baseline_beyond_the_margin_fails(baseline: Path, tmp_path: Path) -> None:
    slow = tuple(rate * 0.95 for rate in THEIRS)
    verdict = judged(variant(tmp_path, rates=slow), baseline)
    assert verdict.outcome is Outcome.FAIL
    assert ("throughput", "long_prose") in bad(verdict)
    within = tuple(rate * 0.98 for rate in THEIRS)
    assert judged(variant(tmp_path, rates=within, id="within"), baseline).outcome is Outcome.PASS


def test_no_baseline_does_not_pass(founding: Path) -> None:
    assert judged(founding, None).outcome is not Outcome.PASS


def test_a_kernel_fault_of_the_server_fails(baseline: Path, tmp_path: Path) -> None:
    verdict = judged(variant(tmp_path, kernel=(page_fault(),)), baseline)
    assert verdict.outcome is Outcome.FAIL
    assert ("kernel", "incident 1") in bad(verdict)


def test_a_kernel_fault_of_another_program_and_a_blind_log_are_inconclusive(
    baseline: Path, tmp_path: Path
) -> None:
    foreign = judged(variant(tmp_path, kernel=(page_fault("code", 99),)), baseline)
    assert foreign.outcome is Outcome.INCONCLUSIVE
    blind = judged(variant(tmp_path, kernel_log="denied"), baseline)
    assert blind.outcome is Outcome.INCONCLUSIVE
    assert ("kernel", "kernel log") in bad(blind)


def test_available_memory_under_the_production_floor_fails(baseline: Path, tmp_path: Path) -> None:
    verdict = judged(variant(tmp_path, least_available=17.9 * GIB), baseline)
    assert bad(verdict) == [("memory", "available")]
    assert verdict.outcome is Outcome.FAIL


@pytest.mark.parametrize(
    ("file", "word"),
    [
        ("evidence/watch/samples.jsonl", b"pid"),
        ("evidence/load/exchanges.jsonl", b"isolation"),
        ("raw.json", b"tokens/s"),
        ("run.json", b"lemonade"),
    ],
)
def test_a_flipped_byte_does_not_pass(file: str, word: bytes, baseline: Path, tmp_path: Path) -> None:
    path = variant(tmp_path)
    data = bytearray((path / file).read_bytes())
    data[data.index(word)] ^= 1  # it is JSON still
    (path / file).write_bytes(data)
    verdict = judged(path, baseline)
    assert verdict.outcome in (Outcome.ERROR, Outcome.FAIL)
    assert ("evidence", "seal") in bad(verdict)


def test_a_killed_run_does_not_pass_before_or_after_it_was_recovered(baseline: Path, tmp_path: Path) -> None:
    path = write_run(tmp_path, Facts(id="killed"), seal=False)
    unsealed = judged(path, baseline)
    assert unsealed.outcome is Outcome.INCONCLUSIVE
    assert unsealed.raw is None
    orphaned(path)  # its process is gone
    recover(path)
    assert judged(path, baseline).outcome is Outcome.INCONCLUSIVE


def test_a_line_that_is_no_record_does_not_pass_though_it_was_sealed(baseline: Path, tmp_path: Path) -> None:
    path = variant(tmp_path)
    with (path / "evidence" / "load" / "checks.jsonl").open("ab") as file:
        file.write(b'{"record": "verdict", "outcome": "PASS"}\n')
    seal_folder(path / "evidence" / "load")
    seal_run(path)
    verdict = judged(path, baseline)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert bad(verdict) == [("evidence", "lines")]


def test_a_part_that_was_sealed_after_a_crash_does_not_pass(baseline: Path, tmp_path: Path) -> None:
    path = variant(tmp_path)
    (path / "evidence" / "watch" / "SEAL").unlink()
    (path / "SEAL").unlink()
    recover(path)
    verdict = judged(path, baseline)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert bad(verdict) == [("evidence", "seal")]


def test_a_run_is_no_baseline_of_itself(founding: Path) -> None:
    with pytest.raises(UsageError, match="is the run itself"):
        judged(founding, founding)


def test_the_default_policy_forgives_no_raw_failure(founding: Path) -> None:
    verdict = judged(founding, None, policy="default")
    assert verdict.outcome is Outcome.FAIL
    assert bad(verdict) == [("raw", "prose-rate")]


def test_judging_loads_nothing_that_carries_traffic(founding: Path, baseline: Path) -> None:
    script = (
        "import sys; from pathlib import Path\n"
        "from soakproof.catalog import Catalog; from soakproof.judgement import judge_loaded\n"
        "from soakproof.run import load\n"
        f"run, baseline = load(Path({str(founding)!r})), load(Path({str(baseline)!r}))\n"
        "judge_loaded(run, baseline, 'default', Catalog(Path('.')))\n"
        "print({'gevent', 'locust', 'httpx', 'trio'} & set(sys.modules))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "set()"


def test_the_medians_are_those_of_the_record() -> None:
    assert (sorted(OURS)[1], sorted(THEIRS)[1]) == (12.29, 11.86)
