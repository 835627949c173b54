"""What every room's tests may use, and how they are shared out."""

import gc
import os
import tempfile
import zlib
from pathlib import PurePosixPath
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from xdist.scheduler import LoadScopeScheduling

pytest_plugins = ["fixtures_testbed"]

# A busy machine is no failure of what is tested, and what passed here passes elsewhere. New examples are for
# whoever looks for faults: pytest --hypothesis-profile search
BUSY = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("suite", BUSY, derandomize=True, max_examples=40)
settings.register_profile("search", BUSY)
settings.load_profile("suite")

# What runs of the tests keep of files goes where the tests end, not into the user's own cache.
_CACHE = tempfile.TemporaryDirectory(prefix="soakproof-tests-")
os.environ["SOAKPROOF_CACHE"] = _CACHE.name

# The many processes that tests start need not compile anew what the first of them has.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Files whose tests share something, or would be in each other's way: one worker has all of each.
TOGETHER = {
    "test_both_drivers.py",
    "test_cli_try.py",
    "test_client_benchmark.py",
    "test_docs_followed.py",
    "test_founding.py",
    "test_guard_launching.py",
    "test_report_browser.py",
    "test_report_figures.py",
    "test_report_hostile.py",
    "test_report_html.py",
    "test_wheel.py",
}

# A file of long soaks that leave the processors half idle: some workers have a part of it each, from the
# start, so that the other tests run beside them.
PARTED, PARTS = "test_matrix.py", 3

# Most tests wait for a real server, and two cores carry four of them.
AT_A_TIME = 4


# Here and not in pyproject.toml, where whoever has no pytest-timeout would be stopped by an unknown option.
LONGEST_S = 120


def pytest_itemcollected(item: pytest.Item) -> None:
    if item.get_closest_marker("timeout") is None:
        item.add_marker(pytest.mark.timeout(LONGEST_S))


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """The whole suite runs several at a time, unless -n says otherwise; chosen files run here."""
    whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS
    is_worker = hasattr(config, "workerinput")
    if whole and not is_worker and config.getoption("numprocesses") is None:
        config.option.numprocesses = AT_A_TIME


def pytest_collection_finish() -> None:
    """Thousands of tests stay to the end: the garbage collector need not look through them each time."""
    gc.collect()
    gc.freeze()


class FilesTogether(LoadScopeScheduling):
    """One test after the other to whoever is free; the files of ``TOGETHER`` as a whole, and first, the one
    that is ``PARTED`` in its parts.

    xdist's own loadgroup leaves its groups apart under pytest 9.2.
    """

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        name = PurePosixPath(file).name
        if name == PARTED:
            return f"{file} {zlib.crc32(nodeid.encode()) % PARTS}"
        return file if name in TOGETHER else nodeid


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadScopeScheduling:
    return FilesTogether(config, log)
