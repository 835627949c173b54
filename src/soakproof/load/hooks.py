"""Locust's events, tied to sessions.

What Locust does, and why the hooks are as they are (observed on 2.47):
- `test_stopping` fires before users are killed, for -t, Ctrl-C, SIGTERM, the web UI's stop and a second
  start alike: there we drain. `test_stop` follows when they are gone: there we seal. Two quits fire both
  twice.
- On Ctrl-C and SIGTERM the exit code is fixed before `test_stop`, so `quitting` stops the runner itself.
- Exceptions in listeners are swallowed, except StopTest and SystemExit.
- The web UI's form counts its run time from before `test_start`: the timer is set again when the load
  begins. A run time of an earlier start stays among the options, and an edit takes its timer away.
- Users that become fewer are killed in mid-request, and without a sign of it until they are gone: while the
  load goes on they are given the time of a drain, and their number is looked at.
- Locust exits 0 when nothing completed; we always set the exit code, and reset it at each start.
"""

import atexit
import dataclasses
import logging
import sys
from typing import Any, NoReturn

import gevent
from locust import events
from locust.argument_parser import LocustArgumentParser
from locust.env import Environment
from locust.exception import StopTest
from locust.html import get_html_report

from soakproof.catalog import Catalog
from soakproof.errors import EXIT_ERROR, EXIT_OK, RecorderError, SoakproofError, UsageError, words
from soakproof.load.arguments import (
    add_arguments,
    apply_defaults,
    refuse_odd,
    refuse_port,
    refuse_unknown_tags,
    refuse_unseen,
    seeded,
    wishes,
)
from soakproof.load.ending import unsealed
from soakproof.load.interrupt import hangup_as_sigterm, interrupt_main, sigterm_as_well, to_main_greenlet
from soakproof.load.outputs import refuse_unwritable, remove_unused
from soakproof.load.page import Page
from soakproof.load.progress import left_out_lines, say
from soakproof.load.rig import prepare
from soakproof.load.session import Session
from soakproof.load.users import SoakUser, make_tasks
from soakproof.plain import visible
from soakproof.plan import Plan, load_plan
from soakproof.raw import summary_lines
from soakproof.run import to_json, typed, write_atomic

_ENDING_S = 120.0  # longer than the end of a process takes


def _is_news(record: logging.LogRecord) -> bool:
    """Not that a user had ended by itself when Locust came to stop it: ours do, once the load is drained."""
    return "didn't have proper args" not in str(record.msg)


class Hooks:
    """The process's hooks: at most one session at a time."""

    def __init__(self, default_plan: str) -> None:
        self.default_plan = default_plan
        self.session: Session | None = None
        self.plan: Plan | None = None
        self.leaving = False  # the process is about to end
        self.to_leave = False  # it was asked to end while a run was being sealed
        self.preparing: gevent.Greenlet | None = None  # that of a start, until its load begins
        self.why = "stopped"  # how the load ended: time, interrupt, stopped
        self.why_not = ""  # why the last start came to nothing, if so
        self.by_page = False  # the load was begun from the web UI's page, whose timer may be taken away
        self.resets_stats = False  # --reset-stats: Locust's numbers begin again once all users are there
        self.next_step = ""  # what to type after the last run
        self.worst = EXIT_OK  # of all runs of this process: a later one does not make up for it

    def register(self) -> None:
        events.init_command_line_parser.add_listener(self.on_parser)
        events.init.add_listener(self.on_init)
        events.test_start.add_listener(self.on_test_start)
        events.spawning_complete.add_listener(self.on_spawning_complete)
        events.reset_stats.add_listener(self.on_reset_stats)
        events.test_stopping.add_listener(self.on_test_stopping)
        events.test_stop.add_listener(self.on_test_stop)
        events.quitting.add_listener(self.on_quitting)
        events.quit.add_listener(self.on_quit)

    def on_parser(self, parser: LocustArgumentParser, **_: Any) -> None:
        add_arguments(parser, self.default_plan)

    def on_init(self, environment: Environment, **_: Any) -> None:
        """Check everything that can be checked, before any load; leave with 64 if it will not do."""
        options = environment.parsed_options
        assert options is not None
        logging.getLogger("httpx").setLevel(logging.WARNING)
        logging.getLogger("locust.runners").addFilter(_is_news)
        hub = gevent.get_hub()
        hub.NOT_ERROR = (*hub.NOT_ERROR, StopTest, RecorderError)  # said in words: gevent prints no traceback
        to_main_greenlet(too_late=self._is_sealing)
        hangup_as_sigterm()
        atexit.register(self._end, environment)
        self.resets_stats = environment.reset_stats
        try:
            refuse_odd(options)
            self.catalog = Catalog()
            refuse_unseen(options)
            refuse_port(options)
            refuse_unwritable(options)
            self.plan = seeded(load_plan(self.catalog, options.plan), options)
            refuse_unknown_tags(options, self.plan)
            apply_defaults(options, self.plan)
            make_tasks(self.plan)
            environment._filter_tasks_by_tags()
            if environment.web_ui is not None:
                page = Page(environment, environment.web_ui, lambda: self.why_not, self._is_ending)
                page.attach(self._time_is_up)
            if options.headless or options.autostart:
                with sigterm_as_well():
                    self._prepare(environment)
        except SoakproofError as error:
            _leave(error)
        except OSError as error:
            _leave(SoakproofError(f"the run cannot be prepared: {words(error)}"))
        except KeyboardInterrupt:
            say("stopped before the load began")
            remove_unused()
            sys.exit(EXIT_ERROR)
        except Exception:
            logging.exception("soakproof could not prepare the run; this is a fault of the tester")
            remove_unused()
            sys.exit(EXIT_ERROR)

    def _is_sealing(self) -> bool:
        if self.leaving and self.session is None:
            return True
        if self.session is None or not self.session.finishing:
            return False
        say("the run is being sealed: a moment")
        self.to_leave = True
        return True

    def _is_ending(self) -> bool:
        return self.session is not None and self.session.stopping

    def _prepare(self, environment: Environment) -> None:
        """A session that is ready for its load."""
        options = environment.parsed_options
        assert self.plan is not None
        assert options is not None
        plan = self.plan.for_duration(options.run_time or self.plan.duration)
        left = _kinds_left(plan)
        plan = dataclasses.replace(plan.only(left), users=options.num_users or plan.users)
        rig = prepare(plan, self.catalog, wishes(options, environment.host), events.request.fire)
        self.session = session = Session(plan, rig)
        SoakUser.session = session

    def on_test_start(self, environment: Environment, **_: Any) -> None:
        environment.process_exit_code = EXIT_ERROR  # until a run has been judged
        self.why, self.why_not = "stopped", ""
        self.preparing = gevent.getcurrent()
        try:
            timed, self.by_page = False, self.session is None
            if self.session is None:
                timed = _take_run_time(environment)
                self._prepare(environment)
            assert self.session is not None
            runner = environment.runner
            assert runner is not None
            environment.stop_timeout = self.session.plan.drain
            self.session.begin(lambda: _quit(environment), lambda: runner.target_user_count)
            if timed:
                _set_run_time(environment)
        except SoakproofError as error:
            self._cannot_begin(environment, error)
        except gevent.GreenletExit:
            self.why_not = "stopped before the load began"
            say(self.why_not)
            raise
        finally:
            self.preparing = None

    def _cannot_begin(self, environment: Environment, error: SoakproofError) -> NoReturn:
        """Say why, and leave Locust as it was before the start."""
        environment.process_exit_code = error.exit_code
        self.why_not = str(error)
        if self.session is not None:
            self.session.give_up(error)
            self._forget(environment, self.session)
        if environment.parsed_options.headless:
            say(f"soakproof: {error}")
            raise StopTest(str(error)) from error
        logging.error("soakproof: %s", visible(str(error)))
        raise gevent.GreenletExit from error  # the end of the start alone: no unhandled error

    def on_spawning_complete(self, **_: Any) -> None:
        """All users are there: at a start, and whenever their number is changed."""
        if self.session is not None and self.resets_stats:
            self.on_reset_stats()

    def on_reset_stats(self, **_: Any) -> None:
        """Locust's numbers begin again: what they count after this is less than the evidence has."""
        if self.session is not None:
            self.session.note("stats_reset")

    def on_test_stopping(self, environment: Environment, **_: Any) -> None:
        environment.stop_timeout = 0.0
        if self.session is not None:
            limit = environment.parsed_options.run_time
            if limit and not self.by_page and self.session.elapsed_s >= limit - 2:
                self.why = "time"
            self.session.drain()

    def _time_is_up(self) -> None:
        """The timer of the web UI's page has run out."""
        self.why = "time"

    def on_test_stop(self, environment: Environment, **_: Any) -> None:
        """Seal the run and print what came of it. A second stop waits for the first."""
        session = self.session
        if session is None or session.finishing:
            return
        total = environment.stats.total
        session.run.document["locust"] = {"requests": total.num_requests, "failures": total.num_failures}
        session.finish(self.why, "" if session.began else "the load never began")
        _save_locust(environment, session)
        told = _outcome(session)
        self.next_step = told[-1]
        say("\n".join(told))
        self._forget(environment, session)
        if self.to_leave and not self.leaving:
            interrupt_main()

    def on_quitting(self, environment: Environment, **_: Any) -> None:
        """Ctrl-C and SIGTERM come here with the load still on: stop it before Locust fixes the exit code.

        Locust comes once for each signal; all but the first stay here, and the process ends under them.
        """
        if self.leaving:
            if self.session is not None and not self.session.finishing:
                self.session.drain()  # asked a second time: what is in flight is ended at once
            gevent.sleep(_ENDING_S)
        self.leaving = True
        self._end(environment)

    def _end(self, environment: Environment) -> None:
        """End and seal what is still going on.

        Called at the process's exit as well: Locust may end by a fault of its own, such as a --html file that
        it cannot write, without telling anybody.
        """
        if self.preparing is not None and self.preparing is not gevent.getcurrent():
            self.preparing.kill()
        session = self.session
        if session is not None and environment.runner is not None:
            self.why = "interrupt"
            try:
                environment.runner.stop()
            except KeyboardInterrupt:  # it came while users were being ended
                session.drain()
            self.on_test_stop(environment)  # where that interrupt kept Locust from it
            session.finish(self.why)  # waits where the stop is under way elsewhere
            self._forget(environment, session)
        if environment.process_exit_code is None:
            environment.process_exit_code = EXIT_ERROR if environment.parsed_options.headless else 0

    def on_quit(self, **_: Any) -> None:
        """Locust's tables have pushed it out of sight."""
        if self.next_step:
            say(self.next_step)
            self.next_step = ""

    def _forget(self, environment: Environment, session: Session) -> None:
        self.worst = max(self.worst, session.exit_code)
        environment.process_exit_code = self.worst
        if self.session is session:
            self.session = None


def _take_run_time(environment: Environment) -> bool:
    """Hold the timer of the form in the web UI; whether there is one. Without one the run has no run time."""
    ui, options = environment.web_ui, environment.parsed_options
    assert options is not None
    if ui is None or ui._run_time_greenlet is None:
        options.run_time = None
        return False
    ui._cancel_run_time_timer()
    return True


def _set_run_time(environment: Environment) -> None:
    """The form's run time from now on."""
    ui, options = environment.web_ui, environment.parsed_options
    assert ui is not None
    assert options is not None
    ui._run_time_greenlet = gevent.spawn_later(options.run_time, ui._stop_runners)


def _kinds_left(plan: Plan) -> set[str]:
    """The plan's kinds that --tags and --exclude-tags left: there must be one."""
    left = {task.__name__ for task in SoakUser.tasks[0].tasks} if SoakUser.tasks else set()
    names = [kind.name for kind in plan.kinds]
    if not left.intersection(names):
        raise UsageError(
            "--tags and --exclude-tags leave no kind of the plan",
            f"for a run of this length its kinds are: {', '.join(names)}",
        )
    return left


def _leave(error: SoakproofError) -> None:
    """End Locust at once with the error's code; its text goes to standard error."""
    say(f"soakproof: {error}", sys.stderr)
    remove_unused()
    sys.exit(error.exit_code)


def _quit(environment: Environment) -> None:
    """From a greenlet of its own: stop the load, and the process where nobody would start another."""
    assert environment.runner is not None
    options = environment.parsed_options
    if options is not None and options.headless:
        environment.runner.quit()
    else:
        environment.runner.stop()


def _outcome(session: Session) -> list[str]:
    """What came of the run, and what to type next."""
    path = session.run.path
    run = f"run {path}"
    if not session.sealed:
        return [run, unsealed(path)]
    told = [
        *(summary_lines(session.raw) if session.raw else []),
        *left_out_lines(session.plan.left_out),
        *session.losses,
    ]
    return [*told, run, f"judge it: soakproof adjudicate {typed(path)}"]


def _save_locust(environment: Environment, session: Session) -> None:
    """Locust's own statistics beside the evidence; for people, not for judging."""
    folder = session.run.path / "locust"
    try:
        folder.mkdir(exist_ok=True)
        write_atomic(
            folder / "stats.json", to_json([entry.to_dict() for entry in environment.stats.entries.values()])
        )
        write_atomic(folder / "report.html", get_html_report(environment, show_download_link=False).encode())
    except (OSError, SoakproofError) as error:
        say(f"Locust's own report could not be written: {error}")
