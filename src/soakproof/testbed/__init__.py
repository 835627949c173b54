"""The embedded target: llama.cpp with a very small model, behind a gateway shaped like Lemonade.

Two processes, as with Lemonade: the gateway (`python -m soakproof.testbed`) and its child, the engine
(`soakproof.testbed.engine`). `launch` starts and ends the pair. Nothing here knows what a run is, and
nothing outside this room imports starlette, uvicorn, httptools or xllamacpp.

Planted faults, which make the pair misbehave on purpose, have two places to reach in: the gateway's ASGI
application (`gateway.application`, which a fault may wrap) and the engine's options (`options`).
"""
