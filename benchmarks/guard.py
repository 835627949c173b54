"""From crossing a limit to the signal: `soakproof guard` and a process that really allocates.

    python benchmarks/guard.py [--repeats 20] [--mib-s 400]

Each time the floor is set a little below what this host has available now, so that the guard looks at its
closest and the host is never short. The process touches memory in small pieces, reads available memory after
each as the guard does, and stops a little below the floor. It tells when memory went below and when SIGTERM
came, both by its own clock. Ends with 1 when the median is over the bound.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import psutil

BOUND_MS = 250
BELOW_NOW = 200 << 20  # bytes between what is available and the floor
BEYOND = 64 << 20  # bytes by which the process goes below the floor, and no further
GUARD = [sys.executable, "-P", "-m", "soakproof", "guard", "--no-kernel"]
HOG = """
import json, mmap, os, signal, sys, time
floor, most, rate = (int(word) for word in sys.argv[1:])
PIECE = 2 << 20
crossed = None

def told(*_):
    now = time.monotonic()
    print(json.dumps(None if crossed is None else (now - crossed) * 1000), flush=True)
    os._exit(0)

def available():
    with open("/proc/meminfo") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("MemAvailable"))

signal.signal(signal.SIGTERM, told)
held, began, stopped = [], time.monotonic(), False
while True:
    if not stopped:
        piece = mmap.mmap(-1, PIECE)
        piece.write(bytes(range(1, 256)) * (PIECE // 255))
        held.append(piece)
    now = available()
    if now >= floor:
        crossed = None
    elif crossed is None:
        crossed = time.monotonic()
    stopped = now < floor - most or len(held) * PIECE > 1 << 30
    time.sleep(max(0.001, began + len(held) * PIECE / rate - time.monotonic()))
"""


def measure(runs: str, rate: int) -> float | None:
    """Milliseconds from crossing to the signal; None where it was not this process that crossed."""
    floor = psutil.virtual_memory().available - BELOW_NOW
    command = [*GUARD, "--available-floor", f"{floor} B", "--runs", runs, "--"]
    command += [sys.executable, "-c", HOG, str(floor), str(BEYOND), str(rate)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 75:
        raise SystemExit(f"the guard ended with {done.returncode}: {done.stderr.strip()}")
    latency: float | None = json.loads(done.stdout)
    return latency


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--mib-s", type=int, default=400, help="MiB a second that the process takes")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="soakproof-guard-") as folder:
        runs = str(Path(folder) / "guards")
        found = [measure(runs, options.mib_s << 20) for _ in range(options.repeats)]
    latencies = sorted(latency for latency in found if latency is not None)
    if not latencies:
        print("not measured: something else took the memory")
        return 1
    median = statistics.median(latencies)
    print(f"from crossing the floor to SIGTERM, {len(latencies)} times at {options.mib_s} MiB/s:")
    print(f"median {median:.0f} ms, least {latencies[0]:.0f} ms, most {latencies[-1]:.0f} ms")
    print(f"bound of the median: {BOUND_MS} ms: {'kept' if median <= BOUND_MS else 'NOT kept'}")
    return int(median > BOUND_MS)


if __name__ == "__main__":
    sys.exit(main())
