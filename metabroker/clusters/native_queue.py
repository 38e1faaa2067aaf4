"""Who waits in a cluster's own queue, looked at now and then beside the cluster itself.

It is asked for before the broker's own jobs are: one that is submitted between the two listings is
then in the second alone. In the other order it waits in the cluster's queue and is nobody's, and
counts as demand of others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from .command_errors import Garbled
from .operation import Operation
from .port import ClusterRefusal, UnknownOutcome
from .transports.base import CommandLost, CommandMissing

W = TypeVar("W")

EVERY = 5.0
"""Seconds between two looks: on a large site it is a long list."""
_SOON = 1.0  # seconds, where what was seen looks otherwise in a moment


@dataclass(slots=True)
class QueueWatch(Generic[W]):
    """Remembers what was last seen. `every`: how often it may be asked, in seconds; None: never."""

    every: float | None = EVERY
    waiting: Sequence[W] = ()
    known: bool = False  # whether the last look has shown it
    ours: frozenset[str] = frozenset()  # ids of the broker's jobs that were seen since that look
    listed_at: float = float("-inf")  # when `waiting` was asked for, by the broker's clock
    passing: bool = False  # somebody in it came just now, and may be started in a moment
    stale: bool = False  # something is known to be otherwise now: it is asked again soon
    _latest: frozenset[str] = frozenset()  # ids of the broker's jobs by the last listing of these
    _fresh: dict[str, None] = field(default_factory=dict)  # that it has submitted since

    def look(self, now: float, told: Callable[[], Operation[Sequence[W]]]) -> Operation[int]:
        """Ask, if it is time; answers how many commands that took. `now`: the broker's clock. What
        cannot be seen is as if nobody waited: jobs of ours that stay pending show it too."""
        if self.every is None or 0 <= now - self.listed_at < self._pause(self.every):
            yield from ()
            return 0
        self.listed_at, self.ours, self.stale = now, frozenset(), False
        try:
            self.waiting, self.known = (yield from told()), True
        except (ClusterRefusal, UnknownOutcome, CommandLost, CommandMissing, Garbled):
            self.waiting, self.known = (), False
        return 1

    def _pause(self, every: float) -> float:
        if self.passing:
            return min(_SOON, every)
        return min(EVERY, every) if self.stale else every

    def submitted(self, identity: str) -> None:
        """The broker has a job of that id there. Told of by all of the cluster's threads."""
        self._fresh[identity] = None

    def seen(self, ours: Iterable[str]) -> None:
        """Ids of the broker's own jobs, as a listing after the look has shown them. A cluster may
        forget those that end, while `waiting` is still what is known of its queue; it may even do
        so between the look and that listing, so those of the listing before count, too."""
        ids, fresh = frozenset(ours), list(self._fresh)
        self.ours = self.ours.union(ids, self._latest, fresh)
        self._latest = ids.union(fresh)
        for identity in fresh:
            self._fresh.pop(identity, None)
