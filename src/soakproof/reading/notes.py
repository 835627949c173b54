"""Oddities of the protocol, bounded in number and size; and text of a server made safe to print. No I/O."""

NOTE_CHARS = 160


def printable(text: str, limit: int) -> str:
    """The text on one line with everything escaped that could steer a terminal, at most ``limit`` long."""
    shown = "".join(c if c.isprintable() else _escaped(c) for c in text[:limit])
    return shown if len(text) <= limit and len(shown) <= limit else shown[: limit - 1] + "…"


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode()


class Notes:
    """The notes of one exchange: each name once, with the first detail that came with it."""

    def __init__(self) -> None:
        self._notes: dict[str, str] = {}

    def add(self, name: str, detail: str = "") -> None:
        """``name`` is one of the program's own words; ``detail`` may be what the server sent."""
        if name not in self._notes:
            self._notes[name] = f"{name}: {printable(detail, NOTE_CHARS)}" if detail else name

    def all(self) -> tuple[str, ...]:
        return tuple(self._notes.values())
