"""Records without what a model wrote or was asked. No I/O.

Each text that may stay is named here; that of a field which this program does not know is taken out.
"""

from collections.abc import Mapping
from typing import Any

from soakproof.run.textless.values import Rule, is_key, rules, text

_ASKED = "record id node scenario role model_asked prompt_digest cancel_planned"
RECORDS: Mapping[str, Mapping[str, Rule]] = {  # by the record's kind
    "opened": rules(named=_ASKED, text="secrets"),
    "closed": rules(
        named=f"{_ASKED} outcome failure text_digest",
        words="finish_reason model_answered answer_id other_ids fingerprint route",
        notes="notes",
        text="reason secrets text reasoning tool_calls stray_secrets text_after_done error_body "
        "usage timings",  # whose numbers stay
    ),
    "check": rules(named="record node scenario name outcome exchanges", words="grade", text="reason"),
    "iteration": rules(named="record node scenario end", words="counts", text="reason"),
    "sample": rules(named="record node source state", words="values", text="reason"),
    "kernel": rules(named="record node message signature fault_class severity process"),
    "event": rules(named="record node what", words="details"),
}
_LOCAL = frozenset(  # sources that ask no server: their reasons are the system's words and ours
    {
        *("amdgpu", "cgroup", "cpu", "gpu_memory", "kernel_log", "memory", "nvidia", "process", "psi"),
        *("server_log", "tester", "thermal"),
    }
)


def bare_record(record: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a record that may be kept; of an unknown kind none that is a text."""
    kind = record.get("record")
    known = RECORDS.get(kind, {}) if isinstance(kind, str) else {}
    bare = {key: known.get(key, text)(value) for key, value in record.items() if is_key(key)}
    reason = record.get("reason")
    if kind == "sample" and isinstance(reason, str) and _is_local(record.get("source")):
        bare["reason"] = reason
    return bare


def _is_local(source: Any) -> bool:
    return isinstance(source, str) and source.partition(":")[0] in _LOCAL
