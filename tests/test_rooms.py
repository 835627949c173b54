"""Who may import what is held to, and each rule is seen to fire on a planted violation."""

import ast
import subprocess
import sys
from pathlib import PurePosixPath

import pytest
from rooms import RULES, files, loads, module_name, of_package, violations

FILES = files()
MODULES = {module_name(path): tree for path, tree in FILES.items() if of_package(path)}
TRAFFIC = {"gevent", "geventhttpclient", "locust", "httpx", "trio"}


@pytest.mark.parametrize("name", RULES)
def test_the_rule_is_kept(name: str) -> None:
    assert violations(RULES[name], FILES) == []


PLANTED: dict[str, list[tuple[str, str]]] = {
    "gevent and Locust in load/": [
        ("src/soakproof/run/writing.py", "import gevent"),
        ("src/soakproof/gates/driver.py", "from locust import events"),
        ("src/soakproof/watch/http.py", "def f():\n    import geventhttpclient.response"),
        ("src/soakproof/loading.py", "import gevent.socket"),
    ],
    "trio in processes of its own": [
        ("src/soakproof/load/driver.py", "import trio"),
        ("src/soakproof/cli/trying.py", "def f():\n    import trio.testing"),
    ],
    "httpx where servers are asked": [
        ("src/soakproof/judge/evidence.py", "import httpx"),
        ("src/soakproof/cli/adjudicate.py", "def f():\n    from httpx import get"),
    ],
    "the testbed's libraries": [("src/soakproof/load/session.py", "from starlette.routing import Route")],
    "click in cli/": [("src/soakproof/report/terminal.py", "import click")],
    "no I/O": [
        ("src/soakproof/judge/merge.py", "import os"),
        ("src/soakproof/judge/merge.py", "def f(p):\n    return p.read_text()"),
        ("src/soakproof/judge/merge.py", "def f(p):\n    return open(p)"),
        ("src/soakproof/judge/merge.py", "from pathlib import Path"),
        ("src/soakproof/judge/merge.py", "from datetime import datetime\ndatetime.now()"),
        ("src/soakproof/reading/stream.py", "import socket"),
        ("src/soakproof/sse.py", "def f():\n    print('x')"),
        ("src/soakproof/scenario.py", "import time"),
        ("scenarios/mine.py", "import urllib.request"),
        ("adjudicators/mine.py", "import subprocess"),
    ],
    "plugins": [
        ("scenarios/mine.py", "from soakproof.run import load"),
        ("scenarios/mine.py", "import numpy"),
        ("scenarios/mine.py", "import requests"),
        ("adjudicators/mine.py", "from soakproof.run import load"),
        ("adjudicators/mine.py", "import scipy.stats"),
        ("locustfiles/mine.py", "from soakproof.plan import load_plan"),
        ("locustfiles/mine.py", "import os"),
    ],
    "neighbours": [
        ("src/soakproof/judge/judging.py", "from soakproof.run import load"),
        ("src/soakproof/judge/judging.py", "def f():\n    from soakproof import run"),
        ("src/soakproof/report/build.py", "from soakproof.load.session import Session"),
        ("src/soakproof/watch/service.py", "from soakproof.gates.driver import Driver"),
        ("src/soakproof/gates/driver.py", "from soakproof.load.transport import Flight"),
        ("src/soakproof/run/loading.py", "from soakproof.judge.finding import merge"),
    ],
    "absolute": [
        ("src/soakproof/run/seal.py", "from . import errors"),
        ("src/soakproof/catalog.py", "import soakproof.scenarios.isolation"),
    ],
    "portable": [
        ("src/soakproof/children.py", "import fcntl"),
        ("src/soakproof/children.py", "import signal\ndef f(how=signal.SIGKILL): ..."),
        ("src/soakproof/children.py", "import os\nclass C:\n    flags = os.O_NONBLOCK"),
        ("src/soakproof/testbed/gateway.py", "import uvloop"),
    ],
}
ALLOWED: dict[str, list[tuple[str, str]]] = {
    "gevent and Locust in load/": [
        ("src/soakproof/load/driver.py", "import gevent"),
        ("src/soakproof/plan.py", "if TYPE_CHECKING:\n    from locust import User"),
    ],
    "no I/O": [
        ("src/soakproof/judge/merge.py", "from pathlib import PurePath\nimport urllib.parse"),
        ("src/soakproof/run/files.py", "import os\nopen('x')"),
    ],
    "plugins": [
        ("scenarios/mine.py", "import json\nfrom soakproof.scenario import Ask"),
        ("adjudicators/mine.py", "import numpy as np\nfrom soakproof.judge import Finding"),
    ],
    "portable": [
        ("src/soakproof/children.py", "def f():\n    import fcntl\n    return signal.SIGKILL"),
        ("src/soakproof/children.py", "try:\n    import resource\nexcept ImportError:\n    resource = None"),
    ],
}


def planted(name: str, path: str, source: str) -> list[str]:
    return violations(RULES[name], {PurePosixPath(path): ast.parse(source)})


def test_every_rule_has_a_planted_violation() -> None:
    assert set(PLANTED) == set(RULES)


@pytest.mark.parametrize(
    ("name", "path", "source"), [(name, *case) for name, cases in PLANTED.items() for case in cases]
)
def test_a_planted_violation_is_found(name: str, path: str, source: str) -> None:
    assert planted(name, path, source)


@pytest.mark.parametrize(
    ("name", "path", "source"), [(name, *case) for name, cases in ALLOWED.items() for case in cases]
)
def test_what_is_allowed_is_not_found(name: str, path: str, source: str) -> None:
    assert planted(name, path, source) == []


@pytest.mark.parametrize(
    "start",
    [
        "soakproof.cli.adjudicate",
        "soakproof.cli.report",
        "soakproof.judgement",
        "soakproof.judge",
        "soakproof.report",
        "soakproof.run",
        "soakproof.catalog",
    ],
)
def test_judging_can_load_nothing_that_carries_traffic(start: str) -> None:
    """However indirectly, and inside functions as well; the other commands have a test of their own."""
    found = loads(start, MODULES, late=True, besides={"soakproof.cli"})
    assert {name: found[name] for name in TRAFFIC & set(found)} == {}


def test_the_command_line_loads_traffic_only_where_a_command_wants_it() -> None:
    found = loads("soakproof.cli", MODULES, late=False)
    assert {name: found[name] for name in TRAFFIC & set(found)} == {}
    assert {"trio", "httpx"} <= set(loads("soakproof.cli", MODULES, late=True))


def test_what_stands_besides_is_not_followed() -> None:
    modules = {
        "soakproof": ast.parse(""),
        "soakproof.a": ast.parse("from soakproof import b"),
        "soakproof.b": ast.parse("import httpx"),
    }
    assert loads("soakproof.a", modules, late=True, besides={"soakproof.b"}) == {}


@pytest.mark.parametrize(("late", "expected"), [(True, {"httpx", "os"}), (False, {"os"})])
def test_an_indirect_import_is_followed(late: bool, expected: set[str]) -> None:
    modules = {
        "soakproof": ast.parse(""),
        "soakproof.a": ast.parse("from soakproof import b\nif TYPE_CHECKING:\n    import trio"),
        "soakproof.b": ast.parse("import os\ndef f():\n    from soakproof.c.d import g"),
        "soakproof.c": ast.parse("import httpx"),
        "soakproof.c.d": ast.parse("from soakproof.a import x"),
    }
    assert set(loads("soakproof.a", modules, late)) == expected


_WITHOUT = """
import importlib.abc, pkgutil, sys

class Missing(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name in {"gevent", "locust", "geventhttpclient", "trio", "httpx", "xllamacpp", "starlette",
                    "uvicorn", "httptools", "uvloop", "matplotlib", "scipy"}:
            raise ImportError(f"{name} is not on this platform")

sys.meta_path.insert(0, Missing())
import soakproof
rooms = ("load", "watch", "gates", "testbed", "target", "faults")
for module in pkgutil.walk_packages(soakproof.__path__, "soakproof."):
    if module.name.split(".")[1] not in rooms and not module.name.endswith("__main__"):
        importlib.import_module(module.name)
print("imported", len([m for m in sys.modules if m.startswith("soakproof")]))
"""


def test_what_judges_can_be_imported_without_what_carries_traffic_or_draws() -> None:
    done = subprocess.run([sys.executable, "-c", _WITHOUT], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.split()[1]) > 40
