"""Folders that a bundle without text was unpacked to: they have a run's name, and are no run."""

from pathlib import Path

from soakproof.errors import UsageError
from soakproof.plain import plain
from soakproof.run.seal import KEPT, MANIFEST, is_own

BARE_HINT = (
    "a bundle without text can be verified, as the archive that it came in (`soakproof verify FILE`), and "
    "not judged: take a bundle that was made without --without-text"
)


def refuse_bare(folder: Path) -> None:
    """Raises UsageError where a folder is that of a bundle without text, or the one with its files."""
    whole = folder.parent if folder.name == KEPT and is_own(folder.parent / MANIFEST) else folder
    if is_bare(whole):
        raise UsageError(f"{plain(folder, 300)} is of a bundle without text, and no run", BARE_HINT)


def bare_among(runs: Path, name: str = "latest") -> Path | None:
    """The last such folder among runs that a name, or ``latest``, can mean; None without any."""
    there = sorted(runs.iterdir(), reverse=True) if runs.is_dir() else ()
    return next((f for f in there if (name == "latest" or name in f.name) and is_bare(f)), None)


def is_bare(folder: Path) -> bool:
    """Whether a folder has the manifest of a bundle and, beside it, the folder of one without text."""
    return is_own(folder / MANIFEST) and (folder / KEPT).is_dir()
