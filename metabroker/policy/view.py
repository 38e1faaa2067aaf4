"""What can be asked of the jobs that wait: where they stand, why they wait, what would start."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice
from math import inf

from metabroker.policy.entry import Entry, Start
from metabroker.policy.fcfs import FcfsQueue
from metabroker.policy.request import Request
from metabroker.policy.scheduler import Scheduler
from metabroker.policy.why import Reason, Why

_AMONG = 32  # jobs that are looked at for one of one component


class SchedulerView:
    """A scheduler's waiting jobs, to read. It decides nothing, and leaves the state as it was."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler

    @property
    def queues(self) -> tuple[int, ...]:
        """The queues that this policy has."""
        return tuple(self._scheduler._queues)

    def keeps(self, request: Request, queue: int) -> bool:
        """Whether a request that waits in that queue does so under this policy too. Another one
        may have put it there."""
        return queue in self._scheduler._queues and queue == self._scheduler.queue_of(
            request, queue
        )

    def waiting(self) -> dict[int, int]:
        """The number of waiting jobs by queue, without those set aside."""
        return {index: len(queue) for index, queue in self._scheduler._queues.items()}

    def aside(self) -> list[int]:
        """The keys of the jobs set aside, because they need clusters that cannot be reached."""
        return list(self._scheduler._reach.aside)

    def is_aside(self, key: int) -> bool:
        """Whether a job is one of those."""
        return key in self._scheduler._reach.aside

    def seqs(self, queue: int) -> list[int]:
        """The jobs in a queue from head to tail, without those set aside, by their places in the
        order of joining."""
        return [entry.seq for entry in self._scheduler._queues[queue]]

    def keys(self, queue: int) -> Iterator[int]:
        """The keys of the jobs in a queue from head to tail, without those set aside."""
        return (entry.key for entry in self._scheduler._queues[queue])

    def heads(self) -> dict[int, int]:
        """The key of the head of every non-empty queue, by queue."""
        return {
            index: queue.head.key for index, queue in self._scheduler._queues.items() if queue.items
        }

    def position(self, key: int) -> tuple[int, int]:
        """The queue of a job, and how many jobs are in front of it. KeyError if unknown."""
        entry = self._scheduler._waiting[key]
        return entry.queue, self._scheduler._queues[entry.queue].before(entry.seq)

    def seq(self, key: int) -> int:
        """The place of a waiting job in the order of joining. Raises KeyError if unknown."""
        return self._scheduler._waiting[key][0]

    def next_singles(self, depth: int) -> list[Entry]:
        """Of each queue that no rule keeps disabled, the first `depth` jobs of one component: whom
        the policy would start next, in the order of joining. Not all are looked for among very many
        that are co-allocated."""
        found: list[Entry] = []
        for queue in self._scheduler._queues.values():
            if queue.items and self._scheduler._forbids(queue) is None:
                first = islice(queue, depth * _AMONG)
                found += islice((entry for entry in first if entry.request.single), depth)
        return sorted(found)

    def next_coallocated(self, depth: int) -> list[Entry]:
        """Of each queue that no rule keeps disabled, those among the first jobs that are
        co-allocated, `depth` at most; in the order of joining."""
        found: list[Entry] = []
        for queue in self._scheduler._queues.values():
            if queue.items and self._scheduler._forbids(queue) is None:
                first = islice(queue, depth * _AMONG)
                found += islice((entry for entry in first if not entry.request.single), depth)
        return sorted(found)

    def may_start(self, seq: int, cluster: int, now: float) -> bool:
        """Whether no waiting job that may not be overtaken again speaks against a start in that
        cluster now, of a job that joined as `seq`."""
        watch = self._scheduler._watch
        if watch is None:
            return True
        watch.begin(now)
        return watch.left_for(seq, [1] * self._scheduler.clusters)[cluster] > 0

    def was_protected(self, key: int) -> bool:
        """Whether a job could not be overtaken again when the last pass started it."""
        watch = self._scheduler._watch
        return watch is not None and key in watch.left_protected

    def due_back(self, seqs: Iterable[int], not_sent: Collection[int]) -> bool:
        """Whether one of these jobs, that the last pass has started, could not be overtaken again
        if it came back, by those that were started since. `not_sent`: the seqs of all that were
        started and have not begun, so far."""
        watch = self._scheduler._watch
        return watch is not None and watch.due_back(seqs, not_sent)

    def why(
        self, key: int, idle: Sequence[int], now: float, capacity: Sequence[int] | None = None
    ) -> Why:
        """Why a job waits, by the strongest reason. KeyError if unknown.

        `capacity`: None means as at the last pass.
        """
        entry = self._scheduler._waiting[key]
        line = self._scheduler._queues[entry.queue]
        index, position = self.position(key)
        overtaken, protected = 0, False
        if self._scheduler._watch is not None:
            self._scheduler._watch.begin(now)
            overtaken, protected = (
                self._scheduler._watch.overtaken(entry),
                self._scheduler._watch.protected(entry),
            )
        rule = None if protected else self._scheduler._forbids(line)
        blocker: int | None = None
        if key in self._scheduler._reach.aside or not self._fits(entry, capacity):
            reason = Reason.UNREACHABLE
        elif position and isinstance(line, FcfsQueue):
            reason, blocker = Reason.BEHIND, line.head.key
        elif rule is not None:
            reason = Reason.RULE
        elif not self._fits(entry, line.open_to(entry.request, idle)):
            reason = Reason.MISFIT
        elif line.fit(entry, idle) is None and self._scheduler._watch is not None:
            reason, blocker = Reason.OVERTAKING, self._scheduler._watch.blocker(entry)
        else:
            reason = Reason.NEXT
        if reason is not Reason.RULE:
            rule = None
        return Why(key, index, position, reason, rule, blocker, overtaken, protected)

    def preview(
        self,
        request: Request,
        queue: int,
        idle: Sequence[int],
        now: float,
        capacity: Sequence[int] | None = None,
        *,
        limit: float = inf,
    ) -> Start | None:
        """Would a job that joins now, and may run for `limit` seconds, start at once? Returns (-1,
        its placement), or None.

        It decides nothing and leaves the state as it was; run() should have been called since the
        last event. `capacity`: None means as at the last pass. Raises as arrive().
        """
        before = self._scheduler._next_seq, self._scheduler._departed, list(self._scheduler._news)
        self._scheduler.arrive(-1, request, queue, now)
        entry = self._scheduler._waiting[-1]
        placement = None
        if -1 not in self._scheduler._reach.aside and self._fits(entry, capacity):
            if self._scheduler._watch is not None:
                self._scheduler._watch.begin(now)
            line = self._scheduler._queues[queue]
            if self._scheduler._forbids(line) is None:
                placement = line.would_start(entry, idle, limit, now)
        self._scheduler.remove(-1)
        self._scheduler._next_seq, self._scheduler._departed, self._scheduler._news = before
        return None if placement is None else (-1, placement)

    def preview_why(
        self,
        request: Request,
        queue: int,
        idle: Sequence[int],
        now: float,
        capacity: Sequence[int] | None = None,
    ) -> Why:
        """Why a job that joins now would wait; as `preview`, of which it is the other half."""
        before = self._scheduler._next_seq, self._scheduler._departed, list(self._scheduler._news)
        self._scheduler.arrive(-1, request, queue, now)
        why = self.why(-1, idle, now, capacity)
        self._scheduler.remove(-1)
        self._scheduler._next_seq, self._scheduler._departed, self._scheduler._news = before
        return why

    def _fits(self, entry: Entry, processors: Sequence[int] | None) -> bool:
        """Would the job fit on these processors? None: yes."""
        if processors is None:
            return True
        if entry.pin >= 0:
            return processors[entry.pin] >= entry.request.total
        return self._scheduler._place(entry.request, processors) is not None
