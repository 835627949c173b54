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


async def _look(config: WatchConfig) -> Sequence[Reading]:
    log, state = await open_kernel_log(config.kmsg)
    if log is not None:
        log.close()
    found = [state, *(unseen(config) if config.is_local else ())]
    sources = [source for source, _ in make_sources(config)]
    for source in sorted(sources, key=lambda s: s.name not in _FIRST):
        found += [reading for reading in await read_bounded(source) if isinstance(reading, Reading)]
    return found
