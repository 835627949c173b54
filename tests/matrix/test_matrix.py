"""The fault matrix: each planted fault is seen by the detectors that it names, and by no other."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from soakproof.testbed import planting
from soakproof.testbed.launch import Testbed
from tests.matrix.planted import prove

pytestmark = pytest.mark.timeout(120)


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Testbed]:
    with Testbed.start(tmp_path_factory.mktemp("plants"), arguments=["--plantable"]) as pair:
        yield pair


@pytest.mark.parametrize("name", planting.names())
def test_a_plant_is_seen_by_what_it_names_and_by_nothing_else(name: str, pair: Testbed, tmp_path: Path):
    kind, proof = planting.find(name), prove(tmp_path, pair, name)
    told = f"{proof.outcome}: {proof.fired()} {proof.starved()} {proof.pressed:.0f} %\n{proof.said[-3000:]}"
    for fires in kind.fires:
        finding = proof.findings.get(fires.detector)
        assert finding is not None, f"no finding {fires.detector}; {told}"
        assert finding.outcome == fires.outcome, f"{fires.detector}: {finding.answer}; {told}"
        assert fires.grade in {"", *proof.grades(fires)}, f"{fires.detector}: {proof.grades(fires)}"
        if fires.within is not None:
            at = proof.iterations(fires)
            assert at is not None, f"{fires.detector} names no exchange"
            assert at <= fires.within, f"{fires.detector} saw it in iteration {at}"
    named = {fires.detector for fires in kind.fires} | set(kind.may_fire)
    assert set(proof.fired()) <= named, told
    assert proof.outcome == kind.verdict, told


def test_a_plant_that_is_no_harm_names_no_detector():
    for name in planting.names():
        kind = planting.find(name)
        assert bool(kind.fires) != kind.harmless, name
