"""What the web UI's page may ask for, and what it is told of a start.

Locust answers "Swarming started" before it starts, so the page of a start that fails would show a load
without users until *Stop*. Here the answer waits for the load, and tells why there is none. A start names
what the page's form has and nothing else: Locust would take any option from it, the key among them. Observed
on 2.47: the page shows an answer's message beside its form, and the host before after *Host* was emptied.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import gevent
from flask import Response, jsonify, request
from locust.env import Environment
from locust.runners import STATE_RUNNING, STATE_SPAWNING, Runner
from locust.web import WebUI

from soakproof.load.arguments import TESTBED
from soakproof.plain import listed, visible
from soakproof.plan import MOST_USERS
from soakproof.watch.settings import is_loopback

_LOOK_S = 0.1
_FIELDS = frozenset(
    {"user_count", "spawn_rate", "host", "run_time", "user_classes", "shape_class", "profile"}
)


@dataclass(frozen=True)
class Page:
    """The page's questions, before and after Locust has answered them."""

    environment: Environment
    ui: WebUI
    why_not: Callable[[], str]  # why the last start came to nothing; empty where it did not
    is_ending: Callable[[], bool]  # a run is being ended and sealed

    def attach(self, time_is_up: Callable[[], None]) -> None:
        """``time_is_up`` is called before the page's timer stops the load."""
        options = self.environment.parsed_options
        assert options is not None
        if not self.environment.host:
            self.environment.host = options.host = TESTBED
        stop = self.ui._stop_runners

        def stop_in_time() -> None:
            time_is_up()
            stop()

        self.ui._stop_runners = stop_in_time
        self.ui.app.before_request(self._before)
        self.ui.app.after_request(self._after)

    @property
    def _runner(self) -> Runner:
        assert self.environment.runner is not None
        return self.environment.runner

    @property
    def _is_running(self) -> bool:
        return self._runner.state in (STATE_RUNNING, STATE_SPAWNING)

    @property
    def _is_starting(self) -> bool:
        spawning = _is_on(self._runner.spawning_greenlet) and self._runner.user_count == 0
        return spawning or _is_on(self.ui._swarm_greenlet)

    def _before(self) -> Response | None:
        if not self._is_own():
            return Response("this page is for whoever runs it: no other may ask here", 403)
        if request.endpoint == "locust.stop" and self._is_starting and not self._is_running:
            self._stop_start()
        if not _is_start():
            return None
        problem = _odd(request.form) or self._not_now() or self._other_host()
        return _refused(problem) if problem else None

    def _is_own(self) -> bool:
        """Whether no page of somebody else asks: one could have the key sent to a host of its own. One whose
        name leads to this machine says so by the Host that it asks for.
        """
        origin = request.headers.get("Origin")
        if request.method != "GET" and origin is not None and urlsplit(origin).netloc != request.host:
            return False
        return not is_loopback(f"//{self.ui.host}") or is_loopback(f"//{request.host}")

    def _not_now(self) -> str:
        if self.is_ending():
            return "the run before is being ended and sealed: a moment"
        if self._is_starting and not self._is_running:
            return "a start is under way: a moment, or Stop"
        return ""

    def _other_host(self) -> str:
        host = request.form.get("host", self.environment.host)
        is_other = self._is_running and host != self.environment.host
        return "a run goes on, and its host is what it is: Stop first" if is_other else ""

    def _stop_start(self) -> None:
        """Locust's own stop does nothing where a run was stopped before."""
        for greenlet in (self.ui._swarm_greenlet, self._runner.spawning_greenlet):
            if greenlet is not None:
                greenlet.kill(block=True)

    def _after(self, response: Response) -> Response:
        told: Any = response.get_json(silent=True) if _is_start() else None
        if not told or not told["success"] or self._is_running:
            return response
        while self._is_starting:
            gevent.sleep(_LOOK_S)
        return _refused(self.why_not()) if self.why_not() else response


def _odd(form: Any) -> str:
    """What no run can be made of."""
    unknown = sorted(set(form) - _FIELDS)
    if unknown:
        return f"no fields of this page: {listed(unknown, 3)}; options are the command line's"
    if form.get("host") == "":
        return f"Host is empty: write the server's address, or {TESTBED} for the embedded one"
    users = form.get("user_count", "")
    if users.isdecimal() and not 1 <= int(users) <= MOST_USERS:
        return f"Number of users: expected 1 to {MOST_USERS}, found {users}"
    return ""


def _is_start() -> bool:
    return request.method == "POST" and request.endpoint == "locust.swarm"


def _is_on(greenlet: gevent.Greenlet | None) -> bool:
    return greenlet is not None and not greenlet.dead


def _refused(message: str) -> Response:
    return jsonify({"success": False, "message": visible(message)})
