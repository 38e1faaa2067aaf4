"""The daemon's clock: Unix seconds that never step.

It starts with the wall clock and goes on by the monotonic one, so that an administrator who sets
the host's time does not make deadlines pass, or come back, in the middle of a saga. Where several
brokers share a store it starts with the database's clock: what one of them has set a deadline for,
the next one reads by the same time, whatever the clocks of their hosts say.
"""

from __future__ import annotations

import time


class Clock:
    """Unix time at its making (`now`, else the host's), plus the time that has really passed."""

    def __init__(self, now: float | None = None) -> None:
        self._offset = (time.time() if now is None else now) - time.monotonic()

    def __call__(self) -> float:
        """Now, in Unix seconds."""
        return time.monotonic() + self._offset
