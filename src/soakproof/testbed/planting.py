"""Which faults are planted now, and all their hooks as one. Found by name in `plants/`, one file each."""

import importlib
import inspect
import math
import pkgutil
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from itertools import count
from typing import Any

from soakproof.testbed import plants
from soakproof.testbed.front import Connection
from soakproof.testbed.model import Model
from soakproof.testbed.plant import Call, Plant, Push
from soakproof.testbed.raw import Raw


class UnknownPlant(ValueError):
    """A name that no plant has, or a value that is no number."""


def names() -> list[str]:
    """Every plant's name: its file's, with dashes."""
    return sorted(m.name.replace("_", "-") for m in pkgutil.iter_modules(plants.__path__))


def find(name: str) -> type[Plant]:
    """The plant of that name. Raises UnknownPlant."""
    if name not in names():
        raise UnknownPlant(f"there is no plant {name!r}")
    module = importlib.import_module(f"{plants.__name__}.{name.replace('-', '_')}")
    own = (kind for kind in vars(module).values() if getattr(kind, "__module__", "") == module.__name__)
    (found,) = (kind for kind in own if inspect.isclass(kind) and issubclass(kind, Plant))
    return found


def summary(kind: type[Plant]) -> str:
    """What it does, in one sentence: the first paragraph of its docstring."""
    return " ".join((inspect.getdoc(kind) or "").partition("\n\n")[0].split())


def make(given: str) -> tuple[str, Plant]:
    """A plant from ``NAME`` or ``NAME=VALUE``. Raises UnknownPlant."""
    name, _, value = given.partition("=")
    kind = find(name)
    if value and not kind.unit:
        raise UnknownPlant(f"{name} takes no value, found {value!r}")
    try:
        number = float(value) if value else kind.default
    except ValueError:
        raise UnknownPlant(f"{name}: expected a number after =, found {value!r}") from None
    if not 0 <= number < math.inf:
        raise UnknownPlant(f"{name}: expected a number from 0 on after =, found {value!r}")
    return name, kind(number)


class Plants:
    """The plants of one gateway. Later ones see what earlier ones made of an answer."""

    def __init__(self, given: Sequence[str] = ()) -> None:
        """``given``: ``NAME`` or ``NAME=VALUE`` each. Raises UnknownPlant."""
        self._planted: dict[str, Plant] = dict(map(make, given))
        self._numbers = count(1)

    def plant(self, given: str) -> None:
        """Plant one more, or one anew. Raises UnknownPlant."""
        name, plant = make(given)
        self.lift(name)
        self._planted[name] = plant

    def lift(self, name: str) -> None:
        """Take a plant out, and end what it keeps going for clients that have left."""
        if (plant := self._planted.pop(name, None)) is not None:
            plant.lift()
            for call in plant.calls:
                if call.left:
                    call.cut()

    def lift_all(self) -> None:
        for name in list(self._planted):
            self.lift(name)

    def document(self) -> dict[str, float]:
        """Name and value of what is planted now."""
        return {name: plant.value for name, plant in self._planted.items()}

    def call(self, document: dict[str, Any], connection: Connection, model: Model) -> "Planted":
        """One completion, with the plants that are there at its beginning."""
        call = Call(next(self._numbers), document, connection, model)
        return Planted(call, list(self._planted.values()))

    def any_model(self) -> bool:
        """Whether a model that is not there is answered all the same."""
        return any(plant.any_model for plant in self._planted.values())

    async def look(self) -> None:
        for plant in list(self._planted.values()):
            await plant.look()

    def slots(self, slots: list[dict[str, Any]]) -> list[dict[str, Any]]:
        for plant in self._planted.values():
            slots = plant.slots(slots)
        return slots

    def health(self, document: dict[str, Any]) -> dict[str, Any]:
        for plant in self._planted.values():
            document = plant.health(document)
        return document

    def live(self, document: dict[str, Any]) -> dict[str, Any] | None:
        told: dict[str, Any] | None = document
        for plant in self._planted.values():
            told = None if told is None else plant.live(told)
        return told


class Planted:
    """A call and the plants that it meets, until it is `done`."""

    def __init__(self, call: Call, there: Sequence[Plant]) -> None:
        self.call = call
        self._there = there
        for plant in there:
            plant.calls.add(call)

    def done(self) -> None:
        for plant in self._there:
            plant.calls.discard(self.call)

    async def ask(self) -> Raw | None:
        """What the client gets instead of an answer, if anything."""
        for plant in self._there:
            if (raw := await plant.instead(self.call)) is not None:
                return raw
            await plant.ask(self.call)
        return None

    async def prefill(self) -> None:
        for plant in self._there:
            await plant.prefill(self.call)

    def through(self, push: Push) -> tuple[Push, Callable[[], Awaitable[None]]]:
        """A push that goes through all plants, and what to await at the stream's end."""
        ends: list[Callable[[], Awaitable[None]]] = []
        for plant in reversed(self._there):
            ends.insert(0, partial(plant.end, self.call, push))
            push = _send(plant, self.call, push)

        async def end() -> None:
            for one in ends:
                await one()

        return push, end

    def whole(self, document: dict[str, Any]) -> dict[str, Any]:
        for plant in self._there:
            document = plant.whole(self.call, document)
        return document

    def client_left(self) -> float:
        """Tell the plants; for how many seconds the engine is to be kept at work."""
        self.call.left = True
        for plant in self._there:
            plant.client_left(self.call)
        return max((plant.lingers(self.call) for plant in self._there), default=0.0)


def _send(plant: Plant, call: Call, push: Push) -> Push:
    async def send(data: bytes) -> None:
        await plant.send(call, data, push)

    return send
