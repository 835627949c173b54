"""What this host has of a target: digests of its files, the model's header, versions of drivers, its GPUs.

Read from files alone, no program is started to tell it, and in a process of its own: a disk that hangs, or a
file that was made to mislead, holds up nobody for long. The Locust process imports `asking` only.
"""
