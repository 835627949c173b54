"""The words that llama.cpp was started with, as far as a front tells them, and options among them. Pure."""

import shlex
from collections.abc import Mapping, Sequence
from typing import Any


def launch_words(identity: Mapping[str, Any]) -> Sequence[str]:
    """The words that llama.cpp was started with, or those that were added to Lemonade's own; else none.

    ``identity`` is what a front told of its backend.
    """
    if identity.get("recipe") != "llamacpp":
        return ()
    command = identity.get("launch_command")
    if isinstance(command, list) and command:
        return [str(word) for word in command]
    options = identity.get("recipe_options")
    added = options.get("llamacpp_args") if isinstance(options, dict) else None
    if not isinstance(added, str):
        return ()
    try:
        return shlex.split(added)
    except ValueError:
        return added.split()


def last_given(words: Sequence[str], options: Sequence[str]) -> str | None:
    """What an option, by any of its names, was last given; None where it was not asked for."""
    asked = [value for word, value in zip(words, [*words[1:], ""], strict=True) if word in options]
    return asked[-1] if asked else None
