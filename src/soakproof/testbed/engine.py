"""The engine: llama.cpp's own server in a process of its own, on a free port of the loopback.

    python -m soakproof.testbed.engine --model FILE --log FILE [llama-server's flags]

Writes one JSON line, `{"url": …, "pid": …}`, to standard output once it answers; what llama.cpp prints goes
to the log. It ends with its parent, and on SIGTERM as llama-server does: in order, waiting for open
streams; a second SIGTERM ends it at once.
"""

import argparse
import json
import os
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TextIO

from soakproof import children
from soakproof.testbed import options
from soakproof.testbed.options import EngineOptions


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve until told to end; the process ends here, without Python's own clean-up."""
    children.guard_lifeline()
    parser = argparse.ArgumentParser(prog="soakproof.testbed.engine", allow_abbrev=False)
    parser.add_argument("-m", "--model", type=Path, required=True)
    parser.add_argument("--log", type=Path, required=True)
    options.add_to(parser)
    given = parser.parse_args(arguments)
    ready = _keep_output_apart(given.log)
    server = _serve(given.model, options.of(given))
    ended = _ended_by_signal()
    print(json.dumps({"url": server.listening_address, "pid": os.getpid()}), file=ready, flush=True)
    ended.wait()
    del server  # llama.cpp's orderly stop
    os._exit(0)


def _keep_output_apart(log: Path) -> TextIO:
    """Send descriptors 1 and 2 to the log, llama.cpp's included; the former standard output."""
    ready = os.fdopen(os.dup(1), "w")
    with log.open("ab") as file:
        sys.stdout.flush()
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    return ready


def _serve(model: Path, given: EngineOptions) -> Any:
    """A server that listens and has its model loaded; it works in threads of its own. Exits with 1 when
    there can be none; llama.cpp has said why in the log.
    """
    import xllamacpp

    flash = xllamacpp.llama_flash_attn_type
    flash_attention = {
        "on": flash.LLAMA_FLASH_ATTN_TYPE_ENABLED,
        "off": flash.LLAMA_FLASH_ATTN_TYPE_DISABLED,
        "auto": flash.LLAMA_FLASH_ATTN_TYPE_AUTO,
    }
    p = xllamacpp.CommonParams()
    p.model.path = str(model)
    p.hostnames, p.port = ["127.0.0.1"], 0
    p.n_ctx, p.n_parallel = given.context, given.slots
    p.n_batch, p.n_ubatch = given.batch, given.ubatch
    p.cpuparams.n_threads, p.cpuparams_batch.n_threads = given.threads, given.threads_batch
    p.flash_attn_type = flash_attention[given.flash_attention]
    p.cache_ram_mib = given.cache_ram
    p.use_jinja = p.endpoint_slots = p.endpoint_metrics = True
    try:
        return xllamacpp.Server(p)
    except RuntimeError as error:
        sys.exit(f"cannot serve {model}: {error}")


def _ended_by_signal() -> threading.Event:
    ended = threading.Event()

    def end(*_: object) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        ended.set()

    signal.signal(signal.SIGTERM, end)
    return ended


if __name__ == "__main__":
    main()
