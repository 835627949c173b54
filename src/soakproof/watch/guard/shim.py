"""``python -m soakproof.watch.guard.shim ANSWERS GO COMMAND…``: becomes the command, once it is let go.

Before that it answers one signal, which proves that the guard can reach this very process. The kernel is told
to send SIGTERM when the guard is gone, however it went: that stays with the command, unless its program has
other rights than its user's (sudo, say).
"""

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1
NOT_FOUND, NOT_EXECUTABLE = 127, 126  # exit codes, as a shell's
READY, HEARD, GO = b"r", b"h", b"g"


def main() -> int:
    answers, go, command = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    signal.signal(signal.SIGCONT, lambda *_: os.write(answers, HEARD))
    os.write(answers, READY)
    if os.read(go, 1) != GO:  # the guard is gone, or refuses
        return 1
    for name in (
        "SIGCONT",
        "SIGPIPE",
        "SIGXFSZ",
        "SIGINT",
    ):  # Python ignores some, and a command inherits that
        signal.signal(getattr(signal, name), signal.SIG_DFL)
    os.set_inheritable(answers, False)
    os.set_inheritable(go, False)
    try:
        os.execvp(command[0], command)
    except OSError as error:
        print(f"guard: {command[0]}: {error.strerror}", file=sys.stderr)
        return NOT_FOUND if isinstance(error, FileNotFoundError) else NOT_EXECUTABLE


if __name__ == "__main__":
    sys.exit(main())
