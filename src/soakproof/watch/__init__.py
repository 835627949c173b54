"""The watch: a process of its own beside the load that reads host, GPU, server and kernel once a second.

It may import trio and httpx; it never runs inside Locust. Whoever starts it uses `soakproof.watch.launch`,
which imports neither.
"""
