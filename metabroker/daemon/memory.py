"""What a daemon that runs for months does so that it needs no more memory than what it keeps."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
from typing import Any

_ARENA_MAX, _MMAP_THRESHOLD = -8, -3  # of mallopt(3)
_LARGE = 128 * 1024  # bytes
_YOUNG = 5_000  # objects: looked at in a millisecond


def begin() -> None:
    """Before there are threads: all have one heap, and what is large goes back to the system at
    once. By itself the C library gives each thread a heap of its own, and each keeps what the
    largest answer took that was ever made in it. Who has said otherwise in the environment has the
    last word; other C libraries than glibc do no such thing."""
    libc: Any = ctypes.CDLL(None)
    with contextlib.suppress(AttributeError):
        if "MALLOC_ARENA_MAX" not in os.environ:
            libc.mallopt(_ARENA_MAX, 1)
        if "MALLOC_MMAP_THRESHOLD_" not in os.environ:
            libc.mallopt(_MMAP_THRESHOLD, _LARGE)


def loaded() -> None:
    """Once all that is read at the start of a broker's work has been: what was needed for that
    goes back to the system, though something that stays may lie behind it in the heap."""
    libc: Any = ctypes.CDLL(None)
    with contextlib.suppress(AttributeError):
        libc.malloc_trim(0)


def started() -> None:
    """The start makes very many objects and no garbage, so Python's collector of cycles seldom
    comes by until then. From now on garbage would pile up: it comes more often, and each time
    holds the daemon up for less."""
    gc.set_threshold(_YOUNG, 20, 50)
