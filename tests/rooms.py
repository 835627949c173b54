"""Who may import what: rules over the syntax of every file. `test_rooms.py` applies and proves them.

A rule takes a file's path, as it stands in the repository, and its tree, and yields what is wrong with it.
"""

import ast
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).parent.parent
PACKAGE = "src/soakproof"


@dataclass(frozen=True)
class Import:
    """One imported module, or name of a module. ``late``: inside a function; ``guarded``: in try or if."""

    line: int
    module: str
    name: str = ""
    late: bool = False
    guarded: bool = False
    for_types: bool = False

    @property
    def top(self) -> str:
        return self.module.partition(".")[0]


def imports(tree: ast.AST) -> list[Import]:
    return list(_imports(tree, late=False, guarded=False, for_types=False))


def _imports(node: ast.AST, late: bool, guarded: bool, for_types: bool) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            for alias in child.names:
                yield Import(child.lineno, alias.name, "", late, guarded, for_types)
        elif isinstance(child, ast.ImportFrom):
            module = "." * child.level + (child.module or "")
            for alias in child.names:
                yield Import(child.lineno, module, alias.name, late, guarded, for_types)
        else:
            yield from _imports(
                child,
                late or isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda),
                guarded or isinstance(child, ast.Try | ast.If),
                for_types or (isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test)),
            )


def of_package(path: PurePosixPath) -> str:
    """The path inside the package; empty for files elsewhere."""
    return str(path.relative_to(PACKAGE)) if path.is_relative_to(PACKAGE) else ""


Rule = Callable[[PurePosixPath, ast.AST], Iterator[str]]


def only_in(modules: set[str], *rooms: str) -> Rule:
    """These modules are imported by these rooms (beginnings of paths inside the package) and no other."""

    def rule(path: PurePosixPath, tree: ast.AST) -> Iterator[str]:
        if not of_package(path).startswith(rooms):
            for found in imports(tree):
                if found.top in modules and not found.for_types:
                    yield f"line {found.line}: {found.module} is for {', '.join(rooms)} alone"

    return rule


# -- no I/O

PURE = (
    "amounts.py",
    "columns/",
    "context.py",
    "decisions/entries.py",
    "decisions/written.py",
    "exchange.py",
    "formats.py",
    "failures.py",
    "grades.py",
    "iteration.py",
    "judge/",
    "launchoptions.py",
    "lines.py",
    "metrics.py",
    "nesting.py",
    "plain.py",
    "prompts.py",
    "endings.py",
    "quantities.py",
    "raw.py",
    "reading/",
    "records.py",
    "release.py",
    "replays.py",
    "request.py",
    "samples/",
    "scenario.py",
    "slots.py",
    "sse.py",
    "strictjson.py",
    "sweep.py",
    "tables.py",
    "thresholds.py",
    "units.py",
    "watch/guard/clearing.py",
    "watch/guard/deciding.py",
    "watch/guard/limits.py",
    "watch/guard/pacing.py",
)
_IO_MODULES = {
    *("asyncio", "ctypes", "ftplib", "http", "io", "logging", "mmap", "multiprocessing", "os", "psutil"),
    *("select", "selectors", "shutil", "signal", "socket", "sqlite3", "ssl", "subprocess", "tempfile"),
    *("threading", "time", "urllib", "uuid", "secrets"),
}
_IO_CALLS = {"open", "print", "input", "exec", "eval", "__import__", "breakpoint"}
_IO_METHODS = {
    *("read_text", "write_text", "read_bytes", "write_bytes", "unlink", "mkdir", "iterdir", "touch"),
    *("now", "utcnow", "today"),
}
_HARMLESS = {"urllib.parse"}


def no_io(path: PurePosixPath, tree: ast.AST) -> Iterator[str]:
    """Pure rooms, scenarios and adjudicators: nothing that opens, prints, waits or reads a clock."""
    if of_package(path).startswith(PURE) or path.parts[0] in ("scenarios", "adjudicators"):
        yield from _io(tree)


def _io(tree: ast.AST) -> Iterator[str]:
    for found in imports(tree):
        if found.top in _IO_MODULES and found.module not in _HARMLESS:
            yield f"line {found.line}: {found.module} in a room without I/O"
        if found.module == "pathlib" and not found.name.startswith("Pure"):
            yield f"line {found.line}: only pure paths in a room without I/O"
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = node.func
            if isinstance(called, ast.Name) and called.id in _IO_CALLS:
                yield f"line {node.lineno}: {called.id}() in a room without I/O"
            if isinstance(called, ast.Attribute) and called.attr in _IO_METHODS:
                yield f"line {node.lineno}: .{called.attr}() in a room without I/O"


# -- files that users write

_FOR_USERS = {
    "scenarios": ("soakproof.scenario", "soakproof.records"),
    "adjudicators": ("soakproof.judge", "soakproof.records", "numpy"),
    "locustfiles": ("soakproof.load",),
}


def plugins(path: PurePosixPath, tree: ast.AST) -> Iterator[str]:
    """Scenarios, adjudicators and locustfiles import what users are told of, and the standard library."""
    room = path.parts[0]
    allowed = _FOR_USERS.get(room, ())
    for found in imports(tree) if allowed else ():
        of_python = found.top in sys.stdlib_module_names and room != "locustfiles"
        of_judge = room == "adjudicators" and found.module.startswith("soakproof.judge.")
        if found.module not in allowed and not of_python and not of_judge:
            yield f"line {found.line}: {room} may import {', '.join(allowed)}, not {found.module}"


# -- rooms against each other

_NEVER = {
    "judge/": ("run", "judgement", "report", "load", "watch", "gates", "faults", "testbed", "cli"),
    "report/": ("judgement", "load", "watch", "gates", "faults", "testbed", "cli", "target"),
    "watch/": ("load", "gates", "judge", "report", "testbed", "cli"),
    "gates/": ("load", "judge", "report", "cli"),
    "load/": ("gates", "judge", "judgement", "report", "cli"),
    "testbed/": ("load", "watch", "gates", "judge", "report", "cli", "scenario"),
    "decisions/": ("judge", "report", "load", "watch", "gates", "testbed", "cli"),
    "run/": ("judge", "report", "load", "watch", "gates", "testbed", "cli"),
    "reading/": ("run", "load", "watch", "gates", "judge", "report", "testbed", "cli", "exchange"),
}


def neighbours(path: PurePosixPath, tree: ast.AST) -> Iterator[str]:
    """Rooms that must not know of each other."""
    inside = of_package(path)
    for room, never in _NEVER.items():
        if inside.startswith(room):
            for found in imports(tree):
                names = {found.module, f"{found.module}.{found.name}"}
                rooms = {name.split(".")[1] for name in names if name.startswith("soakproof.")}
                for other in sorted(rooms & set(never)):
                    yield f"line {found.line}: {room} knows nothing of {other}"


def absolute(path: PurePosixPath, tree: ast.AST) -> Iterator[str]:
    """Imports name the package, and never a folder that is loaded by path."""
    for found in imports(tree):
        if found.module.startswith("."):
            yield f"line {found.line}: a relative import"
        if found.module.startswith(
            ("soakproof.scenarios", "soakproof.adjudicators", "soakproof.locustfiles")
        ):
            yield f"line {found.line}: {found.module} is loaded by path, never imported"


# -- other platforms

_POSIX_MODULES = {"fcntl", "resource", "termios", "tty", "pty", "pwd", "grp", "syslog", "posix", "uvloop"}
_POSIX_NAMES = {
    "signal": {
        "SIGKILL",
        "SIGHUP",
        "SIGQUIT",
        "SIGUSR1",
        "SIGUSR2",
        "SIGALRM",
        "SIGCHLD",
        "SIGSTOP",
        "SIGCONT",
    },
    "os": {"getuid", "geteuid", "fork", "setsid", "killpg", "O_NONBLOCK", "O_CLOEXEC", "WNOHANG", "sysconf"},
}


def portable(path: PurePosixPath, tree: ast.AST) -> Iterator[str]:
    """The package is imported on Windows and macOS: what only POSIX has waits inside functions or guards."""
    for found in imports(tree):
        if found.top in _POSIX_MODULES and not (found.late or found.guarded):
            yield f"line {found.line}: {found.module} is not on every platform: import it where it is used"
    for node in _at_import(tree):
        match node:
            case ast.Attribute(value=ast.Name(id=module), attr=name) if name in _POSIX_NAMES.get(module, ()):
                yield f"line {node.lineno}: {module}.{name} is not on every platform"


def _at_import(node: ast.AST) -> Iterator[ast.AST]:
    """What is evaluated when a module is imported: everything but the insides of functions and guards."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Try | ast.If):
            continue
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            defaults = [*child.args.defaults, *(d for d in child.args.kw_defaults if d)]
            for part in [*defaults, *getattr(child, "decorator_list", [])]:
                yield from ast.walk(part)
            continue
        yield child
        yield from _at_import(child)


RULES: Mapping[str, Rule] = {
    "gevent and Locust in load/": only_in({"gevent", "locust", "geventhttpclient"}, "load/"),
    "trio in processes of its own": only_in({"trio"}, "watch/", "gates/", "faults/"),
    "httpx where servers are asked": only_in(
        {"httpx", "httpcore"}, "watch/", "gates/", "faults/", "load/", "target/"
    ),
    "the testbed's libraries": only_in(
        {"xllamacpp", "starlette", "uvicorn", "httptools", "uvloop"}, "testbed/"
    ),
    "click in cli/": only_in({"click"}, "cli/"),
    "no I/O": no_io,
    "plugins": plugins,
    "neighbours": neighbours,
    "absolute": absolute,
    "portable": portable,
}


def files(root: Path = ROOT) -> dict[PurePosixPath, ast.AST]:
    """Every Python file that the rules are about."""
    folders = (PACKAGE, "scenarios", "adjudicators", "locustfiles")
    paths = (p for folder in folders for p in sorted((root / folder).rglob("*.py")))
    return {PurePosixPath(p.relative_to(root).as_posix()): ast.parse(p.read_bytes()) for p in paths}


def violations(rule: Rule, trees: Mapping[PurePosixPath, ast.AST]) -> list[str]:
    return [f"{path}: {problem}" for path, tree in trees.items() for problem in rule(path, tree)]


# -- what a module loads, however indirectly


def module_name(path: PurePosixPath) -> str:
    parts = list(path.relative_to("src").with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def loads(
    start: str, modules: Mapping[str, ast.AST], late: bool, besides: Collection[str] = ()
) -> dict[str, str]:
    """Top-level names of foreign modules that ``start`` imports, itself or by others, each with its importer.

    ``late`` follows imports inside functions as well; modules in ``besides`` are not followed.
    """
    foreign: dict[str, str] = {}
    waiting, seen = [start], {start, *besides}
    while waiting:
        module = waiting.pop()
        for found in imports(modules[module]):
            if found.for_types or (found.late and not late):
                continue
            if found.top != "soakproof":
                foreign.setdefault(found.top, module)
                continue
            for name in _own(found, modules):
                if name not in seen:
                    seen.add(name)
                    waiting.append(name)
    return foreign


def _own(found: Import, modules: Mapping[str, ast.AST]) -> Iterator[str]:
    """The module, the packages around it, and the name where that is a module."""
    parts = found.module.split(".")
    for depth in range(1, len(parts) + 1):
        name = ".".join(parts[:depth])
        if name in modules:
            yield name
    if f"{found.module}.{found.name}" in modules:
        yield f"{found.module}.{found.name}"
