"""A server that says of itself that it is ill, and serves."""

from typing import Any

from soakproof.testbed.plant import Fires, Plant


class SaysItIsIll(Plant):
    """Health tells that the backend is dead, and /live answers 503; requests are answered as ever."""

    modelled_on = "https://github.com/fr0ster/llm-agent/pull/220"
    plan = """
[mix]
structured_json = 1
"""
    fires = (
        Fires("slots: health", outcome="INCONCLUSIVE", within=None),
        Fires("slots: live", outcome="INCONCLUSIVE", within=None),
    )
    verdict = "INCONCLUSIVE"

    def health(self, document: dict[str, Any]) -> dict[str, Any]:
        listed = [backend | {"backend_alive": False} for backend in document["all_models_loaded"]]
        return document | {"all_models_loaded": listed}

    def live(self, document: dict[str, Any]) -> dict[str, Any] | None:
        return None
