"""The guard: what ends a load, or a server that it launched, before the host is lost.

`limits`, `deciding` and `pacing` are pure. `lookout` measures and decides, in the watch of a soak as well as
under `soakproof guard`; `launching` is that command.
"""
