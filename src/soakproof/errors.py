"""Errors that end in a message and an exit code, never in a traceback.

Exit codes: 0 clean or PASS, 1 raw failures or FAIL, 2 INCONCLUSIVE, 3 could not be carried out or ERROR,
64 wrong usage (the EX_USAGE of sysexits.h).
"""

import difflib
import errno
from collections.abc import Iterable, Mapping

_LIMITS: Mapping[int | None, str] = {  # what the system's own words leave to guess
    errno.EFBIG: "a limit on the size of a file is reached (`ulimit -f`, or the file system's own)",
    errno.EMFILE: "too many open files: raise this process's limit (`ulimit -n 4096`)",
    getattr(errno, "EDQUOT", None): "the disk quota of this user or group is used up",
}
EXIT_OK, EXIT_FAIL, EXIT_INCONCLUSIVE, EXIT_ERROR, EXIT_USAGE = 0, 1, 2, 3, 64


class SoakproofError(Exception):
    """A fault that the user must hear about in words; ``exit_code`` says how the command ends."""

    exit_code = EXIT_ERROR


class UsageError(SoakproofError):
    """The user's input is wrong: says what was expected, what was found, and what to do next."""

    exit_code = EXIT_USAGE

    def __init__(self, problem: str, hint: str = "") -> None:
        super().__init__(f"{problem}\n  {hint}" if hint else problem)
        self.problem = problem
        self.hint = hint


def nothing_given(option: str) -> UsageError:
    """The error of an option that is given and empty, as by a shell's variable that is not set."""
    return UsageError(
        f"{option}: expected a value, found nothing", "is the shell's variable set? else leave it out"
    )


class RecorderError(SoakproofError):
    """Evidence could not be written (a full disk, say): the run stops and keeps what it has."""


def words(error: OSError) -> str:
    """What the system says went wrong, in words; a limit is told apart from a full disk."""
    return _LIMITS.get(error.errno) or error.strerror or str(error)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The beginning of a hint: the known word that an unknown one is close to; empty where none is."""
    near = difflib.get_close_matches(word, list(known), n=1)
    return f"did you mean {near[0]!r}? " if near else ""
