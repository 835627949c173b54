"""The engine crashes in the middle of its answers."""

from soakproof.testbed.plant import Call, Fires, Plant, Push


class BackendCrashInStream(Plant):
    """The engine is killed while it streams: its streams end with the front's error, and it is reloaded."""

    default = 40
    unit = "pieces of a stream before the crash"
    modelled_on = "https://github.com/lemonade-sdk/lemonade/pull/2028"
    plan = """
[mix]
long_prose = 1
[kind.long_prose]
prompt = "200 tokens"
answer = "200 tokens"
"""
    seconds = 5
    fires = (
        Fires("functional: exchanges: backend_lost", grade="backend_lost"),
        Fires("slots: restarted", within=None),
    )

    def __init__(self, value: float) -> None:
        super().__init__(value)
        self._left = value

    async def send(self, call: Call, data: bytes, push: Push) -> None:
        await push(data)
        self._left -= 1
        if self._left == 0 and (backend := call.model.loaded()) is not None:
            backend.child.kill()
