"""EASY, CONSERVATIVE, JOB-SHARING and MULTI-SITE behind the interface that a daemon drives.

A planner keeps its own book of what runs (see `planner`), and in the simulator nothing else happens
than what it has decided. A daemon knows more: jobs of others come and go, a cluster goes down, a
component ends before the others, a job that was placed is refused. So before each pass the
planner's book is compared with what the driver tells of now. Where they are the same, it decides
just what it decides in the simulator. Where they differ, a planner is made anew, of what runs and
waits now; promises are then made again, in the order of submission.

Nobody needs aging here: a head that cannot start has a promise, which no other job may postpone.
Under MULTI-SITE that holds for the jobs that wait. One that is submitted may start before them.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from math import inf
from typing import NamedTuple, Protocol

from metabroker.policy.context import Context
from metabroker.policy.entry import Entry, Start
from metabroker.policy.fcfs import FcfsQueue
from metabroker.policy.gs import GlobalScheduler
from metabroker.policy.placement import Place
from metabroker.policy.planner import Launch, LivePlanner
from metabroker.policy.request import Placement, Request, Sizes
from metabroker.policy.scheduler import PolicyState

Make = Callable[[Sequence[int], Place], LivePlanner]
"""Makes a planner, of the processors of clusters and the rule of placement."""

_ENDS = 32  # of others' jobs in a cluster: what ends at about the same time ends together


class Run(NamedTuple):
    """What a job holds: `sizes[i]` processors of `clusters[i]`, until `end` (Unix seconds) at the
    latest."""

    clusters: Placement
    sizes: Sizes
    end: float


class Book(Protocol):
    """What a driver knows of the jobs, besides what it tells by arrive() and depart()."""

    def limit(self, key: int) -> float:
        """For how long a waiting job may run, in seconds."""

    def running(self, now: float) -> Mapping[int, Run]:
        """What each job holds that has been started."""

    def others(self, cluster: int, processors: int, now: float) -> Sequence[tuple[int, float]]:
        """Until when (Unix seconds) others hold so many processors of a cluster: some, and until
        when. What nobody knows of may end at any moment."""


class _Driven:
    """A planner, and what it was told of. `free`: the processors that its book leaves free."""

    def __init__(self, make: Make, place: Place, most: int) -> None:
        self._make = make
        self._place = place
        self._most = most
        self._planner: LivePlanner | None = None
        self._runs: dict[int, Run] = {}
        self._told: set[int] = set()
        self._untold: list[Entry] = []  # in the order of joining
        self._last = -1  # the seq of the latest of all that the planner was told of
        self.seen = -1  # the seq of the latest of all that had joined when the last pass ended
        self.free: list[int] = []

    def outdate(self) -> None:
        """Something has changed that a planner cannot be told of."""
        self._planner = None

    def joined(self, entry: Entry) -> None:
        """A job waits."""
        seq = entry.seq
        if seq < self._last or (self._untold and seq < self._untold[-1].seq):
            self.outdate()  # it comes back to its old place
        self._untold.append(entry)

    def left(self, key: int) -> None:
        """A job does not wait any more, and has not been started here."""
        if key not in self._told:
            self._untold = [entry for entry in self._untold if entry.key != key]
            return
        self._told.remove(key)
        if self._planner is not None:
            self._planner.withdraw(key)

    def catch_up(
        self,
        idle: Sequence[int],
        size: Sequence[int],
        waiting: Iterable[Entry],
        now: float,
        book: Book,
    ) -> None:
        """Let the planner's book be as it is now: by telling it who has ended, or by another
        planner. `size`: processors of the clusters, `waiting`: all who wait, in their order."""
        running = book.running(now)
        if self._planner is not None:
            for key in [key for key in self._runs if key not in running]:
                run = self._runs.pop(key)
                for cluster, processors in zip(run.clusters, run.sizes, strict=True):
                    self.free[cluster] += processors
                self._planner.end(key, now)
            if self.free == list(idle) and self._runs.keys() == running.keys():
                return
        self._planner = self._anew(idle, size, running, now, book)
        self._told.clear()
        self._untold = list(waiting)
        self._last = -1

    def would_start(self, request: Request, limit: float, now: float) -> Placement | None:
        """Where one more job would start, if all that wait are told of."""
        if self._planner is None or len(self._untold) > 1:
            return None
        return self._planner.would_start(request, limit, now)

    def run(self, now: float, book: Book) -> list[Launch]:
        """A pass, with those who have joined."""
        planner, found = self._planner, list[Launch]()
        assert planner is not None
        while True:
            self._tell(planner, now, book)
            launches = planner.run(now)
            for key, clusters, sizes in launches:
                self._told.remove(key)
                self._runs[key] = Run(clusters, sizes, now + book.limit(key))
                for cluster, processors in zip(clusters, sizes, strict=True):
                    self.free[cluster] -= processors
            found += launches
            if not (launches and self._untold):
                return found

    def _tell(self, planner: LivePlanner, now: float, book: Book) -> None:
        """Tell it of those who have joined, as far as it has not enough of them."""
        count = max(0, self._most - len(planner))
        for job in self._untold[:count]:
            tell = planner.rejoin if job.seq <= self.seen else planner.submit
            tell(job.key, job.request, job.queue, book.limit(job.key), now)
            self._told.add(job.key)
            self._last = job.seq
        del self._untold[:count]

    def _anew(
        self,
        idle: Sequence[int],
        size: Sequence[int],
        running: Mapping[int, Run],
        now: float,
        book: Book,
    ) -> LivePlanner:
        """A planner of what runs now. A cluster that is down is one processor, in use for ever."""
        planner = self._make([max(1, processors) for processors in size], self._place)
        self.free, self._runs = list(idle), {}
        left = [max(1, n) - m for n, m in zip(size, idle, strict=True)]
        for key, run in running.items():
            parts = []
            for cluster, processors in zip(run.clusters, run.sizes, strict=True):
                held = min(processors, left[cluster])
                if held > 0:  # else its nodes are down
                    left[cluster] -= held
                    parts.append((cluster, held))
            if parts:
                planner.adopt(key, parts, run.end, now)
                sizes = tuple(held for _, held in parts)
                self._runs[key] = Run(tuple(cluster for cluster, _ in parts), sizes, run.end)
        stranger = -1
        for cluster, processors in enumerate(left):
            if processors < 1:
                continue
            down = [(processors, inf)] if not size[cluster] else []
            for held, until in _few(down or book.others(cluster, processors, now)):
                stranger -= 1
                planner.adopt(stranger, [(cluster, held)], until, now)
        return planner


class _BackfilledQueue(FcfsQueue):
    """A queue of which the planner says whether a job that joins it would start. `size`: the
    processors of the clusters."""

    __slots__ = ("driven", "size")

    driven: _Driven
    size: Sequence[int]

    def open_to(self, request: Request, idle: Sequence[int]) -> Sequence[int]:
        """One that may be split, and is too large for any one cluster, cannot stand in line."""
        if self.contested and request.parts > 1:
            whole = replace(request, parts=1, groups=())
            if self.size and self.place(whole, self.size) is None:
                return idle
        return super().open_to(request, idle)

    def would_start(
        self, entry: Entry, idle: Sequence[int], limit: float, now: float
    ) -> Placement | None:
        return self.driven.would_start(entry.request, limit, now)


class Backfilling(GlobalScheduler):
    """One global queue, in which a planner decides. `make`: of clusters' processors, and a rule of
    placement, the planner. It is told of the first `most` jobs that wait; the others are behind
    them. Without `follow` it cannot run."""

    def __init__(self, context: Context, make: Make, most: int) -> None:
        super().__init__(replace(context, aging=None, discipline="FCFS"))
        self._driven = _Driven(make, self._room, most)
        queue = _BackfilledQueue(self.clusters, self.clusters, self._place, self._waiting, None)
        queue.driven, queue.size = self._driven, ()
        self._queue = self._queues[self.clusters] = self._backfilled = queue
        self._book: Book | None = None
        self._size: list[int] = []

    def follow(self, book: Book) -> None:
        """Take from this book what is not told."""
        self._book = book

    def arrive(
        self, key: int, request: Request, queue: int, now: float, *, seq: int | None = None
    ) -> None:
        super().arrive(key, request, queue, now, seq=seq)
        if key not in self._reach.aside:
            self._driven.joined(self._waiting[key])

    def restore(self, state: PolicyState) -> None:
        super().restore(state)
        self._driven.seen = self._next_seq - 1

    def remove(self, key: int, started: Placement | None = None, seq: int = -1) -> bool:
        waited = super().remove(key, started, seq)
        if waited:
            self._driven.left(key)
        return waited

    def run(
        self,
        idle: list[int],
        now: float,
        capacity: Sequence[int] | None = None,
        contested: Sequence[int] = (),
    ) -> list[Start]:
        book, driven, queue = self._book, self._driven, self._queue
        assert book is not None, "follow() comes first"
        if tuple(contested) != self._contested:
            self._contested = queue.contested = tuple(contested)
            driven.outdate()
        size = list(self._size or idle) if capacity is None else list(capacity)
        if self._reach.update(size) or size != self._size:
            self._size = self._backfilled.size = size
            driven.outdate()
        driven.catch_up(idle, size, queue, now, book)
        starts: list[Start] = []
        self.divided = {}
        for key, clusters, sizes in driven.run(now, book):
            entry = self._waiting.pop(key)
            queue.remove(entry)
            starts.append((key, clusters))
            if len(sizes) > len(entry.request.sizes):
                self.divided[key] = sizes
        idle[:] = driven.free
        self._news, self._departed, self._since = [], False, self._next_seq
        driven.seen = self._next_seq - 1
        return starts

    def _room(self, request: Request, idle: Sequence[int]) -> Placement | None:
        """The rule of placement, where it may place."""
        return self._place(request, self._queue.open_to(request, idle))


def _few(ends: Sequence[tuple[int, float]]) -> Sequence[tuple[int, float]]:
    """Not more than `_ENDS`: each by the last end of those that it stands for."""
    if len(ends) <= _ENDS:
        return ends
    ends = sorted(ends, key=_end)
    step = -(-len(ends) // _ENDS)
    groups = [ends[first : first + step] for first in range(0, len(ends), step)]
    return [(sum(processors for processors, _ in group), group[-1][1]) for group in groups]


def _end(held: tuple[int, float]) -> float:
    return held[1]
