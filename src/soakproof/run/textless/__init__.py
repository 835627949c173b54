"""Lines and documents of a run without what a model wrote or was asked. No I/O.

What was changed carries, as `DIGEST`, the SHA-256 of what it was, by which whoever has the original can show
it. What has no text in it stays as it is, to the byte. Doing it twice changes nothing more.
"""

import hashlib
import re
from collections.abc import Callable, Mapping
from typing import Any

import orjson

from soakproof.records import written
from soakproof.run.files import to_json
from soakproof.run.textless.documents import DOCUMENTS
from soakproof.run.textless.records import RECORDS, bare_record

__all__ = [
    "DIGEST",
    "DOCUMENTS",
    "LONGEST",
    "RECORDS",
    "bare_document",
    "bare_line",
    "is_bare_document",
    "is_bare_line",
]

DIGEST = "without_text"
LONGEST = 4 << 20  # bytes of a line that whoever checks it must hold
_SHA256 = re.compile(r"[0-9a-f]{64}")
_Bare = Callable[[Mapping[str, Any]], dict[str, Any]]
_Write = Callable[[Mapping[str, Any]], bytes]


def bare_line(line: bytes) -> bytes:
    """A line of a file of records without text, at most `LONGEST` of it."""
    bare = _without(line, bare_record, written)
    return bare if len(bare) <= LONGEST else _without(line, lambda _: {}, written)


def bare_document(name: str, data: bytes) -> bytes:
    """A document of a run or of a verdict, by its name in `DOCUMENTS`, without text."""
    return _without(data, DOCUMENTS[name], to_json)


def is_bare_line(line: bytes) -> bool:
    """Whether a line may have been made by `bare_line`: nothing is left in it that would be taken out."""
    return _is_bare(line, bare_record, written)


def is_bare_document(name: str, data: bytes) -> bool:
    """The same of a document and `bare_document`."""
    return _is_bare(data, DOCUMENTS[name], to_json)


def _without(data: bytes, bare: _Bare, write: _Write) -> bytes:
    """Another spelling of the same may hide a key that stands there twice, so it is written anew."""
    found = _object(data)
    found.pop(DIGEST, None)
    try:
        kept = bare(found)
        if kept == found and write(found) == data:
            return data
    except RecursionError:
        kept = {}
    return write({**kept, DIGEST: hashlib.sha256(data).hexdigest()})


def _is_bare(data: bytes, bare: _Bare, write: _Write) -> bool:
    found = _object(data)
    own = {key: value for key, value in found.items() if key != DIGEST}
    summed = found.get(DIGEST)
    try:
        nothing_left = bare(own) == own and write(found) == data
    except (RecursionError, TypeError, ValueError):
        return False
    return nothing_left and (summed is None or bool(_SHA256.fullmatch(str(summed))))


def _object(data: bytes) -> dict[str, Any]:
    """What a line or a document holds; nothing where it is no JSON object."""
    try:
        found = orjson.loads(data)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
