"""The engine crashes before an answer begins; the gateway reloads it and asks again, unseen."""

from soakproof.testbed.plant import Call, Fires, Plant


class BackendCrashReplayed(Plant):
    """The engine is killed as one request comes: it is reloaded, asked again, and the client sees a whole
    answer that took a moment longer.
    """

    default = 6
    unit = "which request"
    modelled_on = "https://github.com/lemonade-sdk/lemonade/pull/2028"
    plan = """
[mix]
structured_json = 1
"""
    seconds = 5
    fires = (Fires("slots: restarted", within=None),)

    def __init__(self, value: float) -> None:
        super().__init__(value)
        self._asked = 0

    async def ask(self, call: Call) -> None:
        self._asked += 1
        if self._asked == self.value and (backend := call.model.loaded()) is not None:
            backend.child.kill()
