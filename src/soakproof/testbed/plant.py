"""What a planted fault is: a class in a file of its own in `plants/`, whose hooks the gateway calls.

A plant does to requests, answers or processes what a real server once did, and declares which detectors must
see it. It stands between the gateway and its client, or between the gateway and the real engine: everything
that it does not touch is as it would be without it.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from soakproof.testbed.front import Connection
    from soakproof.testbed.model import Model
    from soakproof.testbed.raw import Raw

Push = Callable[[bytes], Awaitable[None]]  # bytes to the client


@dataclass(frozen=True, slots=True)
class Fires:
    """A detector that must see the fault: an adjudicator's finding, and how it must come out.

    ``detector`` is ``adjudicator: subject``, such as ``functional: cache.restored``. ``grade`` is the class
    that the finding's checks or exchanges must have. ``within`` counts iterations of the plan from the
    first on; None where what is seen belongs to no iteration.
    """

    detector: str
    grade: str = ""
    outcome: str = "FAIL"
    within: int | None = 6


@dataclass(eq=False)
class Call:
    """One completion that a client asked for. ``document`` is what the engine will be asked."""

    number: int  # in the order of arrival, from 1
    document: dict[str, Any]
    connection: "Connection"
    model: "Model"
    headers: list[tuple[bytes, bytes]] = field(default_factory=list)  # more of the answer's
    left: bool = False  # the client has gone
    work: "asyncio.Future[None] | None" = None  # what makes the answer of a stream

    @property
    def stream(self) -> bool:
        return bool(self.document.get("stream"))

    @property
    def prompt(self) -> str:
        """The last message's text."""
        messages = self.document.get("messages")
        last = messages[-1] if isinstance(messages, list) and messages else {}
        content = last.get("content") if isinstance(last, dict) else None
        return content if isinstance(content, str) else ""

    def cut(self) -> None:
        """End its stream here, in good order as far as HTTP goes."""
        if self.work is not None:
            self.work.cancel()

    async def stop(self) -> None:
        """The same from within the making of its answer; never returns."""
        self.cut()
        await asyncio.Event().wait()


class Plant:
    """Base of all: changes nothing. A subclass sets those class variables that differ, and overrides the
    hooks that it needs. ``value`` is what follows ``NAME=`` on the command line, or `default`.
    """

    default: ClassVar[float] = 1.0
    unit: ClassVar[str] = ""  # what the value counts, for the list of plants
    modelled_on: ClassVar[str] = ""  # the public report
    any_model: ClassVar[bool] = False  # an unknown model's name is taken for the one that there is
    harmless: ClassVar[bool] = False  # a way that a healthy server may have: nothing may fire

    plan: ClassVar[str] = ""  # the plan's TOML for its proof: mix, kinds, bounds
    policy: ClassVar[str] = ""  # more of the policy, beside default.toml
    proof_value: ClassVar[float | None] = None  # the value in its proof, where the default takes too long
    users: ClassVar[int] = 1
    think_time: ClassVar[str] = "700ms"  # of each; a proof needs few iterations, and its neighbours the time
    seconds: ClassVar[int] = 4  # how long its proof soaks
    fires: ClassVar[tuple[Fires, ...]] = ()
    may_fire: ClassVar[tuple[str, ...]] = ()  # detectors that may see it as well
    verdict: ClassVar[str] = "FAIL"

    def __init__(self, value: float) -> None:
        self.value = value
        self.calls: set[Call] = set()  # in progress

    async def ask(self, call: Call) -> None:
        """Before the engine is asked: may change ``call.document``, wait, or add headers to the answer."""

    async def instead(self, call: Call) -> "Raw | None":
        """What the client gets in place of any answer."""
        return None

    async def prefill(self, call: Call) -> None:
        """A stream has begun, pings go, and the engine is about to be asked: may wait."""

    async def send(self, call: Call, data: bytes, push: Push) -> None:
        """Bytes of a stream on their way to the client: whole events mostly, or a ping."""
        await push(data)

    async def end(self, call: Call, push: Push) -> None:
        """The stream is at its end; what was held back may still be pushed."""

    def whole(self, call: Call, document: dict[str, Any]) -> dict[str, Any]:
        """An answer that is not streamed."""
        return document

    def lingers(self, call: Call) -> float:
        """Seconds for which the engine is kept at work for a client that has left."""
        return 0.0

    def client_left(self, call: Call) -> None:
        """A client has closed its connection before its answer was whole."""

    async def look(self) -> None:
        """The engine is asked for its slots at its own address: may wait."""

    def slots(self, slots: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The engine's slots, as whoever asks is told."""
        return slots

    def health(self, document: dict[str, Any]) -> dict[str, Any]:
        """The health document, as whoever asks is told."""
        return document

    def live(self, document: dict[str, Any]) -> dict[str, Any] | None:
        """What /live tells; None: it does not (503)."""
        return document

    def lift(self) -> None:
        """Undo what would outlive the plant."""
