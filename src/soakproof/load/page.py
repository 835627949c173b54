"""What the web UI's page is told of a start.

Locust answers "Swarming started" before it starts, so the page of a start that fails would show a load
without users until *Stop*. Here the answer waits for the load, and tells why there is none. Observed on 2.47:
the page shows an answer's message beside its form, and the host before after *Host* was emptied.
"""

from collections.abc import Callable
from typing import Any

import gevent
from flask import Response, jsonify, request
from locust.env import Environment
from locust.runners import STATE_RUNNING, STATE_SPAWNING
from locust.web import WebUI

from soakproof.load.arguments import TESTBED
from soakproof.plain import visible

_LOOK_S = 0.1


def answer_with_outcome(environment: Environment, ui: WebUI, why_not: Callable[[], str]) -> None:
    """Answer a start once the load has begun or come to nothing.

    ``why_not`` gives the reason why the last start came to nothing; empty where it did not.
    """
    if not environment.host:
        environment.host = environment.parsed_options.host = TESTBED

    @ui.app.before_request
    def refuse_no_host() -> Response | None:
        if _is_start() and request.form.get("host") == "":
            return _refused(f"Host is empty: write the server's address, or {TESTBED} for the embedded one")
        return None

    @ui.app.after_request
    def answer(response: Response) -> Response:
        runner = environment.runner
        assert runner is not None
        told: Any = response.get_json(silent=True) if _is_start() else None
        if not told or not told["success"] or runner.state in (STATE_RUNNING, STATE_SPAWNING):
            return response
        while _is_on(ui._swarm_greenlet) or (_is_on(runner.spawning_greenlet) and runner.user_count == 0):
            gevent.sleep(_LOOK_S)
        return _refused(visible(why_not())) if why_not() else response


def _is_start() -> bool:
    return request.method == "POST" and request.endpoint == "locust.swarm"


def _is_on(greenlet: gevent.Greenlet | None) -> bool:
    return greenlet is not None and not greenlet.dead


def _refused(message: str) -> Response:
    return jsonify({"success": False, "message": message})
