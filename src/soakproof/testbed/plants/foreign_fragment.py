"""A part of another client's answer stands in an answer."""

from soakproof.testbed.events import TextPlant
from soakproof.testbed.plant import Call, Fires

_WORDS = 5


class ForeignFragment(TextPlant):
    """Of answers that are generated at the same time, the first to end has a few words of the other in its
    middle; the other one is whole.
    """

    modelled_on = "https://github.com/ggml-org/llama.cpp/issues/27994"
    plan = """
[mix]
isolation = 1
"""
    seconds = 3
    fires = (
        Fires("functional: isolation.own", grade="mixed"),
        Fires("functional: isolation.foreign"),
        Fires("isolation: foreign"),
    )

    def changed(self, call: Call, text: str) -> str:
        others = (held.text.split() for other, held in self._held.items() if other is not call)
        words = next((said for said in others if len(said) > _WORDS), [])
        half = len(text) // 2
        return " ".join([text[:half], *words[:_WORDS], text[half:]]) if words else text
