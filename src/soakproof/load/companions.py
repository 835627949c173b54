"""The processes of ours beside the load: one that ends or falls silent is told at once and at the end."""

from collections.abc import Callable, Mapping
from typing import Any

from soakproof.load.progress import say
from soakproof.testbed.launch import Testbed
from soakproof.watch.launch import Watch

_LONG = 15  # seconds without a word of the watch, beyond a few of its own ticks


class Companions:
    """Looked at once a second. ``note`` writes an event of the run; ``tick_s`` is the watch's interval.

    Silence is counted in looks: while this process itself stands still nobody is silent.
    """

    def __init__(
        self,
        processes: Mapping[str, Watch | Testbed],
        tick_s: float,
        note: Callable[..., None],
        *,
        is_guarded: bool = False,
    ) -> None:
        """``is_guarded``: whether the run ends with the watch, whose guard its plan asks for."""
        self._processes = processes
        self._long = _LONG + 3 * tick_s
        self._note = note
        self._is_guarded = is_guarded
        self._told: list[str] = []  # what happened to them
        self.ended: set[str] = set()  # by themselves
        self._heard: Mapping[str, Any] = {}
        self._quiet = 0  # looks since the watch said something new

    @property
    def watch_is_lost(self) -> str:
        """In what way nobody watches any more, in words; empty while somebody does."""
        if "watch" in self.ended:
            return "the watch has ended"
        return "the watch is silent" if self._quiet >= self._long else ""

    def look(self, elapsed_s: float) -> None:
        """``elapsed_s`` is how long the load has lasted."""
        for name, process in self._processes.items():
            if name in self.ended:
                continue
            if not process.alive:
                self.ended.add(name)
                self._tell(name, f"the {name} has ended by itself, {elapsed_s:.0f} s into the load")
                self._note("child_ended", name=name)
            elif isinstance(process, Watch):
                self._listen(process, elapsed_s)

    def _listen(self, watch: Watch, elapsed_s: float) -> None:
        was_silent = self._quiet >= self._long
        latest = watch.latest()
        self._quiet = 0 if latest != self._heard else self._quiet + 1
        self._heard = latest
        if not was_silent and self._quiet >= self._long:
            self._tell(
                "watch", f"the watch has said nothing for {self._quiet} s, {elapsed_s:.0f} s into the load"
            )
            self._note("watch_silent", looks=self._quiet)
        elif was_silent and not self._quiet:
            self._tell("watch", f"the watch is heard again, {elapsed_s:.0f} s into the load")
            self._note("watch_heard_again")

    def _tell(self, name: str, what: str) -> None:
        self._told.append(what)
        say(what if self._is_guarded and name == "watch" else f"{what}; the run goes on")

    def at_the_end(self) -> list[str]:
        """What became of them, in lines, once all have ended; none where all was well."""
        told = list(self._told)
        watch = self._processes.get("watch")
        if not told and isinstance(watch, Watch) and watch.status:
            told.append(f"the watch did not end in order (status {watch.status})")
        return [*told, "a verdict will say what is missing for that"] if told else []
