"""Another prompt's prefix is restored."""

from soakproof.testbed.plant import Call, Fires, Plant

_LONG = 500  # characters: a beginning that is worth being restored


class StalePrefix(Plant):
    """A long beginning that comes back after another one is not restored: what lay in the slot since is kept
    in its place, and the question at the end is answered from that.
    """

    modelled_on = "https://github.com/Luce-Org/lucebox/issues/216"
    plan = """
[mix]
cache_pair = 1
[kind.cache_pair]
prompt = "400 tokens"
in_system = "0 %"
"""
    fires = (Fires("functional: cache.exact"),)
    may_fire = ("isolation: foreign",)  # where the code that is told is one that the other was asked for

    def __init__(self, value: float) -> None:
        super().__init__(value)
        self._known: set[str] = set()
        self._kept = ""

    async def ask(self, call: Call) -> None:
        beginning, _, question = call.prompt.rpartition("\n\n")
        if len(beginning) < _LONG or beginning == self._kept:
            return
        if beginning in self._known:
            call.document["messages"][-1]["content"] = f"{self._kept}\n\n{question}"
        else:
            self._known.add(beginning)
            self._kept = beginning
