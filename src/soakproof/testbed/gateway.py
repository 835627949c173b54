"""The gateway: a server shaped like Lemonade 11.7 in front of one engine, which it starts as its child.

    python -m soakproof.testbed [--model FILE] [--port N] [--log-dir DIR] [llama-server's flags]

Writes one JSON line to standard output once it answers: url, backend_url, model, pid, backend_pid.
"""

import argparse
import asyncio
import contextlib
import json
import os
import sys
from collections.abc import AsyncIterator, Sequence
from dataclasses import asdict
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from soakproof import children
from soakproof.testbed import chat, manage, options, refusals
from soakproof.testbed.answers import Refusal, respond
from soakproof.testbed.backend import LoadFailed
from soakproof.testbed.data import PROBE_MODEL
from soakproof.testbed.face import face
from soakproof.testbed.front import Front, listen, loop_factory
from soakproof.testbed.model import Model
from soakproof.testbed.names import ALIAS, MODEL
from soakproof.testbed.planting import Plants
from soakproof.testbed.watchdog import Patience, watch

_PREFIXES = ("/api/v0", "/api/v1", "/v0", "/v1")
_GET = {
    "health": manage.health,
    "models": manage.models,
    "models/{id:path}": manage.model,
    "slots": manage.slots,
    "stats": manage.stats,
    "system-info": manage.system_info,
}
_POST = {
    "chat/completions": chat.chat,
    "completions": chat.completions,
    "load": manage.load,
    "unload": manage.unload,
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve until a signal or the parent's end; exits with 1 when the model cannot be loaded."""
    children.guard_lifeline()
    given = _parser().parse_args(arguments)
    with contextlib.suppress(KeyboardInterrupt), asyncio.Runner(loop_factory=loop_factory()) as runner:
        runner.run(_serve(given))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="soakproof.testbed", allow_abbrev=False)
    parser.add_argument("-m", "--model", type=Path, default=PROBE_MODEL)
    parser.add_argument("--name", default=MODEL, help="the model's name")
    parser.add_argument("--alias", default=ALIAS, help="another name for it")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--log-dir", type=Path, default=Path())
    for name, seconds in asdict(Patience()).items():
        parser.add_argument(f"--watchdog-{name}", type=float, default=seconds, metavar="SECONDS")
    parser.add_argument("--plant", action="append", default=[], metavar="NAME[=VALUE]", help="a fault")
    parser.add_argument("--plantable", action="store_true", help="faults may be planted while it serves")
    options.add_to(parser)
    return parser


async def _serve(given: argparse.Namespace) -> None:
    plants = Plants(given.plant) if given.plant or given.plantable else None
    model = Model(given.model.resolve(), given.name, options.of(given), given.log_dir / "engine.log")
    model.names.add(given.alias, f"user.{given.name}")
    listener = listen(given.host, given.port)
    url = "http://{}:{}".format(*listener.getsockname())

    def ready() -> None:
        backend = model.backend
        assert backend is not None
        line = {"url": url, "backend_url": backend.url, "model": given.name}
        print(json.dumps(line | {"pid": os.getpid(), "backend_pid": backend.pid}), flush=True)

    try:
        await model.ready()
    except LoadFailed as error:
        sys.exit(f"cannot load {model.path}: {error}")
    patience = Patience(given.watchdog_grace, given.watchdog_poll, given.watchdog_probe)
    async with face(model, plants) if plants else contextlib.nullcontext("") as model.face:
        app = application(model, patience, plants)
        await Front(app, ready).serve([listener])


def application(model: Model, patience: Patience, plants: Plants | None = None) -> ASGIApp:
    """The ASGI application, which ends the engine as it stops. Without ``plants`` none can be planted."""

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        watchdog = asyncio.ensure_future(watch(model, patience))
        yield
        watchdog.cancel()
        app.state.plants.lift_all()
        await model.close()

    app = Starlette(
        routes=[*_routes(), *(_PLANTING if plants else ())],
        lifespan=lifespan,
        exception_handlers={
            Refusal: _refused,
            HTTPException: _no_endpoint,
            ClientDisconnect: _gone,
            Exception: _broken,
        },
    )
    app.router.redirect_slashes = False
    app.state.model = model
    app.state.plants = plants or Plants()
    return app


_PLANTING = (
    Route("/internal/plants", manage.planted),
    Route("/internal/plants", manage.planted, methods=["POST"]),
)


def _routes() -> list[Route]:
    routes = [
        Route("/live", manage.live),
        Route("/metrics", manage.metrics),
        Route("/internal/aliases", manage.aliases),
        Route("/internal/aliases", manage.add_alias, methods=["POST"]),
        Route("/internal/aliases/{alias:path}", manage.remove_alias, methods=["DELETE"]),
    ]
    for prefix in _PREFIXES:
        routes += [Route(f"{prefix}/{name}", handler) for name, handler in _GET.items()]
        for name, handler in _POST.items():
            routes.append(Route(f"{prefix}/{name}", handler, methods=["POST"]))
            routes.append(Route(f"{prefix}/{name}", _use_post, methods=["GET"]))
    routes.append(Route("/{path:path}", _preflight, methods=["OPTIONS"]))
    return routes


async def _use_post(request: Request) -> Response:
    return respond(request, refusals.METHOD_NOT_ALLOWED, 405)


async def _preflight(request: Request) -> Response:
    return respond(request, b"", 204)


async def _refused(request: Request, refusal: Exception) -> Response:
    assert isinstance(refusal, Refusal)
    return respond(request, refusal.document, refusal.status)


async def _no_endpoint(request: Request, _: Exception) -> Response:
    return respond(request, refusals.no_endpoint(request.url.path), 404)


async def _gone(request: Request, _: Exception) -> Response:
    return respond(request, b"", 400)  # nobody is there to read it


async def _broken(request: Request, error: Exception) -> Response:
    return respond(request, {"error": str(error)}, 500)
