"""References to sealed runs: by the name of their folder, and the digest of the seal that they had."""

from dataclasses import dataclass
from pathlib import Path

from soakproof.errors import UsageError
from soakproof.plain import plain
from soakproof.run.seal import seal_digest


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """A run by its folder's name, and the SHA-256 of its seal when it was referred to."""

    run: str
    seal: str


def refer(runs: Path, run: Path, use: str) -> Reference:
    """The reference to a sealed run that lies in ``runs``. Raises UsageError for any other; ``use`` says what
    only such a run can be.
    """
    if run.resolve().parent != runs.resolve():
        raise UsageError(f"{plain(run, 200)} is not in {runs}", "name its folder: --runs DIR")
    seal = seal_digest(run)
    if seal is None:
        raise UsageError(f"{plain(run, 200)} is not sealed", f"only a sealed run can be {use}")
    return Reference(run=run.resolve().name, seal=seal)


def state(runs: Path, reference: Reference) -> str:
    """What became of the run; "" where it has the seal that it had. Its files are not compared."""
    run = runs / reference.run
    if not run.is_dir():
        return "gone"
    seal = seal_digest(run)
    if seal is None:
        return "its seal is gone"
    return "" if seal == reference.seal else "sealed anew since it was added"
