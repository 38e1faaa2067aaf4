"""Who has overtaken whom: the counts behind aging, exact and without a look at every waiting job.

Jobs that compete for the same set of clusters are *rivals*. Of the started jobs that took
processors there, rivals remember the N with the largest seq: a waiting job was overtaken at least
N times if and only if all N joined after it. So among rivals an older job is never overtaken less
often than a younger one, and only the oldest has to be looked at: while it is protected, it is the
*guard* of its clusters.
"""

from bisect import insort
from collections import deque
from collections.abc import Container, Iterable, Mapping, Sequence
from math import inf

from metabroker.policy.aging import Aging
from metabroker.policy.entry import Entry
from metabroker.policy.request import Placement


class _ContentionGroup:
    """The waiting jobs that can run in the same set of clusters."""

    __slots__ = ("count", "guard", "mask", "overtakers", "waiting")

    def __init__(self, mask: int) -> None:
        self.mask = mask
        """The clusters as bits."""
        self.waiting: deque[Entry] = deque()
        """In order of seq, with some that have left in between."""
        self.count = 0
        """The number of those that have not left."""
        self.overtakers: list[int] = []
        """The largest seqs of started jobs, in order."""
        self.guard: Entry | None = None


class Overtaking:
    """Counts overtakings and finds the guards.

    `waiting`: the waiting jobs by key, kept by the scheduler. `aside`: the keys of those that
    could not run at present; they are overtaken but never protected.
    """

    def __init__(
        self,
        aging: Aging,
        clusters: int,
        waiting: Mapping[int, Entry],
        aside: Container[int],
    ) -> None:
        self.guards: list[Entry] = []
        """The guards of all rivals, in order of seq."""
        self._bound = aging.overtaken
        self._wait = inf if aging.wait is None else aging.wait
        self._everywhere = (1 << clusters) - 1
        self._waiting = waiting
        self._aside = aside
        self._rivals: dict[int, _ContentionGroup] = {}
        self._now = -inf
        self._stale = False

    def joined(self, entry: Entry) -> None:
        """A job joined a queue."""
        mask = self._mask(entry)
        rivals = self._rivals.get(mask)
        if rivals is None:
            rivals = self._rivals[mask] = _ContentionGroup(mask)
        waiting = rivals.waiting
        if waiting and waiting[-1][0] > entry[0]:
            rivals.waiting = deque(sorted([*self._living(rivals), entry]))
            rivals.guard = None
            self._collect()
        else:
            waiting.append(entry)
        rivals.count += 1
        self._stale = True

    def left(self, entry: Entry) -> None:
        """A job left `waiting` without having been started."""
        self._leave(entry)
        self._stale = True

    def moved(self) -> None:
        """Jobs went aside or came back."""
        for rivals in self._rivals.values():
            rivals.guard = None
        self.guards = []
        self._stale = True

    def begin(self, now: float) -> None:
        """A pass begins."""
        self._now = now
        if self._stale or self._wait < inf:
            self._stale = False
            self._renew(self._rivals.values())

    def left_for(self, entry: Entry, idle: Sequence[int]) -> Sequence[int]:
        """`idle` as it is for this job: nothing in the clusters of older protected jobs."""
        seq = entry[0]
        mask = 0
        for guard in self.guards:
            if guard[0] >= seq:
                break
            mask |= self._mask(guard)
        if not mask:
            return idle
        return [0 if mask >> cluster & 1 else free for cluster, free in enumerate(idle)]

    def started(self, entry: Entry, placement: Placement) -> None:
        """A job left `waiting` because it was started."""
        self._leave(entry)
        taken = 0
        for cluster in placement:
            taken |= 1 << cluster
        touched = [rivals for rivals in self._rivals.values() if rivals.mask & taken]
        if self._bound:
            for rivals in touched:
                if self._oldest(rivals)[0] < entry[0]:
                    insort(rivals.overtakers, entry[0])
                    del rivals.overtakers[: -self._bound]
        self._renew(touched)

    def overtaken(self, entry: Entry) -> int:
        """How often a waiting job was overtaken, counted up to the bound."""
        overtakers = self._rivals[self._mask(entry)].overtakers
        return sum(1 for seq in overtakers if seq > entry[0])

    def protected(self, entry: Entry) -> bool:
        """May this waiting job not be overtaken again?"""
        return entry[1] not in self._aside and self._due(self._rivals[self._mask(entry)], entry)

    def blocker(self, entry: Entry) -> int:
        """The key of the oldest protected job that this waiting job would have to overtake.

        Raises StopIteration if there is none.
        """
        mask = self._mask(entry)
        return next(guard[1] for guard in self.guards if self._mask(guard) & mask)

    def counts(self) -> dict[int, tuple[int, ...]]:
        """The seqs of the overtakers by set of clusters."""
        return {
            mask: tuple(rivals.overtakers)
            for mask, rivals in self._rivals.items()
            if rivals.overtakers
        }

    def restore(self, counts: Mapping[int, Sequence[int]]) -> None:
        """Go on from what `counts` returned, once the waiting jobs have joined again."""
        for mask, overtakers in counts.items():
            if mask in self._rivals and self._bound:
                self._rivals[mask].overtakers = sorted(overtakers)[-self._bound :]
        self.moved()

    def _mask(self, entry: Entry) -> int:
        """The clusters in which a job could run, as bits."""
        _, _, request, pin, _, _ = entry
        if pin >= 0:
            return 1 << pin
        return request.mask or self._everywhere

    def _leave(self, entry: Entry) -> None:
        rivals = self._rivals[self._mask(entry)]
        rivals.count -= 1
        if rivals.guard is not None and rivals.guard[0] == entry[0]:
            rivals.guard = None
            self.guards.remove(entry)
        if not rivals.count:
            del self._rivals[rivals.mask]
        elif len(rivals.waiting) > 2 * rivals.count + 16:
            rivals.waiting = deque(self._living(rivals))

    def _living(self, rivals: _ContentionGroup) -> Iterable[Entry]:
        # By seq: a job that left and came back to its old place may be among them twice.
        waiting = self._waiting
        living = {job[0]: job for job in rivals.waiting if waiting.get(job[1]) == job}
        return living.values()

    def _oldest(self, rivals: _ContentionGroup) -> Entry:
        """The oldest waiting job (there is one)."""
        waiting, jobs = self._waiting, rivals.waiting
        while waiting.get(jobs[0][1]) != jobs[0]:
            jobs.popleft()
        return jobs[0]

    def _renew(self, changed: Iterable[_ContentionGroup]) -> None:
        """Find the guards that are missing; a guard stays one until it leaves."""
        different = False
        for rivals in changed:
            if rivals.guard is None:
                rivals.guard = self._find_guard(rivals)
                different = different or rivals.guard is not None
        if different:
            self._collect()

    def _collect(self) -> None:
        guards = [rivals.guard for rivals in self._rivals.values() if rivals.guard is not None]
        self.guards = sorted(guards)

    def _find_guard(self, rivals: _ContentionGroup) -> Entry | None:
        """The oldest of these jobs, if it is protected; those aside do not count."""
        if not self._due(rivals, self._oldest(rivals)):
            return None
        for entry in self._living(rivals):
            if entry[1] not in self._aside:
                return entry if self._due(rivals, entry) else None
        return None

    def _due(self, rivals: _ContentionGroup, entry: Entry) -> bool:
        if self._now - entry[5] >= self._wait:
            return True
        bound = self._bound
        if not bound:
            return bound == 0
        overtakers = rivals.overtakers
        return len(overtakers) == bound and overtakers[0] > entry[0]
