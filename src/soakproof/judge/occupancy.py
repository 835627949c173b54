"""How long each request of a run may have kept its server at work, its client's leaving included. No I/O."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from soakproof.clock import NS
from soakproof.judge.evidence import Evidence
from soakproof.judge.slotwork import phase_at_end
from soakproof.judge.statistics import Floats
from soakproof.judge.table import Array
from soakproof.records import Exchange, Opened

Ints = NDArray[np.int64]
NOTICE_S = 2.0  # in which a server notices that its client left
_LONGEST_S = 1e9  # longer than any run: what is longer, or not known, bounds nothing


@dataclass(frozen=True, eq=False)
class Spans:
    """A run's requests in order of sending, each from its sending to the last moment at which the server may
    have worked for it; of what never ended, as far as anything was recorded. Times in nanoseconds.
    """

    requests: tuple[Exchange | Opened, ...]
    start_ns: Ints
    end_ns: Ints
    done_ns: Ints  # of what never ended, the same as end_ns
    prompt_ms: Floats  # that the server says its prompt took; NaN where it does not
    predicted_ms: Floats  # and its answer
    node: Array

    def __len__(self) -> int:
        return len(self.requests)

    @cached_property
    def first_ns(self) -> Ints:
        """The first token; the end where there was none."""
        firsts = (getattr(request, "first_token_ns", None) for request in self.requests)
        return np.array([e if f is None else f for f, e in zip(firsts, self.end_ns, strict=True)], np.int64)

    @cached_property
    def model(self) -> Ints:
        """A number for each model that was asked for."""
        numbers: dict[str, int] = {}
        models = [numbers.setdefault(request.model_asked, len(numbers)) for request in self.requests]
        return np.array(models, np.int64)

    def blocks_ns(self, those: Ints, from_ns: Ints | int, until_ns: Ints | int) -> Ints:
        """How long the prompt work of ``those`` (places) can have kept another one from beginning, within a
        time of its own each: as long as they had no token, and no longer than the server says it took.
        """
        shared = np.minimum(until_ns, self.first_ns[those]) - np.maximum(from_ns, self.start_ns[those])
        return np.asarray(np.clip(np.minimum(shared, self._prompt_ns[those]), 0, None), np.int64)

    @cached_property
    def _prompt_ns(self) -> Ints:
        told = np.where(np.isnan(self.prompt_ms), np.inf, np.rint(self.prompt_ms * (NS / 1000)))
        return np.minimum(told, _LONGEST_S * NS).astype(np.int64)


def spans(evidence: Evidence) -> Spans:
    """Of every request of a run."""
    table, unclosed = evidence.exchange_table, evidence.unclosed
    ended = table["done_ns"] + _outlives_ns(evidence)
    last = int(ended.max()) if len(ended) else 0
    opened = np.array([o.sent_ns for o in unclosed], np.int64)
    start = np.concatenate([table["sent_ns"], opened])
    end = np.concatenate([ended, np.maximum(opened, last)])
    untold = np.full(len(unclosed), np.nan)
    order = np.argsort(start, kind="stable")
    requests: tuple[Exchange | Opened, ...] = (*evidence.exchanges, *unclosed)
    return Spans(
        tuple(requests[n] for n in order),
        start[order],
        end[order],
        np.concatenate([table["done_ns"], end[len(table) :]])[order],
        np.concatenate([table.timing("prompt_ms"), untold])[order],
        np.concatenate([table.timing("predicted_ms"), untold])[order],
        np.concatenate([table["node"], np.array([o.node for o in unclosed], object)])[order],
    )


def _outlives_ns(evidence: Evidence) -> Ints:
    """For how long a server may work on after its client left: at most a batch, or an unseen answer."""
    table = evidence.exchange_table
    found = np.zeros(len(table), np.int64)
    prompt = np.nanmax(np.append(table.timing("prompt_ms"), 0)) / 1000
    answer = max(0, int((table["done_ns"] - table["sent_ns"]).max(initial=0))) / NS
    more = {"decode": 0.0, "unstreamed": answer}
    for n, exchange in enumerate(evidence.exchanges):
        if exchange.outcome != "ok" or exchange.cancelled_ns is not None:
            longest = min(more.get(phase_at_end(exchange), 2 * prompt), _LONGEST_S)
            found[n] = round((NOTICE_S + longest) * NS)
    return found


def longest_free_ns(beside: Iterable[tuple[int, int]], slots: int, from_ns: int, until_ns: int) -> int:
    """The longest stretch of a time throughout which fewer of these (start, end) than there are slots were at
    work.
    """
    changes = sorted(change for start, end in beside for change in ((start, 1), (end, -1)))
    at_work, since, longest = 0, from_ns, 0
    for at, change in changes:
        if at_work < slots:
            longest = max(longest, min(at, until_ns) - since)
        at_work += change
        if at_work < slots <= at_work - change:
            since = max(at, from_ns)
    return max(longest, until_ns - since) if at_work < slots else longest
