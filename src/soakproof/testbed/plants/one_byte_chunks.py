"""Each byte of a stream in a chunk of its own."""

from soakproof.testbed.plant import Call, Plant, Push


class OneByteChunks(Plant):
    """Every byte of an answer comes alone: events and characters are cut wherever they can be."""

    harmless = True
    modelled_on = "https://github.com/xberg-io/liter-llm/issues/152"
    plan = """
[mix]
structured_json = 1
isolation = 1
"""
    verdict = "PASS"

    async def send(self, call: Call, data: bytes, push: Push) -> None:
        for byte in data:
            await push(bytes((byte,)))
