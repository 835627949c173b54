"""The archive of a bundle: a plain tar (ustar) of which each byte is given by names and contents.

Plain files in one folder, each owned by 0, of mode 0644 and time 0; then two blocks of zeros. It is not
compressed: another version of the library compresses the same to other bytes. Its headers are made here,
since those of `tarfile` differ between versions of Python. Nothing is taken that could not have been written
here, so links, devices, sparse files and extensions are no archive of this kind.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from soakproof.run.bundle.streams import CHUNK, Reading

BLOCK = 512
_END = bytes(2 * BLOCK)
_LARGEST = 8**11 - 1  # bytes of a file: the field has eleven octal digits
_NAME, _PREFIX = 100, 155  # bytes of a path's two parts, which a slash divides
_SIZE = slice(124, 136)
_CHECKSUM = slice(148, 156)
_MAGIC = b"ustar\x0000"


class NoArchiveError(Exception):
    """What was read is no archive of this kind from its first block on; says what it seems to be."""


class BrokenArchiveError(Exception):
    """An archive that breaks off, or holds what is never written; says where and what."""


def header(name: str, size: int) -> bytes:
    """The block before a file of that path and size. Raises ValueError for what the format cannot hold."""
    if not 0 <= size <= _LARGEST:
        raise ValueError(f"{name}: {size:,} bytes are more than a file in a tar may have")
    prefix, base = _divided(name)
    block = bytearray(BLOCK)
    block[0 : len(base)] = base
    block[100:124] = b"0000644\x000000000\x000000000\x00"  # mode, owner, group
    block[_SIZE] = f"{size:011o}\x00".encode()
    block[136:148] = b"00000000000\x00"  # time
    block[_CHECKSUM] = b"        "
    block[156:157] = b"0"  # a plain file
    block[257:265] = _MAGIC
    block[345 : 345 + len(prefix)] = prefix
    block[_CHECKSUM] = f"{sum(block):06o}\x00 ".encode()
    return bytes(block)


def _divided(name: str) -> tuple[bytes, bytes]:
    parts = name.split("/")
    if not is_plain_path(name):
        raise ValueError(f"{name!r} is no plain path of letters, digits, dots and dashes")
    for at in range(len(parts)):
        prefix, base = "/".join(parts[:at]), "/".join(parts[at:])
        if len(base) <= _NAME and len(prefix) <= _PREFIX:
            return prefix.encode(), base.encode()
    raise ValueError(f"{name} is longer than a path in a tar may be")


def is_plain_path(name: str) -> bool:
    """Whether a path leads down from where it begins, on every system, and shows as it is."""
    parts = name.split("/")
    return (
        name.isascii()
        and name.isprintable()
        and "\\" not in name
        and ":" not in name.partition("/")[0]
        and all(part not in ("", ".", "..") for part in parts)
    )


def padding(size: int) -> bytes:
    """What fills the last block of a file."""
    return bytes(-size % BLOCK)


def end() -> bytes:
    """What an archive ends with."""
    return _END


@dataclass(slots=True)
class Member:
    """A file of an archive that is being read: its content is taken by `chunks`, once, before the next."""

    name: str
    size: int
    _source: Reading

    def chunks(self) -> Iterator[bytes]:
        """At most 1 MiB at a time. Raises BrokenArchiveError where it breaks off."""
        left = self.size
        while left:
            data = self._source.read(min(left, CHUNK))
            if not data:
                raise BrokenArchiveError(
                    f"{self.name}: breaks off, {left:,} of {self.size:,} bytes are missing"
                )
            left -= len(data)
            yield data
        if self._source.exactly(-self.size % BLOCK) != padding(self.size):
            raise BrokenArchiveError(f"{self.name}: what fills its last block is not as it was written")


def members(source: Reading) -> Iterator[Member]:
    """The files of an archive, in its order. Whatever sizes it tells, a MiB of it is held at a time.

    Raises NoArchiveError at the first block, and BrokenArchiveError later on.
    """
    block = source.exactly(BLOCK)
    member = _member(block, source)
    if member is None:
        raise NoArchiveError(_seems(block))
    before = "nothing"
    while member is not None:
        yield member
        before = member.name
        block = source.exactly(BLOCK)
        member = _member(block, source)
    if block + source.exactly(BLOCK) != _END:
        told = (
            "breaks off" if len(block) < BLOCK else "something follows that is no file as a bundle has them"
        )
        raise BrokenArchiveError(f"after {before}: {told}")
    if source.read(1):
        raise BrokenArchiveError("something follows its end")


def _member(block: bytes, source: Reading) -> Member | None:
    """The file that a block announces, if it is a block as `header` makes it."""
    try:
        prefix, base = (block[at].rstrip(b"\0").decode("ascii") for at in (slice(345, 500), slice(0, 100)))
        name = f"{prefix}/{base}" if prefix else base
        size = int(block[_SIZE][:11], 8)
        return Member(name, size, source) if header(name, size) == block else None
    except ValueError:
        return None


def _seems(block: bytes) -> str:
    kinds = {
        b"\x1f\x8b": "compressed by gzip",
        b"\x28\xb5\x2f\xfd": "compressed by zstd",
        b"BZh": "compressed by bzip2",
        b"\xfd7zXZ": "compressed by xz",
        b"PK": "a zip file",
    }
    if not block:
        return "empty"
    known = next((told for magic, told in kinds.items() if block.startswith(magic)), "")
    return known or ("a tar that soakproof did not write" if block[257:262] == b"ustar" else "no tar")
