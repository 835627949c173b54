"""A run in one archive, to be passed on: written the same to the byte anywhere, and checked as it is read."""

from soakproof.run.bundle.archive import NoArchiveError
from soakproof.run.bundle.checking import BundleState, check_bundle
from soakproof.run.bundle.manifest import Manifest, Part
from soakproof.run.bundle.writing import Written, write_bundle
from soakproof.run.seal import MANIFEST

__all__ = [
    "MANIFEST",
    "BundleState",
    "Manifest",
    "NoArchiveError",
    "Part",
    "Written",
    "check_bundle",
    "write_bundle",
]
