"""Grades that checks give: the class of a check's result, beside pass, fail and unknown. No I/O.

A grade that begins with ``known:`` is a known limit of a front or a server, and no failure.
"""

from collections.abc import Mapping

GRADES: Mapping[str, str] = {
    # of JSON
    "strict": "JSON and nothing else",
    "fenced": "JSON inside a Markdown fence",
    "leading": "text before the JSON",
    "trailing": "text after the JSON",
    "truncated": "JSON that breaks off",
    "truncated_stop": "JSON that breaks off, although the server says that it came to its end",
    "whitespace": "white space without end",
    "duplicate_key": "JSON that names a key twice",
    "nan": "NaN or Infinity, which JSON does not have",
    "invalid": "no JSON",
    "unenforced": "JSON that does not keep to the schema that was sent",
    "as_float": "right, with whole numbers written as 7.0, which a grammar for integers does not make",
    # of answers
    "wrong": "not the right answer, and nobody else's either",
    "wrong_of_system": "wrong, where the system prompt has the answer",
    "slip": "nearly right, and the same again when it was computed anew: the model's own",
    "respaced": "the right words, and other white space between them",
    "foreign": "it holds a secret of another request",
    "other_record": "a right answer to another question about the same text",
    "swapped": "exactly the answer of a request that ran at the same time",
    "mixed": "pieces of the answers of several requests",
    "within_ubatch": "wrong, of a prompt that fits into one computed batch",
    "beyond_ubatch": "wrong, of a prompt that is longer than one computed batch",
    "beyond_batch": "wrong, of a prompt that is longer than one batch",
    "unknown_length": "wrong, of a prompt whose length the server does not tell",
    # of prose
    "blank": "all its tokens were counted, and next to no text came of them",
    "loop": "it says the same again and again",
    "few_words": "it has hardly any different words",
    "slowed": "the tokens came far more slowly than they were made",
    "ended": "the stall ended the exchange",
    # of the cache
    "missed": "nothing was restored from the cache",
    "partial": "less was restored from the cache than it holds",
    "stored": "the answer of an earlier request once more: it says nothing of the model's own cache",
    "evicted": "so much went by in between that the cache may have let go",
    # of refusals
    "answered": "answered where it must be refused",
    "own_fault": "refused as if it were the server's own fault",
    "other_reason": "refused for another reason than the one that is due",
    "other_status": "refused with another status than the one that is due",
    # of slots
    "held": "a slot still worked for a client that had left",
    # of any check
    "unreached": "the iteration ended before this check",
    "known:unstreamed_never_cancelled": "this front never cancels what does not stream",
    "known:unnoticed_while_others_emit": "llama.cpp looks for clients that left only while no other task has "
    "a result",
    "known:any_model_answered": "a bare llama.cpp server has one model, and answers by it whatever is asked",
    "known:wrong_type_ignored": "the server takes a field of a wrong type for one that is missing",
}
