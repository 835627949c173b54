"""A plan: what a soak does, from TOML to frozen, validated values.

duration = "30m"
deck = 43
[mix]                       # iterations of each kind in one deck
structured_json = 10
[kind.long_prose]           # options of a kind; `scenario` where its name is not the kind's
prompt = "6000 tokens"
[bounds]
between_tokens = "60s"
[[threshold]]
name = "prose-rate"
that = "generation_rate{long_prose} each >= 17 tokens/s"
[short]                     # for a run that is shorter than this: its own mix, some options changed
below = "10m"
drain = "60s"
[short.mix]
structured_json = 2
[short.kind.long_prose]
prompt = "2400 tokens"
"""

import dataclasses
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from soakproof.catalog import Catalog
from soakproof.errors import UsageError
from soakproof.lines import FAULTS, file_of, told
from soakproof.plain import plain
from soakproof.scenario import Scenario
from soakproof.settings import build, read_toml, refuse_text
from soakproof.slots import LEAST_PAUSE_S
from soakproof.thresholds import parse
from soakproof.units import Bytes, Seconds
from soakproof.watch.guard.limits import Limits, Requirable, Then
from soakproof.watch.settings import INTERVAL_FLOOR_S


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """How long an exchange may take. Waiting for the first token grows with the work before it."""

    connect: Seconds = Seconds(10)
    first_token: Seconds = Seconds(120)  # with an empty prompt and a free slot
    first_token_per_1000: Seconds = Seconds(
        60
    )  # for each 1,000 prompt tokens: its own, its neighbours', queued
    between_tokens: Seconds = Seconds(60)  # a stall is longer than this
    total: Seconds = Seconds(1800)

    def first_token_bound(self, prompt_tokens: float) -> float:
        """Seconds to the first token with so many prompt tokens of all requests in flight to work off."""
        return self.first_token + self.first_token_per_1000 * prompt_tokens / 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchSettings:
    """The watch's schedule."""

    interval: Seconds = Seconds(1)
    slots_every: Seconds = Seconds(2.5)  # faster polling delays llama.cpp's own notice of a disconnect


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardSettings:
    """What ends the load before its time; the run is sealed and judged all the same. A size of 0: never."""

    kernel: bool = True  # a fatal line of the kernel's log: a reset or hung GPU, a kill for memory
    restart: bool = False  # a process of the server that was replaced by another
    available_floor: Bytes = Bytes(0)  # less of the host's memory available than this
    memory: Bytes = Bytes(0)  # the earlier name of `available_floor`; the greater of both counts
    gtt_ceiling: Bytes = Bytes(0)  # more GTT used by all AMD GPUs together
    vram_ceiling: Bytes = Bytes(0)  # more VRAM used by any one GPU
    swap_growth: Bytes = Bytes(0)  # swap in use that has grown by more since the watch began
    require: tuple[Requirable, ...] = ()  # limits without whose source the run does not begin
    then: Then = (
        "stop"  # `"unload"`: the model, through Lemonade; `"end"`: the backend's process, on this host
    )

    @property
    def is_relied_on(self) -> bool:
        """Whether the plan set a limit of its own: then no load goes on that nobody guards."""
        return self.limits != Limits(kernel=self.kernel) or self.then != "stop"

    @property
    def limits(self) -> Limits:
        """As the watch takes them."""
        return Limits(
            available_floor_bytes=max(self.available_floor, self.memory) or None,
            gtt_ceiling_bytes=self.gtt_ceiling or None,
            vram_ceiling_bytes=self.vram_ceiling or None,
            swap_growth_bytes=self.swap_growth or None,
            kernel=self.kernel,
            restart=self.restart,
            required=self.require,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """A raw threshold; ``that`` is its text, which every report shows as it was written."""

    name: str
    that: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of traffic: a scenario with its options, and its count in a deck."""

    name: str
    scenario: Scenario
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Short:
    """What a run shorter than ``below`` does instead, so that it still sees every kind."""

    below: Seconds = Seconds(0)
    drain: Seconds = Seconds(60)
    kinds: tuple[Kind, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a soak does. ``kinds`` has the mix in the plan's order."""

    name: str
    title: str
    duration: Seconds
    users: int
    think_time: Seconds  # how long a user waits between two iterations
    seed: int
    drain: Seconds  # how long a stop waits for streams in flight
    queueing: bool  # let requests queue in the server: no permits
    deck: int  # the sum of the mix, when the plan wants it checked
    kinds: tuple[Kind, ...]
    bounds: Bounds
    watch: WatchSettings
    guard: GuardSettings
    thresholds: tuple[Threshold, ...]
    short: Short
    source: str  # the TOML text, kept in run.json
    left_out: tuple[str, ...] = ()  # kinds that [short] or the user's tags left out

    def for_duration(self, seconds: float) -> "Plan":
        """The plan as a run of this length takes it: with the kinds and drain of [short] below its bound."""
        duration = Seconds(seconds)
        if seconds >= self.short.below:
            return dataclasses.replace(self, duration=duration)
        kinds, drain = self.short.kinds, self.short.drain
        return dataclasses.replace(
            self,
            duration=duration,
            kinds=kinds,
            deck=sum(k.count for k in kinds),
            drain=drain,
            left_out=self._without(kinds),
        )

    def only(self, names: Collection[str]) -> "Plan":
        """The plan with these kinds alone, and without the thresholds that are about another one."""
        kinds = tuple(kind for kind in self.kinds if kind.name in names)
        return dataclasses.replace(
            self,
            kinds=kinds,
            deck=sum(kind.count for kind in kinds),
            thresholds=tuple(t for t in self.thresholds if _is_about(t, kinds)),
            left_out=self._without(kinds),
        )

    def _without(self, kinds: Collection[Kind]) -> tuple[str, ...]:
        """What these kinds leave out, with what was left out before."""
        names = {kind.name for kind in kinds}
        return (*self.left_out, *(kind.name for kind in self.kinds if kind.name not in names))

    def kind(self, name: str) -> Kind:
        return next(k for k in self.kinds if k.name == name)


@dataclass(frozen=True, slots=True, kw_only=True)
class _ShortDocument:
    """[short]: the mix where it differs, and the options that differ."""

    below: Seconds = Seconds(0)
    drain: Seconds | None = None
    mix: dict[str, int] = field(default_factory=dict)
    kind: dict[str, dict[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Document:
    """The TOML's own form."""

    title: str = ""
    duration: Seconds = Seconds(1800)
    users: int = 4
    think_time: Seconds = Seconds(0)
    seed: int = 1
    drain: Seconds = Seconds(60)
    queueing: bool = False
    deck: int = 0
    mix: dict[str, int] = field(default_factory=dict)
    kind: dict[str, dict[str, Any]] = field(default_factory=dict)
    bounds: Bounds = field(default_factory=Bounds)
    watch: WatchSettings = field(default_factory=WatchSettings)
    guard: GuardSettings = field(default_factory=GuardSettings)
    threshold: tuple[Threshold, ...] = ()
    short: _ShortDocument = field(default_factory=_ShortDocument)


def load_plan(catalog: Catalog, name: str) -> Plan:
    """The plan of a name or a file. Raises UsageError for anything in it that is wrong."""
    path = catalog.plan(name)
    document = build(_Document, read_toml(path), path.name)
    where = path.name
    _refuse_out_of_range(document, where)
    kinds = _kinds(catalog, document.mix, document.kind, where)
    total = sum(document.mix.values())
    if document.deck and document.deck != total:
        raise UsageError(
            f"{where}: the mix adds up to {total}, and deck says {document.deck}", "make them agree"
        )
    names = [t.name for t in document.threshold]
    if len(set(names)) != len(names):
        raise UsageError(f"{where}: two thresholds have the same name", "each needs a name of its own")
    for threshold in document.threshold:
        parse(threshold, kinds, where)
    return Plan(
        name=path.stem,
        title=document.title,
        duration=document.duration,
        users=document.users,
        think_time=document.think_time,
        seed=document.seed,
        drain=document.drain,
        queueing=document.queueing,
        deck=total,
        kinds=kinds,
        bounds=document.bounds,
        watch=document.watch,
        guard=document.guard,
        thresholds=document.threshold,
        short=_short(catalog, document, where),
        source=path.read_text(encoding="utf-8"),
    )


def _is_about(threshold: Threshold, kinds: Collection[Kind]) -> bool:
    """Whether these kinds, some of the plan's, have what a threshold of the plan is about."""
    try:
        parse(threshold, kinds)
    except UsageError:
        return False
    return True


RAREST_S = 60  # between two readings of the watch
MOST_USERS = 10_000
_LONGEST = Seconds(366 * 24 * 3600)
_KIND = re.compile(r"[\w-]{1,60}")


def is_seed(number: int) -> bool:
    """Whether a number may be a plan's seed."""
    return -(2**63) <= number < 2**63


def _refuse_watch(watch: WatchSettings, where: str) -> None:
    """What would see nothing, or be in the server's way."""
    if watch.slots_every < LEAST_PAUSE_S:
        found = f"{watch.slots_every:g} s"
        raise UsageError(
            f"{where}: watch: slots_every: expected {LEAST_PAUSE_S:g} s or more, found {found}",
            "asked faster, llama.cpp does not notice clients that leave before their first token",
        )
    if watch.interval < INTERVAL_FLOOR_S:
        raise UsageError(
            f"{where}: watch: interval: expected {INTERVAL_FLOOR_S:g} s or more, found {watch.interval:g} s",
            "asked faster, the sources do not keep up, and readings that are due are missing",
        )
    for name, every in (("interval", watch.interval), ("slots_every", watch.slots_every)):
        if every > RAREST_S:
            raise UsageError(
                f"{where}: watch: {name}: expected {RAREST_S} s or less, found {every:g} s",
                "what is looked at more rarely is as good as not seen",
            )


def _refuse_out_of_range(document: _Document, where: str) -> None:
    """Numbers and texts that are well-formed and make no run."""
    if not 1 <= document.users <= MOST_USERS:
        raise UsageError(f"{where}: users: expected 1 to {MOST_USERS}, found {document.users}")
    if not is_seed(document.seed):
        raise UsageError(f"{where}: seed: expected a number of at most 64 bits, found {document.seed}")
    above_0 = {"duration": document.duration, "watch: interval": document.watch.interval}
    above_0 |= {f"bounds: {f.name}": getattr(document.bounds, f.name) for f in dataclasses.fields(Bounds)}
    above_0["watch: slots_every"] = document.watch.slots_every
    from_0 = {"drain": document.drain, "think_time": document.think_time}
    per_1000 = "bounds: first_token_per_1000"
    from_0[per_1000] = above_0.pop(per_1000)
    from_0 |= {"[short]: drain": document.short.drain} if document.short.drain is not None else {}
    for name, seconds in {**above_0, **from_0}.items():
        if seconds > _LONGEST or (not seconds and name in above_0):
            expected = f"expected {'more than 0s, and ' if name in above_0 else ''}at most 366 days"
            raise UsageError(f"{where}: {name}: {expected}, found {seconds:g} s")
    _refuse_watch(document.watch, where)
    if document.duration < 1:
        raise UsageError(f"{where}: duration: expected 1 s or more, found {document.duration:g} s")
    given = {limit.name for limit in document.guard.limits.each()}
    for name in document.guard.require:
        if name not in given:
            raise UsageError(f"{where}: guard: require: no limit of {name} is set", "set the limit as well")
    refuse_text(document.title, f"{where}: title", 200)
    for number, threshold in enumerate(document.threshold, 1):
        refuse_text(threshold.name, f"{where}: threshold {number}: name", 60, least=1)
        refuse_text(threshold.that, f"{where}: threshold {number}: that", 300, least=1)
        refuse_text(threshold.why, f"{where}: threshold {number}: why", 1000)
    for name in document.mix:
        if not _KIND.fullmatch(name):
            raise UsageError(
                f"{where}: mix: {plain(name, 80)!r} is no name of a kind",
                "it has letters, digits, _ and -; [kind.NAME] may have another scenario = ...",
            )


def _short(catalog: Catalog, document: _Document, where: str) -> Short:
    """[short] laid over the rest of the plan."""
    short, where = document.short, f"{where}: [short]"
    if not short.below:
        if short.mix or short.kind:
            raise UsageError(f"{where} lacks `below`", 'write the bound, such as below = "10m"')
        return Short()
    for name in (*short.mix, *short.kind):
        if name not in document.mix:
            raise UsageError(f"{where}: {name} is not in the mix", f"the mix has: {', '.join(document.mix)}")
    mix = {name: short.mix.get(name, 0) for name in document.mix} if short.mix else document.mix
    options = {name: document.kind.get(name, {}) | short.kind.get(name, {}) for name in document.mix}
    drain = document.drain if short.drain is None else short.drain
    return Short(below=short.below, drain=drain, kinds=_kinds(catalog, mix, options, where))


def _kinds(
    catalog: Catalog, mix: Mapping[str, int], options: Mapping[str, dict[str, Any]], where: str
) -> tuple[Kind, ...]:
    if not mix or not any(mix.values()):
        raise UsageError(
            f"{where}: the mix names no scenario", "write [mix] with at least one kind and its count"
        )
    for name in options:
        if name not in mix:
            raise UsageError(f"{where}: [kind.{name}] is not in the mix", f"the mix has: {', '.join(mix)}")
    kinds = []
    for name, count in mix.items():
        if not 0 <= count <= 10_000:
            raise UsageError(f"{where}: mix: {name}: expected 0 to 10000 iterations, found {count}")
        if count:
            kinds.append(Kind(name, make_scenario(catalog, name, options.get(name, {}), where), count))
    return tuple(kinds)


def make_scenario(
    catalog: Catalog, kind: str, options: Mapping[str, Any], where: str, key: str = ""
) -> Scenario:
    """The scenario of a kind with its options set; ``key``: where they were given, if not in [kind.NAME]."""
    rest = dict(options)
    try:
        made = catalog.scenario(str(rest.pop("scenario", kind)))
    except UsageError as error:
        raise UsageError(f"{where}: {kind}: {error.problem}", error.hint) from None
    scenario = build(made, rest, key or f"{where}: [kind.{kind}]")
    _refuse_odd(scenario, f"{where}: {made.__name__}" if key else f"{where}: [kind.{kind}]: {made.__name__}")
    return scenario


def _refuse_odd(scenario: Scenario, where: str) -> None:
    """What a scenario says of itself is read by every later part of a run."""
    checks = scenario.checks
    if not isinstance(checks, tuple) or not all(isinstance(c, str) and c.isprintable() for c in checks):
        raise UsageError(f'{where}: checks: expected a tuple of names, such as ("echo.exact",)')
    try:
        width = scenario.width
    except FAULTS as error:
        raise UsageError(f"{where}: width: {told(error, file_of(type(scenario)))}") from error
    if isinstance(width, bool) or not isinstance(width, int) or not 1 <= width <= MOST_USERS:
        raise UsageError(f"{where}: width: expected a whole number of slots from 1, found {plain(width, 40)}")
