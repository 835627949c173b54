"""The testbed for any room's tests: one pair for the whole session, started when the first test wants it.

Tests that kill a part of it start a pair of their own.
"""

from collections.abc import Iterator

import pytest

from soakproof.testbed.launch import Testbed


@pytest.fixture(scope="session")
def testbed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Testbed]:
    """A gateway with its engine; skipped where the testbed extra is not installed."""
    for package in ("xllamacpp", "starlette", "uvicorn", "httptools"):
        pytest.importorskip(package)
    with Testbed.start(tmp_path_factory.mktemp("testbed")) as pair:
        yield pair
