"""What a stream costs the tester, and how exactly it tells the time to the first token.

    python benchmarks/client.py [--repeats 3] [--streams 1,64,256]

Every arm reads the same streams from the same stamping server, in one run, arms interleaved:

    raw        a bare gevent socket that receives and counts; the floor
    framing    soakproof's transport with HTTP and event parsing, and no JSON
    soakproof  soakproof's transport as it is used, records made
    fasthttp   Locust's FastHttpUser with iter_lines and json.loads, the usual way

CPU is the client process's own, a thousand chunks; the first token's error is the client's time of the first
token less the server's stamp in it. Judge by the ratios: both are of one machine in one hour.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
ARMS = ("raw", "framing", "soakproof", "fasthttp")


def measure(arm: str, port: int, streams: int, chunks: int, interval: float) -> dict[str, object]:
    """One arm in a process of its own: CPU seconds, chunks and first-token errors."""
    command = [sys.executable, __file__, "--arm", arm, "--port", str(port), "--streams", str(streams)]
    command += ["--chunks", str(chunks), "--interval", str(interval)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def run_arm(arm: str, port: int, streams: int, chunks: int, interval: float) -> dict[str, object]:
    """In the arm's own process: all streams at once; warm up with one first."""
    import gevent.monkey

    gevent.monkey.patch_all()
    import arms
    import gevent

    stream = getattr(arms, f"make_{arm}")(port)
    body = {"model": "m", "stream": True, "delay": 0.2, "chunks": chunks, "interval": interval}
    stream({**body, "chunks": 3})
    errors: list[float] = []

    def one() -> int:
        seen, first_ns, stamp_ns = stream(body)
        errors.append((first_ns - stamp_ns) / 1e6)
        return int(seen)

    before = time.process_time()
    jobs = []
    for _ in range(streams):
        jobs.append(gevent.spawn(one))
        gevent.sleep(interval / streams)  # spread out, as tokens of independent requests are
    gevent.joinall(jobs, raise_error=True)
    return {"cpu_s": time.process_time() - before, "chunks": sum(j.value for j in jobs), "errors_ms": errors}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--streams", default="1,64,256")
    parser.add_argument("--arm", choices=ARMS, help=argparse.SUPPRESS)
    parser.add_argument("--port", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--chunks", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--interval", type=float, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.arm:
        print(
            json.dumps(
                run_arm(options.arm, options.port, int(options.streams), options.chunks, options.interval)
            )
        )
        return
    server = subprocess.Popen(
        [sys.executable, str(HERE / "stamping_server.py")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stdout is not None
        port = int(server.stdout.readline())
        for streams in map(int, options.streams.split(",")):
            compare(port, streams, options.repeats)
    finally:
        server.terminate()
        server.wait()


def compare(port: int, streams: int, repeats: int) -> None:
    """One table: all arms at one number of streams."""
    from tabulate import tabulate

    interval = max(
        0.02, streams / 1500
    )  # the server's own core carries about 1,500 chunks a second with ease
    chunks = max(20, int(6 / interval))
    costs: dict[str, list[float]] = {arm: [] for arm in ARMS}
    errors: dict[str, list[float]] = {arm: [] for arm in ARMS}
    for turn in range(repeats):
        for arm in ARMS if turn % 2 == 0 else reversed(ARMS):
            found = measure(arm, port, streams, chunks, interval)
            costs[arm].append(1e6 * float(found["cpu_s"]) / int(found["chunks"]))  # type: ignore[arg-type]
            errors[arm] += found["errors_ms"]  # type: ignore[operator]
    floor = statistics.median(costs["raw"])
    rows = [
        (arm, statistics.median(costs[arm]), statistics.median(costs[arm]) / floor, *_quantiles(errors[arm]))
        for arm in ARMS
    ]
    print(f"\n{streams} streams, {chunks} chunks each, one every {interval * 1000:.0f} ms, {repeats} repeats")
    headers = ("arm", "CPU ms / 1,000 chunks", "ratio to raw", "TTFT error p50 ms", "p95 ms", "n")
    print(tabulate(rows, headers=headers, floatfmt=".2f"), flush=True)


def _quantiles(values: list[float]) -> tuple[float, float, int]:
    ordered = sorted(values)
    return ordered[len(ordered) // 2], ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))], len(ordered)


if __name__ == "__main__":
    main()
