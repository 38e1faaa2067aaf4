"""The discrete-event loop: it plays a stream of jobs to a policy in virtual time.

Order at one instant (models, section 4): "batch" is all ends, then all submissions, then one pass.
"pyss" is event by event, each with its own pass, submissions before terminations, as the simulator
of that name does; see `_Engine.pyss`. The order changes results: it is part of a model.

The engine keeps its own book of idle processors, so a policy that uses more than there are is found
out, and it holds only jobs that wait or run: a run of any length needs the same memory.

A job whose files must come holds its processors from the moment of its placement, and its script
starts when the last of its components has them (`Request.costs`).
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from heapq import heappop, heappush
from math import inf
from operator import attrgetter

from metabroker.policy import Launch, Planner, Request, Scheduler, transfer_time
from metabroker.simulation.errors import Impossible, Overbooked, impossible, overbooked
from metabroker.simulation.job import SimJob
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


class _Engine(ABC):
    """The events, and the book of idle processors; a subclass speaks to its kind of policy."""

    def __init__(self, jobs: Iterable[SimJob], processors: Sequence[int], sink: Sink) -> None:
        self._stream = in_order(jobs)
        self._processors = list(processors)
        self._idle = list(processors)
        self._sink = sink
        self._done: list[Finished] = []
        self._ends: list[Finished] = []
        """The running jobs: a heap by end."""
        self._waiting: dict[int, SimJob] = {}
        self._starts = 0
        self.submitted = 0
        """The number of jobs that were taken from the stream and submitted."""
        self._possible: set[object] = set()

    # The two orders of events.

    def batch(self) -> None:
        """At one instant all ends, in the order of the keys as a daemon sorts them, then all
        submissions, then one pass."""
        following = next(self._stream, _NO_JOB)
        while self._ends or following.submit < inf:
            now = min(following.submit, self._ends[0].end if self._ends else inf)
            ended = sorted(self._due(now), key=attrgetter("key"))
            for job in ended:
                self._end(job)
            first = self.submitted
            while following.submit <= now:
                self._submit(following)
                following = next(self._stream, _NO_JOB)
            if self._waiting:
                self._pass(now, ended)
                self._check(first)
        self._flush()

    def pyss(self) -> None:
        """At one instant each submission with a pass, then each end with a pass.

        A job that ends at this very instant because its estimate is over is known to end, so its
        processors are free from the first event of the instant on; its own event still has its
        pass. Equal ends come in the order of the starts.
        """
        following = next(self._stream, _NO_JOB)
        while self._ends or following.submit < inf:
            now = min(following.submit, self._ends[0].end if self._ends else inf)
            ending = self._due(now)
            unforeseen = [job for job in ending if not self._foreseen(job)]
            for job in ending:
                if job not in unforeseen:
                    self._end(job)
            while following.submit <= now:
                self._submit(following)
                following = next(self._stream, _NO_JOB)
                self._pass(now, ())
                self._check(self.submitted - 1)
            for job in ending:
                if job in unforeseen:
                    self._end(job)
                self._pass(now, (job,))
        self._flush()

    def _due(self, now: float) -> list[Finished]:
        """What ends by `now`, taken from those that run."""
        found = []
        while self._ends and self._ends[0].end <= now:
            found.append(heappop(self._ends))
        return found

    # The three events.

    def _submit(self, job: SimJob) -> None:
        """The next job of the stream is submitted."""
        self._waiting[self.submitted] = job
        self._tell_submission(self.submitted, job)
        self.submitted += 1

    def _end(self, job: Finished) -> None:
        for cluster, size in zip(job.clusters, job.sizes, strict=True):
            self._idle[cluster] += size
        self._tell_end(job)
        self._done.append(job)
        if len(self._done) == CHUNK:
            self._flush()

    def _pass(self, now: float, ended: Sequence[Finished]) -> None:
        """Start what the policy starts, these jobs having ended."""
        for key, clusters, sizes in self._decide(now, ended):
            job = self._waiting.pop(key)
            for cluster, size in zip(clusters, sizes, strict=True):
                if size > self._idle[cluster]:
                    raise overbooked(key, cluster, size, self._idle[cluster])
                self._idle[cluster] -= size
            self._starts += 1
            start = now
            if job.request.costs:  # it holds its processors until its files have come
                start += transfer_time(job.request, clusters)
            end = start + self._run_time(job, sizes is not job.request.sizes)
            heappush(self._ends, Finished(end, self._starts, key, job, clusters, sizes, start))

    def _flush(self) -> None:
        done, self._done = self._done, []
        if done:
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
            if kind not in self._possible and not self._ever_fits(job):
                raise impossible(key, job.request, self._processors)
            self._possible.add(kind)

    # What a kind of policy is told and asked.

    @abstractmethod
    def _tell_submission(self, key: int, job: SimJob) -> None: ...

    @abstractmethod
    def _tell_end(self, job: Finished) -> None: ...

    @abstractmethod
    def _decide(self, now: float, ended: Sequence[Finished]) -> Iterable[Launch]: ...

    @abstractmethod
    def _run_time(self, job: SimJob, split: bool) -> float: ...

    @abstractmethod
    def _foreseen(self, job: Finished) -> bool:
        """Does the policy know that this job, which ends now, does?"""

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

    def _tell_submission(self, key: int, job: SimJob) -> None:
        queue = self._policy.queue_of(job.request, job.local)
        self._policy.arrive(key, job.request, queue, job.submit)

    def _tell_end(self, job: Finished) -> None:
        """Only before a pass: where nobody waits and nobody comes, an end decides nothing."""

    def _decide(self, now: float, ended: Sequence[Finished]) -> Iterable[Launch]:
        for job in ended:
            self._policy.depart([job.clusters[index] for index in job.job.request.order])
        starts = self._policy.run(self._idle.copy(), now)
        return [(key, clusters, self._waiting[key].request.sizes) for key, clusters in starts]

    def _run_time(self, job: SimJob, split: bool) -> float:
        return job.run_time

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

    def _tell_submission(self, key: int, job: SimJob) -> None:
        self._policy.submit(key, job.request, job.local, job.estimate, job.submit)

    def _tell_end(self, job: Finished) -> None:
        self._policy.end(job.key, job.end)

    def _decide(self, now: float, ended: Sequence[Finished]) -> Iterable[Launch]:
        return self._policy.run(now)

    def _run_time(self, job: SimJob, split: bool) -> float:
        return job.run_time * (1 + self._policy.overhead) if split else job.run_time

    def _foreseen(self, job: Finished) -> bool:
        return job.job.run_time >= job.job.estimate

    def _ever_fits(self, job: SimJob) -> bool:
        return self._policy.ever_fits(job.request)
