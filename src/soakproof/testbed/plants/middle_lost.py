"""The middle of a long prompt is lost."""

from soakproof.testbed.plant import Fires
from soakproof.testbed.plants.oldest_lost import OldestLost


class MiddleLost(OldestLost):
    """Of a long prompt the middle is lost without a word."""

    modelled_on = "https://github.com/ggml-org/llama.cpp/issues/28211"
    fires = (Fires("functional: context.middle", grade="beyond_batch"),)
    lost = (0.35, 0.65)
