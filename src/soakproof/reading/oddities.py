"""Every oddity of the protocol, in one table: what it means, how much it weighs, and whose it is. No I/O.

Reading notes most of them; `soakproof.judge.claims` finds the others in an exchange's fields, or by setting
exchanges side by side. `violation`: a client that keeps to the standard loses something. `doubt`: the
numbers cannot be trusted. `told`: what healthy servers do as well, or what a failure class already says.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from soakproof.records import Failure, Party

Weight = Literal["violation", "doubt", "told"]


@dataclass(frozen=True, slots=True)
class Oddity:
    """One note. It weighs only from ``least`` exchanges on, and from this ``share`` of those concerned.

    A doubt with ``proven_from`` weighs as a violation from so many exchanges on.
    """

    meaning: str
    weight: Weight = "told"
    fault: Party = "server"
    share: float = 0.0
    least: int = 1
    proven_from: int | None = None

    def weight_of(self, seen: int) -> Weight:
        """How much it weighs when it is in so many exchanges, where it weighs at all."""
        return "violation" if self.proven_from is not None and seen >= self.proven_from else self.weight

    @property
    def bound(self) -> str:
        """How much of it weighs nothing, in words."""
        if self.share:
            return f"fewer than {self.least}, or less than {self.share:.0%} of them"
        return "none" if self.least == 1 else f"fewer than {self.least}"


def _violation(meaning: str, fault: Party = "server", **more: float) -> Oddity:
    return Oddity(meaning, "violation", fault, more.get("share", 0.0), int(more.get("least", 1)))


def _doubt(meaning: str, fault: Party = "backend", **more: float) -> Oddity:
    return Oddity(meaning, "doubt", fault, more.get("share", 0.0), int(more.get("least", 1)))


# The end of an answer.
_ENDS = {
    "finish_without_done": _violation("no [DONE] after the finish reason: its end is told by nothing"),
    "done_without_finish": _violation("[DONE] without a finish reason: a cut answer looks whole", "front"),
    "finish_reason_missing": _violation("an answer that came in good order has no finish reason"),
    "finish_reason_empty": Oddity("a finish reason that is blank or a word for none: taken for none"),
    "finish_reason_unknown": _doubt("a finish reason of no known meaning: whether it was cut is unknown"),
    "finish_reason_not_text": _violation("a finish reason that is no text"),
    "finish_without_call": _violation(
        "the finish reason is that of a tool call, and there is none: agents wait for it"
    ),
    "finish_reason_case": _doubt(
        "finish reasons of one meaning that differ in capitals: clients compare them letter by letter",
        "front",
    ),
    "second_finish_reason": _violation("two finish reasons that differ: whether it was cut is unknown"),
    "text_after_finish": _violation("text after the finish reason: clients have stopped reading"),
    "done_variant": _violation("[DONE] is spelled otherwise: clients take it for broken JSON", "front"),
    "done_twice": Oddity("[DONE] came again, and nothing else after the first"),
    "data_after_done": _violation("events after [DONE]: clients have stopped reading", "front"),
    "unfinished_event": _violation("the last event has no blank line after it: clients throw it away"),
    "stop_at_limit": _violation(
        "the finish reason is stop where max_tokens was reached: cut answers pass for whole ones",
        "backend",
        share=0.5,
        least=3,
    ),
    "length_early": _violation(
        "the finish reason is length below every limit: whole answers pass for cut ones", least=2
    ),
    "events_lost": _doubt(
        "a forced answer has fewer events than tokens, unlike others: text was lost, or tokens have none",
        "front",
        share=0.5,
        least=2,
    ),
    "events_doubled": _doubt(
        "more events than tokens, of a server that otherwise sends no more: text may have come twice",
        "front",
        least=2,
    ),
    "tokens_overcounted": _doubt(
        "far more tokens than events, of a server that otherwise sends an event a token: miscounted, or lost",
        "backend",
        least=3,
    ),
    "finish_reason_filtered": _doubt("the answer was cut by a content filter, so it is told", "server"),
    "over_max_tokens": _doubt("more tokens than max_tokens allows, by the server's own count"),
    "template_token": _doubt(
        "a token of the chat template stands in the text: the model went on past its end, or a mark is shown "
        "that was to be hidden",
        "backend",
        least=2,
    ),
    "blank_text": Oddity("an answer of white space alone"),
}
# Events and characters.
_FRAMES = {
    "parse_error": _violation("an event that is no JSON"),
    "not_strict_json": _violation(
        "JSON with NaN, Infinity, numbers beyond a double, half of a surrogate pair: strict clients refuse it"
    ),
    "invalid_utf8": _violation("bytes that are no UTF-8: characters were cut or damaged"),
    "surrogates": _violation("halves of characters in separate pieces of JSON"),
    "replacement_character": _doubt(
        "U+FFFD in the text: the server lost bytes, or the model wrote none that make a character",
        share=0.01,
        least=2,
    ),
    "unframed_error": _violation("an error without the frame of an event: clients see an empty answer"),
    "unframed_json": _violation("JSON without data: in front of it"),
    "named_event": Oddity("words in an event of another name, which the standard lets clients ignore"),
    "unknown_fields": Oddity("fields that the standard lets clients ignore"),
    "html": _violation("a page of HTML", "front"),
    "content_type": _violation("a content type or a charset that is not that of what was asked for", "front"),
    "bytes_after_end": _violation(
        "something came behind the whole response: on a kept connection the next answer begins with it",
        "front",
    ),
    "content_encoding": _violation("compressed, though no encoding was accepted", "front"),
    "buffered": _doubt(
        "held back and let go at once: no stream, and times between tokens mean nothing",
        "front",
        share=0.05,
        least=3,
    ),
}
# What a chunk holds.
_CHUNKS = {
    "completions_style": _violation("text where a chat's chunk has a delta"),
    "message_in_stream": Oddity("a whole message in a stream, after its pieces or in place of them"),
    "delta_not_object": _violation("a delta that is no object"),
    "role_not_assistant": _doubt("an answer in another role than assistant's", "front"),
    "choice_not_object": _violation("a choice that is no object"),
    "other_choices": _violation(
        "choices that were not asked for: what stands there may be another client's, and some clients show it"
    ),
    "content_parts": Oddity("content in parts"),
    "content_not_text": _violation("content that is no text"),
    "too_many_tool_calls": Oddity("more tool calls than are read"),
    "refusal": Oddity("the model refused"),
    "id_changed": Oddity("the id changes within an answer: no leak by itself"),
    "created_changed": Oddity("the time of creation changes within an answer, as llama.cpp's does"),
    "builds_alternate": _doubt(
        "answers of one model name different builds by turns: two servers stand behind one name", "front"
    ),
    "model_changed": _doubt("the model's name changes within an answer", "front"),
}
# Numbers.
_NUMBERS = {
    "usage_missing": _doubt("no usage, of a server that sends it or must", "front"),
    "timings_missing": _doubt("no timings, of a server that sends them", "front"),
    "cached_missing": _doubt("no cached tokens in usage, of a server that tells them"),
    "usage_not_object": _doubt("usage that is no object"),
    "timings_not_object": _doubt("timings that are no object"),
    "usage_not_kept": Oddity("usage too large or too deep to be kept"),
    "timings_not_kept": Oddity("timings too large or too deep to be kept"),
    "count_as_text": _doubt("a count that is a text"),
    "bad_count": _doubt("a count that is negative, broken or absurd"),
    "prompt_cut": _violation(
        "the prompt has far fewer tokens than others of its sort: it was cut, or is counted wrong", least=2
    ),
    "prompt_tokens_few": _doubt(
        "the prompt has fewer tokens than others of its sort: it was cut, or is counted wrong", least=2
    ),
    "prompt_counts_disagree": _doubt("the prompt's tokens are not those cached and those worked on"),
    "cached_counts_disagree": _doubt("usage and timings tell different numbers of cached tokens"),
    "cached_over_prompt": _doubt("more cached tokens than the prompt has"),
    "cached_denied": _doubt("the prompts took as long as if nothing had been cached", share=0.8, least=4),
    "cached_denied_alone": _doubt(
        "a prompt took as long as if nothing had been cached, and no other prompt was in its way", least=2
    ),
    "completion_counts_disagree": _doubt("usage and timings tell different numbers of generated tokens"),
    "total_disagrees": _doubt("the total of usage is not its sum"),
    "fewer_tokens_than_events": _doubt("fewer tokens counted than pieces of text were sent"),
    "timings_null": _doubt("timings of an answer whose count or time is null or no number"),
    "timings_absurd": _doubt("timings that no machine reaches, or a time that is not above 0"),
    "rates_disagree": _doubt("a rate of timings that is not what their own tokens and time come to", least=3),
    "timings_over_clock": _doubt("the server says it took longer than the whole exchange did"),
    "timings_under_clock": _doubt(
        "the server says it took a third of the time in which its tokens came, or less",
        share=0.2,
        least=2,
    ),
    "came_slower": _doubt(
        "most answers in a row came far more slowly than the server says they were made: they are held back, "
        "or its times and rates are not true",
        "server",
    ),
}
# Stops in the middle of an answer.
_STALLS = {
    "stalled_on_its_way": Oddity(
        "5 s or more without a token, of which the server's own time of making the answer holds nothing",
        "doubt",
        "front",
        proven_from=3,
    ),
    "paused_on_its_way": _doubt(
        "2 s or more without a token, of which the server's own time of making the answer holds nothing",
        "front",
        least=3,
    ),
    "ended_late": _doubt(
        "the end came 3 s or more after the last token, when nothing more was made: clients wait for nothing",
        "front",
        least=3,
    ),
    "stalled_alone": _doubt(
        "5 s or more without a token, far beyond the answer's usual gaps, while other answers went on",
        "server",
        least=3,
    ),
}
# Around the answer.
_AROUND = {
    "proxy_error": Oddity("a router in front lost its backend, which may still work on the request"),
    "loading": Oddity("the model was being loaded"),
    "retry_after": Oddity("the server asked to come again later"),
}


def _after(failure: Failure) -> dict[str, Oddity]:
    """The connection's end after an answer that was whole, or after an error."""
    ours = failure in (Failure.STOPPED, Failure.GENERATOR)
    told = f"`{failure}` after the whole answer: the response itself never came to its end"
    done = Oddity(told) if ours else _violation(told, "front")
    return {f"{failure}_after_done": done, f"{failure}_after_error": Oddity(f"`{failure}` after an error")}


ODDITIES: Mapping[str, Oddity] = {
    **_ENDS,
    **_FRAMES,
    **_CHUNKS,
    **_NUMBERS,
    **_STALLS,
    **_AROUND,
    **{name: oddity for failure in Failure for name, oddity in _after(failure).items()},
}
UNKNOWN = Oddity("a note that this release does not know")


def split(note: str) -> tuple[str, str]:
    """A note's name and its detail, which is empty where there is none."""
    name, _, detail = note.partition(": ")
    return name.strip(), detail.strip()
