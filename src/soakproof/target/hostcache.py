"""How many tokens llama.cpp's host-memory prompt cache holds, as far as the server's launch tells. Pure.

A token's size depends on the model's layers and heads, which no server tells. So the count is low on
purpose: a size that few models exceed is assumed. With a count too high a prefix that was evicted would be
called lost; with one too low a lost prefix is called evicted, which is only unknown.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

from soakproof.target.launchwords import last_given, launch_words

BYTES_A_TOKEN = 256 << 10  # most models take less, at 16 bits a value: 32,768 tokens in llama.cpp's default
PROBE_BYTES_A_TOKEN = 8400  # the probe model's, measured
PROBE_PREFIX = "soak-probe-"  # of its file's name
_DEFAULT_MIB = 8192
_OPTIONS = ("--cache-ram", "-cram")
_MIB = re.compile(r"-?[0-9]{1,9}")


def cache_tokens(identity: Mapping[str, Any], context: int) -> int | None:
    """Tokens in the cache: 0 without one, None where the launch is not known or not understood.

    ``identity`` is what a front told of its backend; ``context`` the tokens of all its slots together, which
    llama.cpp keeps to where the size has no limit.
    """
    words = launch_words(identity)
    mib = _mib(words) if words else None
    if mib is None:
        return None
    return context if mib < 0 else (mib << 20) // _bytes_a_token(words)


def cache_bytes(identity: Mapping[str, Any]) -> int | None:
    """Bytes of the host's memory that the cache may take; None where that is not known or has no limit."""
    words = launch_words(identity)
    mib = _mib(words) if words else None
    return None if mib is None or mib < 0 else mib << 20


def _mib(words: Sequence[str]) -> int | None:
    """The size that was asked for, the last one counts; llama.cpp's default where none was."""
    given = last_given(words, _OPTIONS)
    if given is None:
        return _DEFAULT_MIB
    return int(given) if _MIB.fullmatch(given) else None


def _bytes_a_token(words: Sequence[str]) -> int:
    probe = any(PurePath(word).name.startswith(PROBE_PREFIX) for word in words)
    return PROBE_BYTES_A_TOKEN if probe else BYTES_A_TOKEN
