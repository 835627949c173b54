"""Everything that is not a completion: health, models, slots, stats, load and unload, aliases, metrics."""

from typing import Any

import orjson
from starlette.requests import Request
from starlette.responses import Response

from soakproof.testbed import documents, refusals
from soakproof.testbed.answers import Refusal, respond
from soakproof.testbed.backend import LoadFailed
from soakproof.testbed.chat import body_of, required_json
from soakproof.testbed.model import Model
from soakproof.testbed.names import AliasConflict
from soakproof.testbed.planting import Plants, UnknownPlant
from soakproof.testbed.upstream import Lost, fetch


def _model(request: Request) -> Model:
    model: Model = request.app.state.model
    return model


def _plants(request: Request) -> Plants:
    plants: Plants = request.app.state.plants
    return plants


async def live(request: Request) -> Response:
    told = _plants(request).live({"status": "ok"})
    return respond(request, refusals.NOT_LIVE, 503) if told is None else respond(request, told)


async def health(request: Request) -> Response:
    async with _model(request).gate:
        return respond(request, _plants(request).health(documents.health(_model(request))))


async def models(request: Request) -> Response:
    async with _model(request).gate:
        return respond(request, documents.models(_model(request)))


async def model(request: Request) -> Response:
    """A model by any of its names; the id is the name asked for, without `user.`."""
    asked, known = request.path_params["id"], _model(request)
    if not known.names.known(known.names.resolve(asked)):
        raise Refusal(404, refusals.no_such_model(asked, known.names.model))
    id = asked if asked in known.names.aliases else known.names.model
    return respond(request, documents.model_entry(known, id))


async def slots(request: Request) -> Response:
    """The engine's, and a use of the model, as Lemonade counts it."""
    if (backend := _model(request).loaded()) is None:
        raise Refusal(400, refusals.NO_SLOTS)
    _model(request).touch()
    try:
        status, body = await fetch(backend.url, "GET", "/slots")
    except Lost as lost:
        reason = await _model(request).reset(backend, "request", str(lost))
        raise Refusal(500, refusals.backend_reset(reason)) from lost
    if status != 200:
        raise refusals.wrapped(status, body)
    return respond(request, _plants(request).slots(orjson.loads(body)))


async def planted(request: Request) -> Response:
    """What is planted now; by POST after ``{"plant": ["NAME=VALUE"], "lift": ["NAME"]}`` is done."""
    plants = _plants(request)
    if request.method == "POST":
        document = await required_json(request)
        try:
            for name in document.get("lift", ()):
                plants.lift(name)
            for given in document.get("plant", ()):
                plants.plant(given)
        except (UnknownPlant, AttributeError, TypeError) as error:
            raise Refusal(400, {"error": str(error)}) from error
    return respond(request, {"planted": plants.document()})


async def stats(request: Request) -> Response:
    return respond(request, _model(request).stats.document())


async def system_info(request: Request) -> Response:
    return respond(request, documents.system_info())


async def metrics(request: Request) -> Response:
    engine = b""
    async with _model(request).gate:
        if (backend := _model(request).loaded()) is not None:
            try:
                _, engine = await fetch(backend.url, "GET", "/metrics")
            except Lost:
                engine = b""  # the gateway's own numbers are there all the same
    text = documents.metrics(_model(request), engine.decode())
    return respond(request, text.encode(), content_type=b"text/plain; version=0.0.4; charset=utf-8")


async def load(request: Request) -> Response:
    """Load by name, with `ctx_size` and `llamacpp_args` if others are wanted."""
    document, model = await required_json(request), _model(request)
    asked = document.get("model_name") if isinstance(document, dict) else None
    if not isinstance(asked, str):
        error = refusals.type_error("string", asked)["error"]
        message = {"code": "invalid_request", "message": f"Invalid request: {error}"}
        raise Refusal(400, {"error": message | {"type": "invalid_request_error"}})
    name = model.names.resolve(asked)
    if not model.names.known(name):
        raise Refusal(404, refusals.no_such_model(name, model.names.model))
    try:
        await model.load(model.options.changed(document.get("ctx_size"), document.get("llamacpp_args")))
    except (LoadFailed, ValueError) as error:
        raise Refusal(500, refusals.load_failed(name, str(error))) from error
    done = {"model_name": name, "status": "success", "recipe": documents.RECIPE}
    return respond(request, done | {"checkpoint": str(model.path)})


async def unload(request: Request) -> Response:
    """Unload the named model, or whatever is loaded."""
    model, name = _model(request), _named(await body_of(request))
    if name is None:
        await model.unload()
        return respond(request, {"message": "All models unloaded successfully", "status": "success"})
    name = model.names.resolve(name)
    if not model.names.known(name) or not await model.unload():
        raise Refusal(404, {"error": f"Model not loaded: {name}"})
    done = {"message": "Model unloaded successfully", "model_name": name, "status": "success"}
    return respond(request, done)


async def aliases(request: Request) -> Response:
    names = _model(request).names
    listed = [
        {"alias": alias, "downloaded": True, "recipe": documents.RECIPE, "target": target}
        for alias, target in names.aliases.items()
    ]
    return respond(request, {"aliases": listed})


async def add_alias(request: Request) -> Response:
    try:
        document: Any = orjson.loads(await body_of(request))
    except orjson.JSONDecodeError as error:
        text = refusals.parse_error(error)
        raise Refusal(400, refusals.alias_error("invalid_request", text)) from None
    given = document if isinstance(document, dict) else {}
    alias, target = given.get("alias"), given.get("target")
    if not (isinstance(alias, str) and alias and isinstance(target, str) and target):
        text = "Alias and target fields are required"
        raise Refusal(400, refusals.alias_error("invalid_request", text))
    try:
        _model(request).names.add(alias, target)
    except AliasConflict as conflict:
        raise Refusal(409, refusals.alias_error("alias_conflict", str(conflict))) from None
    return respond(request, {"alias": alias, "status": "ok", "target": target})


async def remove_alias(request: Request) -> Response:
    alias = request.path_params["alias"]
    if not _model(request).names.remove(alias):
        raise Refusal(404, refusals.alias_error("alias_not_found", f"Alias not found: {alias}"))
    return respond(request, {"alias": alias, "status": "deleted"})


def _named(body: bytes) -> str | None:
    """The model that an unload names; what cannot be read names none."""
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError:
        return None
    given = document if isinstance(document, dict) else {}
    named = [given[key] for key in ("model_name", "model") if isinstance(given.get(key), str)]
    return named[0] if named and named[0] else None
