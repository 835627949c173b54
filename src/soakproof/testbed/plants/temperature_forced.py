"""A temperature of the front's own."""

from soakproof.testbed.plant import Call, Fires, Plant


class TemperatureForced(Plant):
    """Every request is sent on with the front's temperature in place of the client's; the slots show it."""

    default = 0.9
    unit = "the temperature"
    modelled_on = "https://github.com/mudler/LocalAI/issues/676"
    plan = """
[watch]
slots_every = "2s"
[mix]
long_prose = 1
[kind.long_prose]
prompt = "200 tokens"
answer = "1000 tokens"
"""
    seconds = 5
    fires = (Fires("delivery: parameters", within=None),)

    async def ask(self, call: Call) -> None:
        call.document["temperature"] = self.value
