"""`soakproof runs`, `verify`, `recover` and `report`."""

import json
import re
import shlex
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_said import Command
from rundirs import RAW, begun, judgeable, orphaned, sealed

from soakproof.run import seal_run
from soakproof.testing.evidence import exchange


def rows(out: str) -> dict[str, str]:
    """Run to its row."""
    return {line.split()[0]: line for line in out.splitlines() if "Z-" in line}


def test_every_state_of_a_run_is_listed(soakproof: Command, here: Path, policies: Path) -> None:
    runs = here / "runs"
    clean = judgeable(runs, exchange("load-1"), duration=125.0, target={"testbed": True, "embedded": True})
    failed = judgeable(runs, exchange("load-1"), raw={**RAW, "outcome": "failed"})
    soakproof("adjudicate", clean.name, "--policy", "pass")
    soakproof("adjudicate", clean.name, "--policy", "fail")
    writing, killed = begun(runs), begun(runs)
    orphaned(killed.path)
    saved = begun(runs)
    orphaned(saved.path)
    soakproof("recover", saved.path.name)

    said = soakproof("runs")
    assert said.code == 0
    table = rows(said.out)
    assert len(table) == 5
    row = table[clean.name]
    for word in ("probe at testbed", "2:05", "clean", "FAIL (2-fail),", "unchecked"):
        assert word in row
    assert "failed" in table[failed.name]
    assert "http://127.0.0.1:8001" in said.out
    assert "files not compared with the seal: `soakproof verify RUN`" in said.out
    assert table[writing.path.name].endswith("being written")
    assert table[killed.path.name].endswith("unsealed")
    assert "recovered" in table[saved.path.name]
    assert "damaged" not in said.out
    assert "unknown" in table[killed.path.name]


def test_the_newest_verdict_hides_no_worse_one(
    soakproof: Command, a_run: Path, policies: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "250")
    for policy, words in (
        ("pass", "PASS (1-pass) "),
        ("inconclusive", "INCONCLUSIVE (2-inconclusive), 2 in all "),
        ("pass", "PASS (3-pass), 3 in all, worst INCONCLUSIVE (2-inconclusive)"),
        ("fail", "FAIL (4-fail), 4 in all "),
    ):
        soakproof("adjudicate", "latest", "--policy", policy)
        assert words in rows(soakproof("runs").out)[a_run.name]


NESTED = '{"plan": {"name": "soak"}, "target": {"x":' + "[" * 900 + "]" * 900 + "}}"
DAMAGES: dict[str, Callable[[Path], object]] = {
    "gone": lambda file: file.unlink(),
    "cut": lambda file: file.write_text("{"),
    "another": lambda file: file.write_text("[]"),
    "nested": lambda file: file.write_text(NESTED),
    "linked": lambda file: (file.rename(file.with_name("x")), file.symlink_to("x")),
    "a folder": lambda file: (file.unlink(), file.mkdir()),
}


@pytest.mark.parametrize("unsealed", [False, True])
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_run_without_its_document_does_not_vanish(
    soakproof: Command, here: Path, damage: str, unsealed: bool
) -> None:
    older, newest = sealed(here / "runs"), here / "runs" / "2999-01-01T00-00-00Z-hand-0000"
    shutil.copytree(older, newest)
    if unsealed:
        (newest / "SEAL").unlink()
    DAMAGES[damage](newest / "run.json")
    row = rows(soakproof("runs").out)
    assert row[newest.name].rstrip().endswith("damaged")
    assert "damaged" not in row[older.name]
    said = soakproof("verify")
    assert said.code == 1
    assert f"{newest.name}: NOT as it was sealed\n" in said.out
    assert "  run.json: " in said.out
    assert "`soakproof verify" not in said.out
    for command in ("adjudicate", "report"):
        said = soakproof(command, "latest")
        assert said.code == 64
        assert f"{newest.name}" in said.err
        assert "run.json" in said.err
        assert f"`soakproof verify {newest.name}` says what was touched" in said.err
    said = soakproof("recover", "latest")
    assert said.code == (64 if unsealed else 1)
    assert "run.json" in said.out + said.err


def test_a_folder_that_is_no_run_is_neither_listed_nor_verified(soakproof: Command, a_run: Path) -> None:
    other = a_run.parent / "notes-of-mine-Z-"
    other.mkdir()
    assert list(rows(soakproof("runs").out)) == [a_run.name]
    assert a_run.name in soakproof("verify").out
    said = soakproof("verify", other)
    assert said.code == 64
    assert "is not a run: it has no run.json" in said.err


def pasted(text: str) -> list[list[str]]:
    """The commands that a text tells to type, as a shell would split them."""
    found = re.findall(r"`soakproof ([^`]+)`|judge it: soakproof (.+)", text)
    return [shlex.split(one or other) for one, other in found]


@pytest.mark.parametrize("where", ["runs", "else where", "/absolute"])
def test_hints_can_be_pasted_wherever_the_runs_are(
    soakproof: Command, here: Path, where: str, policies: Path
) -> None:
    """What `verify` says of a crashed run, what `recover` says then, and what `report` asks for."""
    folder = Path(f"{here}{where}") if where.startswith("/") else Path(where)
    run = begun(folder)
    orphaned(run.path)
    (recover,) = pasted(soakproof("verify", "latest", "--runs", folder).out)
    said = soakproof(*recover)
    assert said.code == 0, said.err
    (judge,) = pasted(said.out)
    (again,) = pasted(soakproof("report", "latest", "--runs", folder).err)
    assert judge == again
    assert soakproof(*judge, "--policy", "pass").code in (0, 1, 2, 3)
    assert [entry.name for entry in (run.path / "verdicts").iterdir()] == ["1-pass"]
    (verify,) = pasted(soakproof("runs", "--runs", folder).out)
    verify[verify.index("RUN")] = "latest"
    assert run.path.name in soakproof(*verify).out
    (run.path / "run.json").unlink()
    (verify,) = pasted(soakproof("adjudicate", "latest", "--runs", folder).err)
    assert soakproof(*verify).code == 1
    (listing,) = pasted(soakproof("verify", here / "adjudicators").err)
    assert soakproof(*listing).code == 0


def test_without_runs_in_a_folder_it_says_how_to_make_one_there(soakproof: Command, here: Path) -> None:
    assert "--headless -t 2m --runs elsewhere" in soakproof("runs", "--runs", "elsewhere").out
    assert "--headless -t 2m --runs elsewhere" in soakproof("verify", "--runs", "elsewhere").err


def test_without_records_of_guards_it_says_how_to_make_one(soakproof: Command, here: Path) -> None:
    said = soakproof("runs", "--runs", "guards").out
    assert "`soakproof guard -- COMMAND` leaves its record there" in said
    assert "locust" not in said
    assert "soakproof guard --runs /srv/guards -- COMMAND" in soakproof("runs", "--runs", "/srv/guards").out
    assert "or `soakproof guard --runs elsewhere -- C" in soakproof("runs", "--runs", "elsewhere").out
    assert "soakproof guard" not in soakproof("runs").out


@pytest.mark.parametrize(
    "content", ["", "[]", "nonsense", '{"target": 3, "load_started_ns": "x"}', "{}", NESTED]
)
def test_damaged_documents_are_listed_all_the_same(soakproof: Command, here: Path, content: str) -> None:
    run = sealed(here / "runs")
    for name in ("run.json", "raw.json"):
        (run / name).write_text(content)
    (run / "verdicts" / "1-x").mkdir(parents=True)
    (run / "verdicts" / ".2").mkdir()
    said = soakproof("runs")
    assert said.code == 0
    row = rows(said.out)[run.name]
    assert ("without a seal (1-x)" if "unchecked" in row else "not of what is there") in row


def test_hostile_names_do_not_reach_the_terminal(soakproof: Command, here: Path) -> None:
    run = judgeable(here / "runs", exchange("load-1"), target={"model_resolved": "m\x1b[31m\u202e\n\x07"})
    said = soakproof("runs")
    assert run.name in said.out
    assert not {"\x1b", "\u202e", "\x07"} & set(said.out)


def test_only_the_newest_are_listed_unless_all_are_asked_for(soakproof: Command, here: Path) -> None:
    original = sealed(here / "runs")
    for n in range(24):
        shutil.copytree(original, here / "runs" / f"2026-01-{n + 1:02d}T00-00-00Z-soak-0000")
    assert len(rows(soakproof("runs").out)) == 20
    assert "5 older ones" in soakproof("runs").out
    assert len(rows(soakproof("runs", "--all").out)) == 25


@pytest.mark.parametrize("make", [False, True])
def test_no_runs_is_no_error_and_says_how_to_make_one(soakproof: Command, here: Path, make: bool) -> None:
    if make:
        (here / "runs").mkdir()
    said = soakproof("runs")
    assert said.code == 0
    assert f"no runs in {here}/runs" in said.out
    assert "`soakproof init` copies locustfiles/" in said.out
    assert "`soakproof init`" in soakproof("adjudicate", "latest").err
    soakproof("init", "--only", "locustfiles")
    for out in (soakproof("runs").out, soakproof("verify").err):
        assert "make one: locust -f locustfiles/soak.py" in out
        assert "init" not in out


def test_a_folder_that_is_not_there_is_told_as_that(soakproof: Command, a_run: Path) -> None:
    said = soakproof("verify", "./runs/nope")
    assert said.code == 64
    assert "no such file or folder: ./runs/nope" in said.err


def test_verify_proves_a_run(soakproof: Command, here: Path, a_run: Path) -> None:
    said = soakproof("verify")
    assert said.code == 0
    assert f"{a_run.name}: " in said.out
    assert "as they were sealed" in said.out


def test_verify_names_what_was_touched(soakproof: Command, here: Path, a_run: Path) -> None:
    whole = sealed(here / "runs")
    path = a_run / "evidence" / "load" / "exchanges.jsonl"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    said = soakproof("verify", whole.name, a_run.name)
    assert said.code == 1
    assert f"{a_run.name}: NOT as it was sealed" in said.out
    assert "evidence/load/exchanges.jsonl: changed: its digest is not the sealed one" in said.out
    assert f"{whole.name}: NOT" not in said.out


def test_verify_says_what_an_unsealed_run_needs(soakproof: Command, here: Path) -> None:
    run = begun(here / "runs")
    assert "still being written" in soakproof("verify").out
    orphaned(run.path)
    said = soakproof("verify")
    assert said.code == 1
    assert f"`soakproof recover {run.path.name}`" in said.out


def test_recover_says_what_it_did(soakproof: Command, here: Path) -> None:
    run = begun(here / "runs")
    with (run.path / "evidence/load/events.jsonl").open("ab") as file:
        file.write(b'{"torn')
    assert soakproof("recover", "latest").code == 64
    orphaned(run.path)
    said = soakproof("recover", "latest")
    assert said.code == 0
    for words in ("6 torn bytes moved", "evidence/watch: sealed", "sealed as recovered", "no raw result"):
        assert words in said.out
    assert "recovered after a crash" in soakproof("verify").out
    said = soakproof("recover", "latest")
    assert said.code == 0
    assert "nothing was done" in said.out
    assert "as they were sealed, recovered after a crash" in said.out


def test_recover_does_not_call_a_touched_run_sealed_and_leave_it_at_that(
    soakproof: Command, a_run: Path
) -> None:
    (a_run / "evidence/load/checks.jsonl").write_bytes(b"")
    said = soakproof("recover", "latest")
    assert said.code == 1
    for words in ("nothing was done", "NOT as it was sealed", "evidence/load/checks.jsonl: changed"):
        assert words in said.out


def test_recover_tells_what_no_seal_can_cover(soakproof: Command, here: Path) -> None:
    run = begun(here / "runs")
    orphaned(run.path)
    checks = run.path / "evidence/load/checks.jsonl"
    checks.unlink(missing_ok=True)
    checks.symlink_to("/dev/zero")
    said = soakproof("recover", "latest")
    assert said.code == 1
    assert "evidence/load/checks.jsonl: not in the seal" in said.out
    assert "judge it" not in said.out


def test_report_shows_a_verdict_and_its_files(soakproof: Command, a_run: Path, policies: Path) -> None:
    said = soakproof("report", "latest")
    assert said.code == 64
    assert "no verdict yet" in said.err
    soakproof("adjudicate", "latest", "--policy", "pass")
    judged = soakproof("adjudicate", "latest", "--policy", "fail")
    said = soakproof("report", "latest")
    assert said.code == 0
    assert judged.out.partition("\n\nreport:")[0] in said.out
    assert f"{a_run.name}/verdicts/2-fail/report.html" in said.out
    assert "1-pass/report.md" in soakproof("report", "latest", "--verdict", 1).out
    said = soakproof("report", "latest", "--verdict", 7)
    assert said.code == 64
    assert "1 (pass), 2 (fail)" in said.err


def test_reports_are_made_again_and_the_verdict_stays(
    soakproof: Command, here: Path, a_run: Path, policies: Path
) -> None:
    other = judgeable(here / "runs", exchange("load-1"))
    soakproof("adjudicate", other.name, "--baseline", a_run.name, "--policy", "pass")
    entry = other / "verdicts" / "1-pass"
    verdict, page = (entry / "verdict.json").read_bytes(), (entry / "report.md").read_text()
    (entry / "report.md").write_text("lost")
    (entry / "junit.xml").unlink()
    assert "--again makes its reports again" in soakproof("report", other.name).err
    said = soakproof("report", other.name, "--again")
    assert said.code == 0, said.err
    again = (entry / "report.md").read_text()
    assert sorted(again.splitlines()) == sorted(page.splitlines())  # JSON keeps no order of keys
    assert (entry / "junit.xml").is_file()
    assert (entry / "verdict.json").read_bytes() == verdict
    assert [p.name for p in (other / "verdicts").iterdir()] == ["1-pass"]
    assert soakproof("verify", other.name).code == 0

    shutil.rmtree(a_run)
    said = soakproof("report", other.name, "--again")
    assert said.code == 0
    assert f"the baseline {a_run.name} is not here" in said.out


def test_a_report_is_not_made_again_from_touched_evidence(
    soakproof: Command, a_run: Path, policies: Path
) -> None:
    soakproof("adjudicate", "latest", "--policy", "pass")
    (a_run / "evidence/load/checks.jsonl").write_bytes(b"")
    said = soakproof("report", "latest", "--again")
    assert said.code == 1
    assert "not as it was sealed" in said.err


def edited(path: Path) -> None:
    """As by sed: FAIL becomes PASS."""
    path.write_text(path.read_text().replace('"FAIL"', '"PASS"'))


def test_a_verdict_that_was_edited_is_told_and_its_outcome_is_not_shown(
    soakproof: Command, a_run: Path, policies: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    soakproof("adjudicate", "latest", "--policy", "fail")
    soakproof("adjudicate", "latest", "--policy", "fail")
    assert "  2 verdicts, each as it was written" in soakproof("verify").out
    (a_run / "verdicts/.3").mkdir()
    (a_run / "verdicts/2-fail").rename(a_run / "verdicts/4-fail")
    assert "verdicts/3: begun and never finished, or taken away" in soakproof("verify").out
    (a_run / "verdicts/4-fail").rename(a_run / "verdicts/2-fail")
    (a_run / "verdicts/.3").rmdir()
    first, second = a_run / "verdicts/1-fail", a_run / "verdicts/2-fail"
    edited(second / "verdict.json")
    said = soakproof("runs")
    assert "EDITED (2-fail), 2 in all" in said.out
    assert "EDITED: that verdict is not as it was written: `soakproof verify RUN`" in said.out
    said = soakproof("report", "latest")
    assert said.code == 64
    assert "2-fail is not as it was written: verdict.json: changed" in said.err
    assert "PASS" not in said.out + said.err
    assert soakproof("report", "latest", "--again").code == 64
    said = soakproof("report", "latest", "--verdict", 1)
    assert said.code == 0
    assert "FAIL" in said.out
    said = soakproof("verify")
    assert said.code == 1
    assert f"{a_run.name}: NOT" not in said.out  # the evidence is whole, and can be judged again
    assert "verdicts/2-fail: NOT as it was written: verdict.json: changed: its digest" in said.out
    assert "1-fail" not in said.out
    before = {p: p.read_bytes() for p in first.rglob("*") if p.is_file()}
    assert soakproof("adjudicate", "latest", "--policy", "pass").code == 0
    monkeypatch.setenv("COLUMNS", "200")
    assert "PASS (3-pass), 3 in all, worst EDITED (2-fail)" in soakproof("runs").out
    assert {p: p.read_bytes() for p in first.rglob("*") if p.is_file()} == before


def test_a_verdict_without_a_seal_is_said_to_have_none(
    soakproof: Command, a_run: Path, policies: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    soakproof("adjudicate", "latest", "--policy", "fail")
    (a_run / "verdicts/1-fail/SEAL").unlink()
    edited(a_run / "verdicts/1-fail/verdict.json")
    assert "without a seal (1-fail)" in soakproof("runs").out
    said = soakproof("verify")
    assert said.code == 1
    assert "verdicts/1-fail: it has no seal, so nothing shows that it is as it was written" in said.out
    for arguments in ((), ("--again",), ("--format", "md"), ("--all",)):
        said = soakproof("report", "latest", *arguments)
        assert (said.code, said.out) == (64, "")
        assert "1-fail has no seal: an older version wrote it, or its seal was taken away" in said.err
        assert "PASS" not in said.err
    soakproof("adjudicate", "latest", "--policy", "fail")
    assert "FAIL (2-fail), 2 in all, worst without a seal (1-fail)" in soakproof("runs").out


def test_a_seal_that_is_a_dangling_link_is_called_that_by_every_command(
    soakproof: Command, a_run: Path, policies: Path
) -> None:
    assert soakproof("adjudicate", "latest", "--policy", "pass").code == 0
    (a_run / "SEAL").unlink()
    (a_run / "SEAL").symlink_to("nowhere")
    for command in ("verify", "adjudicate", "recover"):
        said = soakproof(command, "latest")
        assert said.code in (1, 64)
        assert "SEAL: no plain file" in said.out + said.err
        assert "soakproof recover" not in said.out + said.err
        assert "sealed already" not in said.out
    row = rows(soakproof("runs").out)[a_run.name]
    assert row.rstrip().endswith("damaged")
    assert "PASS" not in row


@pytest.mark.parametrize("raw", ["{", '{"outcome": "failed", "thresholds": [], "outcome": "clean"}', NESTED])
def test_a_raw_result_that_was_sealed_unreadable_is_told_by_verify(
    soakproof: Command, a_run: Path, raw: str
) -> None:
    (a_run / "raw.json").write_text(raw)
    seal_run(a_run)
    assert "`soakproof verify" in soakproof("adjudicate", "latest").err
    said = soakproof("verify")
    assert said.code == 1
    assert "as it was sealed, and damaged\n  raw.json: cannot be read" in said.out


def test_verdicts_that_a_file_replaced_are_missed(soakproof: Command, a_run: Path, policies: Path) -> None:
    soakproof("adjudicate", "latest", "--policy", "fail")
    shutil.rmtree(a_run / "verdicts")
    (a_run / "verdicts").write_text("PASS")
    said = soakproof("verify")
    assert said.code == 1
    assert "verdicts: it is no folder any more" in said.out
    said = soakproof("adjudicate", "latest", "--policy", "fail")
    assert said.code == 3
    assert "the evidence is untouched" in said.err


def test_the_record_of_a_guard_is_no_run_to_judge(soakproof: Command, here: Path) -> None:
    run = begun(here / "runs")
    document = {**run.document, "kind": "guard", "guard": {"command": ["llama-server"]}}
    (run.path / "run.json").write_text(json.dumps(document))
    orphaned(run.path)
    assert "judge it" not in soakproof("recover", "latest").out
    row = rows(soakproof("runs").out)[run.path.name]
    assert "guard of llama-server" in row
    assert row.count("unknown") == 1  # its raw outcome, not how long it lasted
    said = soakproof("report", "latest")
    assert said.code == 64
    assert "is the record of a guard" in said.err
    assert "adjudicate" not in said.err


@pytest.mark.skipif(sys.platform == "win32", reason="the guard is for Linux")
@pytest.mark.parametrize(
    ("why", "code", "told"),
    [
        *(("ended", 0, "clean"), ("ended", 127, "exit 127"), ("ended", 255, "exit 255")),
        *(
            ("ended", 139, "exit 139 (SIGSEGV)"),
            ("ended", 137, "exit 137 (SIGKILL)"),
            ("tripped", 75, "tripped"),
        ),
    ],
)
def test_how_a_guarded_command_ended_is_told(
    soakproof: Command, here: Path, why: str, code: int, told: str
) -> None:
    run = begun(here / "runs")
    document = {**run.document, "kind": "guard", "guard": {"command": ["llama-server"]}}
    (run.path / "run.json").write_text(json.dumps(document))
    outcome = "clean" if why == "ended" else "failed"
    raw = {"outcome": outcome, "exit_code": code, "ended": {"why": why, "reason": ""}}
    (run.path / "raw.json").write_text(json.dumps(raw))
    row = rows(soakproof("runs").out)[run.path.name]
    assert f" {told} " in row
    assert ("clean" in row) is (told == "clean")


@pytest.mark.parametrize("content", [None, "nonsense", "{}", json.dumps({"outcome": "GREAT"})])
def test_a_verdict_that_is_none_is_told(
    soakproof: Command, a_run: Path, policies: Path, content: str | None
) -> None:
    soakproof("adjudicate", "latest", "--policy", "pass")
    path = a_run / "verdicts" / "1-pass" / "verdict.json"
    path.unlink()
    if content is not None:
        path.write_text(content)
    said = soakproof("report", "latest")
    assert said.code == 64
    assert "verdict.json" in said.err
