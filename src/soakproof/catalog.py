"""Finds scenarios, plans, corpora, adjudicators and policies by name: the user's folder first, then the
bundled ones. Files are loaded by path, never imported as packages: a user's own ``scenarios/`` would
shadow a package of that name.
"""

import ast
import contextlib
import hashlib
import importlib.util
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, TypeVar

from soakproof.errors import UsageError, did_you_mean
from soakproof.lines import FAULTS, told
from soakproof.plain import plain
from soakproof.scenario import Scenario

if TYPE_CHECKING:
    from soakproof.judge.finding import Adjudicator

T = TypeVar("T")
_PACKAGE = Path(__file__).parent
_METHODS = ("iterate", "judge")  # of a Scenario and of an Adjudicator
_CHECKOUT = _PACKAGE.parent.parent


def bundled(room: str) -> Path:
    """The folder of a room that came with the program: beside src/ in a checkout, inside a wheel."""
    inside = _PACKAGE / room
    return inside if inside.is_dir() else _CHECKOUT / room


def working_folder() -> Path:
    """The folder that the user works in. Raises UsageError where it is gone."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        raise UsageError("the folder that this was started in is gone", "cd to one that is there") from None


def shown(path: Path) -> str:
    """A path as a user would write it: from the folder that they work in, where it lies below that."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


@dataclass(frozen=True, slots=True)
class Catalog:
    """Names to files. ``here`` is the folder whose own ``scenarios/`` and ``adjudicators/`` come first."""

    here: Path = field(default_factory=working_folder)

    def folders(self, room: str) -> list[Path]:
        """The folders of a room, the user's first, without repeats."""
        found = [self.here / room, bundled(room)]
        return list(dict.fromkeys(f.resolve() for f in found if f.is_dir()))

    def files(self, room: str, suffix: str, inner: str = "") -> dict[str, Path]:
        """Stem to file; the user's file of a stem hides the bundled one."""
        found: dict[str, Path] = {}
        for folder in self.folders(room):
            for path in sorted((folder / inner).glob(f"*{suffix}")):
                if not path.name.startswith(("_", ".")) and path.is_file():
                    found.setdefault(path.stem, path)
        return found

    def find(self, what: str, room: str, suffix: str, name: str) -> Path:
        """The file of a name, or of a path that ends in the suffix."""
        if name.endswith(suffix) and _is_file(name):
            return Path(name)
        known = self.files(room, suffix)
        hint = f"a {what} is a name, or the path of a file that ends in {suffix}"
        if name and name not in known and _is_folder(name):
            raise UsageError(f"{plain(name, 300)} is a folder", hint)
        if name not in known and os.path.exists(name):
            what = "is no regular file" if name.endswith(suffix) else f"does not end in {suffix}"
            raise UsageError(f"{plain(name, 300)} {what}", hint)
        if name.endswith(suffix) or any(mark in name for mark in "/\\"):
            raise UsageError(f"no such file: {plain(name, 300)}", hint)
        if name in known:
            return known[name]
        raise UsageError(
            f"no {what} is called {plain(name, 100)!r}",
            f"{did_you_mean(name, known)}there are: {', '.join(sorted(known)) or 'none'}{self._own(room)}",
        )

    def _own(self, room: str) -> str:
        """Where a user's own would be found, where there is no such folder."""
        own = f"; your own are found in {room}/ of the folder you are in"
        return "" if (self.here / room).is_dir() else own

    def plan(self, name: str) -> Path:
        return self.find("plan", "scenarios", ".toml", name)

    def policy(self, name: str) -> Path:
        return self.find("policy", "adjudicators", ".toml", name)

    def scenario(self, name: str) -> type[Scenario]:
        """The Scenario class of scenarios/<name>.py."""
        path = self.find("scenario", "scenarios", ".py", name)
        refuse_yield_in_finally(path)
        return load_class(path, Scenario)

    def adjudicator(self, name: str) -> "type[Adjudicator]":
        """The Adjudicator class of adjudicators/<name>.py."""
        from soakproof.judge.finding import Adjudicator

        return load_class(self.find("adjudicator", "adjudicators", ".py", name), Adjudicator)

    def corpora(self) -> dict[str, tuple[str, ...]]:
        """Stem to lines of every file in scenarios/prompts/.

        One that cannot be read is left out: only a scenario that asks for it has to do without it.
        """
        found = {}
        for stem, path in self.files("scenarios", ".txt", "prompts").items():
            with contextlib.suppress(OSError):
                text = path.read_text(encoding="utf-8", errors="replace")
                found[stem] = tuple(line for line in text.split("\n") if line)
        return found


def refuse_yield_in_finally(path: Path) -> None:
    """A scenario that asks while it is being ended could not be stopped: refused before the run."""
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError, RecursionError):
        return  # loading the file tells it better
    for block in ast.walk(tree):
        if isinstance(block, ast.Try | ast.TryStar):
            for node in (inner for line in block.finalbody for inner in ast.walk(line)):
                if isinstance(node, ast.Yield | ast.YieldFrom):
                    raise UsageError(
                        f"{shown(path)}, line {node.lineno}: a scenario may not yield in a `finally`",
                        "what was started is cancelled and recorded when the iteration ends",
                    )


def load_class(path: Path, base: type[T]) -> type[T]:
    """The one concrete dataclass of ``base`` that a file defines."""
    module = _load(path)
    found = [
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, base) and value.__module__ == module.__name__
    ]
    if len(found) != 1:
        names = ", ".join(c.__name__ for c in found) or "none"
        raise UsageError(f"{shown(path)} must define one {base.__name__}; it defines {names}")
    if "__dataclass_fields__" not in vars(found[0]):  # its base may be one; its own fields would be lost
        raise UsageError(
            f"{shown(path)}: {found[0].__name__} is not a dataclass", "write @dataclass(frozen=True) above it"
        )
    _refuse_without_method(found[0], base, shown(path))
    return found[0]


def _refuse_without_method(made: type, base: type, where: str) -> None:
    """Raises UsageError where the one method that a base leaves open is still open."""
    for name in _METHODS:
        if hasattr(base, name) and getattr(made, name) is getattr(base, name):
            own = [n for n, value in vars(made).items() if callable(value) and not n.startswith("__")]
            raise UsageError(
                f"{where}: {made.__name__} defines no method {name}",
                did_you_mean(name, own).rstrip() or f"every {base.__name__} has one: it is what is called",
            )


def _load(path: Path) -> ModuleType:
    name = f"soakproof_file_{hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:12]}_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    try:
        spec.loader.exec_module(module)
    except FAULTS as error:
        del sys.modules[name]
        raise UsageError(f"{shown(path)} cannot be loaded: {told(error, str(path))}") from error
    return module


def _is_file(name: str) -> bool:
    try:
        return Path(name).is_file()
    except (OSError, ValueError):  # a name that no file can have
        return False


def _is_folder(name: str) -> bool:
    try:
        return Path(name).is_dir()
    except (OSError, ValueError):
        return False


def digests(paths: Iterable[Path]) -> dict[str, str]:
    """File name to SHA-256, for run.json; a file that cannot be read is left out."""
    found = {}
    for path in paths:
        with contextlib.suppress(OSError):
            found[path.name] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found
