"""Planting and lifting while the gateway serves, and what cannot be planted."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from wire import Connection, chat, text_of

from soakproof.testbed import planting
from soakproof.testbed.launch import Testbed
from soakproof.testbed.plant import Plant

ASKED = chat("Repeat exactly: hello world 12", stream=True)


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Testbed]:
    with Testbed.start(tmp_path_factory.mktemp("plants"), arguments=["--plant", "one-byte-chunks=1"]) as pair:
        yield pair


def change(pair: Testbed, **what: list[str]) -> httpx.Response:
    return httpx.post(f"{pair.url}/internal/plants", json=what, timeout=30, trust_env=False)


def planted(pair: Testbed) -> dict[str, float]:
    answer = httpx.get(f"{pair.url}/internal/plants", timeout=30, trust_env=False)
    return dict(answer.json()["planted"])


def test_what_is_planted_can_be_lifted_and_planted_anew(pair: Testbed):
    assert planted(pair) == {"one-byte-chunks": 1.0}
    in_bytes = Connection(pair.url).send(ASKED).to_the_end()
    assert b"\r\n1\r\nd\r\n1\r\na\r\n" in in_bytes.received
    assert change(pair, lift=["one-byte-chunks"]).json() == {"planted": {}}
    whole = Connection(pair.url).send(ASKED).to_the_end()
    assert b"\r\n1\r\nd\r\n" not in whole.received
    assert text_of(in_bytes.body) == text_of(whole.body) == "hello world 12"
    assert change(pair, plant=["stall-with-pings=2"]).json() == {"planted": {"stall-with-pings": 2.0}}
    change(pair, lift=["stall-with-pings"], plant=["one-byte-chunks=1"])
    assert planted(pair) == {"one-byte-chunks": 1.0}


WRONG_VALUES = [{"plant": [f"stall-with-pings={value}"]} for value in ("x", "nan", "1e999", "-1")]


@pytest.mark.parametrize("wrong", [{"plant": ["no-such"]}, {"plant": 5}, *WRONG_VALUES])
def test_what_cannot_be_planted_is_refused(pair: Testbed, wrong: dict[str, list[str]]):
    before = planted(pair)
    assert change(pair, **wrong).status_code == 400
    assert planted(pair) == before


def test_a_testbed_that_was_not_asked_to_has_no_such_endpoint(testbed: Testbed):
    assert change(testbed, plant=["swapped-answers"]).status_code == 404


def test_the_engines_own_address_is_told_unless_faults_may_be_planted(testbed: Testbed, pair: Testbed):
    for one, same in ((testbed, True), (pair, False)):
        health = httpx.get(f"{one.url}/v1/health", timeout=30, trust_env=False).json()
        told = health["all_models_loaded"][0]["backend_url"].removesuffix("/v1")
        assert (told == one.backend_url) == same
        slots = httpx.get(f"{told}/slots", timeout=30, trust_env=False).json()
        assert [slot["id"] for slot in slots] == [0, 1]


@pytest.mark.parametrize("name", planting.names())
def test_every_plant_tells_what_it_is(name: str):
    kind = planting.find(name)
    assert issubclass(kind, Plant)
    assert planting.summary(kind).endswith(".")
    assert kind.modelled_on.startswith("https://")
    assert kind.plan
    assert kind.harmless == (not kind.fires)
    assert kind.harmless == (kind.verdict == "PASS")


def test_a_plant_may_come_from_no_other_file(tmp_path: Path):
    for name in ("../plant", "plant", "", "events"):
        with pytest.raises(planting.UnknownPlant):
            planting.make(name)
