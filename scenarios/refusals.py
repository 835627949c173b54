"""Refusals: what must be refused is refused, in the way that is known, and hurts nobody who asks after it.

Three requests that no server can answer: of a model that is not there, with a prompt over the context, and
with a field of a wrong type. A server that answers one of them all the same has done something else than it
was asked. One that refuses it in another way, as its own fault or as a stream that begins well, misleads the
programs that rely on it.
"""

from collections.abc import Container, Mapping
from dataclasses import dataclass
from typing import Any

from soakproof.scenario import (
    Ask,
    Exchange,
    Failure,
    IterationContext,
    Ranges,
    Scenario,
    Script,
    check_line,
    register,
)

CLIENT_ERRORS = range(400, 500)
WRONG_TYPES: Mapping[str, dict[str, Any]] = {
    "messages": {"messages": 5},
    "content": {"messages": [{"role": "user", "content": 5}]},
    "max_tokens": {"max_tokens": "many"},
    "temperature": {"temperature": "hot"},
}
TAKEN_AS_DEFAULT = ("max_tokens", "temperature")  # by llama.cpp's releases that check no types of these


@dataclass(frozen=True)
class Refusals(Scenario):
    """An unknown model, a prompt over the context and a wrong type, then a short request that is right."""

    checks = ("refusal.model", "refusal.context", "refusal.malformed", "refusal.after")
    over: float = 1.5  # times a slot's context that the prompt over it takes
    words: int = 12  # of the line after the refusals
    # from 1.2 on: how many tokens a text makes is only estimated
    ranges = Ranges(over=(1.2, 10), words=(1, 1000))

    def iterate(self, it: IterationContext) -> Script:
        stream = it.draw.random() < 0.5
        name = f"no-such-model-{it.code(secret=False)}"
        said = yield Ask(self._echo(it), role="model", stream=stream, refused=True, model=name)
        check_model(it, said)

        stream = it.draw.random() < 0.5
        said = yield Ask(self._too_long(it), role="context", tokens=16, stream=stream, refused=True)
        check_context(it, said)

        stream = it.draw.random() < 0.5
        field = it.draw.choice(sorted(WRONG_TYPES))
        more = WRONG_TYPES[field]
        said = yield Ask(self._echo(it), role="malformed", stream=stream, refused=True, more=more)
        check_malformed(it, said, field)

        line = it.secret(self.words)
        ask = Ask(it.phrase("echo", x=line), role="after")
        after = yield ask
        yield from check_line(it, "refusal.after", ask, after, line)

    def _echo(self, it: IterationContext) -> str:
        return it.phrase("echo", x=it.secret(self.words))

    def _too_long(self, it: IterationContext) -> str:
        """A small register over and over: it is never read, and costs nothing to make."""
        piece = f"{register(it, 300).text}\n"
        return piece * (it.chars(int(it.around.slot_context * self.over), share=self.over) // len(piece) + 1)


def check_model(it: IterationContext, said: Exchange) -> None:
    """Lemonade says 404, streaming or not. llama.cpp has one model and answers by it, whatever is asked."""
    if said.failure is None and it.around.front == "llamacpp":
        reason = "this server has one model and does not look at the name that is asked for"
        it.check("refusal.model", False, said, grade="known:any_model_answered", reason=reason)
        return
    statuses = (404,) if it.around.front == "lemonade" else CLIENT_ERRORS
    grade, reason = missed(said, Failure.CONFIGURATION, statuses)
    it.check("refusal.model", not grade, said, grade=grade, reason=reason)


def check_context(it: IterationContext, said: Exchange) -> None:
    """A prompt that does not fit is refused as that, before anything of it is computed."""
    grade, reason = missed(said, Failure.CONTEXT, with_stream(it, said))
    it.check("refusal.context", not grade, said, grade=grade, reason=reason)


def check_malformed(it: IterationContext, said: Exchange, field: str) -> None:
    """A wrong type is the client's fault, and told as that."""
    grade, reason = missed(said, Failure.CONFIGURATION, with_stream(it, said))
    if grade == "answered" and field in TAKEN_AS_DEFAULT:
        grade = "known:wrong_type_ignored"
    it.check("refusal.malformed", not grade, said, grade=grade, reason=reason and f"{field}: {reason}")


def with_stream(it: IterationContext, said: Exchange) -> Container[int]:
    """Statuses of a refusal by the backend: Lemonade has begun a stream with 200 by then."""
    return (200, *CLIENT_ERRORS) if it.around.front == "lemonade" and said.stream else CLIENT_ERRORS


def missed(said: Exchange, due: Failure, statuses: Container[int | None]) -> tuple[str, str]:
    """How a refusal is not the one that is due, as a grade and in words; two empty texts where it is."""
    if said.failure is None:
        found = "" if said.prompt_tokens is None else f" after {said.prompt_tokens} prompt tokens"
        return "answered", f"answered{found} where it must be refused: {said.text[:80]!r}"
    told = f"status {said.status}, {said.failure}: {said.reason[:160]}"
    if said.failure in (Failure.HTTP_STATUS, Failure.ERROR_EVENT):
        return "own_fault", f"refused as a fault of the server's own: {told}"
    if said.failure is not due:
        return "other_reason", f"expected {due}, found {told}"
    if said.status not in statuses:
        return "other_status", told
    return "", ""
