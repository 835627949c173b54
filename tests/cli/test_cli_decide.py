"""`soakproof decide`: the published decisions as a table; runs, verdicts, history, and what is lost since."""

import csv
import io
from pathlib import Path

import pytest
from cli_said import Command
from rundirs import judgeable

from soakproof.testing.evidence import check, exchange, iteration

PUBLISHED = Path(__file__).parents[1] / "published" / "decisions.toml"
RELEASE = "20260828-v13-qwen4exp-v071-q8"


def soaked(runs: Path) -> Path:
    return judgeable(runs, exchange("load-1"), check("long_prose.length"), iteration("long_prose"))


@pytest.fixture
def run(here: Path, policies: Path) -> Path:
    return soaked(here / "runs")


def test_published_decisions_give_their_table(soakproof: Command, here: Path) -> None:
    said = soakproof("decide", "render", "--file", PUBLISHED)
    assert said.code == 0
    assert said == soakproof("decide", "render", "--file", PUBLISHED, "--release", RELEASE)
    assert said == soakproof("decide", "render", "--file", PUBLISHED, "-o", "-")
    assert said.out.startswith(f"# Candidates and decisions for {RELEASE}")
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in said.out.splitlines() if "|" in line]
    decided = {row[0]: (row[2], row[3]) for row in rows[2:]}
    assert decided == {
        "lazy-tensor-reads": ("rejected", "cold prefill 103.76 -> 95.03 tokens/s"),
        "newer-source": ("rejected", "prompt processing 8 to 10 % behind on three workloads"),
        "speculative-sidecar": (
            "specialist",
            "26.78 tokens/s JSON, 45.36 Python, but prose 17.92 -> 14.44; acceptance 61.7 %",
        ),
        "rocm-build": ("failed", "SVM mapping failed, exceeds resident system memory limit"),
        "first-cut-over": (
            "failed",
            "the cache script left out \\`model\\`, which llama.cpp accepts and Lemonade refuses with HTTP "
            "400; the deployment guard restored the previous profile by itself",
        ),
        "second-cut-over": ("promoted", "passed cache, concurrency, executable-identity and kernel checks"),
    }
    assert {row[4] for row in rows[2:]} == {"no run"}
    for name in ("o.html", "o.csv", "o.MD"):
        assert soakproof("decide", "render", "--file", PUBLISHED, "-o", name).code == 0
    assert "SVM mapping failed" in (here / "o.html").read_text()
    refused = soakproof("decide", "render", "--file", PUBLISHED, "-o", "o.pdf")
    assert (refused.code, "'o.pdf' ends in none of .md, .html, .csv" in refused.err) == (64, True)
    sheet = list(csv.DictReader(io.StringIO((here / "o.csv").read_text())))
    assert [row["decision"] for row in sheet].count("rejected") == 2
    assert {row["release"] for row in sheet} == {RELEASE}
    listed = soakproof("decide", "list", "--file", PUBLISHED).out
    assert all(name in listed for name in decided)


def test_a_decision_refers_to_its_run_and_keeps_its_history(soakproof: Command, run: Path) -> None:
    soakproof("adjudicate", run.name, "--policy", "fail")
    added = soakproof("decide", "add", "lazy", "--changed", "read lazily", "--run", "latest", "--who", "A")
    assert (added.code, "lazy: pending" in added.out) == (0, True)
    before = Path("decisions.toml").read_text()
    assert f'run = "{run.name}"' in before
    assert 'outcome = "FAIL"' in before
    bare = soakproof("decide", "set", "lazy", "--decision", "promoted")
    assert (bare.code, f"against the verdicts: fail of {run.name} is FAIL" in bare.err) == (64, True)
    assert Path("decisions.toml").read_text() == before
    reason = ("--reason", "the limit was another model's")
    assert soakproof("decide", "set", "lazy", "--decision", "promoted", *reason, "--who", "B").code == 0
    assert Path("decisions.toml").read_text().startswith(before)
    shown = soakproof("decide", "show", "lazy")
    assert (shown.code, "as it was told" in shown.out) == (0, True)
    assert shown.out.splitlines()[0].split() == ["candidate", "lazy"]
    assert "pending by A: read lazily; with" in " ".join(shown.out.split())
    assert "promoted by B: the limit was another model's" in shown.out
    table = soakproof("decide", "render").out
    assert "promoted (against the verdicts)" in table
    assert f"lazy: promoted against the verdicts: fail of {run.name} is FAIL" in table
    assert "## History" in table
    again = soakproof("decide", "add", "lazy", "--changed", "x")
    assert (again.code, "there is a candidate 'lazy' already" in again.err) == (64, True)


def test_what_passed_is_promoted_without_a_word_and_rejected_with_one(soakproof: Command, run: Path) -> None:
    soakproof("adjudicate", run.name, "--policy", "pass")
    promoted = ("--changed", "x", "--decision", "promoted", "--run", run.name)
    assert soakproof("decide", "add", "good", *promoted).code == 0
    assert "against" not in soakproof("decide", "render").out
    rejected = ("--changed", "x", "--decision", "rejected", "--run", run.name)
    assert soakproof("decide", "add", "slow", *rejected).code == 64
    assert soakproof("decide", "add", "slow", *rejected, "--reason", "louder").code == 0
    assert "rejected (against the verdicts)" in soakproof("decide", "render").out


def test_a_later_change_or_loss_is_told(soakproof: Command, run: Path) -> None:
    soakproof("adjudicate", run.name, "--policy", "pass")
    soakproof("decide", "add", "good", "--changed", "x", "--decision", "promoted", "--run", run.name)
    soakproof("report", run.name, "--again")
    assert soakproof("decide", "show", "good").code == 0
    soakproof("adjudicate", run.name, "--policy", "fail")
    since = soakproof("decide", "show", "good")
    assert (since.code, "judged since: 2-fail is FAIL" in since.out) == (0, True)
    assert f"good: {run.name}: judged since: 2-fail is FAIL" in soakproof("decide", "render").out
    verdict = run / "verdicts/1-pass/verdict.json"
    verdict.write_text(verdict.read_text().replace("PASS", "FAIL"))
    edited = soakproof("decide", "show", "good")
    assert (edited.code, "verdict 1-pass was PASS and is EDITED" in edited.out) == (1, True)
    (run / "verdicts/1-pass").rename(run.parent.parent / "1-pass")
    assert "verdict 1-pass (PASS) is gone" in soakproof("decide", "show", "good").out
    soakproof("decide", "set", "good", "--run", run.name, "--reason", "told anew")
    run.rename(run.parent.parent / "moved")
    gone = soakproof("decide", "show", "good")
    assert (gone.code, "gone" in gone.out) == (1, True)
    assert "gone" in " ".join(soakproof("decide", "list").out.split())


def test_hostile_words_do_nothing(soakproof: Command, here: Path) -> None:
    words = "=cmd|'x'!A0 <b>x</b> \x1b[31m\u202e @all ::error::\n| [a](http://x)"
    made = soakproof("decide", "add", "x", "--changed", words, "--decision", "failed", "--reason", words)
    assert made.code == 0
    for form in ("md", "html", "csv"):
        said = soakproof("decide", "render", "--format", form)
        assert "\x1b" not in said.out
        assert "\u202e" not in said.out
        assert form == "csv" or "<b>" not in said.out
    assert ",'=cmd" in said.out
    assert "\x1b" not in (here / "decisions.toml").read_text()
    assert soakproof("decide", "show", "x").code == 0


def test_what_is_wrong_is_told(soakproof: Command, here: Path, run: Path) -> None:
    soakproof("decide", "add", "lazy", "--changed", "x", "--release", "r1", "--who", "A")
    (here / "there.md").touch()
    for arguments, told in (
        (["list", "--file", "gone.toml"], "begin one: soakproof decide add"),
        (["show", "lazi"], "did you mean 'lazy'"),
        (["set", "lazy"], "nothing to set"),
        (["set", "lazi", "--reason", "x"], "no candidate of decisions.toml is called 'lazi'"),
        (["set", "lazy", "--decision", "rejected"], "rejected: expected a reason"),
        (["set", "lazy", "--decision", "promoted"], "without a reason, and no run stands for it"),
        (["add", "two words", "--changed", "x"], "a candidate's name: expected up to 60"),
        (["add", "new", "--changed", "x", "--run", "gone"], "gone"),
        (["add", "new", "--changed", ""], "--changed: expected a value"),
        (["add", "new", "--changed", "x" * 2001], "at most 2,000 characters"),
        (["add", "new", "--changed", "x", "--file", "gone/d.toml"], "there is no folder"),
        (["render", "--release", "r2"], "it has: r1"),
        (["render", "-o", "there.md"], "is there already"),
        (["render", "-o", "gone/x.md"], "there is no folder"),
    ):
        said = soakproof("decide", *arguments)
        assert (said.code, told in said.err) == (64, True), (arguments, said.err)
    raw = run / "raw.json"
    raw.write_text(raw.read_text().replace("clean", "clear"))
    touched = soakproof("decide", "add", "new", "--changed", "x", "--run", run.name)
    assert (touched.code, "is not as it was sealed" in touched.err) == (64, True)
