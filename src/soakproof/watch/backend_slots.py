"""``slots``: the slots of the target's own model, asked of the process that has them.

Lemonade's own /slots shows the model that was used last, and asking counts as a use: it is asked only for a
target on another host. After a reload the backend is elsewhere, and is followed there.
"""

from collections.abc import Sequence
from typing import Any

from soakproof.slots import Slot, UnknownShapeError, parse_slots
from soakproof.watch.http import PROBE_BOUND_S, Http, NoAnswerError
from soakproof.watch.known import Known
from soakproof.watch.settings import WatchConfig
from soakproof.watch.source import Reading

_LIST_LIMIT = 64


class BackendSlots:
    """``slots``: {total, busy, context, backend}, and lists with an entry for each busy slot, in order.

    The lists are ids, seeds, tasks, decoded, prompt_processed, prompt_tokens, temperatures and max_tokens.
    ``context`` is that of one slot, in tokens; ``seedless`` of the busy slots say that their request has no
    seed; ``last_tasks`` has an entry for each slot, that of an idle one from the work that it had last.
    """

    name = "slots"

    def __init__(self, config: WatchConfig, http: Http, known: Known, bound_s: float = PROBE_BOUND_S) -> None:
        self.bound_s = bound_s
        self._config = config
        self._http = http
        self._known = known

    async def read(self) -> Sequence[Reading]:
        base = self._known.main.url if self._known.main else None
        url = f"{base}/slots" if base else self._through_front()
        if url is None:
            return [
                Reading(self.name, "error", reason="the target has no backend now whose slots could be seen")
            ]
        try:
            slots = parse_slots(await self._http.document(url))
        except NoAnswerError as error:
            return [Reading(self.name, error.state, {"backend": base}, str(error))]
        except UnknownShapeError as error:
            return [Reading(self.name, "error", {"backend": base}, f"not evaluable: {error}")]
        return [Reading(self.name, values={**slot_values(slots), "backend": base})]

    def _through_front(self) -> str | None:
        """The address that the target's identity names, for a target whose backend cannot be reached."""
        return None if self._config.is_local else self._config.target.get("slots_url")


def slot_values(slots: Sequence[Slot]) -> dict[str, Any]:
    """A sample's values."""
    busy = [slot for slot in slots if slot.busy]
    shown = busy[:_LIST_LIMIT]
    contexts = [slot.context for slot in slots if slot.context is not None]
    return {
        "total": len(slots),
        "busy": len(busy),
        "context": min(contexts, default=None),
        "ids": [slot.id for slot in shown],
        "seeds": [slot.seed for slot in shown],
        "tasks": [slot.task for slot in shown],
        "decoded": [slot.decoded for slot in shown],
        "prompt_processed": [slot.prompt_processed for slot in shown],
        "prompt_tokens": [slot.prompt_tokens for slot in shown],
        "temperatures": [slot.temperature for slot in shown],
        "max_tokens": [slot.max_tokens for slot in shown],
        "seedless": sum(slot.seedless for slot in busy),
        "last_tasks": [slot.task for slot in slots[:_LIST_LIMIT]],
    }
