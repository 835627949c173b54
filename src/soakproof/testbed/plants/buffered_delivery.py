"""The whole answer is kept back and then sent at once."""

from soakproof.testbed.plant import Call, Fires, Plant, Push


class BufferedDelivery(Plant):
    """Nothing of a stream comes until all of it is there; then all of it comes in one piece."""

    modelled_on = "https://github.com/oneprolabs/sourcelens/pull/4"
    plan = """
[mix]
long_prose = 1
[kind.long_prose]
prompt = "200 tokens"
answer = "450 tokens"
"""
    users = 2
    seconds = 8
    fires = (Fires("protocol: buffered", outcome="INCONCLUSIVE"),)
    verdict = "INCONCLUSIVE"

    def __init__(self, value: float) -> None:
        super().__init__(value)
        self._held: dict[Call, bytes] = {}

    async def send(self, call: Call, data: bytes, push: Push) -> None:
        if data.startswith(b":"):
            await push(data)
        else:
            self._held[call] = self._held.get(call, b"") + data

    async def end(self, call: Call, push: Push) -> None:
        await push(self._held.pop(call, b""))
