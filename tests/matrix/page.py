"""The fault matrix as a page: what is planted, what must see it, and what its proof showed.

    python -m tests.matrix.page [PLANT …]

soaks every plant, or those named, and writes docs/fault-matrix.md; plants that were not soaked keep what they
had.
"""

import re
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from soakproof.testbed import planting
from soakproof.testbed.launch import Testbed
from soakproof.testbed.plant import Fires
from tests.load.soaks import ROOT
from tests.matrix.planted import Proof, soak

PAGE = ROOT / "docs" / "fault-matrix.md"
NOT_SEEN, WHOLE_RUN = "not seen", "in the whole run"
Seen = Mapping[tuple[str, str], str]  # plant and detector: when the detector saw it
HEAD = """# The fault matrix

Every fault that can be planted in the testbed, the detectors that must see it, and the verdict of a short
soak of it. Written by `python -m tests.matrix.page` from such soaks. `pytest tests/matrix` soaks every plant
again and fails on any other outcome, on a plant that nobody sees, and on a detector that no plant makes fire.
A detector that no plant can reach (the host's memory, its kernel log) is named in `tests/matrix/detectors.py`
with the test that makes it fire.

`soakproof testbed --plant NAME[=VALUE]` plants one, and `--list-plants` explains them. Below each stand
the verdict, then the detectors with the outcome and class of their finding. "After 2 iterations" is how many
had ended when the first one that the detector saw was done, in the soak that this page was written from.
"""
_PLANT = re.compile(r"## (\S+)")
_DETECTOR = re.compile(r"- [A-Z]+ `([^`]+)`(?:, class `[^`]+`)?, (.+)")


def entry(name: str, seen: Seen) -> Iterator[str]:
    """What the page has of a plant, all of it from the plant's own file but when it was seen."""
    kind = planting.find(name)
    source = re.sub(r"^https://(github\.com/)?", "", kind.modelled_on)
    yield f"## {name}"
    yield ""
    yield planting.summary(kind)
    yield f"Verdict {kind.verdict}. Modelled on [{source}]({kind.modelled_on})."
    yield ""
    for fires in kind.fires:
        grade = f", class `{fires.grade}`" if fires.grade else ""
        when = seen.get((name, fires.detector), NOT_SEEN)
        yield f"- {fires.outcome} `{fires.detector}`{grade}, {when}"
    if not kind.fires:
        yield "No fault: no detector may fire."


def text(seen: Seen) -> str:
    """The whole page."""
    lines = [line for name in planting.names() for line in ["", *entry(name, seen)]]
    return re.sub(r"\n{3,}", "\n\n", "\n".join([HEAD.rstrip(), *lines])) + "\n"


def written() -> Seen:
    """What the page as it stands says of when each detector saw a plant."""
    seen, name = {}, ""
    for line in PAGE.read_text().splitlines() if PAGE.exists() else []:
        if heading := _PLANT.fullmatch(line):
            name = heading[1]
        elif told := _DETECTOR.fullmatch(line):
            seen[name, told[1]] = told[2]
    return seen


def _when(proof: Proof, fires: Fires) -> str:
    if fires.within is None:
        return WHOLE_RUN
    at = proof.iterations(fires) if fires.detector in proof.findings else None
    if at is None:
        return NOT_SEEN
    return "after 1 iteration" if at == 1 else f"after {at} iterations"


def main(names: Sequence[str]) -> None:
    seen = dict(written())
    with (
        tempfile.TemporaryDirectory() as folder,
        Testbed.start(Path(folder) / "logs", arguments=["--plantable"]) as pair,
    ):
        for name in names or planting.names():
            place = Path(folder) / name
            place.mkdir()
            proof = soak(place, pair, name)
            for fires in planting.find(name).fires:
                seen[name, fires.detector] = _when(proof, fires)
            wanted = planting.find(name).verdict
            print(
                f"{name}: {proof.outcome}{'' if proof.outcome == wanted else f', not {wanted}'}", flush=True
            )
    PAGE.write_text(text(seen))


if __name__ == "__main__":
    main(sys.argv[1:])
