"""The command line: `soakproof` and its subcommands. Each command's module says what it may load.

Commands return their exit code. What goes wrong ends in a message and a code, never in a traceback.
"""

import sys
from collections.abc import Sequence

from soakproof.errors import EXIT_ERROR


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; its exit code. The commands are loaded here, so that Ctrl-C meanwhile is told as one."""
    try:
        from soakproof.cli.app import main as run
    except KeyboardInterrupt:
        print("soakproof: stopped by Ctrl-C", file=sys.stderr)
        return EXIT_ERROR
    return run(arguments)
