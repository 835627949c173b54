"""The manifest of a bundle: its first file, which says what follows, and what each part was when sealed.

    {"parts": {"evidence/load/checks.jsonl": {"kept": {"sha256": …, "size": …}, "sealed": …}, …}, …}

A part has what is ``kept`` of it and, where that is not what was ``sealed``, both; one that was taken out as
a whole has only the latter.
"""

from enum import Enum
from pathlib import PurePosixPath
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from soakproof.formats import refuse_newer
from soakproof.run.bundle.archive import header
from soakproof.run.files import to_json
from soakproof.run.seal import EVIDENCE, KEPT, MANIFEST, RAW, RUN, SEAL
from soakproof.run.verdicts import VERDICT

LARGEST = 16 << 20  # bytes of a manifest, or of another document, that are held at once
_FIGURES = (".svg", ".png")


class Sum(Struct, frozen=True, forbid_unknown_fields=True):
    """What a file is."""

    sha256: Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
    size: Annotated[int, Meta(ge=0)]  # bytes


class Part(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A file of the run."""

    kept: Sum | None = None
    sealed: Sum | None = None  # where that is something else

    @property
    def was(self) -> Sum | None:
        """What it is in the run."""
        return self.sealed or self.kept


class Manifest(Struct, frozen=True, forbid_unknown_fields=True):
    """All that a bundle tells of itself: nothing of time, user, machine or version, so its bytes stay."""

    run: str  # its id
    parts: dict[str, Part]  # by the path in the run
    without_text: bool = False
    without_verdicts: bool = False
    format: Literal[1] = 1
    kind: Literal["soakproof bundle"] = "soakproof bundle"

    @property
    def kept(self) -> list[str]:
        """The paths that the archive holds after the manifest, in its order."""
        return sorted(path for path, part in self.parts.items() if part.kept)

    @property
    def name(self) -> str:
        """The manifest's own path in the archive."""
        return f"{self.run}{'.without-text' if self.without_text else ''}/{MANIFEST}"

    def path(self, part: str) -> str:
        """A part's path in the archive."""
        return f"{self.run}.without-text/{KEPT}/{part}" if self.without_text else f"{self.run}/{part}"


class Treatment(Enum):
    """What a bundle without text does to a part."""

    WHOLE = "kept as it is"
    LINES = "records, each without text"
    DOCUMENT = "a document without text"
    REMOVED = "taken out"


def treatment(part: str) -> Treatment:
    """Of a part by its path: what is not known to be free of text, or to lose it, is taken out."""
    path = PurePosixPath(part)
    room = path.parts[0]
    if path.name == SEAL:
        return Treatment.WHOLE
    if part in (RUN, RAW) or (room != EVIDENCE and path.name == VERDICT):
        return Treatment.DOCUMENT
    if room == EVIDENCE:
        return Treatment.LINES if path.suffix == ".jsonl" else Treatment.REMOVED
    return (
        Treatment.WHOLE if path.parts[2:3] == ("figures",) and path.suffix in _FIGURES else Treatment.REMOVED
    )


def write_manifest(manifest: Manifest) -> bytes:
    """Its bytes. Raises ValueError for a path or a size that no archive can hold."""
    for path in manifest.kept:
        kept = manifest.parts[path].kept
        header(manifest.path(path), kept.size if kept else 0)
    return to_json(msgspec.to_builtins(manifest))


def read_manifest(data: bytes) -> Manifest:
    """The manifest of these bytes. Raises ValueError for what `write_manifest` does not write."""
    try:
        refuse_newer(msgspec.json.decode(data))
        manifest = msgspec.json.decode(data, type=Manifest)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ValueError(str(error)) from error
    if write_manifest(manifest) != data:
        raise ValueError("not as soakproof writes it")
    for path, part in manifest.parts.items():
        if part.was is None or (part.sealed and not manifest.without_text):
            raise ValueError(f"{path}: neither kept nor told to be without text")
        if part.sealed and treatment(path) is Treatment.WHOLE:
            raise ValueError(f"{path}: never changed by a bundle")
        header(manifest.path(path), 0)
    return manifest
