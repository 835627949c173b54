"""Text from a server or a model as one printable, bounded line. No I/O.

Model output is hostile: it may hold terminal escapes, direction overrides or a megabyte of spaces.
"""

import unicodedata

_INVISIBLE = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")


def plain(text: object, limit: int = 200) -> str:
    """``text`` on one line of at most ``limit`` characters; what cannot be seen is written as an escape."""
    source = str(text)
    cut = len(source) > limit
    shown = "".join(_seen(letter) for letter in source[:limit])
    return shown[: limit - 1] + "…" if cut or len(shown) > limit else shown


def _seen(letter: str) -> str:
    category = unicodedata.category(letter)
    if letter in "\n\r\t" or category == "Zs":
        return " "
    return letter if category not in _INVISIBLE else letter.encode("unicode_escape").decode()
