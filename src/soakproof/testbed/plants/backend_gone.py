"""A backend that ends and is not started again."""

from soakproof.testbed.plant import Call, Fires, Plant
from soakproof.testbed.raw import Raw


class BackendGone(Plant):
    """The engine is killed as one request comes, and the front answers all that follow with an error."""

    default = 6
    unit = "which request"
    modelled_on = "https://github.com/lemonade-sdk/lemonade/issues/2024"
    plan = """
[mix]
structured_json = 1
"""
    seconds = 5
    fires = (Fires("slots: gone", within=None),)
    may_fire = ("functional: victims 1", "functional: exchanges: http_status")

    def __init__(self, value: float) -> None:
        super().__init__(value)
        self._asked = 0

    async def instead(self, call: Call) -> Raw | None:
        self._asked += 1
        if self._asked < self.value:
            return None
        if self._asked == self.value and (backend := call.model.loaded()) is not None:
            backend.child.kill()
        return Raw(b"HTTP/1.1 500 Internal Server Error\r\ncontent-length: 0\r\n\r\n")
