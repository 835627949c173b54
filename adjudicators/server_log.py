"""The server's own log: devices lost, memory that ran out, assertions that failed, by the server's own words.

A GPU that was lost, or memory that was refused, is written there even where the kernel's log says nothing or
may not be read. A log that was not named, or that could not be read, tells nothing good.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from soakproof.judge import (
    NS,
    Adjudicator,
    Evidence,
    Figure,
    Finding,
    Outcome,
    Readings,
    counted,
    finding,
    number,
    plain,
)
from soakproof.judge.series import silence
from soakproof.records import Event

SOURCE = "server_log"
ADVICE: Mapping[str, str] = {
    "device_lost": "the GPU or its driver failed, so look into the kernel's log at that time",
    "device_error": "the GPU's runtime failed, so look into the kernel's log at that time",
    "out_of_memory": "memory ran out, so less context, fewer slots or a smaller prompt cache helps",
    "crash": "the server failed by itself, which is to be reported with these lines",
    "backend_lost": "the front's backend ended or hung, so look at the lines before it",
}


@dataclass(frozen=True)
class ServerLog(Adjudicator):
    """Did the server's own log tell of a lost device, of memory that ran out, or of a crash?

    ``required``: without the log, from start to end, there is no PASS. Of a log that was named, a part that
    was not read always counts: what it held is not known.
    """

    required: bool = False

    def judge(self, evidence: Evidence, baseline: Evidence | None) -> Iterable[Finding]:
        lines = [e for e in evidence.events if e.what == SOURCE]
        faults = [e for e in lines if e.details.get("severity") == "fail"]
        for fault_class in dict.fromkeys(_class(e) for e in faults):
            yield self._fault(fault_class, [e for e in faults if _class(e) == fault_class])
        logs = _logs(evidence)
        blind = _blind(logs)
        if blind:
            yield self._unseen(blind, self.required or _is_unread(logs))
        elif not faults:
            yield self._quiet(logs)
        warned = [e for e in lines if e not in faults]
        if warned:
            yield self._warned(warned)

    def _fault(self, fault_class: str, lines: Sequence[Event]) -> Finding:
        advice = ADVICE.get(fault_class)
        return finding(
            self,
            fault_class,
            Outcome.FAIL,
            f"{counted(len(lines), 'line')}, {_told(lines)}.{f' In short: {advice}.' if advice else ''}",
            figures=(Figure(name="lines", value=len(lines), note="a lower bound: not every line is kept"),),
            limit="no such line",
            limit_source="policy",
            span=(lines[0].t_ns / NS, lines[-1].t_ns / NS),
            fault="backend",
        )

    def _unseen(self, why: str, decides: bool) -> Finding:
        return finding(
            self,
            "log",
            Outcome.INCONCLUSIVE,
            f"The server's own log was not seen all the time ({why}).",
            limit="the log is read from start to end",
            limit_source="policy" if self.required else "",
            critical=decides,
        )

    def _quiet(self, logs: Mapping[str, Readings]) -> Finding:
        lines = sum(int(_last(samples, "lines")) for samples in logs.values())
        return finding(
            self,
            "log",
            Outcome.PASS,
            f"No fault in {counted(lines, 'line')} that {', '.join(map(_name, logs))} gained.",
            figures=(Figure(name="lines", value=lines),),
            limit="no fault",
            limit_source="policy",
            strength="a server that is killed, or that hangs, writes nothing",
        )

    def _warned(self, lines: Sequence[Event]) -> Finding:
        return finding(
            self,
            "warnings",
            Outcome.PASS,
            f"{counted(len(lines), 'line')} that tell of no failure by themselves, {_told(lines)}.",
            figures=(Figure(name="lines", value=len(lines)),),
            span=(lines[0].t_ns / NS, lines[-1].t_ns / NS),
            critical=False,
        )


def _class(event: Event) -> str:
    return plain(event.details.get("fault_class") or "unnamed", 40)


def _told(lines: Sequence[Event]) -> str:
    first = lines[0]
    where = plain(first.details.get("source") or SOURCE, 80).removeprefix(f"{SOURCE}:")
    return f"the first at {first.t_ns / NS:.1f} s in {where}: {plain(first.details.get('message'), 200)}"


def _logs(evidence: Evidence) -> dict[str, Readings]:
    """The readings of each log that was named."""
    return {
        source: told
        for source, told in sorted(evidence.samples.items())
        if source.startswith(SOURCE) and set(told.states()) != {"unsupported"}
    }


def _name(source: str) -> str:
    return plain(source, 80).removeprefix(f"{SOURCE}:")


def _is_unread(logs: Mapping[str, Readings]) -> bool:
    """Whether some of a log that was named is known to have gone unread."""
    return any(_last(told, "skipped_bytes") or told.states()["denied"] for told in logs.values())


def _blind(logs: Mapping[str, Readings]) -> str:
    """Why a log was not seen, or not all of it; empty when it was."""
    if not logs:
        return "none was named: --server-log FILE"
    for source, told in logs.items():
        for lost in (told.in_state("denied"), told[-1:]):
            if why := silence(lost):  # a reading that failed and was followed by another has lost nothing
                return f"{_name(source)}: {why}"
        skipped = _last(told, "skipped_bytes")
        if skipped:
            return f"{_name(source)}: it grew so fast that {skipped / 2**20:.1f} MiB were not read"
    return ""


def _last(told: Readings, name: str) -> float:
    return number(told[-1].values.get(name)) or 0.0
