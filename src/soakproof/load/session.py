"""One run under Locust, from its first iteration to its seal.

A run belongs to a `test_start`, not to the process: two starts from the web UI are two sessions, each on a
rig of its own. `drain` lets streams in flight end; `finish` seals. Each may be called more than once and from
any greenlet.
"""

import contextlib
import itertools
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import gevent
from gevent.event import Event as Flag

from soakproof.clock import NS
from soakproof.endings import GUARD, UNGUARDED
from soakproof.errors import EXIT_ERROR, EXIT_OK, RecorderError, SoakproofError
from soakproof.load.companions import Companions
from soakproof.load.deck import Deck
from soakproof.load.ending import kept, say_unsealed, seal
from soakproof.load.interrupt import to_its_end
from soakproof.load.missingroles import MissingRoles
from soakproof.load.permits import Permits
from soakproof.load.progress import progress_line, say
from soakproof.load.rig import Rig
from soakproof.load.slots import IDLE_WITHIN_S, await_idle_slots
from soakproof.load.tester import TesterSampler
from soakproof.plan import Kind, Plan
from soakproof.watch.launch import Watch

_GUARD_LOOK_S = 0.1
_SAID_EVERY = 10  # seconds between two lines on how it goes
_TOLD = 300  # characters of a fault that an event keeps


class Session:
    """A run in progress."""

    def __init__(self, plan: Plan, rig: Rig) -> None:
        self.plan = plan
        self.run = rig.run
        self.deck = Deck(plan.kinds, plan.seed)
        self.trouble: SoakproofError | None = None  # why it could not be carried out, if so
        self.faults = 0  # of the tester itself
        self.guarded = ""  # why the load was ended before its time, if it was
        self._why_guarded = ""  # by its guard, or since that was lost
        self.stopping = False
        self.finishing = False
        self.raw: dict[str, Any] | None = None  # once it is sealed
        self._rig = rig
        self._clock = rig.clock
        self._recorder = rig.recorder
        self._recorder.on_trouble = self._recorder_broke
        self._missing_roles = MissingRoles(plan)
        self._permits = Permits(rig.target.slots)
        self._numbers: dict[str, Iterator[int]] = defaultdict(itertools.count)
        self._active = 0
        self._idle = Flag()
        self._idle.set()
        self._finished = Flag()
        self._companions = Companions(
            rig.processes, float(plan.watch.interval), self.note, is_guarded=plan.guard.is_relied_on
        )
        self._on_trouble: Callable[[], None] = lambda: None
        self._users: Callable[[], int] = lambda: plan.users

    # -- during the load

    def begin(self, on_trouble: Callable[[], None], users: Callable[[], int]) -> None:
        """The load starts now. ``on_trouble`` is called once if it cannot go on; ``users`` tells how many
        users are asked for.
        """
        self._on_trouble, self._users = on_trouble, users
        self.run.document.update(state="running", load_started_ns=self._clock.now())
        self.run.save()
        self._rig.stack.callback(TesterSampler(self._recorder, self._clock, self._state).close)
        self._rig.stack.callback(gevent.spawn(self._supervise).kill)
        self._rig.stack.callback(gevent.spawn(self._heed_guard).kill)

    def iterate(self, kind: Kind) -> None:
        """One iteration of a kind, when its permits are free. Does nothing once the run is stopping."""
        width = kind.scenario.width
        taken = 0 if self.plan.queueing else self._permits.take(width)
        try:
            if self.stopping:
                return
            self._active += 1
            self._idle.clear()
            self._iterate(kind)
        except RecorderError:
            pass  # said and acted upon where it arose
        except (KeyboardInterrupt, gevent.GreenletExit):
            raise
        except BaseException as error:  # Locust logs it and goes on with the next
            self._fault(f"{type(error).__name__}: {error}")
            raise
        finally:
            if taken:
                self._permits.give(taken)
        if self._recorder.unreachable:
            if self._recorder.none_works:
                self.deck.put_back(kind)
            self._back_off()

    def _iterate(self, kind: Kind) -> None:
        number, started = next(self._numbers[kind.name]), self._clock.now()
        try:
            result = self._rig.driver.run(kind, number)
            self._recorder.iteration(kind, number, started, result)
        finally:
            self._active -= 1
            if not self._active:
                self._idle.set()
        if result.end == "broken":  # a scenario that breaks at once would fill the disk with that
            self._pause(1.0)

    def _fault(self, told: str) -> None:
        """A fault of the tester itself: the run goes on, and does not end well."""
        self.faults += 1
        self.note("tester_fault", error=told[:_TOLD])

    def _back_off(self) -> None:
        """Nobody is there, or works: wait, longer each time, in steps that notice a stop."""
        self._pause(min(0.5 * 2 ** min(self._recorder.unreachable, 10), 10.0))

    def _pause(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until and not self.stopping:
            gevent.sleep(0.2)

    def _state(self) -> dict[str, Any]:
        sweeper = self._rig.driver.sweeper
        return {
            "in_flight": len(sweeper.flights),
            "oldest_in_flight_s": sweeper.oldest_s(),
            "iterations_active": self._active,
            "permits_waiting": self._permits.waiting,
        }

    def _supervise(self) -> None:
        """Say how it goes, while draining too, and notice when a process of ours has ended."""
        said = time.monotonic()
        while True:
            gevent.sleep(1)
            self._companions.look(self.elapsed_s)
            if not self.stopping:
                self._look_at_users()
            for told in self._missing_roles.told(self._recorder.roles, self._recorder.completed):
                say(f"warning: {told}")
            if not self._rig.driver.sweeper.alive and not self.finishing:
                self._fault("nothing ends what is past its bound any more")
                return
            if time.monotonic() - said >= _SAID_EVERY and not self.finishing:
                said += _SAID_EVERY
                say(progress_line(self.elapsed_s, self._recorder.counts, self._rig.driver.sweeper))

    def _heed_guard(self) -> None:
        """End the load, what is in flight as well, when the watch's guard says so; while draining, too."""
        while not self.finishing:
            gevent.sleep(_GUARD_LOOK_S)
            why, word = self._guards_word()
            if word and not self.finishing:
                self._why_guarded, self.guarded = why, word
                say(f"the load ends here: {word}")
                self.note("guard", reason=word)
                if self.stopping:
                    self._abort(word)
                else:
                    gevent.spawn(self._on_trouble)
                return

    def _guards_word(self) -> tuple[str, str]:
        """Why the load must end, in one word and in words: its guard says so, or nobody guards any more what
        the plan wants guarded.
        """
        watch = self._rig.processes.get("watch")
        said = str(watch.latest().get("guard") or "") if isinstance(watch, Watch) else ""
        if said:
            return GUARD, said
        lost = self._companions.watch_is_lost if self.plan.guard.is_relied_on else ""
        return UNGUARDED, f"{lost}, and with it the guard that the plan asks for" if lost else ""

    @property
    def began(self) -> bool:
        return "load_started_ns" in self.run.document

    @property
    def elapsed_s(self) -> float:
        """Seconds of load so far."""
        return (self._clock.now() - int(self.run.document.get("load_started_ns") or 0)) / NS

    def note(self, what: str, **details: Any) -> None:
        """An event of the run; after its end, and where it cannot be written, nothing."""
        if not self.finishing:
            with contextlib.suppress(RecorderError):  # said and acted upon where it arose
                self._recorder.event(what, **details)

    def _look_at_users(self) -> None:
        """What the number of users that are asked for was at first, and became, tells runs apart."""
        changes = self.run.document.setdefault("users_changed", [])
        was, now = changes[-1]["users"] if changes else self.plan.users, self._users()
        if now != was:
            self.note("users_changed", was=was, now=now)
            changes.append({"users": now, "after_s": round(self.elapsed_s, 1)})

    def give_up(self, error: SoakproofError) -> None:
        """The load cannot begin."""
        self.trouble = error
        self.finish("error")

    def _recorder_broke(self, error: RecorderError) -> None:
        say(f"soakproof: {error}\n  the run stops; {kept(self.run.path)}")
        self.trouble = error
        gevent.spawn(self._on_trouble)

    # -- after the load

    def drain(self) -> None:
        """No new iterations; wait for those in flight, at most as long as the plan says. A second call, or
        Ctrl-C, ends them at once.
        """
        if not self.stopping:
            if self.began:
                self._look_at_users()
            self.stopping = True
            self.run.document["load_stopping_ns"] = self._clock.now()
            if self._active:
                iterations = "1 iteration" if self._active == 1 else f"{self._active} iterations"
                say(f"draining: {iterations} in flight (Ctrl-C ends them at once)")
            try:
                if not self._idle.wait(0 if self.trouble or self.guarded else self.plan.drain):
                    self._abort("the run stopped before it ended")
            except KeyboardInterrupt:
                self._abort("stopped by a second Ctrl-C")
            finally:
                self.run.document["load_ended_ns"] = self._clock.now()
        else:
            self._abort("stopped again while draining")

    def _abort(self, reason: str) -> None:
        for _ in range(50):  # an iteration that was between two requests sends no more than one
            if self._idle.is_set():
                return
            self._rig.driver.stop(reason)
            self._idle.wait(0.1)

    def finish(self, why: str, reason: str = "") -> None:
        """Take everything down, judge the raw thresholds and seal. Once; later calls wait for the first."""
        if self.finishing:
            self._finished.wait()
            return
        self.finishing = True
        to_its_end(lambda: self._finish_and_seal(why, reason))

    def _finish_and_seal(self, why: str, reason: str) -> None:
        try:
            self._finish(why, reason)
        except (SoakproofError, OSError) as error:
            self.trouble = self.trouble or SoakproofError(str(error))
            say_unsealed(self.run, error)
        finally:
            self._rig.stack.close()
            self._finished.set()

    def _finish(self, why: str, reason: str) -> None:
        if not self.trouble:
            acted = self._why_guarded == GUARD and self.plan.guard.then != "stop"
            within = 0 if acted or "testbed" in self._companions.ended else IDLE_WITHIN_S
            self._recorder.event("final_slots", **await_idle_slots(self._rig.slots, self._clock, within))
        self._rig.stack.close()
        if self.trouble:
            why, reason = "error", reason or str(self.trouble)
        elif self.guarded:
            why, reason = self._why_guarded, self.guarded
        self.raw = seal(self.run, self.plan.thresholds, why, reason)

    @property
    def losses(self) -> list[str]:
        """What became of the processes beside the load, in lines; none where all was well."""
        return self._companions.at_the_end()

    @property
    def sealed(self) -> bool:
        return self.raw is not None

    @property
    def exit_code(self) -> int:
        if self.trouble:
            return self.trouble.exit_code
        if self.raw is None:
            return EXIT_ERROR
        return int(self.raw["exit_code"]) or (EXIT_ERROR if self.faults else EXIT_OK)
