"""Writes a bundle: the sealed files of a run and of its verdicts under a manifest, in one archive.

What is outside of every seal (logs, Locust's own statistics, hidden files) stays out: nothing could prove it.
Links are not followed.
"""

import contextlib
import hashlib
import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from soakproof.errors import RecorderError, UsageError, words
from soakproof.run.bundle.archive import end, header, padding
from soakproof.run.bundle.manifest import LARGEST, Manifest, Part, Sum, Treatment, treatment, write_manifest
from soakproof.run.bundle.streams import CHUNK, Writing
from soakproof.run.files import digest
from soakproof.run.loading import read_run
from soakproof.run.seal import SEAL, is_own, nodes, read_seal
from soakproof.run.textless import bare_document, bare_line
from soakproof.run.verdicts import verdict_folders


@dataclass(frozen=True, slots=True)
class Written:
    """A bundle that was written."""

    manifest: Manifest
    size: int  # bytes
    sha256: str


def write_bundle(run: Path, to: IO[bytes], *, text: bool = True, verdicts: bool = True) -> Written:
    """Write the bundle of a run that is whole, as `verify` and `verify_entry` say.

    Without ``text`` what a model wrote or was asked is taken out, into a folder for temporary files first.
    Raises RecorderError where it cannot be written, and UsageError for a run that is changed meanwhile.
    """
    with _scratch(text) as folder:
        parts: dict[str, Part] = {}
        sources: dict[str, Path] = {}
        for path in _sealed(run, verdicts):
            parts[path], sources[path] = (
                _whole(run / path) if text else _without_text(run, path, Path(folder) / str(len(parts)))
            )
        manifest = Manifest(_id(run), parts, without_text=not text, without_verdicts=not verdicts)
        out = Writing(to)
        try:
            told = write_manifest(manifest)
        except ValueError as error:
            raise UsageError(f"{run} fits into no bundle: {error}") from error
        out.write(header(manifest.name, len(told)) + told + padding(len(told)))
        for path in manifest.kept:
            _copy(out, manifest, path, sources[path])
        out.write(end())
    return Written(manifest, out.size, out.sha256)


@contextlib.contextmanager
def _scratch(text: bool) -> Iterator[str]:
    """A folder for what is left of files without their text; none where they keep it."""
    if text:
        yield ""
        return
    try:
        folder = tempfile.TemporaryDirectory(prefix="soakproof-")
    except OSError as error:
        raise RecorderError(f"no folder for temporary files: {words(error)}") from error
    with folder:
        yield folder.name


def _sealed(run: Path, verdicts: bool) -> Iterator[str]:
    """The paths of all seals and of what they seal."""
    folders = [run, *nodes(run), *((entry.path for entry in verdict_folders(run)) if verdicts else ())]
    found = {SEAL}
    for folder in folders:
        where = "" if folder == run else f"{folder.relative_to(run).as_posix()}/"
        found |= {f"{where}{name}" for _, _, name in read_seal(folder / SEAL)[1]} | {f"{where}{SEAL}"}
    yield from sorted(found)


def _id(run: Path) -> str:
    """The run's id, whatever its folder is called, as a name for a folder."""
    told = read_run(run).get("id")
    return re.sub(r"[^A-Za-z0-9._-]+", "-", told if isinstance(told, str) else "")[:90].strip("-.") or "run"


def _whole(source: Path) -> tuple[Part, Path]:
    return Part(kept=_sum(source)), source


def _sum(source: Path) -> Sum:
    try:
        if not is_own(source):
            raise UsageError(f"{source}: no plain file any more")
        return Sum(*digest(source))
    except OSError as error:
        raise UsageError(f"{source}: {words(error)}") from error


def _without_text(run: Path, path: str, target: Path) -> tuple[Part, Path]:
    """The part as it is kept, which stands in ``target`` where it is not what was sealed."""
    source = run / path
    sealed, how = _sum(source), treatment(path)
    if how is Treatment.WHOLE:
        return Part(kept=sealed), source
    if how is Treatment.REMOVED:
        return Part(sealed=sealed), source
    try:
        with source.open("rb") as before, target.open("wb") as after:
            if how is Treatment.LINES:
                after.writelines(map(bare_line, before))
            else:
                after.write(bare_document(source.name, before.read()))
    except OSError as error:
        raise RecorderError(f"cannot take the text out of {source}: {words(error)}") from error
    kept = _sum(target)
    if how is Treatment.DOCUMENT and kept.size > LARGEST:
        return Part(sealed=sealed), source
    return (Part(kept=sealed), source) if kept == sealed else (Part(kept=kept, sealed=sealed), target)


def _copy(out: Writing, manifest: Manifest, path: str, source: Path) -> None:
    """A part into the archive. Raises UsageError where it is not any more what the manifest says."""
    kept = manifest.parts[path].kept
    size = kept.size if kept else 0
    out.write(header(manifest.path(path), size))
    summed, left = hashlib.sha256(), size
    try:
        with source.open("rb") as file:
            while left and (data := file.read(min(left, CHUNK))):
                left -= len(data)
                summed.update(data)
                out.write(data)
    except OSError as error:
        raise UsageError(f"{source}: {words(error)}") from error
    if left or kept is None or summed.hexdigest() != kept.sha256:
        raise UsageError(
            f"{source}: changed while it was bundled", "bundle it again, and let nothing write to it"
        )
    out.write(padding(size))
