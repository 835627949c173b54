"""A page of HTML in place of an answer."""

from soakproof.testbed.plant import Call, Fires, Plant
from soakproof.testbed.raw import Raw

_PAGE = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 27\r\n\r\n<html><h1>Hello</h1></html>"


class HtmlInstead(Plant):
    """Every third request is answered with a page of HTML and status 200."""

    modelled_on = "https://github.com/ggml-org/llama.cpp/issues/22373"
    plan = """
[mix]
isolation = 1
"""
    seconds = 3
    fires = (
        Fires("functional: exchanges: protocol", grade="protocol"),
        Fires("protocol: html"),
    )
    may_fire = ("protocol: content_type",)

    async def instead(self, call: Call) -> Raw | None:
        return None if call.number % 3 or not call.stream else Raw(_PAGE)
