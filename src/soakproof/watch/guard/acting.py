"""What a soak's guard does to the server, where the plan says so: unload the model, or end the backend."""

from dataclasses import dataclass
from typing import Any

import trio

from soakproof.watch.guard.ending import Ended, end
from soakproof.watch.guard.limits import Then
from soakproof.watch.guard.processes import Process, below, everything, is_there
from soakproof.watch.http import Http, NoAnswerError

UNLOAD_S = 8.0  # Lemonade waits for streams, which end with the load
GRACE_S = 5.0


@dataclass(frozen=True, slots=True)
class Acted:
    """What was done, as an event tells it."""

    what: Then
    done: bool
    details: dict[str, Any]


async def unload(http: Http, url: str, model: str) -> Acted:
    """Ask a Lemonade to unload a model. ``url`` is that of its API, prefix included."""
    told: dict[str, Any] = {"model": model}
    with trio.move_on_after(UNLOAD_S):
        try:
            answer = await http.post(f"{url}/unload", {"model_name": model})
        except (NoAnswerError, OSError) as error:
            return Acted("unload", False, told | {"reason": str(error)})
        said = http.safe(answer.body.decode("utf-8", "replace"))
        return Acted("unload", answer.status == 200, told | {"status": answer.status, "said": said})
    return Acted("unload", False, told | {"reason": f"no answer within {UNLOAD_S:g} s; it may still come"})


async def end_backend(backend: Process | None) -> Acted:
    """End this very process and all below it; None is one that was not found."""
    if backend is None:
        return Acted("end", False, {"reason": "no process is known that is certainly the backend's"})

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
