"""A route header that names another candidate."""

from soakproof.testbed.plant import Call, Fires, Plant


class RouteToAnother(Plant):
    """Every answer has the header of a router; every third one names another candidate in it."""

    modelled_on = "https://github.com/lemonade-sdk/lemonade/pull/3210"
    plan = """
[mix]
isolation = 1
"""
    seconds = 3
    fires = (Fires("routing: route"),)

    async def ask(self, call: Call) -> None:
        route = b"default" if call.number % 3 else b"long-context"
        call.headers.append((b"x-lemonade-route", route))
