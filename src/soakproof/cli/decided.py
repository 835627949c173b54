"""What a decision refers to: a candidate of the file, sealed runs and verdicts, and what became of these."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from soakproof.cli.options import FilledPath
from soakproof.cli.output import working
from soakproof.cli.reading import (
    document,
    entry_outcome,
    refuse_file,
    refuse_guard,
    verified,
)
from soakproof.decisions import FILE, Candidate, RunTold, VerdictTold
from soakproof.errors import UsageError, did_you_mean
from soakproof.plain import plain
from soakproof.run import (
    RAW,
    VERDICT,
    Reference,
    digest,
    find,
    read_run,
    refer,
    state,
    verdict_folders,
    verify,
    verify_entry,
)

F = TypeVar("F", bound=Callable[..., Any])


def file_option(function: F) -> F:
    path = FilledPath(path_type=Path)
    return click.option(
        "--file", type=path, default=FILE, show_default=True, metavar="FILE", help="The file of decisions."
    )(function)


def found_in(there: Sequence[Candidate], name: str, file: Path) -> Candidate:
    found = next((one for one in there if one.name == name), None)
    if found is None:
        hint = f"{did_you_mean(name, [one.name for one in there])}`soakproof decide list` has all of them"
        raise UsageError(f"no candidate of {file} is called {plain(name, 80)!r}", hint)
    return found


def told(runs: Path, name: str) -> RunTold:
    """A run and its verdicts as they are now. Raises UsageError for one that is unsealed or was touched."""
    what = "--run"
    refuse_file(name, what)
    path = find(runs, name)
    refuse_guard(path, read_run(path), what)
    with working("verifying the run"):
        verified(path, what)
    reference = refer(runs, path, "what a decision rests on")
    return RunTold(
        run=reference.run,
        seal=reference.seal,
        raw=plain(document(path / RAW).get("outcome") or "unknown", 20),
        verdict=tuple(_verdicts(path)),
    )


def _verdicts(path: Path) -> Iterator[VerdictTold]:
    for entry in verdict_folders(path):
        outcome = plain(entry_outcome(entry, verify_entry(entry)), 20)
        file = entry.path / VERDICT
        summed = digest(file)[0] if file.is_file() else ""
        yield VerdictTold(
            entry=plain(entry.path.name, 80), policy=plain(entry.policy, 60), outcome=outcome, sha256=summed
        )


def changed_since(runs: Path, run: RunTold, *, files: bool = False) -> list[str]:
    """What is not as it was told: the run lost or changed, verdicts lost, changed or new. With ``files`` each
    file of the evidence is compared with its seal as well, which takes longer.
    """
    if trouble := state(runs, Reference(run=run.run, seal=run.seal)):
        return [trouble]
    path = runs / run.run
    found: list[str] = []
    if files:
        with working("verifying the runs"):
            found += [f"not as it was sealed: {p}" for p in verify(path).problems[:1]]
    now = {verdict.entry: verdict for verdict in _verdicts(path)}
    for was in run.verdict:
        is_now = now.pop(was.entry, None)
        if is_now is None:
            found.append(f"verdict {was.entry} ({was.outcome}) is gone")
        elif (is_now.sha256, is_now.outcome) != (was.sha256, was.outcome):
            found.append(f"verdict {was.entry} was {was.outcome} and is {is_now.outcome}, changed since")
    found += [f"judged since: {verdict.entry} is {verdict.outcome}" for verdict in now.values()]
    return found
