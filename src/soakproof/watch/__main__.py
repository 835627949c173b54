"""``python -m soakproof.watch --config JSON``: the watch's process, started by a run.

Ends with 0 once its evidence is sealed, 3 when it could not be written or its guard cannot do what it must,
64 for a wrong configuration.
"""

import argparse
import sys
import traceback
from pathlib import Path

import trio

from soakproof.errors import EXIT_ERROR, EXIT_OK, SoakproofError, UsageError
from soakproof.run import NodeWriter
from soakproof.watch.ending import Ending
from soakproof.watch.parent import Parent
from soakproof.watch.service import Service
from soakproof.watch.settings import WatchConfig, load_config

NODE = "watch"


def main() -> int:
    ending = Ending()
    ending.guard()
    parser = argparse.ArgumentParser(prog="soakproof.watch", description="Watch a run's host and servers.")
    parser.add_argument("--config", required=True, help="the configuration as JSON, or a file that holds it")
    try:
        config = load_config(parser.parse_args().config)
    except UsageError as error:
        print(f"watch: {error}", file=sys.stderr)
        return error.exit_code
    return watch(config, ending)


def watch(config: WatchConfig, ending: Ending) -> int:
    """Watch until there is a reason to end, then seal. What was not written whole is left unsealed."""
    try:
        writer = NodeWriter(Path(config.run), NODE)
        trio.run(Service(config, writer, Parent().tell).run, ending)
        writer.seal()
        return EXIT_OK
    except (SoakproofError, BaseExceptionGroup) as error:
        told = _in_words(error)
        if told is None:
            traceback.print_exception(error)
        print(f"watch: {told or 'ended by a fault of its own'}", file=sys.stderr)
        return EXIT_ERROR


def _in_words(error: BaseException) -> BaseException | None:
    """The error in it that says in words what is wrong, if there is one."""
    if isinstance(error, BaseExceptionGroup):
        return next((found for e in error.exceptions if (found := _in_words(e))), None)
    return error if isinstance(error, SoakproofError) else None


if __name__ == "__main__":
    sys.exit(main())
