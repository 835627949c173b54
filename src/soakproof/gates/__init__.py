"""Scenarios carried out one at a time and precisely, under trio: `soakproof try`.

This room and the watch may import trio and httpx; it never meets Locust or gevent, which take `select.epoll`
away from the process that they run in.
"""
