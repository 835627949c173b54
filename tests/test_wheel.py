"""The wheel has everything that a user needs, and works from where nothing of the checkout is.

Built from the sdist, as releases are: the wheel's bundled folders would take caches of a checkout along.
"""

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from soakproof.catalog import bundled

pytest.importorskip("hatchling")
ROOT = Path(__file__).parent.parent


def build(folder: Path, kind: str, to: Path) -> Path:
    command = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(to)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (made,) = to.iterdir()
    return made


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not (ROOT / "pyproject.toml").is_file():
        pytest.skip("no checkout to build from")
    there = tmp_path_factory.mktemp("build")
    with tarfile.open(build(ROOT, "sdist", there / "sdist")) as archive:
        archive.extractall(there / "source", filter="data")
    (source,) = (there / "source").iterdir()
    return build(source, "wheel", there / "wheel")


@pytest.fixture(scope="module")
def names(wheel: Path) -> set[str]:
    return set(zipfile.ZipFile(wheel).namelist())


@pytest.fixture(scope="module")
def site(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel unpacked, as an installer does it."""
    there = tmp_path_factory.mktemp("site")
    zipfile.ZipFile(wheel).extractall(there)
    return there


@pytest.mark.parametrize("room", ["scenarios", "adjudicators", "locustfiles"])
def test_every_bundled_file_is_in_it(names: set[str], room: str) -> None:
    folder = bundled(room)
    files = [p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()]
    kept = {f for f in files if "__pycache__" not in f and not Path(f).name.startswith(".")}
    assert kept
    assert {f"soakproof/{room}/{f}" for f in kept} <= names


def test_every_module_and_every_data_file_of_the_package_is_in_it(names: set[str]) -> None:
    package = ROOT / "src" / "soakproof"
    files = {p.relative_to(package.parent).as_posix() for p in package.rglob("*") if p.is_file()}
    assert {f for f in files if "__pycache__" not in f} <= names
    for data in (".gguf", ".j2", ".css", "signatures.json", "py.typed"):
        assert any(name.endswith(data) for name in names), data


def test_nothing_else_is_in_it(names: set[str]) -> None:
    assert {name.partition("/")[0] for name in names if ".dist-info/" not in name} == {"soakproof"}
    assert not [name for name in names if "__pycache__" in name or name.endswith(".pyc")]


def run(site: Path, folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """The unpacked program, from a folder of its own and with nothing of the checkout on its path."""
    environment = {**os.environ, "PYTHONPATH": str(site)}
    command = [sys.executable, "-P", *arguments]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=60
    )


def test_it_runs_from_where_it_was_unpacked(site: Path, tmp_path: Path) -> None:
    done = run(site, tmp_path, "-c", "import soakproof; print(soakproof.__file__)")
    assert Path(done.stdout.strip()).is_relative_to(site)
    done = run(site, tmp_path, "-m", "soakproof", "plans")
    assert done.returncode == 0, done.stderr
    assert "isolation" in done.stdout
    assert "release" in done.stdout
    assert "bundled" in done.stdout


def test_init_copies_out_what_it_carries_and_locust_takes_it(site: Path, tmp_path: Path) -> None:
    done = run(site, tmp_path, "-m", "soakproof", "init", "mine")
    assert done.returncode == 0, done.stderr
    mine = tmp_path / "mine"
    for room in ("scenarios", "adjudicators", "locustfiles"):
        expected = {p.name for p in bundled(room).iterdir() if p.is_file() and not p.name.startswith(".")}
        assert {p.name for p in (mine / room).iterdir() if p.is_file()} == expected
    done = run(site, mine, "-m", "locust", "-f", "locustfiles/quick.py", "--list")
    assert done.returncode == 0, done.stderr
    assert "SoakUser" in done.stdout


@pytest.mark.parametrize("policy", ["default", "release"])
def test_bundled_policies_load_from_it(site: Path, tmp_path: Path, policy: str) -> None:
    code = (
        "import sys; from pathlib import Path\n"
        "from soakproof.catalog import Catalog; from soakproof.policy import load_policy\n"
        "print(len(load_policy(Catalog(Path.cwd()), sys.argv[1]).rules))"
    )
    done = run(site, tmp_path, "-c", code, policy)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 5
