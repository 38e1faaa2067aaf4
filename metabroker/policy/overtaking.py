"""Who has overtaken whom: the counts behind aging, exact and without a look at every waiting job.

Jobs that can run in the same set of clusters are a *contention group*. Of the started jobs that
took processors there, the group remembers the N with the largest seq. A waiting job was overtaken
at least N times if and only if all N joined after it. So within a group an older job is never
overtaken less often than a younger one, and only the oldest has to be looked at: while it may not
be overtaken again, it is the *protected head* of its clusters.

What that costs: a start touches the groups that share a cluster with it, whatever the number of
waiting jobs. A job is protected after N overtakings, or after it has waited for so long; from then
on nothing starts on processors that it needs, unless both fit (`left_for`).
"""

from bisect import bisect, insort
from collections import deque
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from math import inf

from metabroker.policy.aging import Aging
from metabroker.policy.entry import Entry, insert
from metabroker.policy.request import Placement


class _ContentionGroup:
    """The waiting jobs that can run in the same set of clusters."""

    __slots__ = ("count", "eligible", "mask", "overtakers", "protected_head", "waiting")

    def __init__(self, mask: int) -> None:
        self.mask = mask
        """The clusters as bits."""
        self.waiting: deque[Entry] = deque()
        """In order of seq, with some that have left in between."""
        self.count = 0
        """The number of those that have not left."""
        self.overtakers: list[int] = []
        """The largest seqs of started jobs, in order."""
        self.protected_head: Entry | None = None
        self.eligible: deque[Entry] | None = None
        """Those of `waiting` that are not aside, with some that have left in front or in between;
        None: nobody has asked since that has changed."""

    def living(self, waiting: Mapping[int, Entry]) -> Iterable[Entry]:
        """Those that have not left."""
        return (job for job in self.waiting if waiting.get(job.key) == job)

    def first_eligible(self, waiting: Mapping[int, Entry], aside: Container[int]) -> Entry | None:
        """The oldest that is not aside: found without a look at all that are, since this is asked
        in each pass, and a cluster that is away may have very many in its queue."""
        if self.eligible is None:
            self.eligible = deque(job for job in self.living(waiting) if job.key not in aside)
        while self.eligible:
            first = self.eligible[0]
            if waiting.get(first.key) == first and first.key not in aside:
                return first
            self.eligible.popleft()
        return None


class Overtaking:
    """Counts overtakings and finds the protected heads.

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
        self.protected_heads: list[Entry] = []
        """The guards of all rivals, in order of seq."""
        self._bound = aging.overtaken
        self._wait = inf if aging.wait is None else aging.wait
        self._everywhere = (1 << clusters) - 1
        self._waiting = waiting
        self._aside = aside
        self._groups: dict[int, _ContentionGroup] = {}
        self._now = -inf
        self._stale = False
        self._empty: set[int] = set()
        """The sets of clusters of groups in which nobody waits any more. They stay until the next
        pass: who cannot be sent where it was placed comes back before, with what was counted."""
        self._started: list[tuple[int, int]] = []
        """Who was started since the last pass began, in this order: seqs, and clusters as bits."""
        self._gone: dict[int, tuple[int, int]] = {}
        """By the seq of each of these that waited: how many were started before it; its group."""
        self._back: list[tuple[Entry, int]] = []
        """Those of them that have come back, and are not counted yet (see `_settle`)."""
        self._returned: set[int] = set()
        """The seqs of all that have come back: they have overtaken nobody."""
        self.left_protected: set[int] = set()
        """The keys of the protected heads that have left since the last pass began."""
        self.protected_left = 0
        """How many have left ever: with each there may be more room for others."""

    def joined(self, entry: Entry) -> None:
        """A job joined a queue."""
        mask = self._mask(entry)
        group = self._groups.get(mask)
        if group is None:
            group = self._groups[mask] = _ContentionGroup(mask)
        waiting = group.waiting
        if waiting and waiting[-1].seq >= entry.seq:
            insert(waiting, entry)
            group.protected_head = group.eligible = None
            self._collect()
        else:
            waiting.append(entry)
            if group.eligible is not None:
                group.eligible.append(entry)
        group.count += 1
        self._stale = True
        before = self._gone.pop(entry.seq, None)
        if before is not None:
            self._back.append((entry, before[0]))
            self._returned.add(entry.seq)

    def left(self, entry: Entry) -> None:
        """A job left `waiting` without having been started."""
        self._leave(entry)
        self._stale = True

    def moved(self) -> None:
        """Jobs went aside or came back."""
        for group in self._groups.values():
            group.protected_head = group.eligible = None
        self.protected_heads = []
        self._stale = True

    def begin(self, now: float) -> None:
        """Who is protected is asked for now."""
        self._now = now
        if self._stale or self._wait < inf:
            self._stale = False
            self._renew(self._groups.values())

    def new_pass(self) -> None:
        """A pass begins: who has left since the last one has gone for good."""
        self._settle()
        self._started.clear()
        self._gone.clear()
        self._returned.clear()
        for mask in self._empty:
            if not self._groups[mask].count:
                del self._groups[mask]
        self._empty.clear()
        self.left_protected.clear()

    def left_for(self, seq: int, idle: Sequence[int]) -> Sequence[int]:
        """`idle` as it is for this job: nothing in the clusters of older protected jobs."""
        mask = 0
        for protected_head in self.protected_heads:
            if protected_head.seq >= seq:
                break
            mask |= self._mask(protected_head)
        if not mask:
            return idle
        return [0 if mask >> cluster & 1 else free for cluster, free in enumerate(idle)]

    def started(self, entry: Entry, placement: Placement) -> None:
        """A job left `waiting` because it was started."""
        self._leave(entry)
        self._gone[entry.seq] = len(self._started), self._mask(entry)
        self.passed(entry.seq, placement)
        self._renew((self._groups[self._mask(entry)],))  # it may have started elsewhere

    def passed(self, seq: int, placement: Placement) -> None:
        """A job was started there that is not in `waiting`, or not any more."""
        taken = 0
        for cluster in placement:
            taken |= 1 << cluster
        self._started.append((seq, taken))
        touched = [group for group in self._groups.values() if group.mask & taken]
        if self._bound:
            for group in touched:
                if group.count and self._oldest(group).seq < seq:
                    insort(group.overtakers, seq)
                    del group.overtakers[: -self._bound]
        self._renew(touched)

    def overtaken(self, entry: Entry) -> int:
        """How often a waiting job was overtaken, counted up to the bound."""
        self._settle()
        overtakers = self._groups[self._mask(entry)].overtakers
        return sum(1 for seq in overtakers if seq > entry.seq)

    def protected(self, entry: Entry) -> bool:
        """May this waiting job not be overtaken again?"""
        return entry.key not in self._aside and self._due(self._groups[self._mask(entry)], entry)

    def due_back(self, seqs: Iterable[int], not_sent: Collection[int]) -> bool:
        """Whether one of these, that were started since the last pass began but cannot be sent
        where they were placed, may not be overtaken again: as many as may were started after it.
        `not_sent`: the seqs of those that were not sent either, so far."""
        bound = self._bound
        if not bound:
            return False
        sent = sorted(
            (seq, place, taken)
            for place, (seq, taken) in enumerate(self._started)
            if seq not in not_sent and seq not in self._returned
        )
        return any(self._is_due_back(seq, sent, bound) for seq in seqs if seq in self._gone)

    def _is_due_back(self, seq: int, sent: Sequence[tuple[int, int, int]], bound: int) -> bool:
        """See `due_back`. Most have been overtaken by few of those that were sent."""
        place, mask = self._gone[seq]
        overtakers = {later for later in self._groups[mask].overtakers if later > seq}
        for later, after, taken in sent[bisect(sent, (seq + 1,)) :]:
            if len(overtakers) >= bound:
                break
            if after >= place and mask & taken:
                overtakers.add(later)
        return len(overtakers) >= bound

    def blocker(self, entry: Entry) -> int:
        """The key of the oldest protected job that this waiting job would have to overtake.

        Raises StopIteration if there is none.
        """
        mask = self._mask(entry)
        return next(
            protected_head.key
            for protected_head in self.protected_heads
            if self._mask(protected_head) & mask
        )

    def counts(self, not_sent: Collection[int] = ()) -> dict[int, tuple[int, ...]]:
        """The seqs of the overtakers by set of clusters. `not_sent`: the seqs of those that were
        started since the last pass began, and would wait again if all but this was forgotten."""
        self._settle()
        groups, bound = self._groups, self._bound
        found = {m: tuple(g.overtakers) for m, g in groups.items() if g.overtakers and g.count}
        unsent = set(not_sent) & self._gone.keys()
        if not bound or not unsent:
            return found
        back: dict[int, list[tuple[int, int]]] = {}
        for seq in unsent:
            place, mask = self._gone[seq]
            back.setdefault(mask, []).append((place, seq))
        sent = [
            (place, seq, taken)
            for place, (seq, taken) in enumerate(self._started)
            if seq not in unsent and seq not in self._returned
        ]
        for mask, these in back.items():
            overtakers = _overtook(sorted(these), mask, sent).union(groups[mask].overtakers)
            if overtakers:
                found[mask] = tuple(sorted(overtakers)[-bound:])
        return found

    def restore(self, counts: Mapping[int, Sequence[int]]) -> None:
        """Go on from what `counts` returned, once the waiting jobs have joined again."""
        for mask, overtakers in counts.items():
            if mask in self._groups and self._bound:
                self._groups[mask].overtakers = sorted(overtakers)[-self._bound :]
        self.moved()

    def _settle(self) -> None:
        """Who could not be sent where it was placed waits again, at its old place: whoever was
        started after it, and did not come back as well, has overtaken it."""
        if not self._back:
            return
        back, self._back = self._back, []
        # Where many come back few have started: they are looked at by each, the others by none.
        gone = [
            (place, seq, taken)
            for place, (seq, taken) in enumerate(self._started)
            if seq not in self._returned
        ]
        for entry, before in back:
            if not self._bound or self._waiting.get(entry.key) != entry:
                continue
            group = self._groups[self._mask(entry)]
            for place, seq, taken in gone:
                later = place >= before and seq > entry.seq
                if later and group.mask & taken and seq not in group.overtakers:
                    insort(group.overtakers, seq)
            del group.overtakers[: -self._bound]
            self._stale = True

    def _mask(self, entry: Entry) -> int:
        """The clusters in which a job could run, as bits."""
        request = entry.request
        if entry.pin >= 0:
            return 1 << entry.pin
        if request.exclude:
            return self._everywhere & ~sum(1 << cluster for cluster in request.exclude)
        return request.mask or self._everywhere

    def _leave(self, entry: Entry) -> None:
        group = self._groups[self._mask(entry)]
        group.count -= 1
        if group.protected_head is not None and group.protected_head.seq == entry.seq:
            group.protected_head = None
            self.protected_heads.remove(entry)
            self.left_protected.add(entry.key)
            self.protected_left += 1
        if not group.count:
            group.waiting.clear()
            group.eligible = None
            self._empty.add(group.mask)
        elif len(group.waiting) > 2 * group.count + 16:
            group.waiting = deque(group.living(self._waiting))
            group.eligible = None

    def _oldest(self, group: _ContentionGroup) -> Entry:
        """The oldest waiting job (there is one)."""
        waiting, jobs = self._waiting, group.waiting
        while waiting.get(jobs[0].key) != jobs[0]:
            jobs.popleft()
        return jobs[0]

    def _renew(self, changed: Iterable[_ContentionGroup]) -> None:
        """Find the protected heads that are missing; a protected head stays one until it leaves."""
        different = False
        for group in changed:
            if group.count and group.protected_head is None:
                group.protected_head = self._find_protected_head(group)
                different = different or group.protected_head is not None
        if different:
            self._collect()

    def _collect(self) -> None:
        protected_heads = [
            group.protected_head
            for group in self._groups.values()
            if group.protected_head is not None
        ]
        self.protected_heads = sorted(protected_heads)

    def _find_protected_head(self, group: _ContentionGroup) -> Entry | None:
        """The oldest of these jobs, if it is protected; those aside do not count."""
        oldest = self._oldest(group)
        if not self._due(group, oldest):
            return None
        first = (
            oldest
            if oldest.key not in self._aside
            else group.first_eligible(self._waiting, self._aside)
        )
        return first if first is not None and self._due(group, first) else None

    def _due(self, group: _ContentionGroup, entry: Entry) -> bool:
        if self._now - entry.joined >= self._wait:
            return True
        bound = self._bound
        if not bound:
            return bound == 0
        overtakers = group.overtakers
        return len(overtakers) == bound and overtakers[0] > entry.seq


def _overtook(
    back: Iterable[tuple[int, int]], mask: int, sent: Iterable[tuple[int, int, int]]
) -> set[int]:
    """Which of those that were `sent` (in this order: place, seq, clusters as bits) have overtaken
    one of a group that comes `back` (in order of place: that, and its seq)."""
    coming, oldest = deque(back), inf
    found: set[int] = set()
    for place, seq, taken in sent:
        while coming and coming[0][0] <= place:
            oldest = min(oldest, coming.popleft()[1])
        if oldest < seq and mask & taken:
            found.add(seq)
    return found
