"""What a run's load needs, set up in order and taken down in reverse: target, testbed, watch, driver.

`prepare` hands over a rig that is whole, or raises with nothing left running and the run sealed as an error.
"""

import dataclasses
import secrets
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gevent.subprocess
from gevent import GreenletExit

from soakproof.catalog import Catalog
from soakproof.clock import RunClock
from soakproof.context import Surroundings
from soakproof.errors import SoakproofError, UsageError
from soakproof.host import refuse_more_than_there_is
from soakproof.inventory.asking import take
from soakproof.load.describe import describe_run
from soakproof.load.driver import Driver
from soakproof.load.ending import NODE, say_unsealed, seal
from soakproof.load.interrupt import to_its_end
from soakproof.load.progress import say
from soakproof.load.recorder import FireRequest, Recorder
from soakproof.load.slots import SlotsReader
from soakproof.load.transport import Endpoint
from soakproof.plain import plain
from soakproof.plan import Plan
from soakproof.request import Requests
from soakproof.run import Run, check_room
from soakproof.target import Credentials, Target, examine, files_of, split_host
from soakproof.testbed.data import PROBE_MODEL
from soakproof.testbed.launch import Testbed, check_model_name, check_packages, checked_model
from soakproof.testbed.names import ALIAS
from soakproof.watch.launch import Watch
from soakproof.watch.settings import GuardConfig, WatchConfig


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the user asked for, resolved from options and environment."""

    host: str | None
    model: str | None
    runs: Path
    credentials: Credentials
    testbed_model: Path | None
    server_logs: tuple[str, ...]  # files
    server_pids: tuple[int, ...]
    arguments: dict[str, Any]  # as run.json shows them, without secrets


@dataclass(frozen=True, slots=True, kw_only=True)
class Rig:
    """All that is there when the load begins."""

    run: Run
    clock: RunClock
    target: Target
    recorder: Recorder
    slots: SlotsReader
    driver: Driver
    processes: dict[str, Watch | Testbed]  # of our own, by what they are called
    stack: ExitStack  # takes down what was set up, the last first


def prepare(plan: Plan, catalog: Catalog, wishes: Wishes, fire: FireRequest) -> Rig:
    """Everything up to the first request. On any error all is taken down again, and the run is sealed."""
    check_room(wishes.runs)
    refuse_more_than_there_is("[guard]: available_floor", plan.guard.limits.available_floor_bytes)
    target = None
    if wishes.host:
        base, _ = split_host(wishes.host)  # refused before it is printed: a key may be in it
        say(f"asking {base} what it is …")
        target = examine(wishes.host, wishes.model, wishes.credentials)
        _refuse_powerless(plan, target)
    else:
        check_packages()
        checked_model(wishes.testbed_model or PROBE_MODEL)
        check_model_name(wishes.model or ALIAS)
    clock, started_at = RunClock.start(), time.time()
    run = Run.create(wishes.runs, plan.name, {"format": 1, "state": "preparing"}, key=wishes.credentials.key)
    stack = ExitStack()
    try:
        return _Setup(plan, catalog, wishes, run, clock, started_at, stack).rig(target, fire)
    except BaseException as error:
        why = _why_not(error)
        to_its_end(lambda: _give_up(run, plan, stack, why))
        raise


def _why_not(error: BaseException) -> str:
    if isinstance(error, (GreenletExit, KeyboardInterrupt)):
        return "it was stopped before the load began"
    return f"{type(error).__name__}: {error}"


def _give_up(run: Run, plan: Plan, stack: ExitStack, why: str) -> None:
    """Take down what there is, and seal a run that never began."""
    stack.close()
    try:
        seal(run, plan.thresholds, "error", why)
    except (SoakproofError, OSError) as unsealed:
        say_unsealed(run, unsealed)


def _refuse_powerless(plan: Plan, target: Target) -> None:
    """Raises UsageError for a guard that could not do to this server what it shall."""
    then = plan.guard.then
    if problem := WatchConfig(target=target.describe(), guard=GuardConfig(then=then)).why_powerless:
        raise UsageError(f"[guard]: then = {then!r}: {problem}", "then = 'stop' ends the load alone")


@dataclass(frozen=True, slots=True)
class _Setup:
    """The steps; what each starts is ended by ``stack``."""

    plan: Plan
    catalog: Catalog
    wishes: Wishes
    run: Run
    clock: RunClock
    started_at: float  # wall time of the clock's zero
    stack: ExitStack

    def rig(self, named: Target | None, fire: FireRequest) -> Rig:
        """On the server that the user named, or without one on the testbed."""
        recorder = Recorder(self.run.writer(NODE), self.clock, fire)
        testbed = None if named else self._testbed()
        target = _of_testbed(testbed, self.wishes.model or ALIAS) if testbed else named
        assert target is not None
        around = target.surroundings(self.catalog.corpora())
        self._describe(target, around, embedded=testbed is not None)
        watch = self._watch(testbed)
        slots = SlotsReader(target.slots_url, self.wishes.credentials.headers, self.clock, target)
        self.stack.callback(slots.close)
        driver = self._driver(target, around, recorder, slots)
        say(f"run {self.run.path}")
        return Rig(
            run=self.run,
            clock=self.clock,
            target=target,
            recorder=recorder,
            slots=slots,
            driver=driver,
            processes={"watch": watch} | ({"testbed": testbed} if testbed else {}),
            stack=self.stack,
        )

    def _testbed(self) -> Testbed:
        say(
            "no --host of a server was given: starting the embedded testbed, a real llama.cpp server with a "
            "tiny model behind a gateway shaped like Lemonade"
        )
        folder = self.run.path / "testbed"
        folder.mkdir()
        testbed = Testbed.start(folder, model=self.wishes.testbed_model, popen=gevent.subprocess.Popen)
        self.stack.callback(testbed.stop)
        say(f"testbed at {testbed.url}")
        return testbed

    def _describe(self, target: Target, around: Surroundings, *, embedded: bool) -> None:
        """run.json, with all that is known before the load."""
        inventory = take(
            files_of(target),
            target.backend_pid if target.local else None,
            progress=say,
            popen=gevent.subprocess.Popen,
        )
        if not inventory.whole:
            say("not all of the server's files were read in time: what they would tell stays unknown")
        self.run.document = describe_run(
            id=self.run.path.name,
            zero_ns=self.clock.zero_ns,
            started_at=self.started_at,
            plan=self.plan,
            catalog=self.catalog,
            arguments=self.wishes.arguments,
            target=target,
            around=around,
            embedded=embedded,
            inventory=inventory,
        )
        self.run.save()

    def _watch(self, testbed: Testbed | None) -> Watch:
        config = WatchConfig(
            zero_ns=self.clock.zero_ns,
            interval_s=float(self.plan.watch.interval),
            slots_every_s=float(self.plan.watch.slots_every),
            target=self.run.document["target"],
            server_pids=testbed.pids[:1] if testbed else self.wishes.server_pids,
            server_logs=(*self.wishes.server_logs, *(map(str, testbed.logs) if testbed else ())),
            guard=GuardConfig(limits=self.plan.guard.limits, then=self.plan.guard.then),
            headers_env=self.wishes.credentials.hand_on(),
        )
        watch = Watch.start(self.run.path, config, popen=gevent.subprocess.Popen)
        self.stack.callback(watch.stop)
        for name, why in watch.latest().get("guard_unknown", {}).items():
            say(f"{name} cannot be measured, so the guard does not keep its limit: {plain(why)}")
        return watch

    def _driver(self, target: Target, around: Surroundings, recorder: Recorder, slots: SlotsReader) -> Driver:
        credentials = self.wishes.credentials
        requests = Requests(
            node=NODE,
            model=target.model,
            around=around,
            seed=self.plan.seed,
            first_seed=secrets.randbelow(1 << 11) << 20,
            redact=(credentials.key,) if credentials.key else (),
        )
        driver = Driver(
            requests=requests,
            clock=self.clock,
            endpoint=Endpoint(target.chat_url, credentials.headers),
            bounds=self.plan.bounds,
            sink=recorder,
            slots=slots,
        )
        self.stack.callback(driver.close)
        return driver


def _of_testbed(testbed: Testbed, model: str) -> Target:
    """Raises SoakproofError: what is wrong with the testbed is not the user's mistake."""
    try:
        target = examine(testbed.url, model, Credentials())
    except UsageError as error:
        logs = ", ".join(map(str, testbed.logs))
        raise SoakproofError(f"the testbed does not work: {error.problem}\n  its logs: {logs}") from error
    return dataclasses.replace(target, cache_tokens=testbed.cache_tokens)
