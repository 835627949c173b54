"""Fixtures of this room: a pair of one's own for tests that are rough with it, and a client."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from soakproof.testbed.launch import Testbed


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Testbed]:
    """A pair that the test may break; its watchdog is quick."""
    quick = ["--watchdog-grace", "1", "--watchdog-poll", "0.3", "--watchdog-probe", "0.3"]
    with Testbed.start(tmp_path / "logs", arguments=quick) as pair:
        yield pair


@pytest.fixture
def client(testbed: Testbed) -> Iterator[httpx.Client]:
    """A client of the session's gateway. It uses no connection twice, for a stream ends its own."""
    headers = {"Accept-Encoding": "identity"}
    limits = httpx.Limits(max_keepalive_connections=0)
    with httpx.Client(
        base_url=testbed.url, timeout=90, trust_env=False, headers=headers, limits=limits
    ) as one:
        yield one
