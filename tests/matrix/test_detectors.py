"""The other direction: no detector without a fault that makes it fire."""

from soakproof.testbed import planting
from tests.load.soaks import ROOT
from tests.matrix import detectors, page

PLANTED = {fires.detector for name in planting.names() for fires in planting.find(name).fires}


def test_every_check_and_every_adjudicator_is_fired_by_a_plant_or_elsewhere():
    wanted = detectors.checks() | detectors.failures() | detectors.subjects() | detectors.said_by_servers()
    assert wanted - PLANTED - set(detectors.ELSEWHERE) == set()


def test_what_is_said_to_be_proven_elsewhere_is_no_plants():
    assert not set(detectors.ELSEWHERE) & PLANTED
    for detector, test in detectors.ELSEWHERE.items():
        assert detector.rpartition(": ")[2] in (ROOT / test).read_text(), detector


def test_every_oddity_that_weighs_is_fired_by_a_plant_or_by_its_test():
    tests = [path for room in detectors.ODDITIES_PROVEN for path in (ROOT / room).glob("*.py")]
    proven = "".join(path.read_text() for path in tests)
    bare = {name.partition(": ")[2] for name in detectors.oddities() - PLANTED}
    assert {name for name in bare if name not in proven and not name.endswith("_after_done")} == set()


def test_plants_name_detectors_that_there_are():
    known = detectors.checks() | detectors.failures() | detectors.oddities() | detectors.subjects()
    known |= detectors.said_by_servers()
    free = ("growth: process:", "throughput: ")  # a finding for each process and each kind
    strange = {name for name in PLANTED - known if not name.startswith(free)}
    assert strange == set()


def test_the_page_has_every_plant_and_what_must_see_it():
    seen = page.written()
    for name in planting.names():
        told = {when for (plant, _), when in seen.items() if plant == name}
        assert page.NOT_SEEN not in told, name
        assert told or planting.find(name).harmless, f"run python -m tests.matrix.page {name}"
    assert page.PAGE.read_text() == page.text(seen)
