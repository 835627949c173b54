"""What a crash left: told, and sealed as recovered."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from soakproof.errors import UsageError
from soakproof.host import boot_id, machine_digest
from soakproof.run.files import write_atomic
from soakproof.run.holding import holder, let_go
from soakproof.run.loading import damage, read_run
from soakproof.run.seal import HOST_LOST, RAW, RECOVERED, SEAL, TORN, is_own, nodes, seal_folder, seal_run


def being_written(run: Path) -> bool:
    """Whether a process that writes this run, or a node of it, is still there."""
    return any(holder(folder) for folder in (run, *nodes(run)))


def sealing(run: Path) -> Literal["sealed", "recovered", "being written", "unsealed", "damaged"]:
    """How the run stands, by a look at its seal; `verify` proves it."""
    if is_own(run / SEAL):
        with (run / SEAL).open("rb") as seal:
            return "recovered" if b"recovered" in seal.readline(100) else "sealed"
    if os.path.lexists(run / SEAL):
        return "damaged"
    return "being written" if being_written(run) else "unsealed"


def recover(run: Path) -> list[str]:
    """Seal what a crash left: torn tails go to ``<file>.torn``, missing seals are written, marked as
    recovered. Returns what was done, in words. A sealed run is left as it is.

    Raises UsageError while a process that writes it, or a node of it, is there: a stopped one, too, which
    would go on writing when it is woken.
    """
    if os.path.lexists(run / SEAL):
        return []
    document = read_run(run)
    _refuse_held(run)
    done = [*_set_aside_damaged_raw(run), *seal_abandoned(run)]
    lost = _host_was_restarted(document)
    seal_run(run, note=HOST_LOST if lost else RECOVERED)
    let_go(run)
    if lost:
        done.append(f"{run.name}: the host was restarted before the run had ended")
    done.append(f"{run.name}: sealed as recovered")
    return done


def _refuse_held(run: Path) -> None:
    if owner := holder(run):
        raise UsageError(
            f"{run.name} is still being written by process {owner}",
            "wait for it to end, or stop it with Ctrl-C",
        )
    for node in nodes(run):
        if left := holder(node):
            raise UsageError(
                f"{run.name} is still being written: its own process is gone, and process {left}, which that "
                f"left behind, holds {node.relative_to(run)}",
                f"look at it, end it, and recover the run then: kill -9 {left}",
            )


def _set_aside_damaged_raw(run: Path) -> list[str]:
    """A raw.json that cannot be read is no raw result, and is kept beside the run's own documents."""
    if not os.path.lexists(run / RAW) or not damage(run, RAW):
        return []
    (run / RAW).rename(run / f"{RAW}.damaged")
    return [f"{RAW}: cannot be read, and is kept as {RAW}.damaged"]


def _host_was_restarted(document: Mapping[str, Any]) -> bool:
    """Whether this is the machine that the run was made on, and it was started again since."""
    host = document.get("host")
    machine = host.get("machine") if isinstance(host, dict) else None
    boots = document.get("boot_id"), boot_id()
    return machine is not None and machine == machine_digest() and None not in boots and len({*boots}) == 2


def seal_abandoned(run: Path) -> list[str]:
    """Seal the nodes whose writer left without sealing them, as recovered; what was done, in words."""
    done: list[str] = []
    for node in nodes(run):
        if (node / SEAL).is_file():
            continue
        for path in sorted(p for p in node.glob("*.jsonl") if is_own(p)):
            cut = _cut_torn_tail(path)
            if cut:
                done.append(f"{path.relative_to(run)}: {cut} torn bytes moved to {path.name}{TORN}")
        seal_folder(node, note=RECOVERED)
        let_go(node)
        done.append(f"{node.relative_to(run)}: sealed")
    return done


def _cut_torn_tail(path: Path) -> int:
    """Move what follows the last newline into a file of its own; how many bytes that were."""
    data = path.read_bytes()
    whole = data.rfind(b"\n") + 1
    if whole == len(data):
        return 0
    write_atomic(path.with_name(path.name + TORN), data[whole:])
    os.truncate(path, whole)
    return len(data) - whole
