"""Whatever happens to a run's files, `verify`, `recover` and `adjudicate` answer, and it never passes.

The run is a recorded one: some seconds of every kind, on a real server. Each file of it is changed in every
way of `mutations`: as it stands (its seals tell that), sealed again (its books do not agree), and as a crash
would leave it (it is recovered). What may be changed without that being noticed is listed here by name.
"""

import json
import random
import re
import shutil
from datetime import UTC, datetime
from importlib import import_module
from itertools import cycle
from pathlib import Path

import pytest
from mutations import LINES, edit

from soakproof import __version__
from soakproof.catalog import Catalog, bundled
from soakproof.cli import main
from soakproof.judge import Outcome
from soakproof.judge.finding import Verdict
from soakproof.judge.judging import judge
from soakproof.judge.rules import Policy
from soakproof.judgement import evidence_of
from soakproof.policy import load_policy
from soakproof.run import SEAL, load, seal_folder, seal_run, verify

RECORDED = Path(__file__).parent / "recorded"
LOAD, WATCH = "evidence/load", "evidence/watch"
FILES = sorted(str(p.relative_to(RECORDED)) for p in RECORDED.glob("evidence/*/*.jsonl"))
ENDS = (0, 1, 2, 3, 64)  # every documented exit code
EDITS = {  # file, and fields of it whose every value is told a second time or has bounds
    f"{LOAD}/exchanges.jsonl": (
        *("id", "node", "scenario", "iteration", "seed", "due_ns", "sent_ns", "done_ns", "outcome", "status"),
        *("text", "text_digest", "model_asked", "stream", "cancelled_ns", "first_token_ns", "prompt_digest"),
    ),
    f"{LOAD}/checks.jsonl": ("node", "t_ns", "scenario", "iteration", "name", "outcome", "exchanges"),
    f"{LOAD}/iterations.jsonl": ("node", "scenario", "number", "started_ns", "ended_ns", "end"),
    f"{LOAD}/samples.jsonl": ("node", "due_ns", "t_ns", "state", "values"),
    f"{LOAD}/events.jsonl": ("node", "t_ns", "what"),
    f"{WATCH}/samples.jsonl": ("node", "source", "t_ns", "state", "values"),
    f"{WATCH}/events.jsonl": ("node", "what", "details"),
}
# Not in EDITS: what one line tells and nothing else in a run tells again. Reasons, grades and details in
# words, how late a reading was, what was widest; numbers of tokens, within what a number of tokens may be.
VALUES: tuple[object, ...] = (0, -5, 2**63 - 1, "x", [1, [2]], {"x": None})
# The tester's first and last readings of itself may be missing: the load's edges are no whole seconds.
HARMLESS = {("drop", f"{LOAD}/samples.jsonl")}
SEEDS = range(3)
_EACH = [(file, name) for name in sorted(LINES) for file in (*FILES, "raw.json", "run.json")]
SOME = random.Random("some").sample(_EACH, 24)


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> Policy:
    """The default, but for the least length of a load: the recorded one is shorter."""
    text = bundled("adjudicators").joinpath("default.toml").read_text()
    path = tmp_path_factory.mktemp("policy") / "short.toml"
    path.write_text(re.sub('least = "30s" .*', 'least = "1s"', text))
    return load_policy(Catalog(path.parent), str(path))


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """The recorded run, sealed, as this version of the program would have written it."""
    path = tmp_path / "run"
    shutil.copytree(RECORDED, path)
    document = json.loads((path / "run.json").read_text())
    document["program"] = document["versions"]["soakproof"] = __version__
    (path / "run.json").write_text(json.dumps(document))
    seal(path)
    return path


def seal(run: Path) -> None:
    for node in (run / "evidence").iterdir():
        seal_folder(node)
    seal_run(run)


def judged(run: Path, policy: Policy) -> Verdict:
    verdict = judge(evidence_of(load(run)), policy, None, judged_at=datetime(2027, 1, 1, tzinfo=UTC))
    raised = [
        f
        for f in verdict.findings
        if f.subject == "adjudicator" or f.answer.startswith("It could not be told")
    ]
    assert [f.answer for f in raised] == []
    return verdict


def changed(run: Path, policy: Policy, file: str, data: bytes) -> Outcome:
    """What is made of a run whose file holds this, sealed again; the file is put back."""
    before = (run / file).read_bytes()
    (run / file).write_bytes(data)
    seal(run)
    verdict = judged(run, policy)
    (run / file).write_bytes(before)
    assert verdict.outcome is Outcome.PASS or any(f.outcome is not Outcome.PASS for f in verdict.findings)
    return verdict.outcome


def test_the_run_as_it_was_recorded_passes(run: Path, policy: Policy) -> None:
    assert verify(run).problems == ()
    assert judged(run, policy).outcome is Outcome.PASS


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("file", FILES)
def test_lines_that_were_changed_and_sealed_again_do_not_pass(
    run: Path, policy: Policy, file: str, seed: int
) -> None:
    data, chance = (RECORDED / file).read_bytes(), random.Random(f"{file} {seed}")
    made = [(name, mutation(data, chance)) for name, mutation in LINES.items()]
    passed = {
        (name, file)
        for name, new in made
        if new is not None and changed(run, policy, file, new) is Outcome.PASS
    }
    assert passed <= HARMLESS
    assert judged(run, policy).outcome is not Outcome.PASS  # its seals are those of the last change


@pytest.mark.parametrize("file", FILES)
def test_fields_that_were_edited_and_sealed_again_do_not_pass(run: Path, policy: Policy, file: str) -> None:
    data, chance = (RECORDED / file).read_bytes(), random.Random(file)
    made = [((field, v), edit(field, v)(data, chance)) for field in EDITS[file] for v in VALUES]
    assert [case for case, new in made if new and changed(run, policy, file, new) is Outcome.PASS] == []


@pytest.mark.parametrize(("file", "name"), SOME)
def test_every_command_answers_for_a_run_that_was_touched_or_left_unsealed(
    run: Path, file: str, name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_module("soakproof.report.build"), "drawings", lambda *_: ())
    data = (run / file).read_bytes()
    (run / file).write_bytes(LINES[name](data, random.Random(file)) or b"")
    codes = {command: main([command, str(run)]) for command in ("verify", "recover", "adjudicate")}
    assert codes["verify"] != 0
    assert codes["adjudicate"] == 64
    for left in run.rglob(SEAL):
        left.unlink()
    codes |= {f"crashed {c}": main([c, str(run)]) for c in ("verify", "adjudicate", "recover")}
    codes["recovered"] = main(["adjudicate", str(run)])
    out, err = capsys.readouterr()
    assert set(codes.values()) <= set(ENDS)
    assert 0 not in (codes["crashed adjudicate"], codes["recovered"])
    assert "Traceback" not in out + err
    assert err


@pytest.mark.parametrize("pair", [(LOAD, WATCH), (WATCH, LOAD)])
@pytest.mark.parametrize("name", ["samples.jsonl", "events.jsonl"])
def test_files_of_another_node_do_not_pass(
    run: Path, policy: Policy, pair: tuple[str, str], name: str
) -> None:
    into, of = pair
    assert changed(run, policy, f"{into}/{name}", (run / of / name).read_bytes()) is not Outcome.PASS


RAW_EDITS: tuple[dict[str, object], ...] = (
    {"exit_code": 3},
    {"outcome": "failed"},
    {"outcome": None},
    {"ended": {"why": "error", "reason": "x"}},
    {"ended": None},
    {"thresholds": []},
    {"checks": {}},
    {"checks": {"json.strict": {"pass": 0, "fail": 5}}},
    {"exchanges": {"opened": 9999, "closed": 1, "ok": 0, "fail": 12}},
    {"exchanges": []},
    {"iterations": {}},
    {"iterations": {"long_prose": {"broken": 9}}},
)


def test_a_raw_result_that_is_not_the_evidences_does_not_pass(run: Path, policy: Policy) -> None:
    raw = json.loads((run / "raw.json").read_text())
    passed = [
        changes
        for changes in RAW_EDITS
        if changed(run, policy, "raw.json", json.dumps({**raw, **changes}).encode()) is Outcome.PASS
    ]
    assert passed == []


def test_a_run_without_any_part_of_its_documents_is_judged(run: Path, policy: Policy) -> None:
    """Each key of run.json and of its parts, with a value of another type; none is an error of ours."""
    document = json.loads((run / "run.json").read_text())
    keys = [(key,) for key in document if key != "format"]  # one that is unknown is refused
    keys += [(part, key) for part in ("plan", "target", "ended") for key in document[part]]
    for path, value in zip(keys, cycle((None, 7, "x", [{"x": None}], {"x": [1]})), strict=False):
        made = json.loads(json.dumps(document))
        (made if len(path) == 1 else made[path[0]])[path[-1]] = value
        changed(run, policy, "run.json", json.dumps(made).encode())


def test_what_the_books_say_no_policy_leaves_out(run: Path) -> None:
    """Neither one without the evidence's adjudicator, nor one that calls it uncritical."""
    lines = (run / f"{LOAD}/checks.jsonl").read_bytes().splitlines(keepends=True)
    (run / f"{LOAD}/checks.jsonl").write_bytes(b"".join(lines[: len(lines) // 2]))
    seal(run)
    rules = Policy(name="bare", rules={})
    verdict = judged(run, rules)
    told = next(f for f in verdict.findings if f.adjudicator == "books")
    assert (verdict.outcome, told.critical) == (Outcome.INCONCLUSIVE, True)
    assert "declared checks not told" in told.answer
