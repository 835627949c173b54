"""One look at the host and a target through the watch's own eyes: what each source says, here and now."""

from collections.abc import Sequence

import trio

from soakproof.watch.kernel_source import open_kernel_log
from soakproof.watch.service import make_sources, unseen
from soakproof.watch.settings import WatchConfig
from soakproof.watch.source import Reading, read_bounded

_FIRST = ("health", "live")  # they tell the other sources where the backends are


def look(config: WatchConfig) -> Sequence[Reading]:
    """One reading of every source that a run against this target would have."""
    return trio.run(_look, config)


def look_at_host(config: WatchConfig) -> Sequence[Reading]:
    """One reading of every source of the host and the processes that are named, without the kernel's log."""
    return trio.run(_read_all, config)


async def _look(config: WatchConfig) -> Sequence[Reading]:
    """Of a target on another host, what this host shows is told as unseen, as in a run."""
    kernel_log = [await _kernel_log(config)] if config.is_local else []
    return [*kernel_log, *unseen(config), *await _read_all(config)]


async def _kernel_log(config: WatchConfig) -> Reading:
    log, state = await open_kernel_log(config.kmsg)
    if log is not None:
        log.close()
    return state


async def _read_all(config: WatchConfig) -> list[Reading]:
    found: list[Reading] = []
    sources = [source for source, _ in make_sources(config)]
    for source in sorted(sources, key=lambda s: s.name not in _FIRST):
        found += [reading for reading in await read_bounded(source) if isinstance(reading, Reading)]
    return found
