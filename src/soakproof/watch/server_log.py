"""``server_log:<file>``: a server's own log, of which only the lines that bear a signature are kept.

Each such line is an event, `server_log`, with the class of its fault. What stood in the file before the
watch began does not count.
"""

import os
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from soakproof.redaction import without_key, without_options
from soakproof.watch.catalogue import Signature
from soakproof.watch.kernel_log import clean
from soakproof.watch.log_tail import Tail
from soakproof.watch.server_catalogue import load_server_catalogue
from soakproof.watch.source import FILES_BOUND_S, BlockingReader, Happening, HungError, Reading, refusal

NAME = "server_log"
KEPT = 20  # lines of one signature and file that are kept of a run; the rest is counted
MESSAGE_LIMIT = 500  # characters
NOT_NAMED = "no log of the server was named: --server-log FILE"
_WHAT_TO_DO = "watch as a user who may read it, or give the server a log of its own"


class ServerLog:
    """{size_bytes, read_bytes, skipped_bytes, replaced, lines, matched} since the watch began.

    For each file that is named. A line that tells of a fault is an event, `server_log`, as well.
    """

    bound_s = 2 * FILES_BOUND_S

    def __init__(self, path: str, name: str = NAME, key: str | None = None) -> None:
        """``key``: an API key that must not get into the evidence."""
        self.name = name
        self._tail = Tail(Path(path))
        self._reader = BlockingReader()
        self._catalogue = load_server_catalogue()
        self._key = key
        self._matched: Counter[str] = Counter()
        self._found: deque[Happening] = deque()  # also by a look that came back too late

    async def read(self) -> Sequence[Reading | Happening]:
        try:
            await self._reader.run(self._look)
        except HungError as error:
            return [Reading(self.name, "timeout", reason=str(error))]
        except OSError as error:
            return [self._refused(error)]
        values = {**asdict(self._tail.tally), "matched": self._matched.total()}
        found = [self._found.popleft() for _ in range(len(self._found))]
        return [*found, Reading(self.name, values=values)]

    def _look(self) -> None:
        for line in self._tail.read():
            text = line.decode("utf-8", "replace")
            signature = self._catalogue.match(text)
            if signature:
                self._matched[signature.id] += 1
                if self._matched[signature.id] <= KEPT:
                    self._found.append(self._event(text, signature))

    def _event(self, text: str, signature: Signature) -> Happening:
        said = clean(self._catalogue.without_head(text))[:MESSAGE_LIMIT]
        details: dict[str, Any] = {
            "source": self.name,
            "signature": signature.id,
            "fault_class": signature.fault_class,
            "severity": signature.severity,
            "message": without_key(without_options(said), self._key),
        }
        return Happening(NAME, details)

    def _refused(self, error: OSError) -> Reading:
        state, reason = refusal(error)
        if state == "denied":
            return Reading(self.name, state, reason=f"{reason}: {_WHAT_TO_DO}")
        return Reading(self.name, "error", reason=reason)  # a log that is not there yet may come


def server_logs(paths: Sequence[str], headers_env: str) -> list[ServerLog]:
    """A source for each file, called by the file's name."""
    key = os.environ.get(headers_env) if headers_env else None
    names: Counter[str] = Counter()
    found = []
    for path in paths:
        name = clean(Path(path).name)[:60]
        names[name] += 1
        number = f"-{names[name]}" if names[name] > 1 else ""
        found.append(ServerLog(path, f"{NAME}:{name}{number}", key))
    return found
