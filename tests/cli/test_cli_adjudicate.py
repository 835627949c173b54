"""`soakproof adjudicate`: exit codes, refusals, entries that never touch what was there."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cli_said import Command
from rundirs import begun, judgeable, orphaned

from soakproof.run import seal_run
from soakproof.testing.evidence import check, exchange, iteration


def digests(folder: Path) -> dict[str, str]:
    files = (p for p in sorted(folder.rglob("*")) if p.is_file())
    return {str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest() for p in files}


@pytest.mark.parametrize(("policy", "code"), [("pass", 0), ("fail", 1), ("inconclusive", 2), ("error", 3)])
def test_the_exit_code_is_the_verdicts(
    soakproof: Command, a_run: Path, policies: Path, policy: str, code: int
) -> None:
    said = soakproof("adjudicate", "latest", "--policy", policy)
    assert said.code == code, said.err
    assert f"verdict: {policy.upper()}" in said.out
    verdict = json.loads((a_run / "verdicts" / f"1-{policy}" / "verdict.json").read_text())
    assert verdict["outcome"] == policy.upper()
    assert verdict["exit_code"] == code
    assert f"{a_run.name}/verdicts/1-{policy}/report.html" in said.out


def test_the_raw_outcome_comes_first(soakproof: Command, a_run: Path, policies: Path) -> None:
    said = soakproof("adjudicate", "latest", "--policy", "fail")
    assert said.out.startswith("raw outcome: CLEAN")


def test_every_bundled_policy_judges_it(soakproof: Command, a_run: Path) -> None:
    for number, policy in enumerate(("default", "release"), 1):
        said = soakproof("adjudicate", "latest", "--policy", policy)
        assert said.code in (1, 2), said.err + said.out
        assert (a_run / "verdicts" / f"{number}-{policy}" / "report.md").is_file()


def test_a_failed_check_fails_it(soakproof: Command, here: Path) -> None:
    judgeable(here / "runs", exchange("load-1"), check("long_prose.length", "fail", exchanges=("load-1",)))
    said = soakproof("adjudicate", "latest")
    assert said.code == 1, said.out
    assert "long_prose.length" in said.out


def test_judging_twice_adds_an_entry_and_changes_nothing(
    soakproof: Command, a_run: Path, policies: Path
) -> None:
    evidence = digests(a_run)
    soakproof("adjudicate", a_run.name, "--policy", "pass")
    first = digests(a_run)
    assert evidence.items() <= first.items()
    soakproof("adjudicate", a_run.name, "--policy", "fail")
    second = digests(a_run)
    assert first.items() <= second.items()
    assert sorted(p.name for p in (a_run / "verdicts").iterdir()) == ["1-pass", "2-fail"]
    assert soakproof("verify", a_run.name).code == 0


def test_a_baseline_is_compared_with(soakproof: Command, here: Path, a_run: Path, policies: Path) -> None:
    other = judgeable(here / "runs", exchange("load-1"))
    said = soakproof("adjudicate", other.name, "--baseline", a_run.name, "--policy", "pass")
    assert said.code == 0, said.err
    verdict = json.loads((other / "verdicts" / "1-pass" / "verdict.json").read_text())
    assert verdict["baseline"] == a_run.name


def touch(run: Path) -> None:
    with (run / "evidence/load/checks.jsonl").open("ab") as file:
        file.write(b"\n")


def unseal(run: Path) -> None:
    (run / "SEAL").unlink()


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (touch, ["not as it was sealed", "evidence/load/checks.jsonl: changed", "untouched copy"]),
        (unseal, ["is not sealed", "`soakproof recover "]),
        (lambda run: (run / "run.json").unlink(), ["has no run.json"]),
        (lambda run: (run / "SEAL").write_text("no seal"), ["SEAL", "not a seal"]),
        (lambda run: shutil.rmtree(run / "evidence/watch"), ["evidence/watch/SEAL: missing"]),
    ],
    ids=["touched", "unsealed", "no run", "no seal", "a node gone"],
)
@pytest.mark.parametrize("as_baseline", [False, True], ids=["run", "baseline"])
def test_what_is_no_evidence_is_refused(
    soakproof: Command,
    here: Path,
    a_run: Path,
    policies: Path,
    spoil: object,
    words: list[str],
    as_baseline: bool,
) -> None:
    other = judgeable(here / "runs", exchange("load-1"))
    spoil(a_run)  # type: ignore[operator]
    judged, before = (other, a_run) if as_baseline else (a_run, other)
    said = soakproof("adjudicate", judged, "--baseline", before, "--policy", "pass")
    assert said.code == 64
    assert all(word in said.err for word in words), said.err
    assert ("--baseline:" in said.err) == as_baseline
    assert not (judged / "verdicts").exists()


def test_a_run_that_is_being_written_is_told_as_that(soakproof: Command, here: Path) -> None:
    begun(here / "runs")
    said = soakproof("adjudicate", "latest")
    assert said.code == 64
    assert "still being written" in said.err
    assert "recover" not in said.err


@pytest.mark.parametrize("how", ["name", "path", "copy"])
def test_a_run_is_no_baseline_of_itself(
    soakproof: Command, here: Path, a_run: Path, policies: Path, how: str
) -> None:
    copied = here / "elsewhere" / "renamed"
    shutil.copytree(a_run, copied)
    before = {"name": a_run.name, "path": a_run, "copy": copied}[how]
    said = soakproof("adjudicate", a_run.name, "--baseline", before, "--policy", "pass")
    assert said.code == 64
    assert "is the run itself" in said.err


def test_a_recovered_run_without_a_raw_result_is_inconclusive_at_best(soakproof: Command, here: Path) -> None:
    run = begun(here / "runs", "load", "watch", records=1)
    orphaned(run.path)
    said = soakproof("recover", "latest")
    assert said.code == 0
    assert "it has no raw result" in said.out
    said = soakproof("adjudicate", "latest")
    assert said.code in (1, 2), said.out
    assert said.out.startswith("raw outcome: UNKNOWN")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["adjudicate", "nope"], ["no run is called 'nope'", "the newest are"]),
        (["adjudicate", "latest", "--baseline", "nope"], ["no run is called 'nope'"]),
        (["adjudicate", "latest", "--policy", "relaese"], ["no policy is called", "did you mean 'release'?"]),
        (["adjudicate", "latest", "--policy", "mine.toml"], ["no such file: mine.toml"]),
        (["adjudicate", "latest", "--runs", "elsewhere"], ["no runs in /", "/elsewhere", "--runs DIR"]),
        (["adjudicate"], ["Missing argument 'RUN'", "--help"]),
        (["adjudicate", "latest", "--polciy", "x"], ["No such option", "--policy"]),
        (["adjudicate", "latest", "--today", "tomorrow"], ["does not match the format"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_usage_is_told(soakproof: Command, a_run: Path, arguments: list[str], words: list[str]) -> None:
    said = soakproof(*arguments)
    assert said.code == 64, said
    assert all(word in said.err for word in words), said.err
    assert said.err.startswith("soakproof: ")


@pytest.mark.parametrize(
    "text",
    ["[adjudicator.says]\noutcom = 1\n", "[adjudicator.syas]\n", "nonsense", "[adjudicator]\n"],
    ids=["option", "adjudicator", "no TOML", "empty"],
)
def test_a_policy_that_is_wrong_is_told(soakproof: Command, a_run: Path, policies: Path, text: str) -> None:
    (policies / "mine.toml").write_text(text)
    said = soakproof("adjudicate", "latest", "--policy", "mine")
    assert said.code == 64
    assert "mine.toml" in said.err


def test_reconsidering_what_the_plan_does_not_have_is_told(
    soakproof: Command, a_run: Path, policies: Path
) -> None:
    entry = 'reason = "r"\nrequires = ["says"]\nwho = "w"\nexpires = 2999-12-31\n'
    (policies / "mine.toml").write_text(f'[adjudicator.says]\n[[reconsider]]\nthreshold = "gone"\n{entry}')
    said = soakproof("adjudicate", "latest", "--policy", "mine")
    assert said.code == 64
    assert "policy mine: reconsider 1: the run's plan has no threshold 'gone'" in said.err
    assert not (a_run / "verdicts").exists()


@pytest.mark.parametrize("error", ["KeyError('x')", "SystemExit(0)"])
def test_an_adjudicator_that_raises_is_an_error_and_no_crash(
    soakproof: Command, a_run: Path, policies: Path, error: str
) -> None:
    text = (policies / "says.py").read_text().replace("n = len", f"raise {error}; n = len")
    (policies / "says.py").write_text(text)
    said = soakproof("adjudicate", "latest", "--policy", "pass")
    assert said.code == 3
    assert "verdict: ERROR" in said.out
    assert soakproof("try-adjudicator", "says", "latest").code == 3


@pytest.mark.skipif(sys.platform != "linux", reason="needs a file system of its own")
def test_a_full_disk_is_told_and_leaves_nothing_behind(
    soakproof: Command, here: Path, policies: Path, tmp_path: Path
) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("a file system of its own needs the right to mount one")
    try:
        run = judgeable(disk, exchange("load-1"))
        before = digests(run)
        said = soakproof("adjudicate", run, "--policy", "pass")
        assert said.code == 3
        assert "cannot write the verdict" in said.err
        assert digests(run) == before
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_a_run_that_cannot_be_written_is_told(soakproof: Command, a_run: Path, policies: Path) -> None:
    (a_run / "verdicts").write_text("a file in the way")
    said = soakproof("adjudicate", "latest", "--policy", "pass")
    assert said.code == 3
    assert "cannot write the verdict" in said.err


_JUDGE = """
import sys
from soakproof.cli import main
code = main(sys.argv[1:])
print(code, sorted(m for m in sys.modules if m.partition(".")[0] in {"gevent", "locust", "httpx", "trio"}))
"""


@pytest.mark.parametrize("command", [["adjudicate", "latest"], ["report", "latest", "--again"]])
def test_judging_loads_nothing_that_carries_traffic(
    soakproof: Command, a_run: Path, command: list[str]
) -> None:
    soakproof("adjudicate", "latest")
    done = subprocess.run(
        [sys.executable, "-c", _JUDGE, *command], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.splitlines()[-1].partition(" ")[2] == "[]", done.stdout


def test_a_run_sealed_anew_after_a_change_is_seen_by_its_seal_alone(
    soakproof: Command, a_run: Path, policies: Path
) -> None:
    """A seal is no signature: whoever rewrites it all is not found out. What it finds are accidents."""
    touch(a_run)
    seal_run(a_run)
    said = soakproof("adjudicate", "latest", "--policy", "pass")
    assert said.code == 64
    assert "evidence/load/checks.jsonl: changed" in said.err


def test_passes_are_counted_unless_all_are_asked_for(soakproof: Command, a_run: Path, policies: Path) -> None:
    few, every = (soakproof("adjudicate", "latest", "--policy", "pass", *more) for more in ([], ["--all"]))
    assert "PASS, by adjudicator (--all shows each finding):" in few.out
    assert "PASS, by adjudicator" not in every.out
    assert "The run itself found nothing wrong." not in few.out
    assert "The run itself found nothing wrong." in every.out
    assert "The run itself found nothing wrong." in soakproof("report", "latest", "--all").out
    for said in (few, every):
        assert "\nIt rests on " in said.out


def test_a_run_that_left_out_kinds_says_so_beside_its_verdict(
    soakproof: Command, here: Path, policies: Path
) -> None:
    plan = {"left_out": ["isolation", "cache_pair"]}
    run = judgeable(here / "runs", exchange("load-1"), iteration(), plan=plan)
    said = soakproof("adjudicate", "latest", "--policy", "pass")
    assert "verdict: PASS" in said.out
    assert "- Kinds of the plan that were not asked: isolation, cache_pair." in said.out
    said = soakproof("adjudicate", "latest")
    assert "kinds left out" in said.out
    head = (run / "verdicts" / "1-pass" / "report.md").read_text().partition("## Raw outcome")[0]
    assert "- Kinds of the plan that were not asked: isolation, cache_pair." in head


def test_one_adjudicator_is_asked_and_nothing_is_stored(
    soakproof: Command, here: Path, policies: Path
) -> None:
    run = judgeable(here / "runs", exchange("load-1"), check("long_prose.length"), iteration("long_prose"))
    said = soakproof("try-adjudicator", "says", "latest", "--set", 'outcome="FAIL"')
    assert said.code == 1
    assert said.out.endswith(f"\nFAIL: 1 finding on {run.name}; nothing was stored\n")
    assert not (run / "verdicts").exists()
    assert soakproof("try-adjudicator", str(policies / "says.py"), "latest").code in (0, 1, 2, 3)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("sayz",), "no adjudicator is called 'sayz'\n  did you mean 'says'"),
        (("hand",), "hand is a run, where an adjudicator is expected\n  the adjudicator comes first"),
        (("says", "--set", "outcom=1"), "unknown key 'outcom'"),
        (("says", "--set", "outcome"), "expected OPTION=VALUE"),
        (("broken.py",), "broken.py cannot be loaded"),
        (("juge.py",), "juge.py: Juge defines no method judge\n  did you mean 'juge'?"),
        (("ends.py",), "Ends cannot be made: SystemExit: 0 (ends.py:6)"),
    ],
)
def test_an_adjudicator_that_cannot_be_asked(
    soakproof: Command, here: Path, policies: Path, arguments: tuple[str, ...], told: str
) -> None:
    (here / "broken.py").write_text("import nothing_of_that_name\n")
    (here / "juge.py").write_text(
        "from dataclasses import dataclass\nfrom soakproof.judge import Adjudicator\n"
        "@dataclass(frozen=True)\nclass Juge(Adjudicator):\n"
        "    def juge(self, evidence, baseline):\n        return ()\n"
    )
    (here / "ends.py").write_text(
        "from dataclasses import dataclass\nfrom soakproof.judge import Adjudicator\n"
        "@dataclass(frozen=True)\nclass Ends(Adjudicator):\n"
        "    def __post_init__(self):\n        raise SystemExit(0)\n"
        "    def judge(self, evidence, baseline):\n        return ()\n"
    )
    judgeable(here / "runs", exchange("load-1"), check("long_prose.length"), iteration("long_prose"))
    said = soakproof("try-adjudicator", arguments[0], "latest", *arguments[1:])
    assert (said.code, told in said.err) == (64, True), said.err


def test_evidence_that_is_changed_while_it_is_judged_has_no_verdict(
    soakproof: Command, here: Path, policies: Path
) -> None:
    run = judgeable(here / "runs", exchange("load-1"), check("long_prose.length"), iteration("long_prose"))
    changes = policies / "changes.py"
    changes.write_text(
        "from dataclasses import dataclass\nfrom pathlib import Path\n"
        "from soakproof.judge import Adjudicator, Outcome, finding\n"
        '@dataclass(frozen=True)\nclass Changes(Adjudicator):\n    """Does it?"""\n'
        "    def judge(self, evidence, baseline):\n"
        f"        Path({str(run / 'evidence/load/checks.jsonl')!r}).write_bytes(b'')\n"
        "        yield finding(self, 'x', Outcome.PASS, 'It does.')\n"
    )
    (policies / "changes.toml").write_text('title = "Changes"\n[adjudicator.changes]\n')
    said = soakproof("adjudicate", "latest", "--policy", "changes")
    assert (said.code, "checks.jsonl was changed while it was read" in said.err) == (3, True), said.err
    assert not (run / "verdicts").exists()
