"""How a run is named on a command line: hints can be pasted as they are, wherever the run is."""

import shlex
from pathlib import Path

RUNS = Path("runs")  # where commands look without --runs
GUARDS = Path("guards")  # where a guard leaves its record


def typed(run: Path) -> str:
    """A run as an argument: its name where commands look for it, else its path."""
    return shlex.quote(run.name if run.parent == RUNS else str(run))


def runs_option(runs: Path) -> str:
    """`` --runs DIR`` for a folder that commands do not look in by themselves; "" for the one they do."""
    return "" if runs == RUNS else f" --runs {shlex.quote(str(runs))}"
