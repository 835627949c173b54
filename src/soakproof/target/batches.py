"""How many prompt tokens llama.cpp takes and computes at a time, as far as the server's launch tells. Pure.

A prompt is cut into batches of `n_batch` tokens, and those into micro-batches of `n_ubatch`. Faults have lain
exactly at these lengths.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from soakproof.target.launchwords import last_given, launch_words

BATCH, UBATCH = 2048, 512  # llama.cpp's own
_BATCH_OPTIONS = ("-b", "--batch-size")
_UBATCH_OPTIONS = ("-ub", "--ubatch-size")
_COUNT = re.compile(r"[1-9][0-9]{0,8}")


def batch_tokens(identity: Mapping[str, Any]) -> tuple[int | None, int | None]:
    """(n_batch, n_ubatch) in tokens; None where the launch is not known or not understood.

    ``identity`` is what a front told of its backend.
    """
    words = launch_words(identity)
    if not words:
        return None, None
    batch, ubatch = _last(words, _BATCH_OPTIONS, BATCH), _last(words, _UBATCH_OPTIONS, UBATCH)
    if batch is not None and ubatch is not None:
        ubatch = min(batch, ubatch)  # as llama.cpp takes it
    return batch, ubatch


def _last(words: Sequence[str], options: Sequence[str], default: int) -> int | None:
    """The number that an option was last given, or llama.cpp's own."""
    given = last_given(words, options)
    if given is None:
        return default
    return int(given) if _COUNT.fullmatch(given) else None
