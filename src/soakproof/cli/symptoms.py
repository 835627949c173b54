"""What `soakproof doctor` finds: one symptom a subject, with what to do about it."""

import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import psutil

from soakproof.cli.readings import in_words
from soakproof.errors import UsageError, words
from soakproof.host import describe_versions
from soakproof.inventory.digests import AT_ONCE
from soakproof.inventory.shards import shards
from soakproof.named import refuse_missing_logs, refuse_missing_processes
from soakproof.plain import listed, model_name, plain
from soakproof.run import check_room

if TYPE_CHECKING:
    from soakproof.inventory.asking import Inventory
    from soakproof.target import Target
    from soakproof.watch.source import Reading

_GIB = 2**30
_LITTLE_DISK = 2 * _GIB
_LITTLE_MEMORY = 2 * _GIB  # left for all else once the prompt cache is full


@dataclass(frozen=True, slots=True)
class Symptom:
    """``limited``: a run can be made and something stays unseen; ``missing``: it cannot be made."""

    state: Literal["ok", "limited", "missing"]
    subject: str
    told: str
    advice: str = ""


def of_host() -> Iterator[Symptom]:
    versions = ", ".join(f"{name} {version}" for name, version in describe_versions().items())
    yield Symptom("ok", "versions", versions)
    yield _busy()
    yield from _memory_limit()


def _busy() -> Symptom:
    cores = psutil.cpu_count() or 1
    load = psutil.getloadavg()[0]
    told = f"load {load:.1f} on {cores} cores"
    if load <= cores:
        return Symptom("ok", "processor", told)
    advice = "other work slows the server and the tester: end it before a run whose rates shall be compared"
    return Symptom("limited", "processor", told, advice)


def _memory_limit() -> Iterator[Symptom]:
    """A control group's limit on this process, where there is one below the host's memory."""
    total = psutil.virtual_memory().total
    for path in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            limit = int(Path(path).read_text())
        except (OSError, ValueError):
            continue
        if limit < total:
            yield Symptom(
                "limited",
                "cgroup",
                f"limited to {limit / _GIB:.1f} of {total / _GIB:.1f} GiB",
                "available memory is the whole host's, and so are floors: a kill at this limit comes without "
                "their warning",
            )


def of_named(server_logs: Iterable[str], server_pids: Iterable[int]) -> Iterator[Symptom]:
    """What was named and is not there: a run would refuse it."""
    for refuse in (partial(refuse_missing_logs, server_logs), partial(refuse_missing_processes, server_pids)):
        try:
            refuse()
        except UsageError as error:
            yield Symptom("missing", "named", error.problem, error.hint)


def of_runs(runs: Path) -> Symptom:
    """Whether a run can be written, and how much."""
    try:
        check_room(runs)
    except UsageError as error:
        return Symptom("missing", "runs", error.problem, error.hint)
    if runs.exists() and not runs.is_dir():
        return Symptom("missing", "runs", f"{runs} is no folder", "choose another: --runs DIR")
    there = next(folder for folder in (runs, *runs.resolve().parents) if folder.is_dir())
    try:
        with tempfile.TemporaryFile(dir=there):
            free = shutil.disk_usage(there).free
    except OSError as error:
        return Symptom(
            "missing", "runs", f"{runs} cannot be written: {words(error)}", "choose another: --runs DIR"
        )
    told = f"{runs}: {free / _GIB:.1f} GiB free"
    if free < _LITTLE_DISK:
        return Symptom("limited", "runs", told, "a long run with whole texts kept may need 1 GiB: make room")
    return Symptom("ok", "runs", told)


def of_testbed() -> Symptom:
    from soakproof.testbed.launch import check_packages

    try:
        check_packages()
    except UsageError as error:
        return Symptom("limited", "testbed", error.problem, error.hint)
    return Symptom("ok", "testbed", "installed")


def of_target(target: "Target") -> Iterator[Symptom]:
    """What a run would know of its target."""
    version = target.version
    yield Symptom(
        "ok" if version else "limited",
        "server",
        f"{target.kind} {plain(version or 'of unknown version', 80)} at {target.base_url}",
        "" if version else "two runs can be compared, and not said to be of the same build",
    )
    yield Symptom("ok", "model", f"{plain(model_name(target.served_model), 80)}, {target.room}")
    yield from (Symptom("limited", "target", plain(remark, 300)) for remark in target.remarks)
    yield _model_file(target)


def of_cache(target: "Target", readings: "Iterable[Reading]") -> Iterator[Symptom]:
    """Memory that the server's prompt cache may still take, beside what the host has left."""
    from soakproof.target.hostcache import cache_bytes

    may_take = cache_bytes(target.identity) if target.local else None
    memory = next((r for r in readings if r.source == "memory" and r.state == "value"), None)
    available = memory.values.get("available_bytes") if memory else None
    if may_take and available is not None:
        told = f"may take up to {may_take / _GIB:.2f} GiB; {available / _GIB:.2f} GiB of memory are available"
        tight = available - may_take < _LITTLE_MEMORY
        advice = (
            "it fills in the first minutes, which is no leak: start the server with a smaller --cache-ram"
        )
        yield Symptom("limited" if tight else "ok", "prompt cache", told, advice if tight else "")


def _model_file(target: "Target") -> Symptom:
    from soakproof.target import files_of

    path = files_of(target).get("model_file")
    size = _bytes(shards(path)) if path else None
    if path and size is not None:
        told = f"{plain(path, 120)} ({size / _GIB:.2f} GiB): its digest will be in run.json"
        ends = size > AT_ONCE
        advice = "of a file as large only the ends are read before a run: --digests reads all of it once"
        return Symptom("ok", "model file", told, advice if ends else "")
    why = "cannot be read from here" if path else "the server does not say where it is"
    advice = "the model's identity rests on its name: run on the server's host, as a user who may read it"
    return Symptom("limited", "model file", why, advice)


def _bytes(paths: Iterable[str]) -> int | None:
    """Of these files together; None where one is no plain file or cannot be read."""
    size = 0
    for path in paths:
        try:
            if not os.path.isfile(path):
                return None
            with open(path, "rb") as file:
                size += os.fstat(file.fileno()).st_size
        except (OSError, ValueError):
            return None
    return size


def of_digests(inventory: "Inventory") -> Iterator[Symptom]:
    """Digests of the server's files, read whole and kept for the runs to come."""
    for name, told in inventory.under("target").items():
        if isinstance(told, dict) and "sha256" in told:
            of_all = told["shards"].get("sha256_of_shards") if "shards" in told else told["sha256"]
            digest = of_all or "unknown: a part of it cannot be read"
            yield Symptom("ok", "digest", f"{name.replace('_', ' ')}: {digest}")


_ADVICE = {
    "memory": "without it no verdict can be given on memory",
    "psi": "needs Linux with PSI (boot parameter psi=1): waiting for memory is not seen without it",
    "cpu": "how busy the host was, and its clocks, are not seen",
    "thermal": "nothing to do in a virtual machine; in a container, /sys must be the host's",
    "gpu": "memory of this GPU is not watched; nothing to do where the model does not run on it",
    "cgroup": "a limit on memory or processor below the host's own is not seen",
    "gpu_memory": "nothing to do where the model runs on no GPU; else watch as the server's user or as root",
    "amdgpu": "nothing to do where the model runs on no AMD GPU; in a container, /sys must be the host's",
    "nvidia": "nothing to do where the model runs on no NVIDIA GPU",
    "slots": "whether a slot is freed after a cancel stays unknown: start llama-server with --slots, "
    "and run on its host",
    "metrics": "the server's own counters are not kept; a bare llama-server tells them with --metrics",
    "process": "restarts, and growth of the server's memory, stay unseen",
    "health": "a backend that died, or another address of it, is not seen",
    "server_log": "what the server itself says of a lost device or of memory stays unseen: name its log with "
    "--server-log FILE (the page on Lemonade says where it is)",
    "live": "whether the front still answers is not seen",
}


def now(reading: "Reading") -> str:
    """What a source says now, in words; for one without a value, why."""
    if reading.state != "value":
        return plain(reading.reason, 300)
    shown = {k: v for k, v in reading.values.items() if v is not None and not isinstance(v, (list, dict))}
    return listed([in_words(name, value) for name, value in shown.items()], 4, limit=60)


def advice(reading: "Reading") -> str:
    """What to do about a source without a value; empty where it has one, or its own words say it."""
    return "" if reading.state == "value" else _ADVICE.get(reading.source.partition(":")[0], "")
