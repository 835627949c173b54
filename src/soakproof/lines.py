"""Where in a user's own file something went wrong: never a line of ours that noticed it. No I/O."""

import sys
import traceback
from pathlib import PurePath
from types import GeneratorType
from typing import Any, Final

# What a file of the user's can raise: SystemExit and GeneratorExit end no run, and no judgement, either. Any
# other BaseException, such as KeyboardInterrupt, comes from outside.
FAULTS: Final = (Exception, SystemExit, GeneratorExit)


def file_of(kind: type) -> str:
    """The file that a class was loaded from; its name where there is none."""
    return str(getattr(sys.modules.get(kind.__module__), "__file__", None) or kind.__name__)


def told(error: BaseException, file: str) -> str:
    """``KeyError: 'oh' (mine.py:17)``: an error, with what `raised_at` says."""
    place = raised_at(error, file)
    return f"{type(error).__name__}: {error}{f' ({place})' if place else ''}"


def raised_at(error: BaseException, file: str) -> str:
    """``mine.py:17``, the last line of ``file`` that an error came through; empty where there is none."""
    lines = [line for frame, line in traceback.walk_tb(error.__traceback__) if _of(frame, file)]
    return _place(file, lines[-1]) if lines else ""


def waits_at(script: object, file: str) -> str:
    """The line of ``file`` at which a generator, or one that it yields from, stands; empty after its end."""
    line, inner = 0, script
    while isinstance(inner, GeneratorType) and inner.gi_frame is not None:
        if _of(inner.gi_frame, file):
            line = inner.gi_frame.f_lineno
        inner = inner.gi_yieldfrom
    return _place(file, line) if line else ""


def defined_at(function: object, file: str) -> str:
    """Where a function of ``file`` begins; the file's name alone for one of another file."""
    code = getattr(function, "__code__", None)
    if code is not None and code.co_filename == file:
        return _place(file, code.co_firstlineno)
    return PurePath(file).name


def _of(frame: Any, file: str) -> bool:
    return bool(frame.f_code.co_filename == file)


def _place(file: str, line: int) -> str:
    return f"{PurePath(file).name}:{line}"
