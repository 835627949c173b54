"""run.json: what was run, on what, with which files; so that a run can be understood years later."""

import dataclasses
import hashlib
import inspect
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from soakproof.catalog import Catalog, digests
from soakproof.context import Surroundings
from soakproof.host import PROVENANCE, boot_id, describe_host, describe_versions
from soakproof.inventory.asking import Inventory
from soakproof.plan import Plan
from soakproof.target import Target


def describe_run(
    *,
    id: str,
    zero_ns: int,
    started_at: float,
    plan: Plan,
    catalog: Catalog,
    arguments: Mapping[str, Any],
    target: Target,
    around: Surroundings,
    embedded: bool,
    inventory: Inventory,
) -> dict[str, Any]:
    """The document as it stands when everything is prepared. ``started_at`` is the wall time of the zero."""
    host = {**describe_host(), **inventory.under("host")}
    return {
        "format": 1,
        "id": id,
        "program": describe_versions()["soakproof"],
        "state": "preparing",
        "started_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(started_at)),
        "zero_ns": zero_ns,
        "boot_id": boot_id(),
        "plan": describe_plan(plan),
        "arguments": arguments,
        "target": describe_target(target, inventory, embedded=embedded),
        "around": {
            "slots": around.slots,
            "slot_context": around.slot_context,
            "chars_per_token": around.chars_per_token,
            "cache_tokens": around.cache_tokens,
            "front": around.front,
            "batch": around.batch,
            "ubatch": around.ubatch,
        },
        "host": host,
        "versions": describe_versions(),
        "digests": describe_files(catalog, plan),
        "provenance": provenance(target, host, inventory, embedded=embedded),
    }


def describe_plan(plan: Plan) -> dict[str, Any]:
    """The plan as it is run, with what the options changed; durations in seconds."""
    return {
        "name": plan.name,
        "title": plan.title,
        "duration_s": float(plan.duration),
        "users": plan.users,
        "think_time_s": float(plan.think_time),
        "seed": plan.seed,
        "deck": plan.deck,
        "drain_s": float(plan.drain),
        "queueing": plan.queueing,
        "left_out": list(plan.left_out),
        "kinds": [
            {
                "name": kind.name,
                "scenario": type(kind.scenario).__name__,
                "count": kind.count,
                "options": _plain(
                    {f.name: getattr(kind.scenario, f.name) for f in dataclasses.fields(kind.scenario)}
                ),
                "checks": list(kind.scenario.checks),
                "width": kind.scenario.width,
                "registers": kind.scenario.registers,
            }
            for kind in plan.kinds
        ],
        "bounds": _plain(dataclasses.asdict(plan.bounds), unit="_s"),
        "watch": _plain(dataclasses.asdict(plan.watch), unit="_s"),
        "guard": {**plan.guard.limits.described(), "then": plan.guard.then},
        "thresholds": [dataclasses.asdict(t) for t in plan.thresholds],
        "source": plan.source,
    }


def describe_target(target: Target, inventory: Inventory, *, embedded: bool) -> dict[str, Any]:
    """The target's identity, with what its host's files say of its program and model.

    ``embedded``: it is the run's own testbed, and ends with it.
    """
    found = {"testbed": False} | target.describe() | {"embedded": embedded}
    if found["testbed"]:  # the library in it tells no build of its own
        found["build"] = f"xllamacpp {describe_versions().get('xllamacpp', 'unknown')}"
    return found | inventory.under("target")


def provenance(
    target: Target, host: Mapping[str, Any], inventory: Inventory, *, embedded: bool
) -> dict[str, str]:
    """Where each field of target and host was read, and the plan; by dotted names of run.json."""
    own = dict.fromkeys(("target.base_url", "target.model"), "the run's own testbed") if embedded else {}
    return {
        **{f"target.{name}": source for name, source in target.provenance.items()},
        **{f"host.{name}": source for name, source in PROVENANCE.items() if host.get(name) is not None},
        **inventory.provenance,
        **own,
        **({"target.build": "the installed package"} if target.identity.get("testbed") else {}),
        "plan": "the plan's file and the options",
        "digests": "files of the plan, its scenarios and prompts",
        "versions.soakproof": "this program",
    }


def describe_files(catalog: Catalog, plan: Plan) -> dict[str, Any]:
    """Digests of everything that decides what is asked."""
    scenarios = {Path(inspect.getfile(type(kind.scenario))) for kind in plan.kinds}
    return {
        "plan": hashlib.sha256(plan.source.encode()).hexdigest(),
        "scenarios": digests(scenarios),
        "prompts": digests(catalog.files("scenarios", ".txt", "prompts").values()),
    }


def _plain(values: Mapping[str, Any], unit: str = "") -> dict[str, Any]:
    """Numbers with units as plain numbers, so that JSON and its readers need no classes of ours."""

    def plain(value: Any) -> Any:
        if isinstance(value, bool):
            return value
        if isinstance(value, (int, float)):
            return float(value) if isinstance(value, float) else int(value)
        return str(value) if isinstance(value, Path) else value

    return {f"{name}{unit}": plain(value) for name, value in values.items()}
