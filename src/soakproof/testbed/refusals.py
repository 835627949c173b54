"""The error documents, word for word as Lemonade 11.7 sends them. Pure."""

from typing import Any

import orjson

from soakproof.testbed.answers import Refusal

Document = dict[str, Any]
NO_MODEL: Document = {
    "error": {"message": "Invalid request: No model specified in request", "type": "invalid_request"}
}
NOTHING_LOADED = b'{"error": "No model loaded and no model specified in request"}'
NOT_LIVE = b'{"status": "error"}'
NO_SLOTS = b'{"error": "No model loaded for slots query"}'
METHOD_NOT_ALLOWED = b'{"error": "Method Not Allowed. Use POST for this endpoint"}'
_BACKEND = "llama-server"
_JSON_TYPES = {dict: "object", list: "array", str: "string", bool: "boolean", int: "number", float: "number"}


def no_endpoint(path: str) -> Document:
    message = "The requested endpoint does not exist"
    return {"error": {"message": message, "path": path, "type": "not_found"}}


def no_such_model(name: str, there: str) -> Document:
    return {
        "error": {
            "code": "model_not_found",
            "message": f"Model '{name}' was not found. Available models include: '{there}'. "
            "Use 'lemonade list' or GET /api/v1/models?show_all=true to see all available models.",
            "param": "model",
            "requested_model": name,
            "type": "model_not_found",
        }
    }


def load_failed(name: str, why: str) -> Document:
    return {
        "error": {
            "code": "model_load_error",
            "message": f"Failed to load model '{name}': {why}",
            "param": "model",
            "requested_model": name,
            "type": "model_load_error",
        }
    }


def alias_error(code: str, message: str) -> Document:
    error = {"code": code, "message": message, "param": "alias", "type": "invalid_request_error"}
    return {"error": error}


def parse_error(error: orjson.JSONDecodeError) -> str:
    """Where a body is not JSON, in the form of Lemonade's JSON library."""
    where = f"parse error at line {error.lineno}, column {error.colno}"
    return f"[json.exception.parse_error.101] {where}: syntax error while parsing value - {error.msg}"


def type_error(wanted: str, found: Any) -> Document:
    """A field of the wrong type."""
    return {"error": f"[json.exception.type_error.302] type must be {wanted}, but is {json_type(found)}"}


def json_type(value: Any) -> str:
    return _JSON_TYPES.get(type(value), "null")


def wrapped(status: int, answer: bytes) -> Refusal:
    """The engine's refusal of a request that does not stream, wrapped as Lemonade does."""
    try:
        response = orjson.loads(answer)
    except orjson.JSONDecodeError:
        response = answer.decode(errors="replace")
    inner = response.get("error") if isinstance(response, dict) else None
    inner = inner if isinstance(inner, dict) else {}
    message = inner.get("message") or f"{_BACKEND} request failed"
    error: Document = {
        "message": message,
        "type": inner.get("type", "invalid_request_error" if status < 500 else "backend_error"),
        "status_code": status,
        "details": {"backend": _BACKEND, "response": response},
    }
    if "code" in inner:
        error["code"] = inner["code"]
    if "exceeds the available context size" in message:
        error |= {"type": "invalid_request_error", "code": "context_length_exceeded"}
    return Refusal(status, {"error": error})


def in_stream(status: int, answer: bytes) -> Document:
    """The engine's refusal as an event: the stream has begun with 200 by then."""
    try:
        document = orjson.loads(answer)
    except orjson.JSONDecodeError:
        document = None
    if not isinstance(document, dict) or "error" not in document:
        message = answer.decode(errors="replace") or f"backend returned HTTP {status}"
        return {"error": {"message": message, "type": "backend_error", "status_code": status}}
    if isinstance(document["error"], dict):
        document["error"].setdefault("status_code", status)
    return document


def backend_reset(reason: str) -> Document:
    """The engine was lost in the middle of an answer."""
    details = {
        "backend": _BACKEND,
        "code": "backend_watchdog_reset",
        "reason": reason,
        "retryable": True,
    }
    message = (
        f"{_BACKEND} was unresponsive and has been reset by the backend watchdog. "
        "The model will be reloaded automatically on retry."
    )
    return {"error": {"details": details, "message": message, "type": "backend_error"}}


def backend_unavailable(name: str) -> Document:
    """The engine could not be brought back."""
    details = {"code": "backend_unavailable", "retryable": True}
    message = f"Backend for model '{name}' is unavailable"
    return {"error": {"details": details, "message": message, "type": "backend_error"}}
