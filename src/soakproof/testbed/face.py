"""The engine as its own address shows it when faults may be planted: what it answers, changed by the plants.

Lemonade tells its clients where the backend is, and whoever watches asks it there. So that a plant can lie
about slots, the health document names this address in place of the engine's own.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import orjson
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from soakproof.testbed.front import Front, listen
from soakproof.testbed.model import Model
from soakproof.testbed.planting import Plants
from soakproof.testbed.raw import Raw
from soakproof.testbed.upstream import Lost, fetch


@contextlib.asynccontextmanager
async def face(model: Model, plants: Plants) -> AsyncIterator[str]:
    """Serve the engine's face on a free port of the loopback; its address."""

    async def answer(request: Request) -> Response | Raw:
        backend = model.loaded()
        if backend is None:
            return Raw(b"", "reset")
        path = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        try:
            status, body = await fetch(backend.url, request.method, path, await request.body())
        except Lost:
            return Raw(b"", "reset")
        if request.url.path == "/slots" and status == 200:
            await plants.look()
            body = orjson.dumps(plants.slots(orjson.loads(body)))
        kind = "text/plain; version=0.0.4" if request.url.path == "/metrics" else "application/json"
        return Response(body, status, media_type=kind)

    listener = listen("127.0.0.1", 0)
    server = Front(Starlette(routes=[Route("/{path:path}", answer, methods=["GET", "POST"])]), lambda: None)
    serving = asyncio.ensure_future(server.serve([listener]))
    try:
        yield "http://{}:{}".format(*listener.getsockname())
    finally:
        server.should_exit = True
        await serving
