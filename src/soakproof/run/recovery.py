"""What a crash left: told, and sealed as recovered."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import orjson

from soakproof.children import is_alive
from soakproof.errors import UsageError
from soakproof.host import boot_id, machine_digest
from soakproof.run.files import write_atomic
from soakproof.run.loading import read_run
from soakproof.run.seal import HOST_LOST, RECOVERED, SEAL, is_own, nodes, seal_folder, seal_run

TORN = ".torn"


def being_written(run: Path) -> bool:
    """Whether the process that writes this run is still there, told by pid and start time."""
    try:
        owner = orjson.loads((run / ".writer").read_bytes()) if is_own(run / ".writer") else {}
        return is_alive(owner["pid"], owner["created"])
    except (OSError, ValueError, KeyError, TypeError):
        return False


def sealing(run: Path) -> Literal["sealed", "recovered", "being written", "unsealed"]:
    """How the run stands, by a look at its seal; `verify` proves it."""
    if is_own(run / SEAL):
        with (run / SEAL).open("rb") as seal:
            return "recovered" if b"recovered" in seal.readline(100) else "sealed"
    return "being written" if being_written(run) else "unsealed"


def recover(run: Path) -> list[str]:
    """Seal what a crash left: torn tails go to ``<file>.torn``, missing seals are written, marked as
    recovered. Returns what was done, in words. A sealed run is left as it is.
    """
    document = read_run(run)
    if (run / SEAL).is_file():
        return []
    if being_written(run):
        raise UsageError(f"{run.name} is still being written", "wait for it to end, or stop it with Ctrl-C")
    done = seal_abandoned(run)
    lost = _host_was_restarted(document)
    seal_run(run, note=HOST_LOST if lost else RECOVERED)
    if lost:
        done.append(f"{run.name}: the host was restarted before the run had ended")
    done.append(f"{run.name}: sealed as recovered")
    return done


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
