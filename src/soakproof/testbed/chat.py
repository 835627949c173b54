"""Chat and text completions: the request checked as Lemonade checks it, then streamed or answered whole."""

import asyncio
from typing import Any

import orjson
from starlette.requests import Request
from starlette.responses import Response

from soakproof.testbed import refusals
from soakproof.testbed.answers import CONNECTION, Refusal, dump, event, respond
from soakproof.testbed.backend import LoadFailed
from soakproof.testbed.model import Model
from soakproof.testbed.plant import Push
from soakproof.testbed.planting import Plants
from soakproof.testbed.raw import Raw
from soakproof.testbed.relay import Relay
from soakproof.testbed.stream import Stream
from soakproof.testbed.upstream import Lost, fetch

_BODY_WITHIN = 30.0  # seconds that a client has to send its body
_UNTYPED_LIMIT = 1 << 20  # bytes of a body that does not say that it is JSON

Responder = Response | Stream | Raw


async def body_of(request: Request) -> bytes:
    """The whole body. Raises Refusal when it comes too slowly or is large and not said to be JSON."""
    try:
        async with asyncio.timeout(_BODY_WITHIN):
            body = await request.body()
    except TimeoutError:
        raise Refusal(400, {"error": {"message": "Bad request", "type": "bad_request"}}) from None
    typed = request.headers.get("content-type", "").startswith("application/json")
    if len(body) > _UNTYPED_LIMIT and not typed:
        raise Refusal(413, b"")
    return body


async def required_json(request: Request) -> Any:
    """The body's document. Raises Refusal (400) for none and for what is not JSON."""
    body = await body_of(request)
    if not body:
        raise Refusal(400, {"error": "Request body is required but was empty"})
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError as error:
        text = f"Invalid JSON in request body: {refusals.parse_error(error)}"
        raise Refusal(400, {"error": text}) from None


async def chat(request: Request) -> Responder:
    document = await required_json(request)
    if not isinstance(document, dict):
        kind = refusals.json_type(document)
        raise Refusal(500, {"error": f"[json.exception.type_error.307] cannot use erase() with {kind}"})
    return await _complete(request, document, "/v1/chat/completions")


async def completions(request: Request) -> Responder:
    try:
        document = orjson.loads(await body_of(request))
    except orjson.JSONDecodeError as error:
        raise Refusal(500, {"error": refusals.parse_error(error)}) from None
    if not isinstance(document, dict):
        kind = refusals.json_type(document)
        raise Refusal(500, {"error": f"[json.exception.type_error.306] cannot use value() with {kind}"})
    return await _complete(request, document, "/v1/completions")


async def _complete(request: Request, document: dict[str, Any], path: str) -> Responder:
    model: Model = request.app.state.model
    plants: Plants = request.app.state.plants
    name = _resolved(model, document, plants)
    stream = document.get("stream", False)
    if not isinstance(stream, bool):
        raise Refusal(500, refusals.type_error("boolean", stream))
    if name is None:
        if stream:
            return _one_event(request, refusals.NO_MODEL)
        raise Refusal(400, refusals.NO_MODEL)
    document["model"] = name
    planted = plants.call(document, request.scope["extensions"][CONNECTION], model)
    try:
        if (raw := await planted.ask()) is not None:
            return raw
        if stream:
            return Stream(Relay(model, name, path, planted), planted)
        answer = await _answer(model, name, path, dump(document))
        return respond(request, planted.whole(answer), more=planted.call.headers)
    finally:
        if not stream:
            planted.done()


def _resolved(model: Model, document: dict[str, Any], plants: Plants) -> str | None:
    """The name that the request's model stands for; None when it names none."""
    if "model" not in document:
        if model.loaded() is None:
            raise Refusal(400, refusals.NOTHING_LOADED)
        return None
    asked = document["model"]
    name = model.names.resolve(asked) if isinstance(asked, str) else ""
    if not model.names.known(name) and plants.any_model():
        return model.names.model
    if not model.names.known(name):
        raise Refusal(404, refusals.no_such_model(name, model.names.model))
    return name


async def _answer(model: Model, name: str, path: str, body: bytes) -> dict[str, Any]:
    """The engine's whole answer. It runs to its end even when the client is long gone."""
    async with model.use():
        for _ in range(2):  # a lost engine is replaced and asked again, once
            try:
                backend = await model.ready()
            except LoadFailed as error:
                raise Refusal(500, refusals.load_failed(name, str(error))) from error
            try:
                status, answer = await fetch(backend.url, "POST", path, body)
                break
            except Lost as lost:
                reason = await model.reset(backend, "request", str(lost))
        else:
            raise Refusal(500, refusals.backend_reset(reason))
        model.touch()
    if status != 200:
        raise refusals.wrapped(status, answer)
    document: dict[str, Any] = orjson.loads(answer)
    model.stats.note(document)
    return document | {"model": name}


def _one_event(request: Request, document: dict[str, Any]) -> Stream:
    async def content(push: Push) -> None:
        await push(event(document))

    state = request.app.state
    return Stream(content, Plants().call({}, request.scope["extensions"][CONNECTION], state.model))
