"""Status 500 in place of an answer."""

from soakproof.testbed.plant import Call, Fires, Plant
from soakproof.testbed.raw import Raw


class Http500(Plant):
    """Every third request is answered with status 500 and a few words."""

    modelled_on = "https://github.com/ggml-org/llama.cpp/issues/25396"
    plan = """
[mix]
isolation = 1
"""
    seconds = 3
    fires = (Fires("functional: exchanges: http_status", grade="http_status"),)

    async def instead(self, call: Call) -> Raw | None:
        return (
            None
            if call.number % 3 or not call.stream
            else Raw(b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 13\r\n\r\nproxy error\r\n")
        )
