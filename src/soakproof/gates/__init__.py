"""Scenarios carried out one at a time and precisely, under trio: `soakproof try`.

Trio is for this room and the watch alone. Neither ever meets Locust or gevent, which take `select.epoll` away
from the process that they run in.
"""
