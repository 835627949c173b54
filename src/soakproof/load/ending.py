"""The end of a run: its thresholds and checks judged from its own evidence, and everything sealed."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from soakproof.load.progress import say
from soakproof.plan import Threshold
from soakproof.raw import raw_result
from soakproof.run import EVIDENCE, RUN, Run, Wrong, read_records, seal_abandoned, typed

NODE = "load"


def seal(run: Run, thresholds: Sequence[Threshold], why: str, reason: str) -> dict[str, Any]:
    """Judge and seal a run in which nothing is written any more; its raw.json.

    Raises RecorderError or OSError where it cannot be sealed.
    """
    ended = {"why": why, "reason": reason}
    run.document.update(state="ended", ended=ended)
    run.seal_nodes()
    for line in seal_abandoned(run.path):
        say(f"recovered: {line}")
    files = sorted((run.path / EVIDENCE / NODE).glob("*.jsonl"))
    read = (record for path in files for record in read_records(path))
    raw = raw_result(thresholds, (r for r in read if not isinstance(r, Wrong)), ended=ended)
    run.seal(raw)
    return raw


def say_unsealed(run: Run, error: Exception) -> None:
    """What kept a run from being sealed, and what to type next."""
    say(f"soakproof: {error}\n  {unsealed(run.path)}")


def unsealed(path: Path) -> str:
    """Of a run that was left unsealed: what to type, where it is still there."""
    if is_lost(path):
        return (
            "the run is not sealed, and there is none any more: run again; one that was moved, recover there"
        )
    return f"the run is not sealed: `soakproof recover {typed(path)}` will do it"


def kept(path: Path) -> str:
    """Of a run that stops before its time: what becomes of its evidence."""
    if is_lost(path):
        return f"what was recorded is not there any more: {path}, or {RUN} in it, was removed or moved"
    return f"what was recorded is kept in {path}"


def is_lost(path: Path) -> bool:
    """Whether somebody has removed or moved the run, or run.json, which every run has from the first."""
    return not (path / RUN).is_file()
