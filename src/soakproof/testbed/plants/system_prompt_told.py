"""The system prompt of another conversation is told."""

from soakproof.testbed.events import TextPlant
from soakproof.testbed.plant import Call, Fires


class SystemPromptTold(TextPlant):
    """Now and then an answer goes on with the system prompt of a conversation that ended before it began."""

    default = 2
    unit = "answers, of which the last tells it"
    modelled_on = "https://github.com/lemonade-sdk/lemonade/issues/3228"
    plan = """
[mix]
isolation = 1
[kind.isolation]
with_secret = "100 %"
"""
    seconds = 6
    fires = (
        Fires("functional: isolation.own", grade="wrong"),
        Fires("functional: isolation.foreign"),
        Fires("isolation: foreign"),
    )

    def __init__(self, value: float) -> None:
        super().__init__(value)
        self._over = ""  # the first system prompt of all, once its own request has ended
        self._told: dict[Call, str] = {}

    async def ask(self, call: Call) -> None:
        if self._over and not call.number % self.value:
            self._told[call] = self._over

    def changed(self, call: Call, text: str) -> str:
        first = call.document["messages"][0]
        is_probe = call.document.get("max_tokens") == 1  # before the load, of which nobody would know a word
        if first["role"] == "system" and not is_probe:
            self._over = self._over or first["content"]
        return f"{text}\n{self._told[call]}" if call in self._told else text
