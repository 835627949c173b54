"""A stretch of an earlier answer in the middle of a long one."""

from soakproof.testbed.events import TextPlant
from soakproof.testbed.plant import Call, Fires

_LONG = 600  # characters of an answer that may lend, or be given, a piece


class WordsOfAnother(TextPlant):
    """The middle of each few long answers is that of an answer before it. No code and no name tells whose."""

    default = 3
    unit = "long answers from one to the next"
    modelled_on = "https://github.com/ggml-org/llama.cpp/issues/27994"
    plan = """
[mix]
long_prose = 1
[kind.long_prose]
prompt = "200 tokens"
answer = "400 tokens"
"""
    think_time = "0s"
    seconds = 8
    fires = (Fires("isolation: words", outcome="INCONCLUSIVE"),)
    verdict = "INCONCLUSIVE"

    def __init__(self, value: float) -> None:
        super().__init__(value)
        self._before = ""
        self._seen = 0

    def changed(self, call: Call, text: str) -> str:
        if len(text) < _LONG:
            return text
        before, self._before = self._before, text
        self._seen += 1
        begin, end = len(text) // 4, 3 * len(text) // 4
        return text[:begin] + before[begin:end] + text[end:] if self._seen % self.value == 0 else text
