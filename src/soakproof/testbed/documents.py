"""The documents that describe the server: health, models, metrics, system information. No I/O but the host's
own facts.
"""

import os
import platform
import re
from typing import Any

import psutil

from soakproof.testbed.backend import Backend
from soakproof.testbed.model import Model

VERSION = "11.7.0"  # of the Lemonade that this is shaped after
RECIPE = "llamacpp"
_POOLS = ("classification", "embedding", "image", "llm", "reranking", "transcription", "tts")


def health(model: Model) -> dict[str, Any]:
    """An engine that is not there, or not there yet, is not in the list."""
    backend = model.loaded()
    return {
        "all_models_loaded": [_loaded(model, backend)] if backend else [],
        "max_models": dict.fromkeys(_POOLS, 1),
        "model_loaded": model.names.model if backend else None,
        "pinned_helper_models": dict.fromkeys(_POOLS, 0),
        "pinned_models": dict.fromkeys(_POOLS, 0),
        "status": "ok",
        "soakproof_testbed": True,  # which no Lemonade says: a report names what it was
        "telemetry": {"enabled": False},
        "update_check_done": True,
        "version": VERSION,
        "websocket_port": 9000,
    }


def _loaded(model: Model, backend: Backend) -> dict[str, Any]:
    busy = model.requests > 0
    return {
        "backend_alive": True,
        "backend_health": "busy" if busy else "ready",
        "backend_url": f"{model.face or backend.url}/v1",
        "checkpoint": str(model.path),
        "device": "gpu",  # said of the system backend wherever it runs
        "is_busy": busy,
        "is_streaming": model.streams > 0,
        "last_use": round(model.last_use * 1000),
        "launch_command": model.options.launch_command(str(model.path), backend.port),
        "loaded": True,
        "max_context_window": backend.trained_context,
        "model_name": model.names.model,
        "pid": backend.pid,
        "pinned": False,
        "recipe": RECIPE,
        "recipe_options": model.options.recipe_options(),
        "residency_class": "standard",
        "slot_pool": "standard/llm",
        "status": "in_use" if busy else "ready",
        "type": "llm",
        "watchdog_reset": False,
    }


def model_entry(model: Model, id: str) -> dict[str, Any]:
    backend = model.backend
    return {
        "checkpoint": str(model.path),
        "checkpoints": {"main": str(model.path)},
        "components": [],
        "context_length": model.options.context,
        "created": 1234567890,
        "downloaded": True,
        "id": id,
        "labels": ["custom", "chat"],
        "max_context_window": backend.trained_context if backend else model.options.context,
        "object": "model",
        "owned_by": "lemonade",
        "recipe": RECIPE,
        "recipe_options": model.options.recipe_options(),
        "registry_source": "huggingface",
        "size": round(model.path.stat().st_size / 1e9, 3),
        "source": "local_path",
        "suggested": True,
        "update_available": False,
    }


def models(model: Model) -> dict[str, Any]:
    return {"data": [model_entry(model, id) for id in model.names.listed()], "object": "list"}


def system_info() -> dict[str, Any]:
    """The few entries that say something true of any host."""
    name = platform.processor() or platform.machine()
    cores = psutil.cpu_count(logical=False) or 1
    cpu = {"available": True, "cores": cores, "family": platform.machine(), "name": name}
    return {
        "OS Version": platform.platform(),
        "Physical Memory": f"{psutil.virtual_memory().total / 1e9:.2f} GB",
        "Processor": name,
        "cloud": {"providers": []},
        "devices": {
            "amd_gpu": [],
            "cpu": cpu | {"threads": os.cpu_count() or 1},
            "nvidia_gpu": [],
        },
        "no_fetch_executables": True,
        "recipes": {},
        "unavailable_recipes": [],
    }


def metrics(model: Model, engine: str) -> str:
    """Prometheus text: the gateway's own gauges and, with labels, the engine's."""
    label = (
        f'{{checkpoint="{model.path}",device="gpu",model_name="{model.names.model}",'
        f'recipe="{RECIPE}",type="llm"}}'
    )
    loaded = int(model.loaded() is not None)
    totals = {"requests_total": model.stats.requests} | {
        f"{key}_total": value for key, value in model.stats.total.items()
    }
    own = {"server_up": 1, f'server_info{{version="{VERSION}"}}': 1, "loaded_models": loaded}
    lines = [f"lemonade_{name} {value}" for name, value in own.items()]
    if loaded:
        lines.append(f"lemonade_model_loaded{label} 1")
    lines += [f"lemonade_model_{name}{label} {value}" for name, value in totals.items()]
    lines += [
        f"lemonade_llamacpp_{name}{label} {value}"
        for name, value in re.findall(r"^llamacpp:(\w+) (\S+)$", engine, re.MULTILINE)
    ]
    lines += [f"lemonade_{name} {value}" for name, value in totals.items()]
    return "\n".join(lines) + "\n"
