"""What a finish reason means, in the words of the many servers that have their own. No I/O."""

import re
from typing import Literal

Meaning = Literal["whole", "none", "gave_up", "unknown"]

# The model, a limit or a filter ended the answer: all of it was sent.
_WHOLE = {
    # OpenAI, llama.cpp, vLLM, SGLang, TGI
    *("stop", "length", "tool_calls", "content_filter", "function_call"),
    *("eos", "eos_token", "stop_sequence", "limit", "repetition"),
    # Anthropic, Bedrock, Mistral, Cohere, watsonx, Gemini, Zhipu
    *("end_turn", "max_tokens", "tool_use", "tool_call", "refusal", "model_context_window_exceeded"),
    *("guardrail_intervened", "content_filtered", "model_length", "complete", "error_toxic", "token_limit"),
    *("safety", "recitation", "blocklist", "prohibited_content", "spii", "language", "sensitive"),
    # Transformers, MLX, TensorRT-LLM and others
    *("end", "end_id", "endoftext", "end_of_text", "stop_words", "stop_word", "stop_string"),
    *("max_length", "max_new_tokens", "context_length", "completed", "finished", "done"),
    # LM Studio's own
    *("eosfound", "stopstringfound", "toolcalls", "maxpredictedtokensreached", "contextlengthreached"),
}
# A server that fills the field before it has anything to say: KoboldCpp, ai00, watsonx, OpenVINO.
_NONE = {
    *("null", "none", "nil", "undefined", "finish_reason_unspecified"),
    *("not_finished", "unfinished", "running", "in_progress"),
}
_OF_CALLS = {"tool_calls", "function_call", "tool_use", "tool_call", "toolcalls"}
_GAVE_UP = re.compile(
    r"error|abort|cancel|fail|time_?d?_?out|time_limit|deadline|crash|resource|out_of_memory|\boom\b"
    r"|interrupt|disconnect|preempt|overload|unavailable|unload|terminat|killed|exception|user_?stopped"
)


def meaning(reason: str) -> Meaning:
    """``whole``: the answer ended; ``none``: it goes on; ``gave_up``: the server ended it for its own sake.

    ``unknown`` is none of the words that servers are known to use.
    """
    word = _word(reason)
    if not word or word in _NONE:
        return "none"
    word = word.removeprefix("finish_reason_")
    if word in _WHOLE:
        return "whole"
    return "gave_up" if _GAVE_UP.search(word) else "unknown"


def is_of_calls(reason: str) -> bool:
    """Whether it says that the answer ends with a call of a tool."""
    return _word(reason).removeprefix("finish_reason_") in _OF_CALLS


def _word(reason: str) -> str:
    return reason.strip().lower().partition(":")[0].replace("-", "_").replace(" ", "_")
