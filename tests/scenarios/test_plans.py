"""Plans: the bundled ones are sound; what is wrong in one is told by file, key and what was expected."""

from pathlib import Path
from typing import Any

import pytest
from playing import CATALOG

from soakproof.catalog import Catalog, bundled
from soakproof.errors import UsageError
from soakproof.plan import Plan, load_plan
from soakproof.thresholds import parse

FOUNDING = {"structured_json": 10, "isolation": 10, "cache_pair": 10, "cancellation": 10, "long_prose": 3}
BUNDLED = sorted(path.stem for path in bundled("scenarios").glob("*.toml"))


def read(folder: Path, text: str) -> Plan:
    (folder / "scenarios").mkdir(exist_ok=True)
    (folder / "scenarios" / "mine.toml").write_text(text, encoding="utf-8")
    return load_plan(Catalog(folder), "mine")


def refused(folder: Path, text: str) -> str:
    with pytest.raises(UsageError) as caught:
        read(folder, text)
    assert "mine.toml" in str(caught.value)
    return str(caught.value)


def counts(plan: Plan) -> dict[str, int]:
    return {kind.name: kind.count for kind in plan.kinds}


@pytest.mark.parametrize("name", BUNDLED)
def test_a_bundled_plan_is_sound(name: str) -> None:
    plan = load_plan(CATALOG, name)
    assert plan.title
    assert all(kind.scenario.checks for kind in plan.kinds)
    assert plan.deck == sum(counts(plan).values())
    for threshold in plan.thresholds:
        assert threshold.why
        parse(threshold, plan.kinds)


def test_the_founding_soak() -> None:
    plan = load_plan(CATALOG, "soak")
    assert (plan.duration, plan.deck, counts(plan)) == (1800, 43, FOUNDING)
    assert "prompt=6000, answer=768" in repr(plan.kind("long_prose").scenario)
    assert plan.source == CATALOG.plan("soak").read_text(encoding="utf-8")


def test_a_short_soak_has_every_kind_in_a_small_deck() -> None:
    plan = load_plan(CATALOG, "soak")
    short = plan.for_duration(60)
    assert set(counts(short)) == set(FOUNDING)
    assert short.deck == sum(counts(short).values()) < 15
    assert short.duration == 60
    assert "prompt=2400, answer=300" in repr(short.kind("long_prose").scenario)
    assert plan.for_duration(599).kinds == short.kinds
    assert plan.for_duration(600).kinds == plan.kinds
    assert plan.for_duration(3600).duration == 3600
    assert (plan.drain, short.drain) == (600, 60)


def test_a_short_run_drains_as_the_plan_unless_it_says_otherwise(tmp_path: Path) -> None:
    text = "drain = '7s'\n" + MIX + "[short]\nbelow = '5m'\n"
    assert read(tmp_path, text).for_duration(5).drain == 7
    assert read(tmp_path, text + "drain = '0s'\n").for_duration(5).drain == 0


def test_a_plan_of_some_kinds_alone() -> None:
    """What is about another kind is not asked, and a threshold on all kinds stays."""
    plan = load_plan(CATALOG, "soak")
    left = plan.only({"isolation", "cache_pair"})
    assert counts(left) == {"isolation": 10, "cache_pair": 10}
    assert left.deck == 20
    assert set(left.left_out) == {"structured_json", "cancellation", "long_prose"}
    assert [t.name for t in left.thresholds] == ["exchanges", "checks", "stalls"]
    assert plan.only({"long_prose"}).thresholds == plan.thresholds
    assert plan.only(set(counts(plan))) == plan


def test_what_a_short_run_and_tags_leave_out_is_kept_together(tmp_path: Path) -> None:
    text = "[mix]\nisolation = 1\ncache_pair = 1\nlong_prose = 1\n[short]\nbelow = '5m'\n[short.mix]\n"
    plan = read(tmp_path, text + "isolation = 1\ncache_pair = 1\n")
    short = plan.for_duration(5)
    assert short.left_out == ("long_prose",)
    assert short.only({"isolation"}).left_out == ("long_prose", "cache_pair")
    assert plan.for_duration(600).left_out == ()


def test_every_phase_of_a_cancel_is_a_kind_of_its_own() -> None:
    kinds: Any = load_plan(CATALOG, "cancels").kinds
    phases = {kind.name: kind.scenario.phase for kind in kinds}
    assert phases.pop("cancellation") == "decode"
    assert phases == {f"cancel_{phase}": phase for phase in phases.values()}
    assert set(phases.values()) == {"first_token", "near_end", "prefill", "queued", "unstreamed"}


def test_everything_has_every_bundled_scenario_and_every_phase_of_a_cancel() -> None:
    plan = load_plan(CATALOG, "everything")
    kinds: Any = plan.kinds
    asked = {type(kind.scenario).__name__ for kind in kinds}
    bundled_ones = {CATALOG.scenario(name).__name__ for name in CATALOG.files("scenarios", ".py")}
    assert asked == bundled_ones
    phases = {kind.scenario.phase for kind in kinds if kind.name.startswith("cancel")}
    assert phases == {"decode", "first_token", "near_end", "prefill", "queued", "unstreamed"}
    assert set(counts(plan).values()) == {1}  # each kind comes before any comes again


def test_what_a_plan_may_leave_out(tmp_path: Path) -> None:
    plan = read(tmp_path, "[mix]\nisolation = 1\n")
    assert (plan.name, plan.duration, plan.deck, plan.queueing) == ("mine", 1800, 1, False)
    assert plan.for_duration(5).kinds == plan.kinds
    assert plan.think_time == 0
    assert read(tmp_path, 'think_time = "300ms"\n[mix]\nisolation = 1\n').think_time == 0.3


def test_options_reach_the_scenario_by_their_units(tmp_path: Path) -> None:
    plan = read(
        tmp_path,
        """
duration = "2h"
[mix]
hold = 1
none = 0
[kind.hold]
scenario = "cancellation"
within = "300ms"
tokens = "2k tokens"
[kind.none]
scenario = "isolation"
with_secret = "50 %"
""",
    )
    assert plan.duration == 7200
    assert [kind.name for kind in plan.kinds] == ["hold"]
    held: Any = plan.kind("hold").scenario
    assert (held.within, held.tokens) == (0.3, 2000)


MIX = "[mix]\nlong_prose = 1\n"
WRONG = {
    "unknown key": ("durration = '5m'\n" + MIX, ["unknown key 'durration'", "did you mean 'duration'?"]),
    "unknown bound": (MIX + "[bounds]\nstall = '5s'\n", ["bounds: unknown key 'stall'"]),
    "unknown option": (MIX + "[kind.long_prose]\npromt = 5\n", ["[kind.long_prose]", "mean 'prompt'?"]),
    "no unit": ("duration = 30\n" + MIX, ["duration", 'such as "5s"', "found 30"]),
    "wrong unit": ("duration = '30 tokens'\n" + MIX, ["a duration with its unit", 'found "30 tokens"']),
    "option's unit": (
        MIX + "[kind.long_prose]\nprompt = '6000 s'\n",
        ["[kind.long_prose]", "prompt", "a number of tokens", 'found "6000 s"'],
    ),
    "a date": (
        MIX + "[kind.long_prose]\nprompt = 1979-05-27\n",
        ["[kind.long_prose]", "prompt", "a number of tokens", "found 1979-05-27"],
    ),
    "a date for a text": ("title = 1979-05-27\n" + MIX, ["title: expected a text, found a date"]),
    "unknown choice": (
        MIX + "[guard]\nthen = 'kill'\n",
        ['guard: then: expected "stop", "unload" or "end", found "kill"'],
    ),
    "nearly a choice": (MIX + "[guard]\nthen = 'unlaod'\n", ["did you mean 'unload'?"]),
    "unknown choice in a list": (
        MIX + "[guard]\nrequire = ['gtt', 'vrma']\n",
        ['guard: require 2: expected "available", "gtt"', "did you mean 'vram'?"],
    ),
    "negative": (MIX + "[kind.long_prose]\nprompt = -5\n", ["a number of tokens", "found -5"]),
    "infinite": (MIX + "[kind.long_prose]\nprompt = inf\n", ["a number of tokens", "found inf"]),
    "wrong type": ("users = 'four'\n" + MIX, ["users", "expected a whole number, found a text"]),
    "no users": ("users = 0\n" + MIX, ["users: expected 1 to 10000, found 0"]),
    "wrong sum": ("deck = 43\n" + MIX, ["the mix adds up to 1, and deck says 43"]),
    "no mix": ("duration = '5m'\n", ["the mix names no scenario"]),
    "empty mix": ("[mix]\nlong_prose = 0\n", ["the mix names no scenario"]),
    "negative count": ("[mix]\nlong_prose = -1\n", ["long_prose: expected 0 to 10000"]),
    "unknown scenario": ("[mix]\nlong_prosa = 1\n", ["no scenario is called 'long_prosa'", "'long_prose'?"]),
    "options of none": (MIX + "[kind.isolation]\nwords = 3\n", ["[kind.isolation] is not in the mix"]),
    "option refused": (
        "[mix]\nisolation = 1\n[kind.isolation]\nclients = 1\n",
        ["[kind.isolation]", "clients: expected 2 to 256"],
    ),
    "share without room": (
        "[mix]\nnear_context = 1\n[kind.near_context]\nshare = '100 %'\n",
        ["[kind.near_context]", "share: expected 10 % to 95 %"],
    ),
    "nothing over the context": (
        "[mix]\nrefusals = 1\n[kind.refusals]\nover = 1.0\n",
        ["[kind.refusals]", "over: expected 1.2 to 10"],
    ),
    "unknown phase": (
        "[mix]\ncancellation = 1\n[kind.cancellation]\nphase = 'late'\n",
        ["[kind.cancellation]", 'phase: expected "decode", "first_token"', 'found "late"'],
    ),
    "two of a name": (
        MIX + "[[threshold]]\nname = 'a'\nthat = 'x'\n[[threshold]]\nname = 'a'\nthat = 'y'\n",
        ["two thresholds have the same name"],
    ),
    "threshold's key": (MIX + "[[threshold]]\nname = 'a'\ntaht = 'x'\n", ["threshold 1: unknown key 'taht'"]),
    "threshold lacks": (MIX + "[[threshold]]\nname = 'a'\n", ["threshold", "`that`"]),
    "short without below": (MIX + "[short.mix]\nlong_prose = 1\n", ["[short] lacks `below`"]),
    "short of another kind": (
        MIX + "[short]\nbelow = '5m'\n[short.mix]\nisolation = 1\n",
        ["[short]: isolation is not in the mix"],
    ),
    "short's option": (
        MIX + "[short]\nbelow = '5m'\n[short.kind.long_prose]\nsize = 1\n",
        ["[short]: [kind.long_prose]", "unknown key 'size'"],
    ),
    "short of nothing": (
        MIX + "[short]\nbelow = '5m'\n[short.mix]\nlong_prose = 0\n",
        ["[short]: the mix names no scenario"],
    ),
    "short's drain": (
        MIX + "[short]\nbelow = '5m'\ndrain = '9000h'\n",
        ["[short]: drain"],
    ),
    "no TOML": ("duration = \n", ["is not TOML"]),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_is_told(what: str, tmp_path: Path) -> None:
    text, parts = WRONG[what]
    message = refused(tmp_path, text)
    for part in parts:
        assert part in message


def test_an_unknown_plan_is_told_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no plan is called 'soke'\n.*did you mean 'soak'"):
        load_plan(Catalog(tmp_path), "soke")


def test_a_users_own_file_comes_first(tmp_path: Path) -> None:
    """The same stem in the user's folder overrides the bundled scenario; the other bundled ones stay."""
    own = tmp_path / "scenarios"
    own.mkdir()
    (own / "isolation.py").write_text(
        "from dataclasses import dataclass\n"
        "from soakproof.scenario import Ask, Scenario\n"
        "@dataclass(frozen=True)\n"
        "class Mine(Scenario):\n"
        "    checks = ('mine.said',)\n"
        "    def iterate(self, it):\n"
        "        answer = yield Ask('Say yes.')\n"
        "        it.check('mine.said', answer.text == 'yes', answer)\n"
    )
    plan = read(tmp_path, "[mix]\nisolation = 1\ncancellation = 1\n")
    assert plan.kind("isolation").scenario.checks == ("mine.said",)
    assert plan.kind("cancellation").scenario.width == 2


FILES = {
    "no scenario": ("x = 1\n", "must define one Scenario; it defines none"),
    "no dataclass": (
        "from soakproof.scenario import Scenario\nclass Mine(Scenario):\n    pass\n",
        "is not a dataclass",
    ),
    "does not load": ("import nothing_of_this_name\n", "cannot be loaded: ModuleNotFoundError"),
    "no Python": ("def (\n", "cannot be loaded: SyntaxError"),
    "yields in finally": (
        "def iterate(it):\n    try:\n        yield 1\n    finally:\n        if it:\n            yield 2\n",
        "line 6: a scenario may not yield in a `finally`",
    ),
}


@pytest.mark.parametrize("what", FILES)
def test_a_scenario_file_that_cannot_be_used(what: str, tmp_path: Path) -> None:
    text, message = FILES[what]
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "scenarios" / "odd.py").write_text(text)
    with pytest.raises(UsageError) as caught:
        Catalog(tmp_path).scenario("odd")
    assert message in str(caught.value)
    assert "odd.py" in str(caught.value)
