"""The interface of every queue policy, and what the policies have in common.

A driver (daemon, simulator, test) tells a scheduler what happens and asks it for one pass:

    scheduler = make("LP-GF", clusters=4)
    queue = scheduler.queue_of(request, local=2)
    scheduler.arrive(17, request, queue, now)
    for key, placement in scheduler.run(idle, now):
        ...                       # component i of job `key` starts on cluster placement[i]
    scheduler.depart(clusters)    # later: a job ended; then run() again

At one instant: all departures, then all arrivals, then one run() (models' "batch" order); where
nobody waits and nobody arrives, departures decide nothing and need not be told. A job that could
not be started after all (a cluster refused) comes back by arrive(), with a new seq.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from metabroker.policy.context import Context
from metabroker.policy.entry import Entry, Start
from metabroker.policy.fcfs import FcfsQueue
from metabroker.policy.fpfs import FpfsQueue
from metabroker.policy.overtaking import Overtaking
from metabroker.policy.queue import Queue
from metabroker.policy.request import Placement, Request, Sizes
from metabroker.policy.whole_nodes import in_whole_nodes

from .eligibility import Eligibility


class PolicyState(NamedTuple):
    """What the next decisions depend on besides the waiting jobs: ints, and tuples of them."""

    next_seq: int
    overtakers: Sequence[tuple[int, Sequence[int]]] = ()
    """With aging, by set of clusters (as bits): the seqs of the jobs that overtook."""
    order: Sequence[int] = ()
    """LS-DO: the queues in the order in which they were last disabled."""


class Scheduler(ABC):
    """One policy over `clusters` clusters (0 .. clusters - 1); see `make` for the names.

    Queues: the local queues are 0 .. clusters - 1, the global queue is `clusters`; a policy has
    only those that its paper gives it (`queues`). Raises ValueError for a randomised policy
    without a source of randomness.
    """

    randomised = False

    def __init__(self, context: Context) -> None:
        if self.randomised and context.rng is None:
            raise ValueError("a randomised policy needs a source of randomness")
        clusters, place, aging = context.clusters, context.place, context.aging
        self.clusters = clusters
        self.discipline = context.discipline
        self._place = place
        self._rng = context.rng
        self._waiting: dict[int, Entry] = {}
        self._queues: dict[int, Queue] = {}
        self._reach = Eligibility(place, self._waiting, self._queues)
        self._watch: Overtaking | None = None
        if aging is not None:
            self._watch = Overtaking(aging, clusters, self._waiting, self._reach.aside)
        kind = FcfsQueue if context.discipline == "FCFS" else FpfsQueue
        for index in self._indices():
            self._queues[index] = kind(index, clusters, place, self._waiting, self._watch)
        self._next_seq = 0
        self._since = 0
        self._departed = False
        self._contested: tuple[int, ...] = ()
        self._news: list[Entry] = []
        self.divided: Mapping[int, Sizes] = {}
        """The jobs that the last pass has split: by key, the processors of each component."""

    # What a policy says about itself.

    @abstractmethod
    def _indices(self) -> Iterable[int]:
        """The queues that this policy has."""

    @abstractmethod
    def queue_of(self, request: Request, local: int) -> int:
        """The queue that a request joins, submitted at the local queue `local`."""

    @abstractmethod
    def _enabled(self) -> list[Queue]:
        """The non-empty queues that a departure enables, in the order of their visits."""

    def _forbids(self, queue: Queue) -> str | None:
        """The condition not met without which the policy's rule keeps this queue disabled."""
        return None

    def _emptied(self, queue: Queue) -> Sequence[Queue]:
        """The non-empty queues to be enabled because this one became empty during the pass."""
        return ()

    def give_whole(self, units: Sequence[int]) -> None:
        """Clusters give processors only by so many at a time (those of whole nodes; 1: one by one).

        `idle` and `capacity` of run() are then multiples of them, and what a job takes is rounded
        up, component by component. It is placed only where that fits.
        """
        whole = tuple(units) if any(unit > 1 for unit in units) else ()
        place = self._place = self._reach.place = in_whole_nodes(self._place, whole)
        for queue in self._queues.values():
            queue.units, queue.place = whole, place

    # What happens.

    def arrive(
        self, key: int, request: Request, queue: int, now: float, *, seq: int | None = None
    ) -> None:
        """A job joins the tail of a queue at time `now` (seconds; only aging uses it).

        `key` identifies the job until it starts or is removed. `seq` is the order of joining;
        None: the next one. A job that comes back after a restart, or from being held, may be given
        the seq that it had: it takes its old place, and under FCFS counts as a departure. Raises
        KeyError if the policy has no such queue, ValueError if the key waits already or an ordered
        request names an unknown cluster.
        """
        line = self._queues[queue]
        if key in self._waiting:
            raise ValueError(f"job {key} is already waiting")
        pin = -1
        if request.needs:
            if request.needs[-1][0] >= self.clusters:
                raise ValueError(f"no cluster has the index {request.needs[-1][0]}")
        elif request.single and line.local:
            pin = queue
        if seq is None:
            seq = self._next_seq
            self._next_seq = seq + 1
        elif seq >= self._next_seq:
            self._next_seq = seq + 1
        if seq < self._since and self.discipline == "FCFS":
            # Of several that come to places in front of newcomers each becomes the head only as the
            # one before it has started.
            self._departed = True
        self._waiting[key] = entry = Entry(seq, key, request, pin, queue, now)
        if self._watch is not None:
            self._watch.joined(entry)
        reach = self._reach
        if reach.limited and not reach.can_run(entry):
            reach.aside[key] = entry
        elif line.append(entry, self._since):
            self._news.append(entry)

    def remove(self, key: int, started: Placement | None = None, seq: int = -1) -> bool:
        """A waiting job is cancelled or held; False if it does not wait.

        Counts as a departure: a new head, a shorter queue, or a job that is no longer protected
        may let others start at the next run(). `started`: it has started there by another way than
        a pass (from a cluster's own queue), and counts as having overtaken whom it has; so does
        one that does not wait here (it is at a limit, say), by its `seq`.
        """
        entry = self._waiting.pop(key, None)
        if entry is None:
            if self._watch is not None and started is not None:
                self._watch.passed(seq, started)
            return False
        if self._reach.aside.pop(key, None) is None:
            self._queues[entry.queue].remove(entry)
        if self._watch is not None:
            if started is None:
                self._watch.left(entry)
            else:
                self._watch.started(entry, started)
        self._departed = True
        return True

    def depart(self, clusters: Sequence[int] = ()) -> None:
        """A job ended, or idle processors became more for any other reason.

        `clusters` are those of the departing job in order of decreasing component size (only
        LS-RO uses them; repeats are ignored).
        """
        self._departed = True

    def run(
        self,
        idle: list[int],
        now: float,
        capacity: Sequence[int] | None = None,
        contested: Sequence[int] = (),
    ) -> list[Start]:
        """One pass: which jobs start now, and where, in the order of the decisions.

        `idle[c]` are the idle processors of cluster c (0 if unknown); they are decremented in
        place. After a departure: a full departure pass. Otherwise the jobs that arrived since the
        last pass are tried in their order, unless a rule of the policy forbids it: under FCFS
        those with nobody in front of them, under FPFS all.

        `capacity[c]` are the processors of cluster c with nothing running (0 if it cannot be
        reached). A waiting job that does not fit there is set aside until it does; a change that
        moves a job counts as a departure. None: the capacity is as before (at first: unlimited).

        A job that may be split (`Request.parts`) has a cluster for each of its components if the
        policy has split it; `divided` tells their sizes.

        `contested`: clusters in which others wait, too. What is idle there is not for jobs of one
        component, which stand in line there instead (see `line`).
        """
        if contested != self._contested:
            self._contested = tuple(contested)
            self._departed = True
            for queue in self._queues.values():
                queue.contested = self._contested
        if capacity is not None and self._reach.update(capacity):
            self._departed = True
            if self._watch is not None:
                self._watch.moved()
        starts: list[Start] = []
        news, self._news = self._news, []
        departed, self._departed = self._departed, False
        if departed or news:
            self._prepare(idle, now, starts)
        if departed:
            self._departure(idle, starts)
        else:
            self._arrivals(news, idle, starts)
        self._since = self._next_seq
        return starts

    # Who waits.

    def __len__(self) -> int:
        """The number of waiting jobs, those set aside included."""
        return len(self._waiting)

    def __bool__(self) -> bool:
        """A scheduler is there also while nobody waits."""
        return True

    def __contains__(self, key: object) -> bool:
        """Does a job with this key wait?"""
        return key in self._waiting

    def ever_fits(self, request: Request, queue: int, processors: Sequence[int]) -> bool:
        """Could a job of this queue run on clusters of `processors[c]` with nothing running?

        Raises KeyError if the policy has no such queue.
        """
        if self._queues[queue].local and request.single and not request.needs:
            return processors[queue] >= request.total
        return self._place(request, processors) is not None

    # What survives a restart.

    def state(self, not_sent: Collection[int] = ()) -> PolicyState:
        """What a store has to keep, besides the waiting jobs, for a restart to change nothing.
        `not_sent`: the seqs of those that the last pass has started, and that wait after a restart,
        since nothing of it has been done yet."""
        if self._watch is None:
            return PolicyState(self._next_seq)
        counts = self._watch.counts(not_sent)
        return PolicyState(self._next_seq, tuple(sorted(counts.items())))

    def restore(self, state: PolicyState) -> None:
        """Go on from state(), once the waiting jobs have arrived with the seqs that they had."""
        self._next_seq = max(self._next_seq, state.next_seq)
        if self._watch is not None:
            self._watch.restore(dict(state.overtakers))

    # How a pass goes.

    def _prepare(self, idle: list[int], now: float, starts: list[Start]) -> None:
        """Before the policy's own visits, the queues of protected jobs are visited.

        The oldest protected job first; its queue up to that job, again and again until nothing
        fits. So a protected job gets its chance also where a rule has its queue disabled.
        """
        for queue in self._queues.values():
            queue.rewind()
        watch = self._watch
        if watch is None:
            return
        watch.new_pass()
        watch.begin(now)
        done: set[int] = set()
        while True:
            protected_head = next(
                (entry for entry in watch.protected_heads if entry.queue not in done), None
            )
            if protected_head is None:
                return
            queue = self._queues[protected_head.queue]
            if not queue.visit_upto(protected_head.seq, idle, starts):
                done.add(protected_head.queue)
            elif not queue.items:
                self._emptied_early(queue)

    def _emptied_early(self, queue: Queue) -> None:
        """A queue became empty before the policy's own visits: only LS-DO minds."""
        return

    def _departure(self, idle: list[int], starts: list[Start]) -> None:
        """A departure pass: enable, then visit in rounds."""
        self._rounds(self._enabled(), idle, starts)

    def _arrivals(self, news: list[Entry], idle: list[int], starts: list[Start]) -> None:
        """Try the newcomers in their order, then visit the queues that the rules open thereby."""
        enabled: list[Queue] = []
        for entry in news:
            queue = self._queues[entry.queue]
            if self._forbids(queue) is not None:
                continue
            if queue.newcomer(entry, idle, starts) and not queue.items:
                enabled.extend(self._emptied(queue))
        self._rounds([queue for queue in enabled if queue.items], idle, starts)

    def _rounds(self, enabled: list[Queue], idle: list[int], starts: list[Start]) -> list[Queue]:
        """Visit the enabled queues in rounds, at most one start per queue and round (BE03 2.5).

        A queue from which nothing fits, or that became empty, is disabled. Returns the queues in
        the order in which they were disabled. `enabled` is used up.
        """
        disabled: list[Queue] = []
        while enabled:
            still: list[Queue] = []
            for queue in enabled:
                if not queue.visit(idle, starts):
                    disabled.append(queue)
                elif queue.items:
                    still.append(queue)
                else:
                    disabled.append(queue)
                    enabled.extend(self._emptied(queue))
            enabled = still
        return disabled
