"""What a soak's guard does to the server, where the plan says so: unload the model, or end the backend."""

from dataclasses import dataclass
from typing import Any

import httpx
import trio

from soakproof.watch.guard.ending import Ended, end
from soakproof.watch.guard.limits import Then
from soakproof.watch.guard.processes import Process, below, everything, is_there

UNLOAD_S = 8.0  # Lemonade waits for streams, which end with the load
GRACE_S = 5.0
_SHOWN = 200  # characters of a server's own words


@dataclass(frozen=True, slots=True)
class Acted:
    """What was done, as an event tells it."""

    what: Then
    done: bool
    details: dict[str, Any]


async def unload(url: str, model: str, key: str | None) -> Acted:
    """Ask a Lemonade to unload a model. ``url`` is that of its API, prefix included."""
    headers = {"Connection": "close", "User-Agent": "soakproof-watch"}
    headers |= {"Authorization": f"Bearer {key}"} if key else {}
    told: dict[str, Any] = {"model": model}
    with trio.move_on_after(UNLOAD_S):
        try:
            async with httpx.AsyncClient(trust_env=False, timeout=None) as client:
                answer = await client.post(f"{url}/unload", json={"model_name": model}, headers=headers)
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
            return Acted("unload", False, told | {"reason": f"{type(error).__name__}: {error}"[:_SHOWN]})
        said = answer.text[:_SHOWN].replace(key, "[key]") if key else answer.text[:_SHOWN]
        return Acted("unload", answer.status_code == 200, told | {"status": answer.status_code, "said": said})
    return Acted("unload", False, told | {"reason": f"no answer within {UNLOAD_S:g} s; it may still come"})


async def end_backend(backend: Process | None) -> Acted:
    """End this very process and all below it; None is one that was not found."""
    if backend is None:
        return Acted("end", False, {"reason": "no process of the backend is known"})

    seen = {backend.pid: backend}

    def tree() -> list[Process]:
        """What is left of all that was ever below it: once it has ended, the rest has other parents."""
        if is_there(backend):
            seen.update({p.pid: p for p in below(backend.pid, everything()) if p.pid not in seen})
        return list(seen.values())

    ended = await end(tree, GRACE_S)
    return Acted("end", not ended.left and bool(ended.asked), _told(backend, ended))


def _told(backend: Process, ended: Ended) -> dict[str, Any]:
    left = [process.pid for process in ended.left]
    asked, killed = list(ended.asked), list(ended.killed)
    return {"pid": backend.pid, "asked": asked, "killed": killed, "left": left, "took_s": ended.took_s}
