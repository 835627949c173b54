"""Checks a bundle as it is read, from a file or a pipe, wherever it came from: nothing is unpacked.

A few dozen MiB of it are held at most, whatever it says of itself.
"""

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import IO

from soakproof.run.bundle.archive import BrokenArchiveError, Member, NoArchiveError, members
from soakproof.run.bundle.contents import Content
from soakproof.run.bundle.manifest import (
    LARGEST,
    Manifest,
    Sum,
    Treatment,
    read_manifest,
    treatment,
)
from soakproof.run.bundle.seals import Seals
from soakproof.run.bundle.streams import Reading
from soakproof.run.seal import LARGEST as LARGEST_SEAL
from soakproof.run.seal import MANIFEST, SEAL

_SEALS = 32 << 20  # bytes of all seals together
_TOLD = 100  # problems


@dataclass(frozen=True, slots=True)
class BundleState:
    """What checking found: without ``problems`` it is as it was made, of a run that was sealed."""

    size: int  # bytes
    sha256: str
    problems: tuple[str, ...]
    manifest: Manifest | None = None  # None where it cannot be read
    recovered: bool = False
    verdicts: tuple[str, ...] = ()  # the folders of those that are in it


def check_bundle(source: IO[bytes]) -> BundleState:
    """Check a bundle to its last byte. Raises NoArchiveError for a file of another kind."""
    read = Reading(source)
    files = members(read)
    first = next(files)
    if PurePosixPath(first.name).name != MANIFEST:
        raise NoArchiveError(f"a tar whose first file is no {MANIFEST}")
    seen = _Seen()
    try:
        manifest = seen.begin(first)
        for member in files:
            seen.add(manifest, member)
        seen.end(manifest)
    except BrokenArchiveError as error:
        seen.problem(str(error))
    read.finish()
    return BundleState(
        read.size,
        read.sha256,
        tuple(seen.problems),
        seen.manifest,
        seen.seals.recovered,
        seen.seals.verdicts,
    )


class _Seen:
    """What was seen of a bundle so far."""

    def __init__(self) -> None:
        self.problems: list[str] = []
        self.manifest: Manifest | None = None
        self.seals = Seals()
        self._last = ""
        self._room = _SEALS
        self._paths: set[str] = set()

    def problem(self, told: str) -> None:
        if len(self.problems) < _TOLD:
            self.problems.append(told)

    def begin(self, member: Member) -> Manifest:
        """The manifest. Raises BrokenArchiveError where nothing can be compared with it."""
        if member.size > LARGEST:
            raise BrokenArchiveError(f"{MANIFEST}: more than {LARGEST >> 20} MiB")
        data = b"".join(member.chunks())
        try:
            manifest = read_manifest(data)
        except ValueError as error:
            raise BrokenArchiveError(f"{MANIFEST}: {error}") from error
        if manifest.name != member.name:
            raise BrokenArchiveError(f"{MANIFEST}: it says that this is {manifest.name}, not {member.name}")
        self.manifest = manifest
        return manifest

    def add(self, manifest: Manifest, member: Member) -> None:
        """A file after the manifest."""
        path = member.name.removeprefix(manifest.path(""))
        part = manifest.parts.get(path)
        if part is None or part.kept is None or manifest.path(path) != member.name:
            self._pass_over(member, f"{member.name}: not in the manifest")
        elif path in self._paths:
            self._pass_over(member, f"{path}: there twice")
        else:
            if path < self._last:
                self.problem(f"{path}: not in its place")
            self._last = path
            self._paths.add(path)
            how = treatment(path) if manifest.without_text else Treatment.WHOLE
            self._look(member, path, part.kept, how)

    def end(self, manifest: Manifest) -> None:
        """The archive was read to its end: what is missing, and what the seals say."""
        for path in manifest.kept:
            if path not in self._paths:
                self.problem(f"{path}: missing")
        for problem in self.seals.problems(manifest):
            self.problem(problem)

    def _pass_over(self, member: Member, told: str) -> None:
        self.problem(told)
        for _ in member.chunks():
            pass

    def _look(self, member: Member, path: str, kept: Sum, how: Treatment) -> None:
        is_seal = PurePosixPath(path).name == SEAL
        limit = min(LARGEST_SEAL, self._room) if is_seal else LARGEST if how is Treatment.DOCUMENT else 0
        content = Content(member, how, limit)
        for problem in (content.against(kept), content.text(path)):
            if problem:
                self.problem(f"{path}: {problem}")
        if not is_seal:
            return
        if content.held is None:
            self.problem(f"{path}: {member.size:,} bytes are more than a seal has")
        else:
            self._room -= member.size
            self.seals.add(path, content.held)
