"""The command line: `soakproof` and its subcommands. Each command's module says what it may load.

Commands return their exit code. What goes wrong ends in a message and a code, never in a traceback.
"""

from soakproof.cli.app import main

__all__ = ["main"]
