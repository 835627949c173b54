"""Where a run's verdicts are: numbered folders beside its evidence, outside its seal."""

import re
from dataclasses import dataclass
from pathlib import Path

from soakproof.run.seal import is_own_folder

VERDICTS = "verdicts"
_NAME = re.compile(r"(\d+)-(.+)")


@dataclass(frozen=True, slots=True)
class VerdictFolder:
    """One judgement of a run, with its reports."""

    number: int
    policy: str
    path: Path


def verdict_folders(run: Path) -> list[VerdictFolder]:
    """The run's judgements, the newest last. What a link leads to is none of the run's."""
    folder = run / VERDICTS
    there = list(folder.iterdir()) if is_own_folder(folder) else []
    matches = [(_NAME.fullmatch(path.name), path) for path in there if is_own_folder(path)]
    found = [VerdictFolder(int(match[1]), match[2], path) for match, path in matches if match]
    return sorted(found, key=lambda verdict: verdict.number)
