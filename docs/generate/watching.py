"""The section on the watch's sources, in the words of their classes."""

from collections.abc import Iterator

from source import whole
from tables import code, table

from soakproof.watch.service import make_sources
from soakproof.watch.settings import WatchConfig

_TARGET = {"kind": "lemonade", "base_url": "http://127.0.0.1:13305"}


def section() -> Iterator[str]:
    yield "## Sources of the watch"
    yield ""
    yield "Each writes samples of its own name, and is read in time by itself. A value that is `null` could"
    yield "not be read; `reason` says why. How often is told for a Lemonade here, watched once a second."
    rows = [
        (code(source.name), f"{period:g} s", whole(type(source)))
        for source, period in make_sources(WatchConfig(target=_TARGET, server_logs=("lemonade.log",)))
    ]
    yield from table(("source", "each", "what it tells"), rows)
