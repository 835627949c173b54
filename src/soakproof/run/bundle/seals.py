"""The seals in a bundle against its manifest: each part must be what a seal says that it was. No I/O."""

from collections.abc import Iterator

from soakproof.run.bundle.manifest import Manifest
from soakproof.run.seal import EVIDENCE, RAW, RECOVERED, RUN, SEAL, parse_seal
from soakproof.run.verdicts import VERDICTS


class Seals:
    """Seals by the folder that each is in, "" for the run's own."""

    def __init__(self) -> None:
        self._entries: dict[str, list[tuple[str, int, str]]] = {}
        self._notes: dict[str, str] = {}
        self._broken: list[str] = []

    def add(self, path: str, data: bytes) -> None:
        """A seal as it is in the bundle."""
        folder = path.removesuffix(SEAL)
        try:
            self._notes[folder], self._entries[folder] = parse_seal(data)
        except ValueError as error:
            self._broken.append(f"{path}: {error}")

    @property
    def recovered(self) -> bool:
        """Whether the run, or a node of it, was sealed only after a crash."""
        return any(
            note.startswith(RECOVERED) for folder, note in self._notes.items() if not _is_verdict(folder)
        )

    @property
    def verdicts(self) -> tuple[str, ...]:
        """Names of the folders of verdicts that have a seal."""
        return tuple(sorted(folder.split("/")[1] for folder in self._entries if _is_verdict(folder)))

    def problems(self, manifest: Manifest) -> Iterator[str]:
        """What is not as it was sealed, or is sealed by nothing."""
        yield from self._broken
        if SEAL not in manifest.parts:
            yield f"{SEAL}: missing, so the run is not sealed"
        covered = {SEAL}
        for folder, entries in self._entries.items():
            covered |= {f"{folder}{name}" for _, _, name in entries}
            for summed, size, name in entries:
                if problem := _compare(manifest, f"{folder}{name}", summed, size):
                    yield f"{folder}{name}: {problem}"
            if _is_verdict(folder):
                covered.add(f"{folder}{SEAL}")
                yield from self._elsewhere(manifest, folder)
        yield from (f"{path}: sealed by nothing" for path in sorted(manifest.parts.keys() - covered))
        yield from (f"{path}: no part of a run" for path in sorted(manifest.parts) if not _belongs(path))
        if manifest.without_verdicts and self.verdicts:
            yield "verdicts: there, though the manifest says that they were left out"

    def _elsewhere(self, manifest: Manifest, folder: str) -> Iterator[str]:
        """Whether the seal of a verdict is of another one, or of a judgement of other evidence."""
        own = manifest.parts.get(SEAL)
        summed = own.kept.sha256 if own and own.kept else ""
        if self._notes[folder] != f"{folder.split('/')[1]} of {summed}":
            yield f"{folder}{SEAL}: of another verdict, or of one on other evidence"


def _is_verdict(folder: str) -> bool:
    return folder.startswith(f"{VERDICTS}/")


def _belongs(path: str) -> bool:
    return path in (SEAL, RUN, RAW) or path.startswith((f"{EVIDENCE}/", f"{VERDICTS}/"))


def _compare(manifest: Manifest, path: str, summed: str, size: int) -> str:
    """What is wrong with a part, by its seal; empty when nothing is."""
    part = manifest.parts.get(path)
    if part is None or part.was is None:
        return "missing, though it was sealed"
    if (part.was.sha256, part.was.size) != (summed, size):
        return "changed: not what was sealed"
    return ""
