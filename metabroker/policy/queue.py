"""A queue of waiting jobs and its scheduler: what the disciplines have in common."""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence

from metabroker.policy.entry import Entry, Start, insert, place_of
from metabroker.policy.overtaking import Overtaking
from metabroker.policy.placement import Place
from metabroker.policy.request import Placement, Request


class Fifo:
    """Entries in order of seq with append, head and removal of any entry in O(1).

    A removed entry stays in the deque, marked, until it comes to the front or until the marked
    outnumber the others. (The first key of a plain dict costs O(n) after n removals at its front.)
    `items` is falsy if and only if nothing waits, and `items[0]` is never a removed entry.
    """

    __slots__ = ("items", "removed")

    def __init__(self) -> None:
        self.items: deque[Entry] = deque()
        self.removed: set[int] = set()

    def __len__(self) -> int:
        return len(self.items) - len(self.removed)

    def __iter__(self) -> Iterator[Entry]:
        removed = self.removed
        if not removed:
            return iter(self.items)
        return (entry for entry in self.items if entry.seq not in removed)

    def append(self, entry: Entry) -> None:
        """Add an entry; one that joined before the last goes to its place."""
        items = self.items
        if items and items[-1].seq >= entry.seq:
            insert(items, entry)
            self.removed.discard(entry.seq)
        else:
            items.append(entry)

    def before(self, seq: int) -> int:
        """How many entries joined before this seq."""
        found = place_of(self.items, seq)
        if self.removed:
            found -= sum(1 for removed in self.removed if removed < seq)
        return found

    def merge(self, entries: Iterable[Entry]) -> None:
        """Add entries at their places by seq, in O(n)."""
        self._keep(sorted([*self, *entries]))

    def popleft(self) -> Entry:
        """Take the head. Raises IndexError if nothing waits."""
        entry = self.items.popleft()
        if self.removed:
            self.strip()
        return entry

    def remove(self, entry: Entry) -> None:
        """Remove an entry that waits."""
        items, removed = self.items, self.removed
        removed.add(entry.seq)
        if items[0].seq == entry.seq:
            self.strip()
        elif 2 * len(removed) > len(items):
            self._keep(list(self))

    def strip(self) -> None:
        """Drop the removed entries at the front."""
        items, removed = self.items, self.removed
        while items and items[0].seq in removed:
            removed.discard(items.popleft()[0])

    def _keep(self, entries: list[Entry]) -> None:
        self.items.clear()
        self.items.extend(entries)
        self.removed.clear()


class Queue(ABC):
    """One queue with its scheduler; a subclass per discipline says which job it may start next.

    `index`: the cluster of a local queue, or the number of clusters for the global queue.
    `waiting`: the waiting jobs of all queues by key; a start takes its job out of it.
    """

    __slots__ = (
        "_waiting",
        "_watch",
        "contested",
        "index",
        "items",
        "local",
        "place",
        "units",
    )

    items: Collection[object]
    """What the discipline keeps its jobs in: falsy if and only if the queue is empty."""

    def __init__(
        self,
        index: int,
        clusters: int,
        place: Place,
        waiting: dict[int, Entry],
        watch: Overtaking | None,
    ) -> None:
        self.index = index
        self.local = index < clusters
        self.place = place
        self._waiting = waiting
        self._watch = watch
        self.units: tuple[int, ...] = ()
        """Processors that each cluster gives at a time, where that is more than one."""
        self.contested: tuple[int, ...] = ()
        """Clusters whose idle processors are not for jobs of one component (see `line`)."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def __iter__(self) -> Iterator[Entry]:
        """The waiting jobs in order of seq."""

    @property
    @abstractmethod
    def head(self) -> Entry:
        """The first waiting job of a non-empty queue."""

    @abstractmethod
    def before(self, seq: int) -> int:
        """How many of its jobs joined before this seq."""

    @abstractmethod
    def append(self, entry: Entry, since: int) -> bool:
        """Add a job; True if it may be tried at its arrival.

        The jobs with a seq of at least `since` have arrived after the last pass.
        """

    @abstractmethod
    def merge(self, entries: Sequence[Entry]) -> None:
        """Add jobs that come back to their places by seq."""

    @abstractmethod
    def remove(self, entry: Entry) -> None:
        """Remove a waiting job."""

    @abstractmethod
    def visit(self, idle: list[int], starts: list[Start]) -> bool:
        """Start at most one job of this non-empty queue; False: nothing fits, disable it."""

    @abstractmethod
    def visit_upto(self, seq: int, idle: list[int], starts: list[Start]) -> bool:
        """As `visit`, but only for jobs with at most this seq; the queue may be empty."""

    @abstractmethod
    def newcomer(self, entry: Entry, idle: list[int], starts: list[Start]) -> bool:
        """Try a job that has arrived after the last pass; True if it was started."""

    @abstractmethod
    def rewind(self) -> None:
        """A pass begins."""

    def fit(self, entry: Entry, idle: Sequence[int]) -> Placement | None:
        """Where a job would go now; None if it does not fit or would overtake a protected job."""
        if self._watch is not None:
            idle = self._watch.left_for(entry.seq, idle)
        return self.fit_on(entry, idle)

    def fit_on(self, entry: Entry, idle: Sequence[int]) -> Placement | None:
        """The same, whomever it would overtake."""
        request = entry.request
        if self.contested:
            idle = self.open_to(request, idle)
        if entry.pin >= 0:
            return (entry.pin,) if idle[entry.pin] >= request.total else None
        return self.place(request, idle)

    def would_start(
        self, entry: Entry, idle: Sequence[int], limit: float, now: float
    ) -> Placement | None:
        """Where the job that joined last would start now, with a time limit of so many seconds;
        None: it would wait."""
        return self.fit(entry, idle)

    def open_to(self, request: Request, idle: Sequence[int]) -> Sequence[int]:
        """`idle` as it is for this request: nothing for one component in contested clusters."""
        if not request.single or not self.contested:
            return idle
        left = list(idle)
        for cluster in self.contested:
            left[cluster] = 0
        return left

    def _start(
        self, entry: Entry, placement: Placement, idle: list[int], starts: list[Start]
    ) -> None:
        """Record the start of a job that has been taken out of the queue."""
        for cluster, size in zip(placement, entry.request.sizes, strict=True):
            idle[cluster] -= size
            if self.units:  # what it holds of whole nodes beyond what it asked for
                idle[cluster] -= -size % self.units[cluster]
        del self._waiting[entry.key]
        starts.append((entry.key, placement))
        if self._watch is not None:
            self._watch.started(entry, placement)
