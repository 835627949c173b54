"""What the system refuses, in words."""

import errno
import os

import pytest

from soakproof.errors import words


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("EFBIG", "a limit on the size of a file is reached"),
        ("EDQUOT", "the disk quota of this user or group is used up"),
        ("ENOSPC", "No space left on device"),
        ("EACCES", "Permission denied"),
    ],
)
def test_a_limit_is_not_told_as_a_full_disk(name: str, told: str) -> None:
    number = getattr(errno, name, None)
    if number is None:
        pytest.skip(f"this system has no {name}")
    assert told in words(OSError(number, os.strerror(number)))


def test_an_error_without_a_number_keeps_its_own_words() -> None:
    assert words(OSError("cannot do that")) == "cannot do that"
