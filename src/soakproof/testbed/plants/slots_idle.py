"""Slots that are told as idle, whatever they do."""

from typing import Any

from soakproof.testbed.plant import Fires, Plant


class SlotsIdle(Plant):
    """Every slot is told as idle, also while it works: one that outlived its client would not be seen."""

    modelled_on = "https://github.com/intentee/paddler/issues/19"
    plan = """
[watch]
slots_every = "2s"
[mix]
long_prose = 1
[kind.long_prose]
prompt = "200 tokens"
answer = "1000 tokens"
"""
    think_time = "0s"
    seconds = 11
    fires = (Fires("slots: idle", outcome="INCONCLUSIVE", within=None),)
    verdict = "INCONCLUSIVE"

    def slots(self, slots: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [slot | {"is_processing": False} for slot in slots]
