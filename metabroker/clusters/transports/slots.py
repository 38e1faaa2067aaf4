"""How many commands go over one connection at once."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from .base import Unreached

CHANNELS = 4
"""Sessions at once over one connection: sshd has 10 by default, and frees them a little late."""


class Slots:
    """As many sessions at once as a connection bears."""

    def __init__(self, count: int = CHANNELS) -> None:
        self._free = threading.BoundedSemaphore(count)

    @contextmanager
    def taken(self, seconds: float, what: str) -> Iterator[None]:
        """One of them, as soon as one is free.

        Raises:
            Unreached: none became free in that time.
        """
        if not self._free.acquire(timeout=seconds):
            raise Unreached(f"{what}: not run: the connection is busy with other commands")
        try:
            yield
        finally:
            self._free.release()
