"""The cache claims hits, and now and then their own timings deny one."""

from typing import ClassVar

from soakproof.testbed.plant import Fires
from soakproof.testbed.plants.claimed_hits import ClaimedHits


class HitsDenied(ClaimedHits):
    """Most prompts that begin like an earlier one are restored; of each few one is worked on from its first
    token, and told to be restored like the others.
    """

    default = 3
    unit = "hits from one to the next"
    fires: ClassVar = (Fires("protocol: cached_denied_alone", outcome="INCONCLUSIVE", within=9),)
    may_fire = ("functional: cache.faster",)
    verdict = "INCONCLUSIVE"

    def __init__(self, value: float) -> None:
        super().__init__(value)
        self._hits = 0

    def restores(self, is_hit: bool) -> bool:
        self._hits += is_hit
        return not is_hit or self._hits % self.value > 0
