"""The daemon's clock: Unix seconds that never step.

It starts with the wall clock and goes on by the monotonic one, so that an administrator who sets
the host's time does not make deadlines pass, or come back, in the middle of a saga. Where several
brokers share a store it starts with the database's clock: what one of them has set a deadline for,
the next one reads by the same time, whatever the clocks of their hosts say.
"""

from __future__ import annotations

import time

_DIFFER = 5.0  # seconds: more than a question to a database takes


class Clock:
    """Unix time at its making (`now`, else the host's), plus the time that has really passed."""

    def __init__(self, now: float | None = None) -> None:
        host = time.time()
        self._offset = (host if now is None else now) - time.monotonic()
        self._ahead = 0.0 if now is None else now - host

    @property
    def trouble(self) -> str:
        """In words for an administrator that it is not the host's time; "": it was, at first."""
        if abs(self._ahead) < _DIFFER:
            return ""
        where = "ahead of" if self._ahead > 0 else "behind"
        return (
            f"the database's clock is {abs(self._ahead):.0f} s {where} this host's: all times are "
            "told by the database's; set both by NTP"
        )

    def __call__(self) -> float:
        """Now, in Unix seconds."""
        return time.monotonic() + self._offset
