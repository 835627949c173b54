"""A reader who does what the pages say, in a folder of their own, on the session's testbed.

A soak lasts a few seconds instead of what the page says. A soak that an earlier page has told already is not
run again; the second one on the same page is.
"""

import io
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from pages import ROOT, Block

from soakproof.cli import main

SOAK = "2s"
UNMEASURED = {1}  # a soak that is cut so short may leave one of its thresholds without a measurement
LOG = "said.log"
ASKING = (["soakproof", "try"], ["soakproof", "doctor"], ["locust"])  # commands that take a target
BARE = "http://localhost:8001"  # what the pages call a llama.cpp server without a front


@dataclass
class Reader:
    """``url`` is that of the testbed, which stands for the one that a command would start or names; ``bare``
    is its engine's, which stands for a llama.cpp server alone.
    """

    folder: Path
    url: str
    bare: str
    done: dict[tuple[str, int], int] = field(default_factory=dict)  # (soak, which of its page): exit code
    followed: dict[Path, int] = field(default_factory=dict)  # page: blocks that were commands to run

    def __post_init__(self) -> None:
        shutil.copytree(ROOT / "locustfiles", self.folder / "locustfiles")

    def write(self, block: Block) -> None:
        assert block.file is not None
        path = self.folder / block.file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text, encoding="utf-8")

    def follow(self, block: Block, told: "Counter[str]") -> None:
        """Run the block's commands; ``told`` counts the soaks of its page so far."""
        for command in block.commands:
            if command[0] == "pip":
                continue
            soaks = command[0] == "locust"
            code = self.soak(command, told) if soaks else self.run(command)
            assert code in (block.codes | UNMEASURED if soaks else block.codes), (
                f"{' '.join(command)} ended with {code}\n{self.said[-3000:]}"
            )

    def soak(self, command: list[str], told: "Counter[str]") -> int:
        line = " ".join(self.meant(command))  # whose server it is on the page makes no other soak
        told[line] += 1
        key = (line, told[line])
        if key not in self.done:
            self.done[key] = self.run(command)
        return self.done[key]

    def run(self, command: list[str]) -> int:
        """Its exit code. `soakproof` runs in this process, which spares it most of its time."""
        if command[0] == "soakproof":
            return self.run_here(self.meant(command))
        with (self.folder / LOG).open("wb") as log:
            return self.start(command, log.fileno()).wait(100)

    def run_here(self, arguments: list[str]) -> int:
        said = io.StringIO()
        with chdir(self.folder), redirect_stdout(said), redirect_stderr(said):
            code = main(arguments)
        (self.folder / LOG).write_text(said.getvalue(), encoding="utf-8")
        return code

    def start(self, command: list[str], output: int) -> "subprocess.Popen[bytes]":
        own = {k: v for k, v in os.environ.items() if not k.endswith("_API_KEY") and k != "LOCUST_HOST"}
        return subprocess.Popen(
            [sys.executable, "-m", command[0], *self.meant(command)],
            cwd=self.folder,
            env=own,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )

    def meant(self, command: list[str]) -> list[str]:
        """The command's arguments: the testbed named, a soak cut short, the first run as the baseline."""
        instead = {"--baseline": min((p.name for p in self.folder.glob("runs/*")), default="")}
        arguments = [instead.get(before, word) for before, word in pairwise(command)]
        if command[0] == "pytest":
            return ["-p", "no:locust", *arguments]
        if command[0] == "locust":
            arguments = [*without(arguments, "-t"), "-t", SOAK]
        if not any(command[: len(head)] == head for head in ASKING):
            return arguments
        target = ["--host", self.bare] if BARE in arguments else ["--host", self.url, "--model", "llm"]
        return [*without(without(arguments, "--host"), "--model"), *target]

    @property
    def said(self) -> str:
        return (self.folder / LOG).read_text(encoding="utf-8", errors="replace")

    def kill_a_soak(self) -> None:
        """Start a soak, kill it by its pid once some answers have come, and wait as a person would: until
        its watch has noticed and has sealed what it saw.
        """
        command = ["locust", "-f", "locustfiles/quick.py", "--headless"]
        before = set((self.folder / "runs").glob("*"))
        with (self.folder / LOG).open("wb") as log:
            process = self.start(command, log.fileno())
        try:
            self._wait_for(lambda run: answers(run) >= 3, before)
            assert process.poll() is None, self.said
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait()
        self._wait_for(lambda run: (run / "evidence" / "watch" / "SEAL").is_file(), before)

    def _wait_for(self, seen: Callable[[Path], bool], before: set[Path]) -> None:
        """Until something is seen in a run that was not there before."""
        deadline = time.monotonic() + 60
        while not any(seen(run) for run in set((self.folder / "runs").glob("*")) - before):
            assert time.monotonic() < deadline, self.said
            time.sleep(0.1)


def without(arguments: list[str], option: str) -> list[str]:
    """The arguments without an option and its value."""
    if option not in arguments:
        return arguments
    at = arguments.index(option)
    return arguments[:at] + arguments[at + 2 :]


def answers(run: Path) -> int:
    """Exchanges of a run that have come to their end so far."""
    file = run / "evidence" / "load" / "exchanges.jsonl"
    return file.read_bytes().count(b'"record":"closed"') if file.is_file() else 0
