"""How far ahead a job looks: to its own end. A reservation of others that begins before is not for
it, and one that begins later does not concern it.

The policy decides by the processors that are idle now. So a job goes another way (as one that was
refused does, see `refusals`) where its cluster has too little for as long as it takes:

- The cluster would have too little for its smallest component even if nothing ran there: it is
  known at once, when the job joins a queue. So it is while maintenance lasts.
- Too little of what is idle now is left: that is found out of each placement. Others that are as
  large and take as long are not placed there either, until there is as much as was needed. So very
  many jobs that are too long cost one look each, and none while nothing changes.

Where others have no reservations nothing is decided otherwise than without this module.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from .job import Job, NewJob
from .ledger import Ledger
from .observation import SOON, Coming
from .settings import Settings
from .upcoming import Upcoming

_EVERY = 60.0  # seconds after which all who wait are looked at again: time has passed


class _Tight(NamedTuple):
    """A cluster did not have `needed` processors for longer than until `start`: nothing that takes
    longer and has a component of `size` is placed there."""

    start: float
    size: int
    needed: int


class Horizon:
    """Which clusters have too little for as long as a job takes."""

    def __init__(self, settings: Settings, ledger: Ledger) -> None:
        self._settings = settings
        self._ledger = ledger
        self._ahead: dict[int, Upcoming] = {}  # as it was last acted on
        self._tight: dict[int, list[_Tight]] = {}
        self._due = False
        self._looked = 0.0

    @property
    def clear(self) -> bool:
        """Whether no cluster has reservations of others that have not begun."""
        return not self._ahead

    def observed(self, cluster: int, now: float) -> bool:
        """A poll has come; whether those who wait are to be looked at again."""
        upcoming = self._ledger.entries[cluster].upcoming
        before = self._ahead.get(cluster, Upcoming())
        if not upcoming.is_like(before):
            self._due = True
            self._ahead.pop(cluster, None)
            if upcoming:
                self._ahead[cluster] = upcoming
        return self._due or bool(upcoming and now - self._looked >= _EVERY)

    def due(self, now: float) -> bool:
        """Whether those who wait are to be looked at again; it is taken for done."""
        lifted = self._lift(now)
        again = bool(self._ahead) and now - self._looked >= _EVERY
        due, self._due = self._due or lifted or again, False
        if due:
            self._looked = now
        return due

    def ahead(self, job: Job | NewJob, now: float) -> dict[int, Coming]:
        """The clusters that have too little for as long as the job takes, and the reservations for
        which that is so."""
        found = {}
        for cluster in self._ahead:
            sizes = self._sizes(job, cluster)
            coming = self._in_the_way(job, cluster, sizes, now) if sizes else None
            if coming is not None:
                found[cluster] = coming
        return found

    def short(self, job: Job | NewJob, placement: Sequence[int], now: float) -> dict[int, Coming]:
        """Those of the placement's clusters which have too little idle for as long as the job
        takes."""
        needed: Counter[int] = Counter()
        cpus = job.shape.cpus_per_task
        for cluster, size in zip(placement, job.request.sizes, strict=True):
            needed[cluster] += self._settings.clusters[cluster].held(size, cpus)
        found = {}
        for cluster in self._ahead.keys() & needed:
            upcoming = self._ledger.entries[cluster].upcoming
            left = self._ledger.unclaimed(cluster) - needed[cluster]
            coming = upcoming.beyond_idle(self._until(job, cluster, now), left)
            if coming is not None:
                found[cluster] = coming
        return found

    def keep_away(self, job: Job, placement: Sequence[int], now: float) -> bool:
        """Whether some cluster of the placement is too short of processors for the job; if so, it
        and others like it are kept away from there."""
        short = self.short(job, placement, now)
        for cluster, coming in short.items():
            held, cpus = self._settings.clusters[cluster].held, job.shape.cpus_per_task
            pairs = zip(placement, job.request.sizes, strict=True)
            sizes = [held(size, cpus) for where, size in pairs if where == cluster]
            new = _Tight(coming.start, max(sizes), sum(sizes))
            known = self._tight.setdefault(cluster, [])
            known[:] = [old for old in known if not _covers(new, old)]
            known.append(new)
        return bool(short)

    def _in_the_way(
        self, job: Job | NewJob, cluster: int, sizes: Sequence[int], now: float
    ) -> Coming | None:
        entry, until = self._ledger.entries[cluster], self._until(job, cluster, now)
        if min(sizes) > entry.usable:
            return None  # whatever is reserved there
        coming = entry.upcoming.beyond(until, entry.usable - min(sizes))
        if coming is not None:
            return coming
        for tight in self._tight.get(cluster, ()):
            if tight.start < until and tight.size <= max(sizes):
                return entry.upcoming.last(tight.start)
        return None

    def _lift(self, now: float) -> bool:
        """Forget where there is as much as was needed; whether there was any."""
        before = sum(map(len, self._tight.values()))
        self._tight = {
            cluster: left
            for cluster, known in self._tight.items()
            if (left := [each for each in known if self._is_tight(cluster, each, now)])
        }
        return sum(map(len, self._tight.values())) < before

    def _is_tight(self, cluster: int, tight: _Tight, now: float) -> bool:
        kept = self._ledger.entries[cluster].upcoming.idle(math.nextafter(tight.start, math.inf))
        return kept > 0 and self._ledger.unclaimed(cluster) - kept < tight.needed

    def _sizes(self, job: Job | NewJob, cluster: int) -> list[int]:
        """What the job's components hold there; of an ordered request one sum, or nothing."""
        request, held = job.request, self._settings.clusters[cluster].held
        cpus = job.shape.cpus_per_task
        if job.split is not None and request.single:  # it may have any part of it there
            return [held(cpus, cpus), held(request.total, cpus)]
        if request.clusters is None:
            return [held(size, cpus) for size in request.sizes]
        pairs = zip(request.clusters, request.sizes, strict=True)
        there = [held(size, cpus) for where, size in pairs if where == cluster]
        return [sum(there)] if there else []

    def _until(self, job: Job | NewJob, cluster: int, now: float) -> float:
        """When the job would be over in the cluster, at the latest."""
        settings, slack = self._settings, 0
        if job.split is not None:  # and it may be split
            slack = settings.extra(job.time_limit)
        if not job.alone:
            reserves = settings.clusters[cluster].reserves
            slack += settings.reservation_slack if reserves else settings.barrier_slack
        return now + job.time_limit + slack + SOON


def _covers(new: _Tight, old: _Tight) -> bool:
    return new.start <= old.start and new.size <= old.size
