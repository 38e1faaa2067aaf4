"""What the holder of a lease may count on, by its own clock, where several brokers share a store.

The lease runs in the database, by the database's clock. Its holder reads a clock of its own before
it asks for more, so what it is then granted begins later than it believes, and it gives up a part
of that besides: it stops acting before anybody else can begin, even if its clock goes too slow.
"""

from __future__ import annotations

from dataclasses import dataclass

_SURE = 0.75  # of the lease: the rest is for clocks that go at different speeds
_RENEWALS = 4  # in one lease


@dataclass(slots=True)
class LeaseTerm:
    """A lease of `seconds`, held in a term. Times by one clock, that of the holder's host, which
    must go on while the process is stopped or the host is suspended."""

    term: int
    seconds: float
    sure_until: float

    @classmethod
    def granted(cls, term: int, seconds: float, asked_at: float) -> LeaseTerm:
        """A lease that was asked for at that time, and taken."""
        return cls(term, seconds, asked_at + seconds * _SURE)

    def renewed(self, asked_at: float) -> None:
        """It was asked at that time whether the lease goes on, and it does."""
        self.sure_until = max(self.sure_until, asked_at + self.seconds * _SURE)

    def may_act(self, now: float) -> bool:
        """Whether nobody else can be leading now."""
        return now < self.sure_until


def pause(seconds: float) -> float:
    """How long to wait between two questions to the database, for a lease of so many seconds: who
    leads asks for more, and who stands by asks for the lead."""
    return seconds / _RENEWALS
