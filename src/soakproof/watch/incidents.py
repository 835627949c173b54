"""From lines of the kernel log to events: signature, incident, guilty process. Pure: times are handed in.

One fault of a GPU is many lines, and repeats every few seconds: lines with less than `QUIET_S` between them
are one incident. The line that names the process follows the fault: its name is kept for the rest of the
incident. Whose process it is, and so who is to blame, is not judged here.
"""

from soakproof.clock import NS
from soakproof.records import KernelEvent
from soakproof.watch.catalogue import Catalogue, Match, Process
from soakproof.watch.kernel_log import Line

QUIET_S = 10


class Incidents:
    """Turns each line, in order, into its record."""

    def __init__(self, catalogue: Catalogue, node: str) -> None:
        self.count = 0
        self.fatal = 0  # of them with a line after which nothing can be trusted
        self._catalogue = catalogue
        self._node = node
        self._process: Process | None = None  # of the incident that is open
        self._until_ns = -1
        self._latest_fatal: int | None = None

    def event(self, line: Line, t_ns: int, lost: int = 0) -> KernelEvent:
        """The record of a line that was read at ``t_ns``, with ``lost`` records missing before it."""
        match = self._catalogue.match(line.message)
        incident = self._incident(line, match, t_ns)
        if match and match.severity == "fatal" and self._latest_fatal != incident:
            self._latest_fatal = incident
            self.fatal += 1
        return KernelEvent(
            node=self._node,
            t_ns=t_ns,
            sequence=line.sequence,
            facility=line.facility,
            message=line.message,
            signature=match.signature.id if match else None,
            fault_class=match.signature.fault_class if match else None,
            severity=match.severity if match else None,
            incident=incident,
            process=self._process.name if incident and self._process else None,
            pid=self._process.pid if incident and self._process else None,
            gap=lost,
        )

    def _incident(self, line: Line, match: Match | None, t_ns: int) -> int | None:
        """The incident that a line belongs to: a fault's own lines, and the lines that name a process."""
        is_open = t_ns <= self._until_ns
        process = match.process if match else self._catalogue.process(line.message) if is_open else None
        opens = match is not None and match.opens_incident
        if not (opens or (is_open and (match or process))):
            return None
        if not is_open:
            self.count += 1
            self._process = None
        self._process = process or self._process
        self._until_ns = t_ns + QUIET_S * NS
        return self.count
