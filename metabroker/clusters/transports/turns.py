"""What several threads use, and each waits for up to a time."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from .base import Unreached


@contextmanager
def turn(
    free: threading.Lock | threading.Semaphore, seconds: float, otherwise: str
) -> Iterator[None]:
    """Hold it, as soon as it is free.

    Raises:
        Unreached: it was not in that time; `otherwise` says what was not done.
    """
    if not free.acquire(timeout=seconds):
        raise Unreached(otherwise)
    try:
        yield
    finally:
        free.release()
