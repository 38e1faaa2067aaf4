"""Start times told in a run that is over: what a broker would have said of each job as it came.

The finished jobs of a run are all that it takes: at each instant the ends, the submissions and the
starts, in this order. What is told of a job that has to wait rests on what was known by then: of
the broker's own jobs everything but the run times of those that have not ended, of local users'
only how many processors they hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from math import inf

from metabroker.policy.placement import one_cluster, worst_fit
from metabroker.policy.profile import Profile
from metabroker.prediction import Asked, Estimate, Past, StartTimes, What, in_order

from .stream import Finished


@dataclass(frozen=True, slots=True)
class Told:
    """A job that had to wait. Seconds from its submission: its `wait`, what was told of it (None:
    not known), and when it could start if all jobs before it, or those that run alone, took as long
    as they may (`by_limits`, `by_running`), or as `sbatch --test-only` has it: by those that run,
    and after that all processors work for those that wait before it (`by_test_only`). None: not
    asked of this job, since it takes long."""

    submit: float
    wait: float
    estimate: Estimate | None
    by_limits: float | None
    by_running: float | None
    by_test_only: float | None


def replay(
    jobs: Sequence[Finished],
    local: Sequence[Finished],
    processors: Sequence[int],
    users: Sequence[str],
    every: int = 1,
) -> Iterator[Told]:
    """What would have been told, job by job in the order of submission. `jobs`: the broker's, whose
    `users` are given by key; `local`: those of the clusters' own users. `every`: of the
    n-th jobs only it is told what the limits say."""
    book = _Book(jobs, local, processors, users, every)
    for now, what, key in in_order(book.past.values()):
        if what is not What.LOOK:
            book.happens(what, key, now)
        elif key in book.waiting:
            yield book.told(key, now)


@dataclass(slots=True)
class _Book:
    jobs: Sequence[Finished]
    local: Sequence[Finished]
    processors: Sequence[int]
    users: Sequence[str]
    every: int
    waiting: dict[int, Finished] = field(default_factory=dict)
    _running: dict[int, Finished] = field(default_factory=dict)
    past: dict[int, Past] = field(init=False)
    _known: dict[int, Finished] = field(init=False)
    _others: list[int] = field(init=False)
    _times: StartTimes = field(init=False)

    def __post_init__(self) -> None:
        self._known = {job.key: job for job in (*self.jobs, *self.local)}
        self.past = {key: self._past(job) for key, job in self._known.items()}
        self._others = [0] * len(self.processors)
        self._times = StartTimes(self.processors)

    def _past(self, done: Finished) -> Past:
        end, _, key, job, clusters, sizes, start = done
        asked = Asked(job.request, job.estimate, self.users[key] if key >= 0 else "")
        return Past(key, asked, job.submit, start, end, clusters, sizes)

    def happens(self, what: What, key: int, now: float) -> None:
        """Take an event in."""
        job = self._known[key]
        if key < 0:
            if what is not What.SUBMISSION:
                self._holds(job, 1 if what is What.START else -1)
            return
        self._times.happens(what, self.past[key], now)
        if what is What.SUBMISSION:
            self.waiting[key] = job
        elif what is What.START:
            self._running[key] = self.waiting.pop(key)
        else:
            del self._running[key]

    def told(self, key: int, now: float) -> Told:
        """What is told of a job that waits after its instant's pass."""
        estimate, wait = self._times.predict(key, now), self.waiting[key].start - now
        told = None if estimate is None else estimate.after(-now)
        if key % self.every:
            return Told(now, wait, told, None, None, None)
        by_limits, by_running = self._by_limits(key, True, now), self._by_limits(key, False, now)
        return Told(now, wait, told, by_limits, by_running, by_running + self._work_before(key))

    def _work_before(self, key: int) -> float:
        """For how many seconds all processors would work for those that wait before a job, if they
        took as long as they may: what Slurm adds (`_delayed_job_start_time` in its controller)."""
        before = takewhile(lambda number: number != key, self.waiting)
        jobs = (self.waiting[number].job for number in before)
        work = sum(job.request.total * max(1.0, job.estimate) for job in jobs)
        return work / max(1, sum(self._times.processors))

    def _holds(self, job: Finished, sign: int) -> None:
        for cluster, size in zip(job.clusters, job.sizes, strict=True):
            self._others[cluster] += sign * size
        self._times.resize([a - b for a, b in zip(self.processors, self._others, strict=True)])

    def _by_limits(self, key: int, queue: bool, now: float) -> float:
        """By the availability profile of the limits; `queue`: with those that wait before it."""
        processors = self._times.processors
        profile = Profile(processors, one_cluster if len(processors) == 1 else worst_fit)
        for _, _, _, job, clusters, sizes, start in self._running.values():
            profile.take(now, max(start + job.estimate, now + 1), clusters, sizes)
        for number, found in self.waiting.items():
            job = found.job
            start, clusters = profile.earliest(job.request, max(1.0, job.estimate), now)
            if number == key:
                return start - now
            if queue and start < inf:
                profile.take(start, start + max(1.0, job.estimate), clusters, job.request.sizes)
        return inf
