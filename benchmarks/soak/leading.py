"""Did two brokers lead at once? Seen by the commands that each of them has begun, and when.

Commands come from another broker than before no more often than a term has begun. But what has
passed its permit is under way (`metabroker.clusters.transports.fenced`): a broker that is stopped
just then begins it when it goes on, whoever leads by then. So a few commands that follow at once
count for nothing. Fences that need no clock see to it that they do no harm; the other promises
tell whether they have done any.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

UNDER_WAY = 3  # commands that a broker has been about to begin when it was stopped
_AT_ONCE = 1.0  # seconds until it has begun them, once it goes on


@dataclass(frozen=True, slots=True, order=True)
class Moment:
    """When a broker began a command, or went on after it had been stopped (Unix seconds)."""

    time: float
    broker: str


@dataclass(frozen=True, slots=True)
class Turn:
    """Commands of one broker that no other one's come between."""

    broker: str
    began: float  # Unix seconds
    commands: int

    def __str__(self) -> str:
        return f"{self.broker} began {self.commands} at {self.began:.3f}"


def turns(begun: Iterable[Moment], went_on: Iterable[Moment]) -> list[Turn]:
    """The turns in which commands were begun. `went_on`: when brokers did that had been stopped."""
    left = _not_under_way(sorted(begun), list(went_on))
    found = []
    for broker, commands in groupby(left, key=lambda command: command.broker):
        times = [command.time for command in commands]
        found.append(Turn(broker, times[0], len(times)))
    return found


def _not_under_way(begun: list[Moment], went_on: list[Moment]) -> list[Moment]:
    under_way = set()
    for one in went_on:
        after = [
            number
            for number, command in enumerate(begun)
            if command.broker == one.broker and one.time <= command.time < one.time + _AT_ONCE
        ]
        under_way.update(after[:UNDER_WAY])
    return [command for number, command in enumerate(begun) if number not in under_way]
