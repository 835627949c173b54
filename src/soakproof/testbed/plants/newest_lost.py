"""The newest part but the question of a long prompt is lost."""

from soakproof.testbed.plant import Fires
from soakproof.testbed.plants.oldest_lost import OldestLost


class NewestLost(OldestLost):
    """Of a long prompt the newest part is lost without a word, all but the question."""

    modelled_on = "https://github.com/ggml-org/llama.cpp/issues/28211"
    fires = (Fires("functional: context.end", grade="beyond_batch"),)
    lost = (0.75, 0.97)
