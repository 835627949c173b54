"""How long each request of a run may have kept its server at work, its client's leaving included. No I/O."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from soakproof.clock import NS
from soakproof.columns import Array, Table
from soakproof.judge.evidence import Evidence
from soakproof.judge.slotwork import phases_at_end
from soakproof.judge.statistics import Floats
from soakproof.records import Exchange, Opened

Ints = NDArray[np.int64]
NOTICE_S = 2.0  # in which a server notices that its client left
_LONGEST_S = 1e9  # longer than any run: what is longer, or not known, bounds nothing
_FARTHEST_NS = 2.0**62  # a time further away is that: no array of whole numbers holds it


@dataclass(frozen=True, eq=False)
class Spans:
    """A run's requests in order of sending, each from its sending to the last moment at which the server may
    have worked for it; of what never ended, as far as anything was recorded. Times in nanoseconds.
    """

    id: Array
    row: Ints  # in the table of exchanges; -1 of what never ended
    seed: Ints
    node: Array
    model_asked: Array
    start_ns: Ints
    first_ns: Ints  # the first token; the end where there was none
    end_ns: Ints
    done_ns: Ints  # of what never ended, the same as end_ns
    prompt_ms: Floats  # that the server says its prompt took; NaN where it does not
    predicted_ms: Floats  # and its answer

    def __len__(self) -> int:
        return len(self.row)

    @cached_property
    def model(self) -> Ints:
        """A number for each model that was asked for."""
        numbers: dict[str, int] = {}
        models = [numbers.setdefault(model, len(numbers)) for model in self.model_asked.tolist()]
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
    table, unclosed = evidence.exchange_table, Table(Opened, evidence.unclosed)
    ended = table["done_ns"] + _outlives_ns(table)
    never = np.maximum(unclosed["sent_ns"], ended.max() if len(ended) else 0)
    first, untold = table["first_token_ns"], np.full(len(never), np.nan)
    told = np.clip(np.nan_to_num(first), -_FARTHEST_NS, _FARTHEST_NS).astype(np.int64)
    start = np.concatenate([table["sent_ns"], unclosed["sent_ns"]])
    order = np.argsort(start, kind="stable")

    def of_both(closed: Array, others: Array) -> Array:
        return np.asarray(np.concatenate([closed, others])[order])

    return Spans(
        row=np.where(order < len(table), order, -1),
        start_ns=start[order],
        first_ns=of_both(np.where(np.isnan(first), ended, told), never),
        end_ns=of_both(ended, never),
        done_ns=of_both(table["done_ns"], never),
        prompt_ms=of_both(table.timing("prompt_ms"), untold),
        predicted_ms=of_both(table.timing("predicted_ms"), untold),
        **{name: of_both(table[name], unclosed[name]) for name in ("id", "seed", "node", "model_asked")},
    )


def _outlives_ns(table: Table[Exchange]) -> Ints:
    """For how long a server may work on after its client left: at most a batch, or an unseen answer."""
    found = np.zeros(len(table), np.int64)
    prompt = np.nanmax(np.append(table.timing("prompt_ms"), 0)) / 1000
    answer = max(0, int((table["done_ns"] - table["sent_ns"]).max(initial=0))) / NS
    more = {"decode": 0.0, "unstreamed": answer}
    left = (table["outcome"] != "ok") | ~np.isnan(table["cancelled_ns"])
    longest = [min(more.get(phase, 2 * prompt), _LONGEST_S) for phase in phases_at_end(table.where(left))]
    found[left] = [round((NOTICE_S + seconds) * NS) for seconds in longest]
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
