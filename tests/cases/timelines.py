"""A timeline of a case as evidence: what clients, probes and host saw, as the run and its watch record it.

Probes pass through the watch's own reading of documents. A timeline tells a state seldom; ``every`` repeats
each one until the next, as the watch would have seen it at its own pace. ``owners`` are the clients of the
tasks in /slots: a server tells them by the seed of their request, which the excerpts leave out.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from caseinputs import INPUTS

from soakproof.clock import nanoseconds
from soakproof.records import Event, Exchange, Failure, Opened, Record, Sample
from soakproof.slots import parse_slots
from soakproof.testing import evidence as judging
from soakproof.watch.backend_slots import slot_values
from soakproof.watch.process import Identity, ProcessState
from soakproof.watch.restarts import Restarts

Row = dict[str, Any]
STALL_S = 60.0  # after its last token our own bound ends a stream
_ENDS = {
    "no byte received (no headers": Failure.HEADERS_TIMEOUT,
    "no byte received": Failure.FIRST_TOKEN_TIMEOUT,
    "body ends without last chunk": Failure.RESET,
}


def rows(name: str) -> list[Row]:
    return [json.loads(line) for line in (INPUTS / name).read_text().split("\n") if line]


@dataclass
class Client:
    """One request of a client, from its first event to its end."""

    name: str
    number: int
    sent: float
    told: str  # of its first event
    first: float | None = None
    last: float | None = None

    @property
    def seed(self) -> int:
        return seed_of(self.name) + self.number

    @property
    def phase(self) -> str:
        if "queued" in self.told:
            return "queued"
        return "prefill" if self.first is None else "decode"

    def exchange(self, at: float, **more: Any) -> Exchange:
        """Its record when it ended at ``at``."""
        first, last = (None if t is None else nanoseconds(t) for t in (self.first, self.last or self.first))
        return judging.exchange(
            f"{self.name}-{self.number}",
            at=self.sent,
            took=at - self.sent,
            iteration=self.seed,
            role=self.name,
            seed=self.seed,
            **{"first": None, "first_token_ns": first, "last_token_ns": last, **more},
        )

    def cut(self, at: float) -> Exchange:
        """Cancelled by its own client."""
        phase = self.phase
        events = 0 if phase != "decode" else 20
        return self.exchange(
            at, cancel_planned=f"{phase}: as told", cancelled_ns=nanoseconds(at), token_events=events
        )

    def failed(self, at: float, failure: Failure) -> Exchange:
        headers = nanoseconds(self.sent) if self.first is not None else None
        return self.exchange(
            at, outcome="fail", failure=failure, headers_ns=headers, reason=f"{failure} at {at} s"
        )

    def opened(self) -> Opened:
        return judging.opened(self.exchange(self.sent))


def seed_of(client: str) -> int:
    """The seed of a client's first request; those that follow count up from it."""
    return sum(ord(c) for c in client) * 1000


@dataclass
class Reader:
    """Reads a timeline's rows in order; ``records`` is what they came to."""

    owners: Mapping[int, str]
    records: list[Record] = field(default_factory=list)
    _open: dict[str, Client] = field(default_factory=dict)
    _numbers: dict[str, int] = field(default_factory=dict)
    _restarts: Restarts = field(default_factory=lambda: Restarts({}))

    def read(self, row: Row) -> None:
        kind, _, name = row["src"].partition(":")
        at = float(row["t_s"])
        if kind == "client" and name != "*":
            self._client(name, at, row["event"])
        elif kind == "probe":
            self.records += self._probe(name, at, row)
        elif kind == "host":
            self.records += self._host(at, row)

    def _client(self, name: str, at: float, event: str) -> None:
        if event.startswith(("POST", "start")) or name not in self._open:
            self._close(name, at)
            number = self._numbers[name] = self._numbers.get(name, -1) + 1
            self._open[name] = Client(name, number, at, event)
        client = self._open[name]
        if event.startswith("first content"):
            client.first = at
        elif event.startswith("last content"):
            client.first, client.last = client.first or at, at
        elif event.startswith("client closes"):
            if client.sent == at:  # its beginning is not told
                client.sent = at - 2
            if client.first is None and "prefill" not in event and client.phase != "queued":
                client.first = (client.sent + at) / 2
            self.records.append(self._open.pop(name).cut(at))
        elif event == "done":
            client.first = client.first if client.first is not None else at
            self.records.append(self._open.pop(name).exchange(at))
        elif failure := next((f for told, f in _ENDS.items() if event.startswith(told)), None):
            if failure is Failure.RESET:
                client.first = client.first or (client.sent + at) / 2
            self.records.append(self._open.pop(name).failed(at, failure))

    def _close(self, name: str, at: float) -> None:
        """A client that sends again has had its answer."""
        if before := self._open.pop(name, None):
            self.records.append(before.exchange(at))

    def _probe(self, path: str, at: float, row: Row) -> Iterator[Sample]:
        source = path.rpartition("/")[2]
        if source not in ("slots", "health"):
            return
        if row["status"] is None:
            yield judging.sample(source, at, state="timeout", took=5.0, reason=row["error"])
        elif source == "slots":
            yield judging.sample(source, at, **slot_values(parse_slots(self._seeded(row["body"]))))
        else:
            loaded = row["body"].get("model_loaded")
            more = {} if loaded is None else {"models_loaded": [loaded]}
            yield judging.sample(source, at, status_code=row["status"], ok=True, **more)

    def _seeded(self, slots: list[Row]) -> list[Row]:
        seeds = {task: seed_of(client) for task, client in self.owners.items()}
        return [
            slot | {"params": {"seed": seeds[slot["id_task"]]}} if slot.get("id_task") in seeds else slot
            for slot in slots
        ]

    def _host(self, at: float, row: Row) -> Iterator[Sample | Event]:
        event = row["event"]
        if event.startswith("gpu_busy_percent"):
            yield judging.sample("amdgpu:card1", at, busy_percent=row["value"], gtt_used_bytes=2**30)
        elif "cpu_percent" in event:
            yield judging.sample("process:backend", at, pid=7, cpu_percent=row["value"])
        elif event.startswith("runner pid="):
            pid = int(event.split("=")[1].split()[0])
            state = ProcessState(Identity(pid, pid), 1, {"pid": pid, "created": at, "name": "llama-server"})
            for happened in self._restarts.seen("backend", state):
                yield judging.event(happened.what, at, **happened.details)
            yield judging.sample("process:backend", at, **state.values)
        elif "tick" in event:
            value = row.get("value") or {}
            yield judging.sample("amdgpu:card1", at, busy_percent=value.get("gpu_busy_percent"))

    def end(self, stalls: Iterable[str]) -> None:
        """What is open when the timeline ends stays without an end, unless our own bound ends it."""
        for name, client in self._open.items():
            if name in stalls:
                self.records.append(client.failed((client.last or client.sent) + STALL_S, Failure.STALL))
            elif client.first is not None and client.last is None:
                self.records.append(client.exchange(client.first + 1))
            else:
                self.records.append(client.opened())


def read(
    name: str,
    owners: Mapping[int, str] | None = None,
    *,
    every: float | None = None,
    stalls: Iterable[str] = (),
) -> list[Record]:
    """The records that a timeline comes to. ``stalls``: clients that our own bound ends."""
    reader = Reader(owners or {})
    told = rows(name)
    for row in _repeated(told, every) if every else told:
        reader.read(row)
    reader.end(stalls)
    return reader.records


def _repeated(told: list[Row], every: float) -> list[Row]:
    """Each probe again and again until the next of its path, or the timeline's end."""
    end = max(float(row["t_s"]) for row in told)
    more = list(told)
    for place, row in enumerate(told):
        if not row["src"].startswith("probe:"):
            continue
        until = next((r["t_s"] for r in told[place + 1 :] if r["src"] == row["src"]), end)
        steps = int((until - row["t_s"] - 1e-6) / every)
        more += [{**row, "t_s": row["t_s"] + every * n} for n in range(1, steps + 1)]
    return sorted(more, key=lambda row: float(row["t_s"]))
