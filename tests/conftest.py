"""What every room's tests may use, and how they are shared out."""

import pytest

pytest_plugins = ["fixtures_testbed"]

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


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.name in TOGETHER:
            item.add_marker(pytest.mark.xdist_group(item.path.name))
