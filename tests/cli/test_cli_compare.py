"""`soakproof compare`: published results as they were concluded, runs, and whatever a user may enter."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from cli_said import Command
from golden.founding import THEIRS, Facts, write_run
from rundirs import judgeable

from soakproof.testing.evidence import exchange

PUBLISHED = Path(__file__).parents[1] / "published"
STEADY = (99.8, 100.0, 100.1, 100.2, 99.9)


def conclusions(said_to: Path) -> dict[tuple[str, str], tuple[str, bool, float | None]]:
    """(workload, metric) to result, whether it only describes, and the change in per cent."""
    return {
        (row["workload"], row["metric"]): (
            row["result"],
            row["descriptive"],
            None if row["change"] is None else round(100 * row["change"], 2),
        )
        for row in json.loads(said_to.read_text())["rows"]
    }


@pytest.mark.parametrize(
    ("file", "code", "expected"),
    [
        (
            "stochastic",
            0,
            {
                ("stochastic requests", "generation_rate"): ("not material", True, -2.66),
                ("stochastic requests", "total_time"): ("not material", True, 0.99),
                ("stochastic requests", "prompt_rate"): ("not measured", True, None),
            },
        ),
        (
            "near_full",
            0,
            {
                ("near-full context", "prompt_rate"): ("not material", True, 0.67),
                ("near-full context", "generation_rate"): ("not material", True, -2.35),
                ("near-full context", "total_time"): ("not material", True, -0.45),
            },
        ),
        ("drafts_32k", 0, {("32K prompt", "prompt_rate"): ("not material", True, 0.26)}),
        ("long_prose", 0, {("long prose", "generation_rate"): ("better", True, 3.63)}),
        ("lazy_reads", 1, {("cold prefill", "prompt_rate"): ("worse", True, -8.41)}),
        ("newer_source", 1, {("three workloads", "prompt_rate"): ("worse", True, None)}),
        (
            "sidecar",
            1,
            {
                ("prose", "generation_rate"): ("worse", True, -19.42),
                ("JSON", "generation_rate"): ("not measured", True, None),
                ("Python", "generation_rate"): ("not measured", True, None),
            },
        ),
        ("cache_gate", 2, {("3,149-token prompt", "total_time"): ("not measured", True, None)}),
    ],
)
def test_published_results_are_concluded_as_they_were(
    soakproof: Command, here: Path, file: str, code: int, expected: dict[Any, Any]
) -> None:
    said = soakproof("compare", "--data", PUBLISHED / f"{file}.toml", "--accept-few", "--json", "made.json")
    assert said.code == code
    assert conclusions(here / "made.json") == expected
    alone = soakproof("compare", "--data", PUBLISHED / f"{file}.toml")
    assert alone.code == 2
    assert "descriptive only" in " ".join(alone.out.split()) or file == "cache_gate"


def test_the_same_output_as_published_is_a_check(soakproof: Command) -> None:
    file = PUBLISHED / "near_full.toml"
    said = soakproof("compare", "--data", file, "--accept-few", "--same-answers")
    assert said.code == 0
    assert "repaired build: the same output, as published" in said.out


def test_three_arms_are_told_against_either_and_acceptance_decides_nothing(soakproof: Command) -> None:
    file = PUBLISHED / "drafts.toml"
    none = " ".join(soakproof("compare", "--data", file).out.split())
    native = soakproof("compare", "--data", file, "--against", "native draft", "--accept-few")
    assert "+34.6 to +43.8 % 3 against 3: better" in none
    assert "-27.0 to -15.5 % 3 against 3: worse" in " ".join(native.out.split())
    assert native.code == 1
    assert "88.0 % to 92.0 %" in none
    assert "45.0 % to 51.0 %" in none
    assert "acceptance" not in native.out.splitlines()[-1]


def sheet(path: Path, *lines: str, head: str = "arm,workload,generation_rate") -> Path:
    path.write_text("\n".join((head, *lines)) + "\n", encoding="utf-8")
    return path


def rows_of(arm: str, values: tuple[float, ...]) -> list[str]:
    return [f"{arm},JSON,{value}" for value in values]


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("nan", "not a number"),
        ("inf", "infinite"),
        ("-3", "-3.0, and no measure is negative"),
        ("0", "or 0"),
        ("1e308", "1e+308, and a measure lies within 1e-09 and 1e+12"),
        ("1e-300", "1e-300, and a measure lies within"),
    ],
)
def test_what_is_no_measurement_is_told_and_decides_nothing(
    soakproof: Command, here: Path, value: str, told: str
) -> None:
    good = [*rows_of("was", STEADY), *rows_of("now", STEADY[::-1]), "now,JSON,100.3"]
    assert soakproof("compare", "--data", sheet(here / "good.csv", *good)).code == 0
    said = soakproof("compare", "--data", sheet(here / "bad.csv", *good, f"now,JSON,{value}"))
    assert said.code == 2
    assert told in " ".join(said.out.split())


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (["was,JSON,fast"], "line 2: generation_rate: expected a number"),
        (["was,JSON,1_000"], "line 2: generation_rate: expected a number, with a point, found '1_000'"),
        (["was,JSON,٣"], "line 2: generation_rate: expected a number"),
        (["was,JSON,0x5"], "line 2: generation_rate: expected a number"),
        (["was,JSON"], "line 2: expected 3 cells, found 2"),
        (['was,JSON,"1'], "is not CSV"),
        (["was,JSON,1"], "expected two arms or more, found 1"),
        ([], "expected two arms or more, found 0"),
        (["was,,1", "now,JSON,1"], "`workload`"),
    ],
)
def test_a_sheet_that_is_wrong_is_told_by_its_line(
    soakproof: Command, here: Path, lines: list[str], told: str
) -> None:
    said = soakproof("compare", "--data", sheet(here / "x.csv", *lines))
    assert (said.code, told in said.err) == (64, True), said.err


def test_values_that_no_float_can_compare_are_told(soakproof: Command, here: Path) -> None:
    apart = [*rows_of("was", (1e308,) * 6), *rows_of("now", (1e-300,) * 6)]
    assert soakproof("compare", "--data", sheet(here / "apart.csv", *apart)).code == 2
    repeat = '[[repeat]]\narm = "{}"\nworkload = "w"\ngeneration_rate = {}\n'
    (here / "x.toml").write_text(repeat.format("a", 10**400) + repeat.format("b", "1.5e3"))
    assert soakproof("compare", "--data", here / "x.toml").code == 2


@pytest.mark.parametrize("form", ["csv", "json", "markdown", "svg"])
def test_a_form_goes_to_standard_output(soakproof: Command, here: Path, form: str) -> None:
    data = sheet(here / "x.csv", *rows_of("was", STEADY), *rows_of("now", STEADY[::-1]), "now,JSON,100.3")
    said = soakproof("compare", "--data", data, f"--{form}", "-")
    assert soakproof("compare", "--data", data, f"--{form}", "file").code == said.code == 0
    assert said.out == (here / "file").read_text().removesuffix("\n") + "\n"
    assert "PASS: Nothing is worse" in said.err
    assert not (here / "-").exists()


def test_what_stands_below_a_table_is_no_part_of_a_form(soakproof: Command, here: Path) -> None:
    was, now = (60.0, 70.0, 100.0, 101.0, 102.0), (90.0, 95.0, 100.0, 160.0, 170.0)
    data = sheet(here / "x.csv", *rows_of("was", was), *rows_of("now", now))
    said = soakproof("compare", "--data", data, "--csv", "-")
    soakproof("compare", "--data", data, "--csv", "file")
    assert said.out == (here / "file").read_text().removesuffix("\n") + "\n"
    assert "ratios of all pairs" in said.err


def test_standard_output_takes_one_text(soakproof: Command, here: Path) -> None:
    data = sheet(here / "x.csv", *rows_of("was", STEADY), *rows_of("now", STEADY))
    said = soakproof("compare", "--data", data, "--png", "-")
    assert (said.code, "--png -: a terminal shows no picture" in said.err) == (64, True)
    said = soakproof("compare", "--data", data, "--csv", "-", "--json", "-")
    assert (said.code, "two outputs go into one file" in said.err) == (64, True)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('[[repeat]]\narm = "a"\nworkload = "w"\ngeneratoin_rate = 1', "did you mean 'generation_rate'"),
        ('[[repeat]]\narm = "a"\nworkload = "w"\ngeneration_rate = "1"', "expected a number, found"),
        ('[[arm]]\nname = "a"\nidentity = {modle = 1}\n[[arm]]\nname = "b"', "did you mean 'model'"),
        ('[[arm]]\nname = "a"\n[[summary]]\narm = "b"\nworkload = "w"', "no arm is called 'b'"),
        ('[[change]]\narm = "a"\nagainst = "a"\nworkload = "w"', "against itself"),
        ('[[change]]\narm = "a"\nagainst = "b"\nworkload = "w"\ntotal_time = "2 s"', "expected a share"),
        ('[[change]]\narm = "a"\nagainst = "b"\nworkload = "w"\ntotal_time = ["2 %", "1 %"]', "the smaller"),
        ('[[summary]]\narm = "a"\nworkload = "w"\ntotal_time = nan', "above 0, found not a number"),
        ('[[repeat]]\narm = "a"\nworkload = "w"\nposition = 0', "position"),
        ("[[repeat]", "is not TOML"),
        ("\udcff", "is not TOML"),
    ],
)
def test_a_file_that_is_wrong_is_told(soakproof: Command, here: Path, text: str, told: str) -> None:
    (here / "x.toml").write_bytes(text.encode("utf-8", "surrogateescape"))
    said = soakproof("compare", "--data", "x.toml")
    assert (said.code, told in said.err) == (64, True), said.err


def test_what_cannot_be_read_or_written_is_told(soakproof: Command, here: Path) -> None:
    file = sheet(here / "x.csv", *rows_of("was", STEADY), *rows_of("now", STEADY[::-1]))
    for arguments, told in (
        (["--data", here], "cannot read"),
        (["--data", "gone.csv"], "No such file"),
        (["--data", file, "--csv", file], "is there already"),
        (["--data", file, "--csv", "gone/x.csv"], "there is no folder"),
        (["--data", file, "--csv", "y", "--json", "y"], "two outputs go into one file"),
        (["--data", file, "RUN"], "--data as well"),
        (["--data", file, "--against", "nwo"], "did you mean 'now'"),
        (["--data", file, "--kind", "JSNO"], "did you mean 'JSON'"),
        (["--data", file, "--margin", "3"], "less than 100 %"),
        (["--data", file, "--margin", "three"], "expected a share"),
        (["--data", file, "--data", file], "two files have an arm"),
        (["RUN"], "expected two arms or more"),
        (["a=RUN", "a=RUN"], "two arms are called"),
        (["a=RUN,", "b=RUN"], "expected runs behind the ="),
    ):
        said = soakproof("compare", *arguments)
        assert (said.code, told in said.err) == (64, True), (arguments, said.err)


def test_a_margin_that_was_meant_as_per_cent_is_told_how_to_be_written(soakproof: Command) -> None:
    said = soakproof("compare", "a", "b", "--margin", "3")
    assert (said.code, 'for 3 per cent write "3 %"' in said.err) == (64, True), said.err
    assert "write" not in soakproof("compare", "a", "b", "--margin", "0").err


def test_every_form_is_written_and_hostile_names_do_nothing(soakproof: Command, here: Path) -> None:
    head = "arm;workload;generation_rate;position;temperature;prompt;output;text"
    lines = []
    for n, value in enumerate(STEADY):
        lines += [
            f"was;=cmd|' /C calc'!A0;{value};{2 * n + 1};0;p{n};o{n};yes",
            f"<b>;=cmd|' /C calc'!A0;{value / 2};{2 * n + 2};0;p{n};x{n};y\u202et\x1b[31m",
        ]
    file = sheet(here / "x.csv", *lines, head=head)
    outputs = [
        word for name in ("csv", "json", "markdown", "svg", "png") for word in (f"--{name}", f"o.{name}")
    ]
    said = soakproof("compare", "--data", file, *outputs)
    assert said.code == 1
    assert "\x1b" not in said.out
    assert "interleaved, not counterbalanced" in " ".join(said.out.split())
    assert "0 of 5 greedy prompts answered alike" in said.out
    assert "at character 1: 'es' and '\\u202et" in " ".join(said.out.split())
    (row,) = csv.DictReader((here / "o.csv").read_text().splitlines())
    assert row["workload"].startswith("'=cmd")
    assert float(row["median_arm"]) == 50.0
    assert (here / "o.png").read_bytes().startswith(b"\x89PNG")
    assert "<script" not in (svg := (here / "o.svg").read_text())
    assert "\x1b" not in svg
    assert "<b>" not in (here / "o.markdown").read_text()


# -- runs


def soaked(runs: Path, rates: tuple[float, ...], **more: Any) -> Path:
    answers = [
        exchange(
            f"load-{n}",
            iteration=n,
            at=2.0 * n,
            prompt_tokens=400,
            completion_tokens=64,
            cached_tokens=0,
            timings={"predicted_n": 64, "predicted_ms": 64_000 / rate},
        )
        for n, rate in enumerate(rates)
    ]
    return judgeable(runs, *answers, **more)


def test_sealed_runs_are_compared_by_path_name_and_baseline(soakproof: Command, here: Path) -> None:
    runs = here / "runs"
    was = soaked(runs, STEADY)
    now = soaked(runs, tuple(0.8 * v for v in STEADY), target={"build": "b2"})
    soakproof("baseline", "add", "nightly", was.name)
    asked = ["compare", "nightly", f"new={now}", "--metric", "generation_rate"]
    said = soakproof(*asked, "--accept-few")
    assert said.code == 1
    assert "Worse by more than 3.0%: long_prose generation_rate." in said.out
    once = soakproof(*asked)
    assert (once.code, "in one run of each arm: long_prose" in once.out) == (2, True), once.out
    again = soaked(runs, tuple(0.8 * v for v in STEADY), target={"build": "b2"})
    assert soakproof("compare", "nightly", f"new={now},{again}", "--metric", "generation_rate").code == 1
    assert "backend_build" in said.out
    touched = now / "evidence/load/exchanges.jsonl"
    touched.write_bytes(touched.read_bytes().replace(b"64000", b"63000") + b" ")
    refused = soakproof("compare", was.name, now.name)
    assert (refused.code, "arm B" in refused.err, "not as it was sealed" in refused.err) == (64, True, True)
    twice = soakproof("compare", f"a={was},{was.name}", "b=nightly")
    assert (twice.code, "stands there twice" in twice.err) == (64, True)


def test_the_founding_run_is_compared_with_its_baseline(soakproof: Command, here: Path) -> None:
    was = write_run(here / "runs", Facts(id="baseline", rates=THEIRS, build="b11400"))
    now = write_run(here / "runs")
    asked = [
        "compare",
        f"baseline={was}",
        f"release={now}",
        "--kind",
        "long_prose",
        "--metric",
        "generation_rate",
    ]
    said = soakproof(*asked)
    told = " ".join(said.out.split())
    assert (said.code, "+3.63 %" in told) == (2, True)
    assert "3 against 3:" in told
    assert "descriptive only: long_prose generation_rate" in told
    assert "one after the other" in told or "overlapped in time" in told
    assert soakproof(*asked, "--accept-few").code == 0


def test_a_run_against_itself_shows_nothing(soakproof: Command, here: Path) -> None:
    run = soaked(here / "runs", STEADY)
    said = soakproof("compare", run.name, "latest")
    assert said.code == 2
    told = " ".join(said.out.split())
    assert "A and B are the same run" in told
    assert "identical data is no evidence of equality by itself" in told


def test_its_tables_fit(soakproof: Command, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    said = soakproof("compare", "--data", PUBLISHED / "sidecar.toml")
    assert max(map(len, said.out.splitlines())) <= 80
