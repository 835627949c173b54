"""The kernel lines of a case, by every way that they reach the watch, and varied in what a host chooses."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass

from caseinputs import INPUTS
from hypothesis import strategies as st

from soakproof.records import KernelEvent
from soakproof.watch.catalogue import load_catalogue
from soakproof.watch.incidents import Incidents
from soakproof.watch.kernel_log import KmsgStream, Line, parse_journal

CATALOGUE = load_catalogue()
_DMESG = re.compile(r"\[[^\]]*\] ?(.*)")
_AMDGPU = re.compile(r"^amdgpu \S+: (?:amdgpu: )?")


def kmsg(name: str) -> list[Line]:
    """The lines of a file in the form of /dev/kmsg."""
    return [line for line, _ in KmsgStream().feed((INPUTS / name).read_bytes() + b"\n")]


def dmesg(name: str) -> list[Line]:
    """The lines of a file as `dmesg -T` prints them."""
    return [Line(m[1]) for text in (INPUTS / name).read_text().split("\n") if (m := _DMESG.fullmatch(text))]


def journalled(lines: Iterable[Line], facility: int = 0) -> list[Line]:
    """The same lines as the journal gives them."""
    records = [
        {
            "MESSAGE": k.message,
            "SYSLOG_FACILITY": str(facility),
            "__MONOTONIC_TIMESTAMP": str(k.monotonic_us or 0),
        }
        for k in lines
    ]
    return [line for record in records if (line := parse_journal(json.dumps(record).encode()))]


def recorded(lines: Iterable[Line], at: float = 10.0, apart: float = 0.01) -> list[KernelEvent]:
    """What the watch records of these lines; the first at ``at`` seconds of the run."""
    incidents = Incidents(CATALOGUE, "watch")
    return [incidents.event(line, round((at + n * apart) * 1e9)) for n, line in enumerate(lines)]


@dataclass(frozen=True)
class Host:
    """What differs from one host to the next."""

    address: str
    inner: bool  # whether the driver writes its name twice
    pid: int
    by_journal: bool

    def of(self, lines: Iterable[Line], pid: int) -> list[Line]:
        """The lines as this host writes them; ``pid`` is the one to be replaced."""
        prefix = f"amdgpu {self.address}: {'amdgpu: ' if self.inner else ''}"
        written = [
            Line(re.sub(rf"\b{pid}\b", str(self.pid), _AMDGPU.sub(prefix, k.message)), k.sequence, 0, k.level)
            for k in lines
        ]
        return journalled(written) if self.by_journal else written


HOSTS = st.builds(
    Host,
    address=st.from_regex(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[01][0-9a-f]\.[0-7]", fullmatch=True),
    inner=st.booleans(),
    pid=st.integers(300, 4_194_304),
    by_journal=st.booleans(),
)
