"""Lines for whoever started the watch, as JSON on standard output. They may be ignored, and never block."""

import contextlib
import os
import stat
from collections.abc import Mapping
from typing import Any

import orjson


class Parent:
    """Writes whole lines of less than PIPE_BUF, which a pipe takes or refuses; a full one loses the line."""

    def __init__(self, descriptor: int = 1) -> None:
        self._descriptor = descriptor
        if stat.S_ISFIFO(os.fstat(descriptor).st_mode):
            os.set_blocking(descriptor, False)

    def tell(self, document: Mapping[str, Any]) -> None:
        with contextlib.suppress(OSError):
            os.write(self._descriptor, orjson.dumps(document, option=orjson.OPT_APPEND_NEWLINE))
