"""`soakproof watch`: what the sources of the watch say of a machine, and a recording of one to send.

Loads trio and httpx: it looks through the watch's own sources.
"""

import json
import os
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import click

from soakproof.cli.options import FilledPath, server_pid_option
from soakproof.cli.output import complain, say, table
from soakproof.cli.readings import in_words
from soakproof.errors import EXIT_OK, UsageError
from soakproof.named import refuse_missing_processes
from soakproof.plain import plain

if TYPE_CHECKING:
    from soakproof.watch.source import Reading

_SECONDS_LIMIT = 600


@click.group(short_help="What the watch's sources say of a machine, and a recording of it.")
def watch() -> None:
    """Look at a machine through the sources of the watch, or record what they read of it.

    \b
    Examples:
      soakproof watch sources
      soakproof watch record strix-halo --server-pid PID
      soakproof watch sources --root strix-halo
    """


@watch.command(short_help="Copy what the sources read of this machine into a folder.")
@click.argument("folder", type=FilledPath(path_type=Path, file_okay=False))
@click.option(
    "--seconds",
    type=click.IntRange(0, _SECONDS_LIMIT),
    default=0,
    show_default=True,
    metavar="NUMBER",
    help=f"Look again each second for so long, at most {_SECONDS_LIMIT}.",
)
@server_pid_option
def record(folder: Path, seconds: int, server_pid: tuple[int, ...]) -> int:
    """Copy the files of /proc and /sys that the sources read into FOLDER, with a manifest that says of what
    and when: to be sent, and read elsewhere by `soakproof watch sources --root FOLDER`. There is nothing in
    it of command lines, environments, addresses or names of files. Run it as the server's own user or as
    root, or its GPU memory is not in it.

    \b
    Examples:
      soakproof watch record strix-halo --server-pid PID
      soakproof watch record strix-halo --seconds 60 --server-pid PID --server-pid PID
    """
    from soakproof.watch.recording import Recording

    refuse_missing_processes(server_pid)
    recording = Recording(folder, Path("/proc"), Path("/sys"), server_pid)
    recording.run(seconds)
    say(f"{folder}: {recording.size / 1024:,.0f} KiB; what could not be read is named in its manifest.json")
    if not server_pid:
        say("no process of a server is in it: name each by --server-pid PID")
    return EXIT_OK


@watch.command(short_help="What each source says of this machine, or of a recorded one.")
@click.option(
    "--root",
    type=FilledPath(path_type=Path),
    metavar="FOLDER",
    help="A recorded machine: a folder with proc and sys in it.  [default: this machine]",
)
@server_pid_option
@click.option("--json", "as_json", is_flag=True, help="Print the readings as JSON, one a line.")
def sources(root: Path | None, server_pid: tuple[int, ...], as_json: bool) -> int:
    """Read every source of the watch once, of this machine or of a recorded one, and show its state and all
    its values. Of a recorded one the server's processes are those that its manifest names. The kernel log,
    NVML and servers' addresses are no part of a recording.

    \b
    Examples:
      soakproof watch sources
      soakproof watch sources --root strix-halo
    """
    if root is not None and not (root / "proc").is_dir() and not (root / "sys").is_dir():
        raise UsageError(f"{root} is no recorded machine", "it has neither proc nor sys in it")
    if root is not None:
        _refuse_links_out(root)
    readings = _read(root, server_pid)
    if as_json:
        for reading in readings:
            told = {"source": reading.source, "state": reading.state, "reason": reading.reason}
            say(json.dumps({**told, "values": reading.values}, ensure_ascii=True))
        return EXIT_OK
    rows = [(reading.source, reading.state, _told(reading)) for reading in readings]
    say(table(("source", "state", "what it says"), rows, whole=("source", "state")))
    return EXIT_OK


def _refuse_links_out(root: Path) -> None:
    """A recording comes from elsewhere, and what is shown of it is sent on: no file of this machine's may be
    in that. Where the real /proc or /sys is mounted there, it is this machine's own. Raises UsageError.
    """
    there = root.resolve()
    for part in (root / "proc", root / "sys"):
        for path in () if os.path.ismount(part) else chain([part], part.rglob("*")):
            if path.is_symlink() and not _resolved(path).is_relative_to(there):
                raise UsageError(
                    f"{plain(path)} is a link that leads out of {plain(root)}",
                    "a recording has no such links",
                )


def _resolved(path: Path) -> Path:
    """Where a link leads to; of one that leads to itself, its own place."""
    try:
        return path.resolve()
    except (OSError, RuntimeError):
        return path.parent.resolve()


def _read(root: Path | None, pids: tuple[int, ...]) -> "list[Reading]":
    from soakproof.gates.looking import look_at_host
    from soakproof.watch.recording import MANIFEST, recorded_pids
    from soakproof.watch.settings import WatchConfig

    if root is None:
        refuse_missing_processes(pids)
        return list(look_at_host(WatchConfig(server_pids=pids)))
    if not pids and not (root / MANIFEST).exists():
        complain(
            f"{root / MANIFEST} is not there: name the server's processes, or none is shown: --server-pid PID"
        )
    for pid in pids:
        if not (root / "proc" / str(pid)).is_dir():
            raise UsageError(f"--server-pid: the process {pid} is not recorded in {root}")
    config = WatchConfig(
        server_pids=pids or recorded_pids(root), proc_root=str(root / "proc"), sys_root=str(root / "sys")
    )
    return list(look_at_host(config))


def _told(reading: "Reading") -> str:
    """All values that are no lists, and then why others are missing."""
    shown = {k: v for k, v in reading.values.items() if v is not None and not isinstance(v, (list, dict))}
    words = ", ".join(in_words(name, value) for name, value in shown.items())
    return plain("; ".join(part for part in (words, reading.reason) if part), 1000)
