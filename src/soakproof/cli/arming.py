"""The arms of a comparison: out of runs as they are named on the command line, or out of files."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from soakproof.cli.choosing import by_baseline
from soakproof.cli.reading import sealed_run
from soakproof.errors import UsageError, did_you_mean
from soakproof.judge.comparing.arms import Arm
from soakproof.judge.comparing.ofruns import arm_of_runs
from soakproof.judgement import evidence_of
from soakproof.measurements import read_measurements
from soakproof.plain import listed, plain
from soakproof.run import Loaded, has_baseline
from soakproof.settings import refuse_text

_MOST = 40  # characters of an arm's name
_TWO = "such as: soakproof compare RUN RUN, or NAME=RUN,RUN NAME=RUN,RUN"


def arms_of_runs(runs: Path, words: Sequence[str], metrics: Sequence[str]) -> list[Arm]:
    """An arm a word: RUN, or NAME=RUN,RUN. Those without a name are called A, B, C."""
    if len(words) < 2:
        raise UsageError(f"expected two arms or more, found {len(words)}", _TWO)
    named = [_parted(word, place) for place, word in enumerate(words)]
    names = [name for name, _ in named]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise UsageError(f"two arms are called {plain(twice, 60)!r}", "give each a name of its own")
    return [_arm(runs, name, parts, metrics) for name, parts in named]


def _parted(word: str, place: int) -> tuple[str, list[str]]:
    name, equals, rest = word.partition("=")
    if not equals or "/" in name or "\\" in name:
        return (chr(ord("A") + place) if place < 26 else f"arm {place + 1}"), [word]
    refuse_text(name, "an arm's name", _MOST, least=1)
    parts = rest.split(",")
    if not all(part.strip() for part in parts):
        raise UsageError(
            f"arm {plain(name, 60)}: expected runs behind the =, found {plain(rest, 60)!r}", _TWO
        )
    return name, parts


def _arm(runs: Path, name: str, words: Sequence[str], metrics: Sequence[str]) -> Arm:
    """Its runs are read one after the other; what is not compared of them is not kept."""
    made = arm_of_runs(name, (evidence_of(run) for word in words for run in _runs(runs, word, name)), metrics)
    if twice := next((id for id in made.runs if made.runs.count(id) > 1), None):
        raise UsageError(f"arm {name}: {plain(twice, 100)} stands there twice", "each run counts once")
    return made


def _runs(runs: Path, word: str, arm: str) -> Iterator[Loaded]:
    """The run of a name; all runs of a baseline's."""
    what = f"arm {arm}"
    if has_baseline(runs, word):
        yield from by_baseline(runs, word, what).runs
    else:
        yield sealed_run(runs, word, what)


def arms_of_files(files: Sequence[Path]) -> list[Arm]:
    """Every arm of the files, in their order."""
    found = [arm for file in files for arm in read_measurements(file)]
    names = [arm.name for arm in found]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise UsageError(
            f"two files have an arm {plain(twice, 80)!r}", "put what belongs together into one file"
        )
    if len(found) < 2:
        raise UsageError(f"expected two arms or more, found {len(found)}", "a file names them: arm = …")
    return found


def chosen_first(arms: list[Arm], against: str | None) -> list[Arm]:
    """The same with that arm first."""
    if against is None:
        return arms
    names = [arm.name for arm in arms]
    if against not in names:
        hint = f"{did_you_mean(against, names)}there are: {listed(names, 10, limit=60)}"
        raise UsageError(f"--against: no arm is called {plain(against, 80)!r}", hint)
    return sorted(arms, key=lambda arm: arm.name != against)


def of_kinds(arms: list[Arm], kinds: Sequence[str]) -> list[Arm]:
    """The same with these kinds of traffic, or workloads, alone; failures are counted over all of them."""
    if not kinds:
        return arms
    there = dict.fromkeys(workload for arm in arms for workload in arm.workloads)
    if unknown := next((kind for kind in kinds if kind not in there), None):
        hint = f"{did_you_mean(unknown, there)}there are: {listed(list(there), 20, limit=60)}"
        raise UsageError(f"--kind: no arm has {plain(unknown, 80)!r}", hint)
    return [
        replace(
            arm,
            measurements=tuple(m for m in arm.measurements if m.workload in kinds),
            summaries=tuple(s for s in arm.summaries if s.workload in kinds),
            changes=tuple(c for c in arm.changes if c.workload in kinds),
        )
        for arm in arms
    ]
