"""An arm out of the evidence of its runs. No I/O."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime

from soakproof.clock import NS
from soakproof.judge.claims import timing
from soakproof.judge.comparing.arms import LEAST, MOST, Arm, Measurement, Period
from soakproof.judge.contention import pressure
from soakproof.judge.evidence import Evidence
from soakproof.plain import plain
from soakproof.records import Exchange


def arm_of_runs(name: str, runs: Iterable[Evidence], metrics: Iterable[str]) -> Arm:
    """The arm of one or more runs, each looked at once; answers that came to their own end are measured."""
    wanted = tuple(metrics)
    measurements: list[Measurement] = []
    ids, documents, periods, pressures, doubts = [], [], [], [], []
    asked = failed = unknown = 0
    for place, run in enumerate(runs):
        answers = run.exchange_table.where(run.exchange_table.whole)
        found = {name: answers.metric(name).tolist() for name in wanted}
        measurements += (
            _measured(answer, place, {name: of[n] for name, of in found.items()})
            for n, answer in enumerate(answers.records)
        )
        ids.append(run.id)
        documents.append(run.run)
        periods.append(_period(run))
        pressures += [found for found in (pressure(run),) if found is not None]
        doubts += [f"{run.id} {told}" for told in _doubts(run)]
        asked += len(run.exchanges) + len(run.unclosed)
        failed += sum(e.outcome == "fail" for e in run.exchanges)
        unknown += sum(e.outcome == "unknown" for e in run.exchanges) + len(run.unclosed)
    return Arm(
        name=name,
        measurements=tuple(measurements),
        runs=tuple(ids),
        documents=tuple(documents),
        periods=tuple(periods),
        asked=asked,
        failed=failed,
        unknown=unknown,
        pressures=tuple(pressures),
        doubts=tuple(doubts),
    )


def _doubts(run: Evidence) -> Iterator[str]:
    """As of a baseline: what lacks a part may lack the slow one."""
    if broken := [*run.seal_problems, *run.problems]:
        yield f"is not what was sealed: {plain(broken[0], 120)}"
    outcome = (run.raw or {}).get("outcome")
    if outcome not in ("clean", "failed"):
        yield f"is no finished run: its raw outcome is {plain(outcome or 'missing', 20)}"
    if run.recovered:
        yield "was sealed after a crash"


def _measured(exchange: Exchange, run: int, values: Mapping[str, float]) -> Measurement:
    return Measurement(
        name=exchange.id,
        workload=exchange.scenario,
        role=exchange.role,
        values={name: value for name, value in values.items() if LEAST <= value <= MOST},
        prompt_tokens=exchange.prompt_tokens,
        completion_tokens=exchange.completion_tokens,
        cached_tokens=exchange.cached_tokens,
        max_tokens=exchange.max_tokens,
        temperature=exchange.temperature,
        prompt=exchange.prompt_digest,
        output=exchange.text_digest,
        text=exchange.text,
        drafted=_count(exchange, "draft_n"),
        accepted=_count(exchange, "draft_n_accepted"),
        has_timings=timing(exchange, "predicted_n") is not None,
        run=run,
    )


def _count(exchange: Exchange, name: str) -> int | None:
    told = timing(exchange, name)
    return None if told is None else int(told)


def _period(run: Evidence) -> Period | None:
    """When the load was; None where the run does not tell."""
    try:
        zero = datetime.fromisoformat(str(run.run.get("started_at"))).timestamp()
    except (ValueError, OverflowError, OSError):
        return None
    start, end = run.run.get("load_started_ns"), run.run.get("load_ended_ns")
    if not isinstance(start, int):
        return Period(start=zero, end=None)
    return Period(start=zero + start / NS, end=zero + end / NS if isinstance(end, int) else None)
