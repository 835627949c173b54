"""raw.json against the evidence that it was made from, and against run.json. No I/O.

By the same version of the program the thresholds are judged again and must come out the same. Of another
version, whose rules may differ, only what no rule decides is compared: how many of each there were.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from soakproof.columns import LINE, R, Table
from soakproof.errors import SoakproofError
from soakproof.judge.books.disagreement import Disagreement
from soakproof.judge.books.spans import crashed, is_load, of_this_program, of_this_version
from soakproof.judge.rawfindings import thresholds
from soakproof.plain import plain
from soakproof.plan import Threshold
from soakproof.raw import EXIT, Seen, raw_result_of

if TYPE_CHECKING:
    from soakproof.judge.evidence import Evidence

_JUDGED = ("outcome", "observed", "unit", "n", "failed")


def raw_result_told(evidence: "Evidence") -> Iterator[Disagreement]:
    """Everything in which raw.json is not what this evidence comes to."""
    raw = evidence.raw
    if raw is None:
        return
    ended = evidence.run.get("ended") or {}
    made, unreadable = _made(evidence, ended)
    problems = [*_counts(raw, evidence, made), *_outcome(raw)]
    if not evidence.recovered:  # run.json may be of the time before raw.json
        problems += _ended(raw.get("ended") or ({} if of_this_program(evidence) else None), ended)
    if evidence.plan or not crashed(evidence):  # a run that was never prepared has no plan
        problems += _thresholds(raw, evidence.plan.get("thresholds") or ())
        if of_this_version(evidence) and not problems:
            problems += [unreadable] if unreadable else _judged(raw, made)
    yield from (Disagreement("raw result", problem) for problem in problems)


def _seen(evidence: "Evidence") -> Seen:
    """What the run judged itself by: of ``load``, else of all that stand for it."""
    nodes = {"load"} if "load" in evidence.nodes else {n for n in evidence.nodes if is_load(n)}
    exchanges, opened = _of(evidence.exchange_table, nodes), _of(evidence.opened_table, nodes)
    closed = set(exchanges["id"].tolist())
    last = {id: place for place, id in enumerate(opened["id"].tolist()) if id not in closed}
    return Seen(
        exchanges,
        opened.take(np.array(list(last.values()), np.int64)),
        _of(evidence.check_table, nodes),
        _of(evidence.iteration_table, nodes),
    )


def _of(table: Table[R], nodes: Collection[str]) -> Table[R]:
    """Those of some nodes, in the order in which they were written."""
    return table.of([node in nodes for node in table["node"].tolist()]).in_order(LINE)


def _made(evidence: "Evidence", ended: Mapping[str, Any]) -> tuple[Mapping[str, Any], str]:
    """raw.json as this evidence makes it, by the rules that are in force here; and why its thresholds could
    not be judged, where that is so.
    """
    planned = [
        Threshold(name=str(t.get("name")), that=str(t.get("that")), why="")
        for t in evidence.plan.get("thresholds") or ()
    ]
    seen = _seen(evidence)
    try:
        return raw_result_of(planned if of_this_version(evidence) else (), seen, ended=ended), ""
    except SoakproofError as error:
        told = f"the plan has a threshold that cannot be read: {plain(error, 200)}"
        return raw_result_of((), seen, ended=ended), told


def _counts(raw: Mapping[str, Any], evidence: "Evidence", made: Mapping[str, Any]) -> Iterator[str]:
    """Numbers that no rule of judging decides."""
    for name in ("exchanges", "iterations", "checks"):
        said, there = raw.get(name), made[name]
        if name == "checks" and said is not None and not of_this_version(evidence):
            said, there = _totals(said), _totals(there)
        if said != there and (said is not None or of_this_program(evidence)):
            yield f"raw.json says {name} {_shown(said, there)}"


def _judged(raw: Mapping[str, Any], made: Mapping[str, Any]) -> Iterator[str]:
    """The thresholds and the outcome, judged again by the rules that the run was judged by."""
    for said, there in zip(thresholds(raw), made["thresholds"], strict=True):
        other = next((n for n in _JUDGED if said.get(n) != there[n]), None)
        if other:
            shown = _shown(said.get(other), there[other])
            yield f"raw.json says of {plain(there['name'], 60)} {other} {shown}"
    if (raw.get("outcome") == "clean") != (made["outcome"] == "clean"):
        yield f"raw.json says outcome {_shown(raw.get('outcome'), made['outcome'])}"


def _totals(checks: Any) -> Any:
    """How often each check was told, whatever came of it; what has another shape stays as it is."""
    try:
        return {name: sum(counts.values()) for name, counts in checks.items()}
    except (AttributeError, TypeError):
        return checks


def _shown(said: Any, is_there: Any, levels: int = 2) -> str:
    """The first part in which two documents differ: ``exchanges.opened 9999, the evidence has 51``."""
    if levels and isinstance(said, Mapping) and isinstance(is_there, Mapping):
        key = next((k for k in sorted({*said, *is_there}) if said.get(k) != is_there.get(k)), None)
        if key is not None:
            return f"of {plain(key, 60)} {_shown(said.get(key), is_there.get(key), levels - 1)}"
    return f"{plain(said, 60)}, the evidence has {plain(is_there, 60)}"


def _outcome(raw: Mapping[str, Any]) -> Iterator[str]:
    outcome, code = raw.get("outcome"), raw.get("exit_code")
    if isinstance(outcome, str) and outcome in EXIT and code is not None and code != EXIT[outcome]:
        yield f"raw.json says {outcome} and exit code {plain(code, 20)}"


def _ended(said: Any, ended: Mapping[str, Any]) -> Iterator[str]:
    if isinstance(said, Mapping) and said.get("why") != ended.get("why"):
        yield f"raw.json says that it was ended by {_cause(said)}, run.json by {_cause(ended)}"


def _cause(ended: Mapping[str, Any]) -> str:
    return plain(ended.get("why") or "nothing", 40)


def _thresholds(raw: Mapping[str, Any], planned: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The thresholds that were judged are those of the plan."""
    said = [(t.get("name"), t.get("that")) for t in thresholds(raw)]
    wanted = [(t.get("name"), t.get("that")) for t in planned]
    if said != wanted:
        other = next((str(w[0]) for w in wanted if w not in said), None) or next(
            (str(s[0]) for s in said if s not in wanted), "their order"
        )
        yield f"raw.json has {len(said)} thresholds and the plan {len(wanted)}: {plain(other, 80)} differs"
