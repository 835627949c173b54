"""The files of this host that a server was started with: model, draft, projector. Paths only; no I/O."""

from collections.abc import Mapping
from typing import Any

from soakproof.launchoptions import options
from soakproof.target.identity import Target

_LONGEST = 4096  # characters of a path
_OPTIONS = {"model_file": "--model", "draft_file": "--model-draft", "projector_file": "--mmproj"}


def files_of(target: Target) -> dict[str, str]:
    """Paths by the names that run.json has for the files; none of a server on another host."""
    return _named(target.identity) if target.local else {}


def _named(identity: Mapping[str, Any]) -> dict[str, str]:
    command = identity.get("launch_command")
    given = options(command[1:]) if isinstance(command, list) else {}
    found = {name: given[option] for name, option in _OPTIONS.items() if option in given}
    path = identity.get("model_path")
    if isinstance(path, str) and path:
        found["model_file"] = path
    return {name: path for name, path in found.items() if len(path) <= _LONGEST}
