"""Writes a judgement into its run as a new numbered entry: all of it or nothing, never over an earlier one.

    verdicts/<n>-<policy>/verdict.json report.md report.html junit.xml figures/<name>.svg SEAL

The entry is built in the hidden folder ``verdicts/.<n>`` and renamed. Creating that folder claims the number:
two judgements at once get different ones. What a killed judgement left there keeps its number for good.
"""

import contextlib
import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from soakproof.errors import RecorderError, UsageError, words
from soakproof.run import TAKEN, VERDICTS, seal_entry

_MOST = 99_999


def store(run: Path, policy: str, files: Mapping[str, str]) -> Path:
    """Write ``files`` (path inside the entry to text) as the run's next entry; its folder.

    Raises RecorderError, and leaves nothing behind, when the disk is full or the run cannot be written, and
    UsageError where a link leads out of the run's own folder of verdicts.
    """
    verdicts = run / VERDICTS
    refuse_link(verdicts)
    try:
        verdicts.mkdir(exist_ok=True)
        claim, number = _claim(verdicts)
    except OSError as error:
        raise _cannot(verdicts, error) from error
    try:
        for name, text in files.items():
            _write(claim / name, text)
        entry = verdicts / f"{number}-{_plain(policy)}"
        seal_entry(claim, run, entry.name, files)
        claim.rename(entry)
    except BaseException as error:
        shutil.rmtree(claim, ignore_errors=True)
        if isinstance(error, OSError):
            raise _cannot(verdicts, error) from error
        raise
    _sync(verdicts)
    return entry


def refuse_link(folder: Path) -> None:
    """What is written goes into the run's own folders, not to where somebody's link leads."""
    if folder.is_symlink():
        raise UsageError(
            f"{folder} is a link to {folder.readlink()}: no verdict is written through it",
            "a run's verdicts are in a folder of its own: remove the link, and judge again",
        )


def _claim(verdicts: Path) -> tuple[Path, int]:
    """An empty hidden folder whose number no entry and no other judgement has."""
    while True:
        number = max(_numbers(verdicts), default=0) + 1
        if number > _MOST:
            raise UsageError(
                f"{verdicts} has an entry of the number {number - 1}, which none of ours has",
                "`soakproof verify` says which are as they were written; take that one away",
            )
        claim = verdicts / f".{number}"
        try:
            claim.mkdir()
        except FileExistsError:
            continue
        if sum(n == number for n in _numbers(verdicts)) == 1:
            return claim, number
        claim.rmdir()  # its last holder finished between our looking and our claiming


def _numbers(verdicts: Path) -> list[int]:
    matches = (TAKEN.fullmatch(path.name) for path in verdicts.iterdir())
    return [int(match[1]) for match in matches if match]


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    with path.open("x", encoding="utf-8", newline="\n") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def _sync(folder: Path) -> None:
    """The rename on disk, where a folder can be opened for that."""
    with contextlib.suppress(OSError):
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


def _plain(policy: str) -> str:
    """The policy's name as part of a folder's."""
    return (
        re.sub(r"[^A-Za-z0-9._-]+", "-", Path(policy).stem if policy.endswith(".toml") else policy)[
            :60
        ].strip(".-")
        or "policy"
    )


def _cannot(where: Path, error: OSError) -> RecorderError:
    return RecorderError(
        f"cannot write the verdict in {where}: {words(error)}\n"
        "  the evidence is untouched: mend that, and judge again"
    )
