"""`soakproof runs`: what runs there are, and how they stand by a look at them. Nothing is verified here."""

import contextlib
import signal
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from soakproof import run as rundir
from soakproof.cli.options import runs_option
from soakproof.cli.output import say, table
from soakproof.cli.reading import EDITED, NEWER, UNSEALED, document, entry_outcome, is_guard
from soakproof.clock import seconds
from soakproof.errors import EXIT_OK
from soakproof.judge.finding import WORST_FIRST, Outcome
from soakproof.plain import model_name, plain

_SHOWN = 20
_DAMAGED = "damaged"
_NOT_SHOWN = "not of what is there"  # verdicts on evidence that was damaged since
_STATES = {
    "sealed": "unchecked",
    "recovered": "recovered",
    "being written": "being written",
    "unsealed": "unsealed",
    "damaged": _DAMAGED,
}


@click.command(short_help="List the runs: target, raw outcome, verdicts.")
@click.option("--all", "every", is_flag=True, help=f"All of them, not the last {_SHOWN}.")
@runs_option
def runs(runs: Path, every: bool) -> int:
    """List the runs, the newest last.

    \b
    Examples:
      soakproof runs
      soakproof runs --all --runs /srv/soaks/runs
    """
    here = rundir.all_of(runs)
    if not here:
        bare = rundir.bare_among(runs)
        hint = f"{bare.name}: {rundir.BARE_HINT}" if bare else rundir.how_to_make_one(Path.cwd(), runs)
        say(f"no runs in {runs.absolute()}\n  {hint}")
        return EXIT_OK
    shown = here if every else here[-_SHOWN:]
    heads = ("run", "target", "lasted", "raw", "verdicts", "seal")
    rows = [_row(path) for path in shown]
    say(table(heads, rows, right=("lasted",), whole=("run",)))
    if len(shown) < len(here):
        say(f"\n{len(here) - len(shown)} older ones are not shown: --all")
    for line in _notes(rows, f"`soakproof verify RUN{rundir.runs_option(runs)}`"):
        say(line)
    return EXIT_OK


def _notes(rows: Sequence[tuple[str, ...]], verify: str) -> Iterator[str]:
    """What the words in the last two columns mean, and what to type."""
    yield f"\nunchecked, recovered: files not compared with the seal: {verify}"
    if any(EDITED in row[-2] for row in rows):
        yield f"{EDITED}: that verdict is not as it was written: {verify}"
    if any(UNSEALED in row[-2] for row in rows):
        yield f"{UNSEALED}: nothing shows what that verdict was when it was written: judge again"
    if any(row[-1] == _DAMAGED for row in rows):
        yield f"{_DAMAGED}: its {rundir.RUN} is missing, or that or {rundir.SEAL} cannot be read: {verify}"
    if any(NEWER in cell for row in rows for cell in row[-2:]):
        yield f"{NEWER}: this one cannot read it: update soakproof"


def _row(path: Path) -> tuple[str, ...]:
    about, raw, state = document(path / rundir.RUN), document(path / rundir.RAW), _state(path)
    return (
        path.name,
        _target(about),
        _lasted(about),
        (_exit(raw) if is_guard(about) else "") or plain(raw.get("outcome") or "unknown", 12),
        _NOT_SHOWN if state == _DAMAGED and rundir.verdict_folders(path) else _verdicts(path),
        state,
    )


def _state(path: Path) -> str:
    if rundir.of_newer(path):
        return NEWER
    return _DAMAGED if rundir.damage(path) else _STATES[rundir.sealing(path)]


def _target(about: Mapping[str, Any]) -> str:
    if is_guard(about):
        return f"guard of {plain(_command(about), 70)}"
    target = about.get("target")
    if not isinstance(target, Mapping):
        return "unknown"
    model = target.get("model_resolved") or target.get("model") or "unknown"
    where = "testbed" if target.get("embedded") else target.get("base_url") or "unknown"
    return f"{plain(model_name(model), 30)} at {plain(where, 40)}"


def _command(about: Mapping[str, Any]) -> str:
    guard = about.get("guard")
    command = guard.get("command") if isinstance(guard, Mapping) else None
    return " ".join(map(str, command)) if isinstance(command, list) else "unknown"


def _exit(raw: Mapping[str, Any]) -> str:
    """How a guarded command ended; "" where it ended well, or that is not known."""
    ended, code = raw.get("ended"), raw.get("exit_code")
    if isinstance(ended, Mapping) and ended.get("why") == "tripped":
        return "tripped"
    if not isinstance(ended, Mapping) or ended.get("why") != "ended" or type(code) is not int or code == 0:
        return ""
    with contextlib.suppress(ValueError):  # as shells tell a signal; or a number above those of signals
        return f"exit {code} ({signal.Signals(code - 128).name})"
    return f"exit {code}"


def _lasted(about: Mapping[str, Any]) -> str:
    """How long the load lasted until it was stopped, or the guard; of a guard that still runs, nothing."""
    guard = is_guard(about)
    began = 0 if guard else about.get("load_started_ns")
    ends = ("ended_ns",) if guard else ("load_stopping_ns", "load_ended_ns")  # the first is not in older runs
    ended = next((t for name in ends if (t := about.get(name)) is not None), None)
    if not isinstance(began, int) or not isinstance(ended, int):
        return "" if guard else "unknown"
    whole = round(seconds(ended - began))
    return f"{whole // 60}:{whole % 60:02d}"


def _verdicts(path: Path) -> str:
    """The newest one; of several how many there are, and the worst."""
    states = [(entry, rundir.verify_entry(entry)) for entry in rundir.verdict_folders(path)]
    if not states:
        return "none"
    told = [(entry_outcome(entry, state), entry) for entry, state in states]
    parts = [_named(*told[-1])]
    if len(told) > 1:
        parts.append(f"{len(told)} in all")
    worst = min(told, key=lambda one: _rank(one[0]))
    if _rank(worst[0]) < _rank(told[-1][0]):
        parts.append(f"worst {_named(*worst)}")
    return ", ".join(parts)


def _named(outcome: str, entry: rundir.VerdictFolder) -> str:
    return plain(f"{outcome} ({entry.number}-{entry.policy})", 40)


def _rank(outcome: str) -> int:
    """What is no outcome stands before the worst."""
    return WORST_FIRST.index(Outcome(outcome)) if outcome in set(Outcome) else -1
