"""Which run another is compared with: by a baseline's name, by a run's, or the newest that will do."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from soakproof.catalog import Catalog
from soakproof.cli.output import say
from soakproof.cli.reading import document, entry_outcome, is_guard, sealed_run
from soakproof.errors import UsageError, did_you_mean
from soakproof.judge import Evidence
from soakproof.judge.identity import compare, same_run
from soakproof.judge.rules import Role
from soakproof.plain import listed, plain
from soakproof.policy import load_policy
from soakproof.run import (
    RUN,
    Loaded,
    Reference,
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


@dataclass(frozen=True, slots=True)
class Chosen:
    """The runs of a baseline that are there, the newest first, and what became of the others."""

    runs: tuple[Loaded, ...] = ()
    absent: tuple[str, ...] = ()


def chosen(runs: Path, name: str, judged: Loaded, policy: str) -> Chosen:
    """What to compare with. Raises UsageError where there is nothing, or it is not what it was."""
    if name == AUTO:
        return Chosen((_newest(judged, policy),))
    if has_baseline(runs, name):
        return by_baseline(runs, name, _OPTION)
    return Chosen((_by_run(runs, name),))


def by_baseline(runs: Path, name: str, what: str) -> Chosen:
    """The runs of a baseline; one of several that is not what it was is told and left out.

    Raises UsageError where none is left; ``what`` begins that.
    """
    baseline = read_baseline(runs, name)
    found: list[Loaded] = []
    absent: list[str] = []
    for reference in sorted(baseline.runs, key=lambda one: one.run, reverse=True):
        try:
            found.append(_referred(runs, name, reference, what))
        except UsageError as error:
            if len(baseline.runs) == 1:
                raise
            absent.append(f"{reference.run}: {error.problem.removeprefix(f'{what}: ')}")
    if not found:
        raise UsageError(
            f"{what}: none of the {len(absent)} runs of {name} is what it was:\n  "
            + listed(absent, _TOLD, "\n  ", limit=300),
            _another(runs),
        )
    if absent:
        say(f"baseline {name}: {len(found)} of its {len(baseline.runs)} runs are there")
    for told in absent:
        say(f"  not {plain(told, 300)}")
    return Chosen(tuple(found), tuple(absent))


def _referred(runs: Path, name: str, reference: Reference, what: str) -> Loaded:
    if trouble := state(runs, reference):
        told = f"{what}: the run of {name}, {plain(reference.run, 100)}, is {trouble}"
        raise UsageError(told, _another(runs))
    return sealed_run(runs, str(runs / reference.run), what)


def _another(runs: Path) -> str:
    return f"name another: soakproof baseline add NAME RUN{runs_option(runs)}"


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
        against, found = next(_against(path, judged, roles), ""), None
        if not against:
            try:
                found = sealed_run(here, str(path), _OPTION)
            except UsageError as error:
                against = error.problem.removeprefix(f"{_OPTION}: ")
        if found:
            _say(f"baseline: {path.name}, the newest run that was judged PASS and is comparable", passed_over)
            _say_of_several(here, path.name)
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


def _say_of_several(runs: Path, run: str) -> None:
    """A baseline of several runs that has this one can say more than it alone."""
    for baseline in baselines(runs):
        n = len(baseline.runs)
        if n > 1 and run in [reference.run for reference in baseline.runs]:
            say(f"  it is one of the {n} runs of {baseline.name}, which can be named instead")


def _against(path: Path, judged: Loaded, roles: Mapping[str, Role]) -> Iterator[str]:
    """Why a run is no baseline, the plainest reason first. Its files are not compared with their seals."""
    about, _ = shaped_run(dict(document(path / RUN)))
    if is_guard(about):
        yield "the record of a guard"
    if same_run(_document_of(judged.run), _document_of(about)):
        yield "it is the run itself, under another name"
    if (seal := sealing(path)) != "sealed":
        yield seal
    entries = [(entry, verify_entry(entry)) for entry in verdict_folders(path)]
    if not entries:
        yield "never judged"
    elif (outcome := entry_outcome(*entries[-1])) != "PASS":
        yield f"its newest verdict is {outcome}"
    if str(about.get("started_at") or "") > str(judged.run.get("started_at") or "~"):
        yield "it is later"
    compared = compare(_document_of(judged.run), _document_of(about), roles)
    yield from (*compared.differ, *compared.unknown)


def _document_of(run: Mapping[str, Any]) -> Evidence:
    """A run without its records, of which nothing is compared here."""
    return Evidence(run=run, raw=None, records=())
