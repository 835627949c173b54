"""The kernel's log as a guard hears it: how many fatal incidents, and whether it is heard at all."""

import trio

from soakproof.watch.guard.record import Record
from soakproof.watch.kernel_source import KernelLog, open_kernel_log
from soakproof.watch.source import Reading, refusal

_PAUSE_S = 1.0  # after a read that failed


class KernelWatch:
    """Lines count from the opening on."""

    def __init__(self, log: KernelLog | None, state: Reading) -> None:
        self.state = state
        self._log = log
        self._record: Record | None = None

    @classmethod
    async def open(cls, path: str) -> "KernelWatch":
        """On the best log that there is."""
        return cls(*await open_kernel_log(path))

    def fatal(self) -> int | None:
        """Fatal incidents so far; None while the log cannot be read."""
        if self.state.state != "value":
            return None
        return self._record.incidents.fatal if self._record else 0

    def why_unknown(self) -> str:
        return f"{self.state.source} {self.state.state}: {self.state.reason}"

    async def follow(self, record: Record) -> None:
        """Hand each line to the record, until there will be no more."""
        self._record, well = record, self.state
        while self._log:
            try:
                record.kernel(await self._log.next())
                self.state = well
            except EOFError as error:
                self.state = Reading(well.source, "error", reason=str(error))
                record.kernel_state(self.state)
                return
            except OSError as error:
                self.state = Reading(well.source, "error", reason=refusal(error)[1])
                record.kernel_state(self.state)
                await trio.sleep(_PAUSE_S)

    def close(self) -> None:
        if self._log:
            self._log.close()
