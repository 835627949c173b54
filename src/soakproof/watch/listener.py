"""The process that listens on the target's own port, found again after a restart."""

import contextlib
import time
from pathlib import Path
from urllib.parse import urlsplit

from soakproof.watch.portable import find_portable_listener, is_without_proc
from soakproof.watch.process import find_listener, still_listens
from soakproof.watch.source import BlockingReader, HungError

_EVERY_S = 5.0  # a search looks through every process's files
_CHECK_EVERY_S = 15.0  # that the known one still listens
_SEARCH_BOUND_S = 1.0


class Listener:
    """Its pid as far as it is known; a search is made when it is not, and not more often than every 5 s.

    One that still lives and has lost its port to another, as in a slow end, is noticed every 15 s. A pid that
    the user named is believed: what listens here for a container is not the server itself.
    """

    def __init__(self, proc_root: Path, base_url: str, pid: int | None, *, named: bool = False) -> None:
        """``base_url``: empty where only a pid is known; then no other one is searched for."""
        self.base_url = base_url
        parts = urlsplit(base_url)
        self._is_searched = bool(base_url)
        self.port = parts.port or (443 if parts.scheme == "https" else 80)
        self.pid = pid
        self._root = proc_root
        self._reader = BlockingReader(_SEARCH_BOUND_S)
        self._next_search = 0.0
        self._named = named
        self._next_check = time.monotonic() + _CHECK_EVERY_S

    async def find(self, otherwise: int | None) -> int | None:
        """The known pid, or that of a search, or ``otherwise``: a guess."""
        if self.pid is None and self._is_searched and time.monotonic() >= self._next_search:
            self._next_search = time.monotonic() + _EVERY_S
            try:
                self.pid = await self._reader.run(self._search)
            except (HungError, OSError, ValueError):
                self.pid = None
        elif self.pid and self._is_searched and not self._named and time.monotonic() >= self._next_check:
            await self.check()
        return self.pid or otherwise

    async def check(self) -> None:
        """Find the process that has the port now, where that is certainly not the known one."""
        self._next_check = time.monotonic() + _CHECK_EVERY_S
        with contextlib.suppress(HungError, OSError, ValueError):
            self.pid = await self._reader.run(self._successor) or self.pid

    def _successor(self) -> int | None:
        if self.pid is None or is_without_proc(self._root):
            return None
        if still_listens(self._root, self.pid, self.port) is not False:
            return None
        return find_listener(self._root, self.port)

    def _search(self) -> int | None:
        if is_without_proc(self._root):
            return find_portable_listener(self.port)
        return find_listener(self._root, self.port)

    def lost(self) -> None:
        """The process is gone: search at once, and then every 5 s."""
        self.pid, self._named = None, False
        self._next_search = 0.0
