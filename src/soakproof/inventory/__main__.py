"""The process that reads an inventory: questions as one JSON argument, findings as lines of JSON.

    python -m soakproof.inventory '{"pid": 4711, "files": {"model_file": "/models/x.gguf"}, "whole": false}'

Each line is {"name", "value", "from"}, or {"progress"}; the quick ones come first, and stay when time is up.
Loads no Locust, httpx or trio.
"""

import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from soakproof import children
from soakproof.inventory.cache import Cache, folder
from soakproof.inventory.digests import Digests, rests_on
from soakproof.inventory.gpus import gpus
from soakproof.inventory.process import own_libraries, program, runtime_libraries, seen_by
from soakproof.inventory.shards import shards, together
from soakproof.inventory.software import software

_SAID_EVERY_S = 5.0
_MOST_MEMORY = 2 << 30  # bytes of its own; files are mapped beside that


def main(argument: str) -> None:
    children.guard_lifeline()
    _step_back()
    question = json.loads(argument)
    whole = bool(question.get("whole"))
    within = question.get("within_s")
    until = None if whole or within is None else time.monotonic() + float(within)
    cache = Cache(folder())
    digests = Digests(cache, until=until, whole=whole, progress=_Progress())
    for name, value, source in _findings(question, digests, cache):
        print(json.dumps({"name": name, "value": value, "from": source}), flush=True)


def _findings(question: dict[str, Any], digests: Digests, cache: Cache) -> Iterator[tuple[str, Any, str]]:
    root = Path(question.get("root") or "/")
    for read in (software, gpus):
        for name, told in read(root).items():
            yield f"host.{name}", told["value"], told["from"]
    pid = question.get("pid")
    files = {name: seen_by(pid, str(path)) for name, path in (question.get("files") or {}).items()}
    model = _header(shards(files["model_file"])[0], cache) if "model_file" in files else None
    if model:
        yield "target.gguf", model, f"header of {files['model_file']}"
    if pid is not None:
        yield from _of_process(pid, digests)
    for name, path in files.items():
        if found := _file(path, digests):
            yield f"target.{name}", found, rests_on(found, path)


def _of_process(pid: int, digests: Digests) -> Iterator[tuple[str, Any, str]]:
    found = program(pid)
    if found and (told := digests.of(found[0], found[1])):
        yield "target.executable", told, rests_on(told, found[0])
    if loaded := runtime_libraries(pid):
        yield "target.runtime_libraries", [Path(path).resolve().name for path in loaded], f"/proc/{pid}/maps"
    own: dict[str, Any] = {Path(path).name: digests.of(path) for path in own_libraries(pid)}
    if any(own.values()):
        yield "target.libraries", own, f"/proc/{pid}/maps"


def _file(path: str, digests: Digests) -> dict[str, Any] | None:
    """One file; of a model in several files the first, with what is known of all under ``shards``."""
    paths = shards(path)
    first = digests.of(path)
    if first is None or len(paths) == 1:
        return first
    return {**first, "shards": together([(one, first if one == path else digests.of(one)) for one in paths])}


def _header(path: str, cache: Cache) -> dict[str, Any] | None:
    """What the model says of itself, kept as its digest is; None for what is no GGUF at all."""
    try:
        if not os.path.isfile(path):
            return None
        with open(path, "rb") as file:
            if file.read(4) != b"GGUF":
                return None
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    name = str(Path(path).resolve())
    known = cache.get(name, found).get("header")
    if isinstance(known, dict):
        return known
    try:
        from soakproof.inventory.header import header
    except ImportError as error:
        return {"unread": f"{error}"}
    told = header(path)
    if "unread" not in told:
        cache.put(name, found, {"header": told})
    return told


class _Progress:
    """Says now and then how far a file that takes long has been read."""

    def __init__(self) -> None:
        self._said = time.monotonic()

    def __call__(self, path: str, read: int, size: int) -> None:
        if time.monotonic() - self._said >= _SAID_EVERY_S:
            self._said = time.monotonic()
            told = (
                f"reading {Path(path).name} for its digest: {100 * read // size} % of {size / 2**30:.1f} GiB"
            )
            print(json.dumps({"progress": told}), flush=True)


def _step_back() -> None:
    """The server's work goes first; a file made to exhaust memory ends this process, not the host."""
    try:
        import resource

        os.nice(10)
        resource.setrlimit(resource.RLIMIT_DATA, (_MOST_MEMORY, _MOST_MEMORY))
    except (ImportError, OSError, ValueError):
        return


if __name__ == "__main__":
    main(sys.argv[1])
