"""What may help when a trial did not pass: by failure class, and from what was seen. Pure; no I/O."""

from collections import Counter
from collections.abc import Iterator, Mapping

from soakproof.gates.failing import told_failures
from soakproof.gates.trial import Book, Trial
from soakproof.plain import listed
from soakproof.quantities import KNOWN, check_outcome
from soakproof.records import Failure

_BY_FAILURE: Mapping[Failure, str] = {
    Failure.CONFIGURATION: "the server refused what was asked, in its own words above: is the model's name "
    "right, is a key needed, does it know every field of the request?",
    Failure.CONTEXT: "the prompt does not fit a slot's context of {context:,} tokens: ask for less with "
    "--set (`soakproof plans --options` lists the options), or give the server a larger context",
    Failure.BUDGET: "the model spent all its tokens on reasoning and had none left for the answer: turn its "
    "thinking off in the server's profile, or soak a profile that does not think",
    Failure.CONNECT: "nobody accepted the connection: the server went away during the trial",
    Failure.RESET: "the connection broke in mid-answer: look into the server's log at that time",
    Failure.HTTP_STATUS: "the server failed by itself: look into its log at that time",
    Failure.ERROR_EVENT: "the backend failed in mid-stream: look into its log at that time",
    Failure.BACKEND_LOST: "the front lost its backend: a crash, an out-of-memory kill, or its watchdog",
    Failure.CUT: "the stream ended in good order and without a finish reason: a cut answer that looks whole",
    Failure.PROTOCOL: "that is no chat API: is the address that of the server itself, and not of a web page "
    "or a proxy before it?",
    Failure.FIRST_TOKEN_TIMEOUT: "no token within {first_token:g} s and {per_1000:g} s for each 1,000 prompt "
    "tokens: where the server is that slow, a plan's [bounds] can allow more (--plan takes them)",
    Failure.HEADERS_TIMEOUT: "no answer at all within the bound: is the server busy with other work?",
    Failure.STALL: "tokens stopped for {between:g} s: where pauses are normal, a plan's [bounds] can allow "
    "more (--plan takes them)",
    Failure.TOTAL_TIMEOUT: "the answer took longer than {total:g} s in all",
    Failure.EMPTY: "the model ended its answer at once: is its chat template right?",
}


def advice(trial: Trial, book: Book) -> Iterator[str]:
    """Sentences, the most telling first; none when all passed."""
    failures = Counter(e.failure for e in book.exchanges if e.outcome == "fail" and e.failure)
    bounds = trial.bounds
    for failure, n in failures.most_common():
        if failure in _BY_FAILURE:
            told = _BY_FAILURE[failure].format(
                context=trial.around.slot_context,
                first_token=bounds.first_token,
                per_1000=bounds.first_token_per_1000,
                between=bounds.between_tokens,
                total=bounds.total,
            )
            yield f"{failure} ({n}): {told}"
    yield from _about_checks(trial, book)
    if any(result.end == "broken" for result in book.results):
        yield "a scenario that broke is a fault of its file, not of the server: its line is named above"
    width, slots = trial.kind.scenario.width, trial.around.slots
    if width > slots:
        yield (
            f"this scenario keeps {width} requests going and the target has {slots} slot: they queue, so "
            "nothing that needs them at the same time is shown"
        )


_PROBE = (
    "the testbed's own model is very small: it knows the phrasings and words of the bundled scenarios and "
    "nothing else (the page on scenarios lists them), so a scenario that is right may fail on it: try it on "
    "your own server, with --host"
)


def _about_checks(trial: Trial, book: Book) -> Iterator[str]:
    outcomes = {check_outcome(check) for check in book.checks}
    if "fail" in outcomes:
        cut = [e.max_tokens for e in book.exchanges if e.finish_reason == "length"]
        if cut:
            limits = listed(sorted(set(map(str, cut))), 3)
            yield (
                f"{len(cut)} of {len(book.exchanges)} answers ended at max_tokens ({limits}): where a check "
                "needs a whole answer, ask with more"
            )
        if trial.on_probe:
            yield _PROBE
        yield "each failed check stands below the answer that it looked at (--full shows answers whole)"
        yield from told_failures(book.checks)
    if KNOWN in outcomes:
        yield "a known limit of this front is told as that, and counts as no failure"
    if "unknown" in outcomes and "fail" not in outcomes and all(e.outcome != "fail" for e in book.exchanges):
        reasons = Counter(check.reason for check in book.checks if check_outcome(check) == "unknown")
        told = [reason for reason, _ in reasons.most_common()]
        yield f"unknown is not passed: {listed(told, 2, '; ', limit=300)}"
