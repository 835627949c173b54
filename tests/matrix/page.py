"""The fault matrix as a page: what is planted, what must see it, and what its proof showed.

    python -m tests.matrix.page [PLANT …]

soaks every plant, or those named, and writes docs/fault-matrix.md; rows of plants that were not soaked keep
what they had.
"""

import re
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tabulate import tabulate

from soakproof.testbed import planting
from soakproof.testbed.launch import Testbed
from soakproof.testbed.plant import Fires
from tests.load.soaks import ROOT
from tests.matrix.planted import Proof, soak

PAGE = ROOT / "docs" / "fault-matrix.md"
HEAD = """# The fault matrix

Every fault that can be planted in the testbed, the detectors that must see it, and the verdict of a short
soak of it. Written by `python -m tests.matrix.page` from such soaks. `pytest tests/matrix` soaks every plant
again and fails on any other outcome, on a plant that nobody sees, and on a detector that no plant makes fire.
A detector that no plant can reach (the host's memory, its kernel log) is named in `tests/matrix/detectors.py`
with the test that makes it fire.

`soakproof testbed --plant NAME[=VALUE]` plants one, and `--list-plants` explains them. "Iterations" is how
many had ended when the first one that the detector saw was done, in the soak that this page was written from.
"""
COLUMNS = ("plant", "what it does", "detector", "class", "outcome", "iterations", "verdict", "modelled on")
_SEEN = COLUMNS.index("iterations")


def declared() -> Iterator[tuple[str, Fires | None]]:
    """Every plant with each detector that must see it; None for a plant that is no fault."""
    for name in planting.names():
        for fires in planting.find(name).fires or (None,):
            yield name, fires


def row(name: str, fires: Fires | None, iterations: str) -> list[str]:
    """A line of the table, all of it from the plant's own file but the iterations."""
    kind = planting.find(name)
    source = re.sub(r"^https://(github\.com/)?", "", kind.modelled_on)
    link = f"[{source}]({kind.modelled_on})"
    if fires is None:
        return [name, planting.summary(kind), "none: no fault", "", "", "", kind.verdict, link]
    told = (fires.detector, fires.grade, fires.outcome, iterations)
    return [name, planting.summary(kind), *told, kind.verdict, link]


def written() -> Mapping[tuple[str, str], list[str]]:
    """The rows of the page as it stands, by plant and detector."""
    lines = PAGE.read_text().splitlines() if PAGE.exists() else []
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")]
    return {(cells[0], cells[2]): cells for cells in rows if len(cells) == len(COLUMNS)}


def table(seen: Mapping[tuple[str, str], str]) -> str:
    """The whole table; ``seen`` has the iterations by plant and detector."""
    rows = [
        row(name, fires, seen.get((name, fires.detector), "") if fires else "") for name, fires in declared()
    ]
    return tabulate(rows, headers=COLUMNS, tablefmt="pipe", disable_numparse=True)


def _iterations(proof: Proof, fires: Fires) -> str:
    if fires.within is None:
        return "of the whole run"
    at = proof.iterations(fires) if fires.detector in proof.findings else None
    return "not seen" if at is None else str(at)


def main(names: Sequence[str]) -> None:
    seen = {key: cells[_SEEN] for key, cells in written().items()}
    with (
        tempfile.TemporaryDirectory() as folder,
        Testbed.start(Path(folder) / "logs", arguments=["--plantable"]) as pair,
    ):
        for name in names or planting.names():
            place = Path(folder) / name
            place.mkdir()
            proof = soak(place, pair, name)
            for fires in planting.find(name).fires:
                seen[name, fires.detector] = _iterations(proof, fires)
            wanted = planting.find(name).verdict
            print(
                f"{name}: {proof.outcome}{'' if proof.outcome == wanted else f', not {wanted}'}", flush=True
            )
    PAGE.write_text(f"{HEAD}\n{table(seen)}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
