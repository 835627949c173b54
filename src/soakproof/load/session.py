"""One run under Locust, from its preparation to its seal.

A run belongs to a `test_start`, not to the process: two starts from the web UI are two sessions.
`prepare` makes everything that the load needs, or raises with nothing left running; `drain` lets streams in
flight end; `finish` seals. Each may be called more than once and from any greenlet.
"""

import contextlib
import itertools
import secrets
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gevent
import gevent.subprocess
from gevent.event import Event as Flag

from soakproof import run as rundir
from soakproof.catalog import Catalog
from soakproof.clock import NS, RunClock
from soakproof.context import Surroundings
from soakproof.errors import EXIT_ERROR, RecorderError, SoakproofError
from soakproof.load.deck import Deck
from soakproof.load.describe import describe_run
from soakproof.load.driver import Driver
from soakproof.load.permits import Permits
from soakproof.load.progress import progress_line, say
from soakproof.load.recorder import FireRequest, Recorder
from soakproof.load.slots import SlotsReader, await_idle_slots
from soakproof.load.tester import TesterSampler
from soakproof.load.transport import Endpoint
from soakproof.plan import Kind, Plan
from soakproof.raw import raw_result
from soakproof.request import Requests
from soakproof.target import Credentials, Target, examine
from soakproof.testbed.launch import Testbed
from soakproof.watch.launch import Watch
from soakproof.watch.settings import WatchConfig

_NODE = "load"


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the user asked for, resolved from options and environment."""

    host: str | None
    model: str | None
    runs: Path
    credentials: Credentials
    testbed_model: Path | None
    arguments: dict[str, Any]  # as run.json shows them, without secrets


class Session:
    """A run in progress."""

    def __init__(self, plan: Plan, catalog: Catalog, wishes: Wishes, fire: FireRequest) -> None:
        self.plan = plan
        self.catalog = catalog
        self.wishes = wishes
        self.trouble: SoakproofError | None = None  # why it could not be carried out, if so
        self.stopping = False
        self.raw: dict[str, Any] | None = None
        self.sealed = False
        self._fire = fire
        self._numbers: dict[str, Iterator[int]] = defaultdict(itertools.count)
        self._active = 0
        self._idle = Flag()
        self._idle.set()
        self._finished = Flag()
        self.finishing = False
        self._on_trouble: Callable[[], None] = lambda: None
        self._stack = contextlib.ExitStack()

    # -- before the load

    def prepare(self) -> None:
        """Everything up to the first request. On any error all is taken down again, and the run is sealed."""
        target = None
        if self.wishes.host:
            say(f"asking {self.wishes.host} what it is …")
            target = examine(self.wishes.host, self.wishes.model, self.wishes.credentials)
        self.clock = RunClock.start()
        self.started_at = time.time()
        self.run = rundir.Run.create(self.wishes.runs, self.plan.name, {"format": 1, "state": "preparing"})
        try:
            self._prepare(target)
        except BaseException as error:
            self.trouble = error if isinstance(error, SoakproofError) else SoakproofError(str(error))
            self.finish("error", f"{type(error).__name__}: {error}")
            raise

    def _prepare(self, target: Target | None) -> None:
        self.recorder = Recorder(self.run.writer(_NODE), self.clock, self._fire, self._recorder_broke)
        self.testbed = None if target else self._start_testbed()
        if target is None:
            assert self.testbed is not None
            target = examine(self.testbed.url, "llm", Credentials())
        self.target = target
        self.around = Surroundings(
            slots=target.slots,
            slot_context=target.slot_context,
            chars_per_token=target.chars_per_token,
            corpora=self.catalog.corpora(),
            cache_tokens=self.testbed.cache_tokens if self.testbed else target.cache_tokens,
            front=target.kind,
        )
        self.run.document = describe_run(self)
        self.run.save()
        self.watch = Watch.start(self.run.path, self._watch_config(), popen=gevent.subprocess.Popen)
        self._stack.callback(self._stop_watch)
        self._make_driver()
        say(f"run {self.run.path}")

    def _start_testbed(self) -> Testbed:
        say(
            "no --host was given: starting the embedded testbed, a real llama.cpp server with a tiny model "
            "behind a gateway shaped like Lemonade"
        )
        folder = self.run.path / "testbed"
        folder.mkdir()
        testbed = Testbed.start(folder, model=self.wishes.testbed_model, popen=gevent.subprocess.Popen)
        self._stack.callback(testbed.stop)
        say(f"testbed at {testbed.url}")
        return testbed

    def _watch_config(self) -> WatchConfig:
        front = self.testbed.pids[:1] if self.testbed else ()
        return WatchConfig(
            run=str(self.run.path),
            zero_ns=self.clock.zero_ns,
            interval_s=float(self.plan.watch.interval),
            slots_every_s=float(self.plan.watch.slots_every),
            target=self.run.document["target"],
            server_pids=tuple(front),
            headers_env=self.wishes.credentials.hand_on(),
        )

    def _make_driver(self) -> None:
        headers = self.wishes.credentials.headers
        self.slots = SlotsReader(self.target.slots_url, headers, self.clock, self.target)
        self._stack.callback(self.slots.close)
        requests = Requests(
            node=_NODE,
            model=self.target.model,
            around=self.around,
            seed=self.plan.seed,
            first_seed=secrets.randbelow(1 << 11) << 20,
            redact=(self.wishes.credentials.key,) if self.wishes.credentials.key else (),
        )
        self.driver = Driver(
            requests=requests,
            clock=self.clock,
            endpoint=Endpoint(self.target.chat_url, headers),
            bounds=self.plan.bounds,
            sink=self.recorder,
            slots=self.slots,
        )
        self._stack.callback(self.driver.close)
        self.permits = Permits(self.target.slots)
        self.deck = Deck(self.plan.kinds, self.plan.seed)

    # -- during the load

    def begin(self, on_trouble: Callable[[], None]) -> None:
        """The load starts now. ``on_trouble`` is called once if it cannot go on."""
        self._on_trouble = on_trouble
        self.run.document.update(state="running", load_started_ns=self.clock.now())
        self.run.save()
        self.tester = TesterSampler(self.recorder, self.clock, self._state)
        self._stack.callback(self.tester.close)
        self._supervisor = gevent.spawn(self._supervise)
        self._stack.callback(self._supervisor.kill)

    def iterate(self, kind: Kind) -> None:
        """One iteration of a kind, when its permits are free. Does nothing once the run is stopping."""
        width = kind.scenario.width
        taken = 0 if self.plan.queueing else self.permits.take(width)
        try:
            if self.stopping:
                return
            self._active += 1
            self._idle.clear()
            self._iterate(kind)
        except RecorderError:
            pass  # said and acted upon where it arose
        finally:
            if taken:
                self.permits.give(taken)
        if self.recorder.unreachable:
            self.deck.put_back(kind)
            self._back_off()

    def _iterate(self, kind: Kind) -> None:
        number, started = next(self._numbers[kind.name]), self.clock.now()
        try:
            result = self.driver.run(kind, number)
            self.recorder.iteration(kind, number, started, result)
        finally:
            self._active -= 1
            if not self._active:
                self._idle.set()

    def _back_off(self) -> None:
        """Nobody is there: wait, longer each time, in steps that notice a stop."""
        until = time.monotonic() + min(0.5 * 2 ** min(self.recorder.unreachable, 10), 10.0)
        while time.monotonic() < until and not self.stopping:
            gevent.sleep(0.2)

    def _state(self) -> dict[str, Any]:
        sweeper = self.driver.sweeper
        return {
            "in_flight": len(sweeper.flights),
            "oldest_in_flight_s": sweeper.oldest_s(),
            "iterations_active": self._active,
            "permits_waiting": self.permits.waiting,
        }

    def _supervise(self) -> None:
        """Say how it goes every ten seconds, and notice when a process of ours has ended."""
        said = time.monotonic()
        mine: dict[str, Watch | Testbed] = {"watch": self.watch}
        if self.testbed is not None:
            mine["testbed"] = self.testbed
        while True:
            gevent.sleep(1)
            for name, child in list(mine.items()):
                if not child.alive:
                    del mine[name]
                    say(f"the {name} has ended by itself; the run goes on without it")
                    with contextlib.suppress(RecorderError):  # said and acted upon where it arose
                        self.recorder.event("child_ended", name=name)
            if time.monotonic() - said >= 10 and not self.stopping:
                said += 10
                say(progress_line(self.elapsed_s, self.recorder.counts, self.driver.sweeper))

    @property
    def elapsed_s(self) -> float:
        """Seconds of load so far."""
        return (self.clock.now() - int(self.run.document.get("load_started_ns") or 0)) / NS

    def _recorder_broke(self, error: RecorderError) -> None:
        say(f"soakproof: {error}\n  the run stops; what was recorded is kept in {self.run.path}")
        self.trouble = error
        gevent.spawn(self._on_trouble)

    # -- after the load

    def drain(self) -> None:
        """No new iterations; wait for those in flight, at most as long as the plan says. A second call, or
        Ctrl-C, ends them at once.
        """
        if not self.stopping:
            self.stopping = True
            if self._active:
                say(f"draining: {self._active} iterations in flight (Ctrl-C ends them at once)")
            try:
                if not self._idle.wait(0 if self.trouble else self.plan.drain):
                    self._abort("the run stopped before it ended")
            except KeyboardInterrupt:
                self._abort("stopped by a second Ctrl-C")
            self.run.document["load_ended_ns"] = self.clock.now()
        else:
            self._abort("stopped again while draining")

    def _abort(self, reason: str) -> None:
        for _ in range(50):  # an iteration that was between two requests sends no more than one
            if self._idle.is_set():
                return
            self.driver.stop(reason)
            self._idle.wait(0.1)

    def finish(self, why: str, reason: str = "") -> None:
        """Take everything down, judge the raw thresholds and seal. Once; later calls wait for the first."""
        if self.finishing:
            self._finished.wait()
            return
        self.finishing = True
        try:
            self._finish(why, reason)
        except (SoakproofError, OSError) as error:
            self.trouble = self.trouble or SoakproofError(str(error))
            say(
                f"soakproof: {error}\n  the run is not sealed: `soakproof recover {self.run.path}` will do it"
            )
        finally:
            self._stack.close()
            self._finished.set()

    def _finish(self, why: str, reason: str) -> None:
        if hasattr(self, "driver") and not self.trouble:
            self.recorder.event("final_slots", **await_idle_slots(self.slots))
        self._stack.close()
        ended = {"why": why if not self.trouble else "error", "reason": reason or str(self.trouble or "")}
        self.run.document.update(state="ended", ended=ended)
        self.run.seal_nodes()
        for line in rundir.seal_abandoned(self.run.path):
            say(f"recovered: {line}")
        self.raw = self._judge(ended)
        self.run.seal(self.raw)
        self.sealed = True

    def _judge(self, ended: dict[str, str]) -> dict[str, Any]:
        """raw.json, from this node's own evidence as it was written."""
        folder = self.run.path / rundir.EVIDENCE / _NODE
        records = [
            r
            for p in sorted(folder.glob("*.jsonl"))
            for r in rundir.read_records(p)
            if not isinstance(r, str)
        ]
        raw = raw_result(self.plan.thresholds, records, ended=ended)
        if self.trouble:
            raw.update(outcome="error", exit_code=EXIT_ERROR)
        return raw

    def _stop_watch(self) -> None:
        self.watch.stop()

    @property
    def exit_code(self) -> int:
        if self.trouble or self.raw is None:
            return self.trouble.exit_code if self.trouble else EXIT_ERROR
        return int(self.raw["exit_code"])
