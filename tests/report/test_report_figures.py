"""Figures: whole SVG documents with words beside them, the same bytes for the same data, nothing outside."""

import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import founding_report as founding
import hostile_report as hostile
import pytest

from soakproof.judge import Evidence
from soakproof.report import figures
from soakproof.report.bounds import NO_BOUNDS, MemoryBounds
from soakproof.report.figures import drawings, style
from soakproof.report.figures.marks import marks
from soakproof.report.figures.rates import generation
from soakproof.report.figures.resources import resources
from soakproof.report.figures.slots import activity
from soakproof.testing.evidence import event, evidence, exchange, iteration, kernel, sample, trace

SVG = "{http://www.w3.org/2000/svg}"
NAMES = ["resources", "generation", "prompt", "first-token", "activity"]


@pytest.fixture(scope="module")
def drawn() -> dict[str, str]:
    return figures(founding.run(), founding.baseline(), MemoryBounds(18 * 2**30, 90 * 2**30))


def words(svg: str) -> str:
    return " ".join(t.text or "" for t in ElementTree.fromstring(svg).iter(f"{SVG}text"))


def test_each_has_a_title_a_description_and_no_reference_outside(drawn: dict[str, str]) -> None:
    assert list(drawn) == NAMES
    for name, svg in drawn.items():
        root = ElementTree.fromstring(svg)
        assert root.get("role") == "img"
        assert [child.tag for child in root][:2] == [f"{SVG}title", f"{SVG}desc"]
        assert root.get("aria-labelledby") == f"{name}-title {name}-description"
        assert set(re.findall(r"https?://[^\"' ]+", svg)) == {"http://www.w3.org/2000/svg"}
        ids = [e.get("id") for e in root.iter() if e.get("id")]
        assert len(set(ids)) == len(ids)
        assert all(str(id).startswith(f"{name}-") for id in ids)
        assert {r.lstrip("#") for r in re.findall(r'href="(#[^"]+)"', svg)} <= set(ids)


def test_the_same_data_give_the_same_bytes(drawn: dict[str, str]) -> None:
    again = figures(founding.run(), founding.baseline(), MemoryBounds(18 * 2**30, 90 * 2**30))
    assert again == drawn


def test_every_colour_follows_the_readers_theme(drawn: dict[str, str]) -> None:
    for svg in drawn.values():
        styles = " ".join(re.findall(r'style="([^"]*)"', svg))
        assert not re.search(r"(?<!, )#[0-9a-f]{6}", styles)
        assert "prefers-color-scheme: dark" in svg


def test_memory_shows_its_extremes_its_bounds_and_its_gap(drawn: dict[str, str]) -> None:
    assert "floor 18 GiB" in words(drawn["resources"])
    assert "ceiling 90 GiB" in words(drawn["resources"])
    caption = resources(founding.run(), NO_BOUNDS).caption
    assert "45.64 GiB to" in caption
    assert "(n 1,797)" in caption
    assert "grey: no reading" in caption


def test_rates_show_each_kind_with_the_baselines_median(drawn: dict[str, str]) -> None:
    shown = words(drawn["generation"])
    assert "long_prose: median 12.29 tokens/s, n 3" in shown
    assert "baseline 11.86" in shown
    assert "baseline" not in words(generation(founding.run(), None).svg)
    assert all(kind in words(drawn["first-token"]) for kind in founding.KINDS)


def test_what_was_not_measured_says_so_and_why() -> None:
    denied = evidence(exchange(stream=False), sample("memory", 1, state="denied", reason="no permission"))
    made = {d.name: d for d in drawings(denied)}
    assert "denied (no permission)" in words(made["resources"].svg)
    assert "none of 1 answers could be measured" in made["generation"].caption
    nothing = {d.name: d for d in drawings(evidence())}
    for drawing in nothing.values():
        assert "Not measured" in words(drawing.svg)
        assert drawing.caption.startswith("Not measured")


def test_a_source_without_a_value_is_named_and_not_drawn_as_zero() -> None:
    run = evidence(
        trace("memory", 9, available_bytes=8 * 2**30),
        sample("amdgpu", 1, state="unsupported", reason="no amdgpu card"),
    )
    drawing = resources(run, NO_BOUNDS)
    assert "GTT in use: unsupported (no amdgpu card)" in drawing.caption
    assert "8 GiB to 8 GiB" in drawing.caption
    assert "GTT" not in words(drawing.svg)


def test_processes_for_which_there_is_no_room_are_named() -> None:
    names = ["process:front", *(f"process:backend-{n}" for n in range(4)), "process:gone"]
    seen = [trace(name, 30.0, rss_anon_bytes=2**30, swap_bytes=0) for name in names[:-1]]
    run = evidence(*seen, sample("process:gone", state="error", reason="it is gone"))
    caption = resources(run, NO_BOUNDS).caption
    assert "not drawn for want of room: process:backend-2, process:backend-3" in caption


def test_marks_are_faults_restarts_guards_and_severe_incidents_once() -> None:
    run = evidence(
        event("restart", 3, role="backend"), event("fault_started", 2, fault="kill"),
        event("guard_stop", 4), event("watch_started", 0),
        kernel(at=1, severity="fatal", fault_class="ring_timeout", incident=7),
        kernel(at=1.5, severity="fatal", fault_class="ring_timeout", incident=7),
        kernel(at=5, severity="warn"), kernel("odd", at=6, severity="fail"),
    )  # fmt: skip
    assert [(m.at, m.until, m.what, m.label) for m in marks(run)] == [
        (1.0, 1.5, "kernel", "ring_timeout"), (2.0, 2.0, "fault", "fault started kill"),
        (3.0, 3.0, "restart", "restart backend"),
        (4.0, 4.0, "guard", "guard stop"), (6.0, 6.0, "kernel", "odd"),
    ]  # fmt: skip


def test_activity_tells_what_happened_and_what_was_not_seen() -> None:
    run = evidence(
        exchange("a", at=1, took=2),
        iteration(at=1, took=2, end="failed"),
        event("restart", 2, role="backend"),
    )
    drawing = activity(run)
    assert "restart backend at 2 s" in drawing.caption
    assert "busy slots not measured (no such source was sampled)" in drawing.caption
    assert "restart" in words(drawing.svg)


def long_run() -> Evidence:
    """A day: 86,400 readings of three sources and 6,000 answers."""
    answers = [
        exchange(
            f"e{n}",
            at=n * 14.4,
            took=9.0,
            iteration=n,
            kind=f"kind-{n % 3}",
            timings={"predicted_n": 90, "predicted_ms": 5000.0 + n % 997},
        )
        for n in range(6000)
    ]
    ends = [iteration(f"kind-{n % 3}", n, at=n * 14.4, took=9.0) for n in range(6000)]
    memory = trace(
        "memory",
        86400,
        available_bytes=lambda t: int((40 + (t * 7919 % 100) / 100) * 2**30) - (t == 50000) * 20 * 2**30,
    )
    return evidence(
        answers,
        ends,
        memory,
        trace("slots", 86400, every=2.5, busy=lambda t: int(t) % 3, total=2),
        duration=86400.0,
    )


def test_a_days_figures_are_bounded_and_keep_a_single_dip() -> None:
    made = drawings(long_run())
    assert sum(len(d.svg) for d in made) < 600_000
    assert "20 GiB to" in made[0].caption
    assert "lowest and highest of each short span" in made[1].caption


def test_hostile_names_are_drawn_as_they_are() -> None:
    made = drawings(hostile.run())
    assert "$\\frac{1" in words(made[1].svg)
    for drawing in made:
        ElementTree.fromstring(drawing.svg)
        assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e]", drawing.svg)


def test_no_home_no_configuration_and_no_warning_are_needed(tmp_path: Path) -> None:
    """A matplotlibrc in the current folder, as matplotlib itself would read it, changes nothing either."""
    (tmp_path / "matplotlibrc").write_text("axes.facecolor: ff0000\nno.such.key: 1\n")
    folders = os.pathsep.join(str(p) for p in (Path(__file__).parent, Path(__file__).parent.parent))
    code = "import founding_report, soakproof.report as r; print(*r.figures(founding_report.run()).values())"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env={"HOME": "/proc", "PYTHONPATH": folders, "TMPDIR": str(tmp_path), "PATH": os.environ["PATH"]},
        cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert done.stderr == ""
    assert done.stdout.count("</svg>") == 5
    assert "#ff0000" not in done.stdout


def test_matplotlib_is_not_loaded_before_something_is_drawn() -> None:
    heavy = ("matplotlib", "locust", "gevent", "httpx", "trio")
    code = f"import sys, soakproof.report; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("days", [0.01, 1, 4.2, 100, 1000, 2**63 / 1e9 / 86400])
def test_the_axis_of_time_has_few_ticks_however_long_a_run_says_that_it_was(days: float) -> None:
    with style.theme():
        _, (axes,) = style.figure([1.0])
        style.time_axis(axes, days * 86400)
        ticks = axes.get_xticks()
    assert 2 <= len(ticks) <= 11
    assert ticks[-1] <= days * 86400
