"""What a guard holds a host to, and what one look at the host has found. Pure."""

from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass
from typing import Any, Literal

Then = Literal[
    "stop", "unload", "end"
]  # what follows a trip: the load stops, and the server may be acted upon
Requirable = Literal["available", "gtt", "vram", "swap", "kernel", "restart"]

_GIB, _MIB = 2**30, 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One look. A source fills the fields that are its own; None is what this look does not tell.

    Growth and counts are since the guard began. GTT is that of all AMD GPUs together, since all of it is the
    host's memory; VRAM is that of the GPU that uses most.
    """

    t_ns: int  # on the run clock, when the look was complete
    available_bytes: int | None = None
    gtt_used_bytes: int | None = None
    vram_used_bytes: int | None = None
    swap_growth_bytes: int | None = None
    fatal_incidents: int | None = None  # of the kernel's log
    restarts: int | None = None  # of the target's processes

    def known(self) -> dict[str, int]:
        """What it tells, by name."""
        return {name: value for name, value in asdict(self).items() if value is not None}


@dataclass(frozen=True, slots=True)
class Limit:
    """One limit. What is beyond its bound, and not what is on it, crosses it."""

    name: str  # as --require and a plan's `require` have it
    field: str  # of Measured
    bound: int
    is_floor: bool = False
    required: bool = False

    @property
    def is_size(self) -> bool:
        """Whether it is of bytes, which come nearer before they cross; incidents and restarts happen."""
        return self.field.endswith("_bytes")

    def value(self, measured: Measured) -> int | None:
        value: int | None = getattr(measured, self.field)
        return value

    def headroom(self, measured: Measured) -> int | None:
        """What is left before it is crossed, in its own unit; negative beyond it."""
        value = self.value(measured)
        if value is None:
            return None
        return value - self.bound if self.is_floor else self.bound - value

    def is_crossed(self, measured: Measured) -> bool:
        headroom = self.headroom(measured)
        return headroom is not None and headroom < 0

    @property
    def in_words(self) -> str:
        return _SET[self.name].format(bound=in_words(self.bound))

    def told(self, measured: Measured) -> str:
        """How it was crossed, in words."""
        value = self.value(measured)
        assert value is not None
        sizes = in_words(value), in_words(self.bound)
        if sizes[0] == sizes[1]:  # too near for a rounded size to tell them apart
            sizes = f"{value:,} bytes", f"{self.bound:,} bytes"
        return _CROSSED[self.name].format(value=sizes[0], bound=sizes[1])


_SET = {
    "available": "at least {bound} of memory available",
    "gtt": "at most {bound} of GTT",
    "vram": "at most {bound} of VRAM",
    "swap": "at most {bound} of growth in swap",
    "kernel": "no fatal fault in the kernel's log",
    "restart": "no restart",
}
_CROSSED = {
    "available": "{value} of memory are available, less than {bound}",
    "gtt": "{value} of GTT are used, more than {bound}",
    "vram": "{value} of VRAM are used, more than {bound}",
    "swap": "swap has grown by {value}, more than {bound}",
    "kernel": "the kernel logged a fault that nothing can be trusted after",
    "restart": "a process of the server was restarted",
}
NAMES = tuple(_CROSSED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """All limits of one guard; None and False are limits that are not set."""

    available_floor_bytes: int | None = None
    gtt_ceiling_bytes: int | None = None
    vram_ceiling_bytes: int | None = None
    swap_growth_bytes: int | None = None
    kernel: bool = False
    restart: bool = False
    required: tuple[str, ...] = ()  # names of limits whose source must be known

    def each(self) -> Iterator[Limit]:
        """Those that are set."""
        sizes = (
            ("available", "available_bytes", self.available_floor_bytes),
            ("gtt", "gtt_used_bytes", self.gtt_ceiling_bytes),
            ("vram", "vram_used_bytes", self.vram_ceiling_bytes),
            ("swap", "swap_growth_bytes", self.swap_growth_bytes),
        )
        for name, field, bound in sizes:
            if bound is not None:
                yield Limit(name, field, bound, is_floor=name == "available", required=name in self.required)
        if self.kernel:
            yield Limit("kernel", "fatal_incidents", 0, required="kernel" in self.required)
        if self.restart:
            yield Limit("restart", "restarts", 0, required="restart" in self.required)

    def in_words(self, unknown: Collection[str] = ()) -> str:
        """What is guarded, in a line, without those limits that cannot be measured; that memory is not, where
        no limit of it is left.
        """
        kept = [limit for limit in self.each() if limit.name not in unknown]
        told = [limit.in_words for limit in kept]
        if not any(limit.bound for limit in kept):
            told.append(
                "no limit of memory is set"
                if len(kept) == len(list(self.each()))
                else "and no limit of memory can be measured"
            )
        return ", ".join(told)

    def described(self) -> dict[str, Any]:
        """As a record has them: those that are set."""
        return {name: value for name, value in asdict(self).items() if value not in (None, False, ())}


def in_words(size: int) -> str:
    """A size in bytes, in GiB from one on, else in MiB."""
    return f"{size / _GIB:.4g} GiB" if size >= _GIB else f"{size / _MIB:.0f} MiB"
