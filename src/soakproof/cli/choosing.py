"""Which run another is compared with: by a baseline's name, by a run's, or the newest that will do."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from soakproof.catalog import Catalog
from soakproof.cli.output import say
from soakproof.cli.reading import document, entry_outcome, is_guard, sealed_run
from soakproof.errors import UsageError, did_you_mean
from soakproof.judge import Evidence
from soakproof.judge.identity import compare
from soakproof.judge.rules import Role
from soakproof.plain import listed, plain
from soakproof.policy import load_policy
from soakproof.run import (
    RUN,
    Loaded,
    all_of,
    baselines,
    has_baseline,
    read_baseline,
    runs_option,
    sealing,
    shaped_run,
    state,
    verdict_folders,
    verify_entry,
)

AUTO = "auto"
_OPTION = "--baseline"
_TOLD = 5  # runs that were passed over


def chosen(runs: Path, name: str, judged: Loaded, policy: str) -> Loaded:
    """The run to compare with. Raises UsageError where there is none, or it is not what it was."""
    if name == AUTO:
        return _newest(judged, policy)
    return by_baseline(runs, name, _OPTION) if has_baseline(runs, name) else _by_run(runs, name)


def by_baseline(runs: Path, name: str, what: str) -> Loaded:
    """The run of a baseline. Raises UsageError where it is not what it was; ``what`` begins that."""
    baseline = read_baseline(runs, name)
    if trouble := state(runs, baseline):
        raise UsageError(
            f"{what}: the run of {name}, {plain(baseline.run, 100)}, is {trouble}",
            f"name another: soakproof baseline add NAME RUN{runs_option(runs)}",
        )
    return sealed_run(runs, str(runs / baseline.run), what)


def _by_run(runs: Path, name: str) -> Loaded:
    names = [baseline.name for baseline in baselines(runs)]
    try:
        return sealed_run(runs, name, _OPTION)
    except UsageError as error:
        if not (meant := did_you_mean(name, names)):
            raise
        raise UsageError(error.problem, f"{meant}a baseline of that name is there; {error.hint}") from error


def _newest(judged: Loaded, policy: str) -> Loaded:
    """The newest run beside it that was judged PASS and has every field that must be the same."""
    roles = load_policy(Catalog(), policy).roles
    here = judged.path.parent
    passed_over: list[str] = []
    for path in reversed(all_of(here)):
        if path.resolve() == judged.path.resolve():
            continue
        against = next(_against(path, judged, roles), "")
        if not against:
            found = sealed_run(here, str(path), _OPTION)
            _say(f"baseline: {path.name}, the newest run that was judged PASS and is comparable", passed_over)
            return found
        passed_over.append(f"{path.name}: {against}")
    if not passed_over:
        raise UsageError(f"{_OPTION} {AUTO}: there is no other run in {here}", "name a run, or leave it out")
    raise UsageError(
        f"{_OPTION} {AUTO}: none of {len(passed_over)} other runs in {here} will do:\n  "
        + listed(passed_over, _TOLD, "\n  ", limit=300),
        "judge one of them, name a run, or leave it out",
    )


def _say(told: str, passed_over: list[str]) -> None:
    say(told)
    for line in passed_over[:_TOLD]:
        say(f"  not {plain(line, 300)}")
    if len(passed_over) > _TOLD:
        say(f"  nor {len(passed_over) - _TOLD} more")


def _against(path: Path, judged: Loaded, roles: Mapping[str, Role]) -> Iterator[str]:
    """Why a run is no baseline, the plainest reason first. Its files are not compared with their seals."""
    about, _ = shaped_run(dict(document(path / RUN)))
    if is_guard(about):
        yield "the record of a guard"
    if (seal := sealing(path)) != "sealed":
        yield seal
    entries = [(entry, verify_entry(entry)) for entry in verdict_folders(path)]
    if not entries:
        yield "never judged"
    elif (outcome := entry_outcome(*entries[-1])) != "PASS":
        yield f"its newest verdict is {outcome}"
    compared = compare(_document_of(judged.run), _document_of(about), roles)
    yield from (*compared.differ, *compared.unknown)


def _document_of(run: Mapping[str, Any]) -> Evidence:
    """A run without its records, of which nothing is compared here."""
    return Evidence(run=run, raw=None, records=())
