"""Under which names a model may answer: alias, `user.` before it, `:latest` after it, a GGUF's path. Pure.

Real Lemonade answers streams under the path of the GGUF and other requests under the model's own name; a
bare llama.cpp server answers under its own name, whatever was asked.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

_PREFIXES = ("user.", "extra.", "builtin.")
_SHARD = re.compile(r"-\d{5}-of-\d{5}$")
_MODEL_OPTIONS = ("-m", "--model", "-a", "--alias", "-hf", "--hf-repo", "-hff", "--hf-file")


def forms(name: str) -> frozenset[str]:
    """What a name comes to without what servers add to it: itself, and the stem of the file that it is."""
    plain = _bare(name.strip().lower())
    stem = _SHARD.sub("", plain.replace("\\", "/").rpartition("/")[2].removesuffix(".gguf"))
    is_file = plain.endswith(".gguf")
    return frozenset(filter(None, (plain, stem))) if is_file else frozenset(filter(None, (plain,)))


def _bare(name: str) -> str:
    for prefix in _PREFIXES:
        name = name.removeprefix(prefix)
    return name.removesuffix(":latest").strip()


def known_names(target: Mapping[str, Any]) -> frozenset[str]:
    """Every form of every name that the target's identity has for the model that was asked for."""
    return frozenset(form for name in _told(target) for form in forms(name))


def other_names(target: Mapping[str, Any]) -> frozenset[str]:
    """Forms of the names of other models that the server had loaded."""
    loaded = target.get("models_loaded")
    names = [name for name in loaded if isinstance(name, str)] if isinstance(loaded, (list, tuple)) else []
    return frozenset(form for name in names for form in forms(name)) - known_names(target)


def _told(target: Mapping[str, Any]) -> Iterator[str]:
    for key in ("model", "model_resolved", "model_path", "checkpoint"):
        if isinstance(target.get(key), str):
            yield target[key]
    checkpoint = target.get("checkpoint")
    if isinstance(checkpoint, str) and ":" in checkpoint:  # repository:variant, or repository:file
        yield from checkpoint.rsplit(":", 1)
    yield from _of_command(target.get("launch_command"))


def _of_command(command: Any) -> Iterator[str]:
    words = [str(word) for word in command] if isinstance(command, (list, tuple)) else []
    for option, value in pairwise(words):
        if option in _MODEL_OPTIONS:
            yield value
    for word in words:
        option, given, value = word.partition("=")
        if given and option in _MODEL_OPTIONS:
            yield value
