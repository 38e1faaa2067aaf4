"""The daemon's clock: Unix seconds that never step.

It starts with the wall clock and goes on by the monotonic one, so that an administrator who sets
the host's time does not make deadlines pass, or come back, in the middle of a saga.
"""

from __future__ import annotations

import time


class Clock:
    """Unix time at its making, plus the time that has really passed."""

    def __init__(self) -> None:
        self._offset = time.time() - time.monotonic()

    def __call__(self) -> float:
        """Now, in Unix seconds."""
        return time.monotonic() + self._offset
