"""The daemon's own threads in virtual time: one runs at a time, and a seed decides which.

Loop, executors, watchers and leases are written with `threading` and `time`. In a world these two
names stand for what is here (`installed`): a thread is a greenlet, and it goes on until it waits
for something. What it waits for is an entry in the world's one queue of moments, so hours pass in
milliseconds, and the same seed plays the same order of all threads again.
"""

from .modules import installed
from .processes import Process, call, check, pause, sleep

__all__ = ["Process", "call", "check", "installed", "pause", "sleep"]
