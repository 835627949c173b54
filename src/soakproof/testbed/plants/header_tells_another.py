"""A header of an answer tells what somebody else had asked."""

from soakproof.testbed.plant import Call, Fires, Plant


class HeaderTellsAnother(Plant):
    """Each answer has a header with the last words of the prompt before it, in lower case."""

    modelled_on = "https://github.com/lemonade-sdk/lemonade/issues/3228"
    plan = """
[mix]
isolation = 1
"""
    fires = (Fires("isolation: foreign"),)

    def __init__(self, value: float) -> None:
        super().__init__(value)
        self._before = ""

    async def ask(self, call: Call) -> None:
        words = self._before.encode("ascii", "replace").replace(b"\n", b" ")
        call.headers.append((b"x-previous-prompt", words))
        self._before = call.prompt[-80:].lower()
