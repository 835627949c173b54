"""What every room's tests may use, and how they are shared out."""

import pytest
from hypothesis import HealthCheck, settings

pytest_plugins = ["fixtures_testbed"]

# A busy machine is no failure of what is tested.
settings.register_profile("suite", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("suite")

# Files whose tests share something that takes long to make: one worker has all of each.
TOGETHER = {
    "test_both_drivers.py",
    "test_cli_try.py",
    "test_client_benchmark.py",
    "test_docs_followed.py",
    "test_founding.py",
    "test_report_figures.py",
    "test_report_html.py",
    "test_wheel.py",
}

# Most tests wait for a real server, and two cores carry three of them.
AT_A_TIME = 3


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """The whole suite runs several at a time, unless -n says otherwise; chosen files run here."""
    whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS
    is_worker = hasattr(config, "workerinput")
    if whole and not is_worker and config.getoption("numprocesses") is None:
        config.option.numprocesses, config.option.dist = AT_A_TIME, "loadgroup"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.name in TOGETHER:
            item.add_marker(pytest.mark.xdist_group(item.path.name))
