"""The mark that ends a turn is shown at the end of answers."""

from collections.abc import AsyncIterator
from typing import Any

from soakproof.testbed.events import EventPlant, document_of, event, finish
from soakproof.testbed.plant import Call, Fires

_MARK = "<|im_end|>"


class TemplateShown(EventPlant):
    """Answers end with the chat template's own mark for the end of a turn, as text."""

    modelled_on = "https://github.com/mozilla-ai/llamafile/issues/630"
    plan = """
[mix]
long_prose = 1
[kind.long_prose]
prompt = "200 tokens"
answer = "60 tokens"
"""
    fires = (Fires("protocol: template_token", outcome="INCONCLUSIVE"),)
    verdict = "INCONCLUSIVE"

    async def event(self, call: Call, data: bytes) -> AsyncIterator[bytes]:
        document = document_of(data)
        if finish(document):
            yield event(_marked(document or {}))
        yield data


def _marked(document: dict[str, Any]) -> dict[str, Any]:
    return document | {"choices": [{"index": 0, "finish_reason": None, "delta": {"content": _MARK}}]}
