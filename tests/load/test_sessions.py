"""A session in this process, on real sockets: what it says as it drains, and how it spares a sick target."""

import itertools
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import gevent
import pytest
from caseinputs import INPUTS
from misbehaving import ROLE, STREAM_HEAD, WHOLE, delta, document, reset, serving

from soakproof.clock import RunClock
from soakproof.context import IterationContext
from soakproof.load import session as session_module
from soakproof.load.driver import Driver
from soakproof.load.recorder import Recorder
from soakproof.load.rig import Rig
from soakproof.load.session import Session
from soakproof.load.slots import SlotsReader
from soakproof.load.transport import Endpoint
from soakproof.plan import Bounds, GuardSettings, Kind, Plan, Short, WatchSettings
from soakproof.records import Event, Exchange
from soakproof.request import Requests
from soakproof.run import Run, read_records
from soakproof.scenario import Ask, Scenario, Script
from soakproof.target import Target
from soakproof.units import Bytes, Seconds
from soakproof.watch.launch import Watch
from soakproof.watch.settings import WatchConfig


@dataclass(frozen=True)
class One(Scenario):
    """One request."""

    def iterate(self, it: IterationContext) -> Script:
        yield Ask(it.nonce())


PLAN = Plan(
    name="by_hand", title="", duration=Seconds(60), users=4, think_time=Seconds(0), seed=1,
    drain=Seconds(30), queueing=True, deck=4,
    kinds=(Kind("a", One(), 2), Kind("b", One(), 2)), bounds=Bounds(), watch=WatchSettings(),
    guard=GuardSettings(), thresholds=(), short=Short(), source="",
)  # fmt: skip


@contextmanager
def session(folder: Path, url: str, on_trouble: Callable[[], None] = lambda: None) -> Iterator[Session]:
    """A session that has begun, against a server that shows no slots."""
    target = Target(
        kind="llamacpp", base_url=url, prefix="/v1", model="tiny", local=True, slots=4, slot_context=4096,
        chars_per_token=3.0, slots_url=None,
    )  # fmt: skip
    clock = RunClock.start()
    run = Run.create(folder, "by_hand", {"format": 1, "state": "preparing", "plan": {"users": 4}})
    recorder = Recorder(run.writer("load"), clock, lambda **_: None)
    slots = SlotsReader(None, {}, clock)
    requests = Requests(node="load", model="tiny", around=target.surroundings({}), seed=1, first_seed=1)
    driver = Driver(requests, clock, Endpoint(target.chat_url, {}), PLAN.bounds, recorder, slots)
    with ExitStack() as stack:
        stack.callback(driver.close)
        rig = Rig(
            run=run, clock=clock, target=target, recorder=recorder, slots=slots, driver=driver, processes={},
            stack=stack,
        )  # fmt: skip
        made = Session(PLAN, rig)
        made.begin(on_trouble, lambda: PLAN.users)
        yield made
        made.drain()
        made.finish("time")


def user(session: Session) -> None:
    while not session.stopping:
        session.iterate(session.deck.draw())
        gevent.sleep(0)


def soaked(folder: Path, act: Callable[[socket.socket], None], seconds: float) -> list[Exchange]:
    """What four users did in so many seconds."""
    with serving(act) as url, session(folder, url) as running:
        users = [gevent.spawn(user, running) for _ in range(4)]
        gevent.sleep(seconds)
        running.drain()
        gevent.joinall(users, timeout=30)
    found = read_records(running.run.path / "evidence" / "load" / "exchanges.jsonl")
    return [record for record in found if isinstance(record, Exchange)]


def whole(connection: socket.socket) -> None:
    connection.recv(65536)
    time.sleep(0.02)
    connection.sendall(WHOLE)


def answering_500(connection: socket.socket) -> None:
    connection.recv(65536)
    connection.sendall(document("500 Internal Server Error", {"error": "out of order"}))


def resetting(connection: socket.socket) -> None:
    connection.recv(65536)
    reset(connection)


@pytest.mark.parametrize("act", [answering_500, resetting])
def test_a_server_that_does_no_work_is_not_hammered(
    tmp_path: Path, act: Callable[[socket.socket], None]
) -> None:
    exchanges = soaked(tmp_path, act, 4)
    assert {e.outcome for e in exchanges} == {"fail"}
    assert 3 <= len(exchanges) <= 24


def test_single_failures_among_successes_slow_nothing(tmp_path: Path) -> None:
    numbers = itertools.count(1)

    def now_and_then(connection: socket.socket) -> None:
        (answering_500 if next(numbers) % 10 == 0 else whole)(connection)

    exchanges = soaked(tmp_path, now_and_then, 3)
    outcomes = Counter(e.outcome for e in exchanges)
    assert outcomes["fail"] >= 3
    assert outcomes["ok"] >= 60  # 20 ms each for four users: about 500; one pause each failure leaves 30


def test_work_goes_on_once_the_server_works_again(tmp_path: Path) -> None:
    until = time.monotonic() + 1

    def sick_at_first(connection: socket.socket) -> None:
        (answering_500 if time.monotonic() < until else whole)(connection)

    outcomes = [e.outcome for e in soaked(tmp_path, sick_at_first, 6)]
    assert outcomes[0] == "fail"
    assert outcomes.count("ok") > 10


def test_draining_says_how_it_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(session_module, "_SAID_EVERY", 1)

    def long(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(STREAM_HEAD + ROLE)
        with suppress(OSError):
            for _ in range(8):
                connection.sendall(delta("yes "))
                time.sleep(0.5)
            connection.sendall(WHOLE.removeprefix(STREAM_HEAD))

    with serving(long) as url, session(tmp_path, url) as running:
        iteration = gevent.spawn(running.iterate, PLAN.kinds[0])
        gevent.sleep(0.2)
        running.drain()
        iteration.get(timeout=30)
    said = capsys.readouterr().out
    _, _, after = said.partition("draining: 1 iteration in flight")
    assert after.count("1 in flight (oldest") >= 2, said


def test_a_request_is_sent_when_it_leaves_and_due_before(tmp_path: Path) -> None:
    (first, *_) = soaked(tmp_path, whole, 0.2)
    assert first.due_ns < first.sent_ns < (first.first_token_ns or 0)


class Own(BaseException):
    """No Exception, and nothing that ends a program."""


@pytest.mark.case(69)
def test_a_fault_of_the_tester_itself_is_kept_and_no_clean_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ends(*_: object) -> None:
        raise Own("oh")

    with serving(whole) as url, session(tmp_path, url) as running:
        running.iterate(PLAN.kinds[0])
        with monkeypatch.context() as broken:
            broken.setattr(running._rig.driver, "run", lambda *_: 1 // 0)
            with pytest.raises(ZeroDivisionError):
                running.iterate(PLAN.kinds[0])
            broken.setattr(running._rig.driver, "run", ends)
            with pytest.raises(Own):
                running.iterate(PLAN.kinds[0])
        running.iterate(PLAN.kinds[0])
    assert running.raw is not None
    assert (running.raw["exit_code"], running.exit_code) == (0, 3)
    found = read_records(running.run.path / "evidence" / "load" / "events.jsonl")
    faults = [e.details["error"] for e in found if isinstance(e, Event) and e.what == "tester_fault"]
    assert faults == ["ZeroDivisionError: integer division or modulo by zero", "Own: oh"]


@pytest.mark.case(69)
def test_a_sweeper_that_ended_is_a_fault_of_the_tester(tmp_path: Path) -> None:
    with serving(whole) as url, session(tmp_path, url) as running:
        running.iterate(PLAN.kinds[0])
        running._rig.driver.sweeper._greenlet.kill()
        until = time.monotonic() + 20
        while not running.faults and time.monotonic() < until:
            gevent.sleep(0.1)
    assert running.exit_code == 3


@pytest.mark.case(69)
@pytest.mark.parametrize(("codes", "left"), [((0,), 0), ((1, 0), 1), ((0, 3, 1), 3), ((3, 0, 0), 3)])
def test_a_later_run_of_the_process_never_lowers_its_exit_code(codes: tuple[int, ...], left: int) -> None:
    script = (
        "from types import SimpleNamespace as S\n"
        "from soakproof.load.hooks import Hooks\n"
        "hooks, environment = Hooks('quick'), S(process_exit_code=None)\n"
        f"for code in {codes}: hooks._forget(environment, S(exit_code=code))\n"
        "print(environment.process_exit_code)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, text=True)
    assert int(done.stdout) == left


@pytest.mark.case(61)
def test_a_fatal_line_of_the_kernel_ends_the_load_and_what_is_in_flight(tmp_path: Path) -> None:
    """A real watch on a written kernel log; the server answers nothing, and the plan would drain for 30 s."""
    kmsg = tmp_path / "kmsg"
    kmsg.write_text("")

    def silent(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.recv(1)

    stops: list[str] = []
    with serving(silent) as url, session(tmp_path, url, lambda: stops.append(running.guarded)) as running:
        target = {"kind": "llamacpp", "base_url": url, "local": True}
        watch = Watch.start(running.run.path, WatchConfig(kmsg=str(kmsg), target=target, interval_s=0.2))
        running._rig.stack.callback(watch.stop)
        running._rig.processes["watch"] = watch
        flight = gevent.spawn(running.iterate, PLAN.kinds[0])
        with kmsg.open("ab") as log:
            log.write((INPUTS / "61-pagefault-mes-reset.kmsg").read_bytes() + b"\n")
        until = time.monotonic() + 30
        while not stops and time.monotonic() < until:
            gevent.sleep(0.1)
        running.drain()
        flight.get(timeout=10)  # long before the plan's drain is over
    assert stops == ["the kernel logged a fault that nothing can be trusted after"]
    assert running.raw is not None
    assert running.raw["ended"] == {"why": "guard", "reason": stops[0]}
    assert running.exit_code != 0


def test_the_loss_of_a_guard_is_not_told_as_its_trip(tmp_path: Path) -> None:
    with serving(reset) as url, session(tmp_path, url) as running:
        running.plan = replace(PLAN, guard=GuardSettings(available_floor=Bytes(1 << 20)))
        running._companions.ended.add("watch")
        until = time.monotonic() + 30
        while not running.guarded and time.monotonic() < until:
            gevent.sleep(0.05)
    lost = "the watch has ended, and with it the guard that the plan asks for"
    assert running.raw is not None
    assert running.raw["ended"] == {"why": "unguarded", "reason": lost}
