"""A model that is split into several files, `NAME-00001-of-00003.gguf`, as one. Paths only; no I/O."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

_SHARD = re.compile(r"(.*)-(\d{5})-of-(\d{5})\.gguf", re.DOTALL)
_MOST = 1000  # files of one model


def shards(path: str) -> list[str]:
    """The paths of all files of the model that this is one of; itself where the model is not split."""
    found = _SHARD.fullmatch(PurePath(path).name)
    count = int(found[3]) if found else 1
    if not found or not 1 <= int(found[2]) <= count <= _MOST:
        return [path]
    folder = path[: len(path) - len(PurePath(path).name)]
    return [f"{folder}{found[1]}-{n:05}-of-{count:05}.gguf" for n in range(1, count + 1)]


def together(files: Sequence[tuple[str, Mapping[str, Any] | None]]) -> dict[str, Any]:
    """What digests of several files come to: {count, bytes, sha256_of_shards, …}, or {…, missing}.

    The digest of all is that of their digests, a line each in order; it is not told unless each is known.
    """
    there = [told for _, told in files if told]
    missing = [PurePath(path).name for path, told in files if not told]
    found: dict[str, Any] = {"count": len(files), "bytes": sum(told["bytes"] for told in there)}
    if missing:
        return {**found, "missing": missing}
    for ours, theirs in (("sha256_of_shards", "sha256"), ("sha256_of_shards_ends", "sha256_of_ends")):
        lines = [str(told.get(theirs)) for told in there if told.get(theirs)]
        if len(lines) == len(files):
            found[ours] = hashlib.sha256("\n".join(lines).encode()).hexdigest()
    reads = [told["read"] for told in there]
    return {**found, "read": next((how for how in ("ends", "kept") if how in reads), "whole")}
