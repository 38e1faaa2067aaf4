"""What the holder of a lease may count on, by its own clock, where several brokers share a store.

The database writes down who leads, and counts how often that was renewed. Whoever waits for the
lead counts the seconds by *its own* clock (`LeaseWatch`); the holder must know by *its own* until
when nobody else can begin to lead. The two are never compared, and the database's is not needed.
Let the holder read its clock at `asked_at` and then ask. The database writes at some moment g after
that. Another broker reads the row after g, at `seen_at` has its answer, and finds the row the same
until it takes over. The holder counts from before g, and only for a part of the seconds:

    holder      asked_at ------------- sure ------------> sure_until
    database              g
    another                   seen_at --------------- seconds ---------------> may lead

So however long the questions or the answers took, the holder stops first, as long as its clock runs
at least at 75 % of the speed of the other's (`_SURE`). A clock that is merely wrong does no harm.
A renewal counts from its own question in the same way, and a late answer to an early one never
shortens what is sure already (`max`).

The holder's clock must go on while its process is stopped or its host is suspended: whoever wakes
up must find the lease over. Two more fences do not rely on clocks at all: every transaction names
its term, and the database refuses a former one; and each attempt's tokens carry the term in which
it was begun. So a command of a former leader that a cluster carries out too late makes something
that no attempt of the present leader is ever taken for.

A database that was behind when it was promoted may say that nobody leads, of a time before the
holder took the lead. Whoever has seen that it does waits for a whole lease all the same, and its
own term comes after all that it has seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

_SURE = 0.75  # of the lease: the rest is for clocks that go at different speeds
_RENEWALS = 4  # in one lease


@dataclass(slots=True)
class LeaseTerm:
    """A lease of `seconds`, held in a term. `sure_until` and all times given are seconds by one
    monotonic clock of the holder's host."""

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


class LeaseState(Protocol):
    """What the database says of the lease: both numbers only grow."""

    @property
    def term(self) -> int: ...
    @property
    def renewals(self) -> int: ...


@dataclass(slots=True)
class LeaseWatch:
    """What a broker that stands by has seen of the lease. `row`: as it was read last; `seen_at`:
    since when it is the same, in seconds by one monotonic clock of this broker's host; `last_term`:
    the last one ever seen; `went_back`: the row is older than one that was seen before."""

    row: LeaseState | None = None
    seen_at: float = 0.0
    last_term: int = 0
    went_back: bool = False
    _newest: tuple[int, int] = (0, 0)

    def run_out(self, row: LeaseState, seconds: float, now: float) -> bool:
        """Whether a lease of so many seconds is over. `now` was read after the row was."""
        if row != self.row:
            self.row, self.seen_at = row, now
            self.went_back = (row.term, row.renewals) < self._newest
            self._newest = max(self._newest, (row.term, row.renewals))
            self.last_term = self._newest[0]
        return now >= self.seen_at + seconds


def pause(seconds: float) -> float:
    """Seconds between two questions to the database, for a lease of so many seconds: the leader
    asks for more, and those who stand by ask for the lead."""
    return seconds / _RENEWALS
