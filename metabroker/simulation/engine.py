"""The discrete-event loop: it plays a stream of jobs to a policy in virtual time.

Order at one instant (models, section 4): "batch" is all ends, then all submissions, then one pass.
"pyss" is event by event, each with its own pass, submissions before terminations, as the simulator
of that name does; see `_Engine.pyss`. The order changes results: it is part of a model.

The engine keeps its own book of idle processors, so a policy that uses more than there are is found
out, and it holds only jobs that wait or run: a run of any length needs the same memory.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from heapq import heappop, heappush
from math import inf

from metabroker.policy import Placement, Planner, PoolFcfs, Request, Scheduler, Sizes
from metabroker.simulation.errors import Impossible, Overbooked, impossible, overbooked
from metabroker.simulation.job import SimJob
from metabroker.simulation.queueless import play_in_order
from metabroker.simulation.stream import CHUNK, Finished, Sink, in_order

__all__ = ["CHUNK", "EVENT_ORDERS", "Finished", "Impossible", "Overbooked", "Sink", "simulate"]

EVENT_ORDERS: tuple[str, ...] = ("batch", "pyss")
"""The orders of events at one instant; the first is the default."""


def simulate(
    policy: Scheduler | Planner,
    jobs: Iterable[SimJob],
    processors: Sequence[int],
    sink: Sink,
    *,
    event_order: str = "batch",
) -> int:
    """Play jobs to a new policy on clusters of `processors[c]` processors; returns their number.

    `jobs` are taken one by one, when their time has come; the key of a job is its index, from 0.
    `sink` gets every job after its end. Ends when all have ended. Raises Impossible for a job that
    could never run (when it would have to wait), ValueError for one that is submitted before the
    one in front of it or whose run time is negative, for an unknown event order and for a policy
    made for another system, Overbooked if the policy uses processors that are not idle.
    """
    if event_order not in EVENT_ORDERS:
        raise ValueError(f"no event order is called {event_order!r}; there are batch and pyss")
    if isinstance(policy, PoolFcfs) and len(processors) == 1:
        return play_in_order(policy, jobs, processors[0], sink)
    engine: _Engine
    if isinstance(policy, Planner):
        engine = _PlannerEngine(policy, jobs, processors, sink)
    else:
        engine = _SchedulerEngine(policy, jobs, processors, sink)
    if event_order == "pyss":
        engine.pyss()
    else:
        engine.batch()
    return engine.submitted


_NO_JOB = SimJob(inf, Request((1,)), 0, 0.0, 0.0)
"""Stands behind the last job of the stream."""


def _key(job: Finished) -> int:
    return job[2]


class _Engine(ABC):
    """The events, and the book of idle processors; a subclass speaks to its kind of policy."""

    def __init__(self, jobs: Iterable[SimJob], processors: Sequence[int], sink: Sink) -> None:
        self._stream = in_order(jobs)
        self._processors = list(processors)
        self._idle = list(processors)
        self._sink = sink
        self._done: list[Finished] = []
        self._ends: list[Finished] = []
        """The running jobs: a heap by end, equal ends in the order of the starts."""
        self._waiting: dict[int, SimJob] = {}
        self._serial = 0
        self.submitted = 0
        """The number of jobs that were taken from the stream and submitted."""
        self._possible: set[object] = set()

    # The two orders of events.

    def batch(self) -> None:
        """At one instant all ends, then all submissions, then one pass."""
        ends, waiting, stream = self._ends, self._waiting, self._stream
        following = next(stream, _NO_JOB)
        arrival = following.submit
        while ends or arrival < inf:
            end = ends[0][0] if ends else inf
            now = end if end < arrival else arrival
            if end <= now:
                job = heappop(ends)
                if ends and ends[0][0] <= now:
                    self._end_together(job, now, arrival <= now)
                else:
                    self._end(job, arrival <= now)
            first = self.submitted
            while arrival <= now:
                self._submit(following)
                following = next(stream, _NO_JOB)
                arrival = following.submit
            if waiting:
                self._pass(now)
                if waiting and first < self.submitted:
                    self._check(first)
        self._flush()

    def _end_together(self, job: Finished, now: float, more: bool) -> None:
        """Several jobs end at one instant: in the order of their keys, as a daemon sorts them."""
        ends = self._ends
        ending = [job]
        while ends and ends[0][0] <= now:
            ending.append(heappop(ends))
        ending.sort(key=_key)
        for job in ending:
            self._end(job, more)

    def pyss(self) -> None:
        """At one instant each submission with a pass, then each end with a pass.

        A job that ends at this very instant because its estimate is over is known to end, so its
        processors are free from the first event of the instant on; its own event still has its
        pass. Equal ends come in the order of the starts.
        """
        ends, stream = self._ends, self._stream
        following = next(stream, _NO_JOB)
        while ends or following.submit < inf:
            now = min(following.submit, ends[0][0] if ends else inf)
            ending: list[Finished] = []
            while ends and ends[0][0] <= now:
                ending.append(heappop(ends))
            unforeseen = [job for job in ending if not self._foreseen(job)]
            for job in ending:
                if job not in unforeseen:
                    self._end(job, True)
            while following.submit <= now:
                self._submit(following)
                following = next(stream, _NO_JOB)
                self._pass(now)
                self._check(self.submitted - 1)
            for job in ending:
                if job in unforeseen:
                    self._end(job, True)
                self._pass(now)
        self._flush()

    @abstractmethod
    def _foreseen(self, job: Finished) -> bool:
        """Does the policy know that this job, which ends now, does?"""

    # The three events.

    @abstractmethod
    def _submit(self, job: SimJob) -> None:
        """The next job of the stream is submitted."""

    @abstractmethod
    def _end(self, job: Finished, more: bool) -> None:
        """A job ends; `more`: at the same instant there is more to come before the pass."""

    @abstractmethod
    def _pass(self, now: float) -> None:
        """Start what the policy starts."""

    def _start(self, key: int, clusters: Placement, sizes: Sizes, now: float, end: float) -> None:
        idle = self._idle
        for cluster, size in zip(clusters, sizes):  # noqa: B905 - costs time
            left = idle[cluster] - size
            if left < 0:
                raise overbooked(key, cluster, size, idle[cluster])
            idle[cluster] = left
        self._serial = serial = self._serial + 1
        job = self._waiting.pop(key)
        heappush(self._ends, (end, serial, key, job, clusters, sizes, now))

    def _flush(self) -> None:
        done = self._done
        if done:
            self._done = []
            self._sink(done)

    # Jobs that could never run.

    def _check(self, first: int) -> None:
        """A job that has to wait must be able to run at all: else it might block all others.

        Looks at the jobs from the key `first` on.
        """
        for key in range(first, self.submitted):
            job = self._waiting.get(key)
            if job is None:
                continue
            kind = (job.request.shape, job.local)
            if kind in self._possible:
                continue
            if not self._ever_fits(job):
                raise impossible(key, job.request, self._processors)
            self._possible.add(kind)

    @abstractmethod
    def _ever_fits(self, job: SimJob) -> bool: ...


class _SchedulerEngine(_Engine):
    """Speaks to a policy that looks at the idle processors only."""

    def __init__(
        self, policy: Scheduler, jobs: Iterable[SimJob], processors: Sequence[int], sink: Sink
    ) -> None:
        if policy.clusters != len(processors):
            raise ValueError(
                f"a policy for {policy.clusters} clusters on a system of {len(processors)}"
            )
        super().__init__(jobs, processors, sink)
        self._policy = policy

    def _submit(self, job: SimJob) -> None:
        key = self.submitted
        self.submitted = key + 1
        self._waiting[key] = job
        submit, request, local, _, _ = job
        self._policy.arrive(key, request, self._policy.queue_of(request, local), submit)

    def _end(self, job: Finished, more: bool) -> None:
        idle = self._idle
        for cluster, size in zip(job[4], job[5]):  # noqa: B905 - costs time
            idle[cluster] += size
        # Where nobody waits and nobody comes at the same instant, there is nothing to decide.
        if more or self._waiting:
            self._policy.depart([job[4][index] for index in job[3].request.order])
        self._done.append(job)
        if len(self._done) == CHUNK:
            self._flush()

    def _pass(self, now: float) -> None:
        waiting = self._waiting
        idle = self._idle
        for key, clusters in self._policy.run(idle.copy(), now):
            job = waiting.pop(key)
            sizes = job.request.sizes
            for cluster, size in zip(clusters, sizes):  # noqa: B905 - costs time
                idle[cluster] = left = idle[cluster] - size
                if left < 0:
                    raise overbooked(key, cluster, size, left + size)
            self._serial = serial = self._serial + 1
            heappush(self._ends, (now + job.run_time, serial, key, job, clusters, sizes, now))

    def _foreseen(self, job: Finished) -> bool:
        return False

    def _ever_fits(self, job: SimJob) -> bool:
        queue = self._policy.queue_of(job.request, job.local)
        return self._policy.ever_fits(job.request, queue, self._processors)


class _PlannerEngine(_Engine):
    """Speaks to a policy that is told of estimates and ends."""

    def __init__(
        self, policy: Planner, jobs: Iterable[SimJob], processors: Sequence[int], sink: Sink
    ) -> None:
        if policy.processors != tuple(processors):
            raise ValueError(f"a policy for {policy.processors} on a system of {processors}")
        super().__init__(jobs, processors, sink)
        self._policy = policy
        self._stretch = 1 + policy.overhead

    def _submit(self, job: SimJob) -> None:
        key = self.submitted
        self.submitted = key + 1
        self._waiting[key] = job
        submit, request, local, _, estimate = job
        self._policy.submit(key, request, local, estimate, submit)

    def _end(self, job: Finished, more: bool) -> None:
        idle = self._idle
        for cluster, size in zip(job[4], job[5]):  # noqa: B905 - costs time
            idle[cluster] += size
        self._policy.end(job[2], job[0])
        self._done.append(job)
        if len(self._done) == CHUNK:
            self._flush()

    def _pass(self, now: float) -> None:
        waiting = self._waiting
        for key, clusters, sizes in self._policy.run(now):
            job = waiting[key]
            if sizes is job.request.sizes:
                self._start(key, clusters, sizes, now, now + job.run_time)
            else:
                self._start(key, clusters, sizes, now, now + job.run_time * self._stretch)

    def _foreseen(self, job: Finished) -> bool:
        return job[3].run_time >= job[3].estimate

    def _ever_fits(self, job: SimJob) -> bool:
        return self._policy.ever_fits(job.request)
