"""A server of the benchmark's own: streams chat chunks at a fixed pace, each stamped with when it was sent.

One asyncio process on a loopback port of the system's choice; prints the port and serves until its standard
input ends. The stamp is CLOCK_MONOTONIC in nanoseconds, which every process of the host shares.
"""

import asyncio
import json
import sys
import threading
import time

_HEAD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
    b"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
)


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def event(content: str, finish: str | None = None) -> bytes:
    """One event as llama.cpp sends it, in size and form."""
    document = {
        "choices": [{"finish_reason": finish, "index": 0, "delta": {} if finish else {"content": content}}],
        "created": 1795975799,
        "id": "chatcmpl-7yZ1xz4NjSj9btL3MFwz7IBxEfGtZ4cn",
        "model": "soak-probe-7m-q8_0.gguf",
        "system_fingerprint": "b0-unknown",
        "object": "chat.completion.chunk",
    }
    return b"data: " + json.dumps(document, separators=(",", ":")).encode() + b"\n\n"


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    head = await reader.readuntil(b"\r\n\r\n")
    length = next(
        int(x.split(b":")[1]) for x in head.split(b"\r\n") if x.lower().startswith(b"content-length")
    )
    wanted = json.loads(await reader.readexactly(length))
    writer.write(_HEAD)
    await asyncio.sleep(wanted["delay"])
    due = time.monotonic()
    for _ in range(wanted["chunks"]):
        writer.write(chunk(event(f"{time.monotonic_ns()} ")))
        due += wanted["interval"]
        await asyncio.sleep(max(0.0, due - time.monotonic()))
    writer.write(chunk(event("", "stop")) + chunk(b"data: [DONE]\n\n") + b"0\r\n\r\n")
    await writer.drain()
    writer.close()


async def serve() -> None:
    server = await asyncio.start_server(answer, "127.0.0.1", 0, backlog=512)
    print(server.sockets[0].getsockname()[1], flush=True)
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    threading.Thread(
        target=lambda: (sys.stdin.read(), loop.call_soon_threadsafe(ended.set)), daemon=True
    ).start()
    await ended.wait()


if __name__ == "__main__":
    asyncio.run(serve())
