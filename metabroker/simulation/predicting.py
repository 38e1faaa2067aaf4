"""Start times told in a run that is over: what a broker would have said of each job as it came.

The finished jobs of a run are all that it takes: at each instant the ends, the submissions and the
starts, in this order. What is told of a job that has to wait rests on what was known by then: of
the broker's own jobs everything but the run times of those that have not ended, of local users'
only how many processors they hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import inf

from metabroker.policy import worst_fit
from metabroker.policy.profile import profile_of
from metabroker.prediction import Asked, Estimate, StartTimes

from .stream import Finished

_END, _SUBMISSION, _START, _END_AT_ONCE = range(4)
_Event = tuple[float, int, int]


@dataclass(frozen=True, slots=True)
class Told:
    """A job that had to wait. Seconds from its submission: its `wait`, what was told of it (None:
    not known), and when it could start if all jobs before it, or those that run alone, took as long
    as they may (`by_limits`, `by_running`)."""

    submit: float
    wait: float
    estimate: Estimate | None
    by_limits: float
    by_running: float


def replay(
    jobs: Sequence[Finished],
    local: Sequence[Finished],
    processors: Sequence[int],
    users: Sequence[str],
) -> Iterator[Told]:
    """What would have been told, job by job in the order of submission. `jobs`: the broker's, whose
    `users` are given by key; `local`: those of the clusters' own users."""
    book = _Book(jobs, local, processors, users)
    events = sorted(book.events())
    at = 0
    while at < len(events):
        now, first = events[at][0], at
        while at < len(events) and events[at][0] == now:
            book.happens(events[at])
            at += 1
        for _, what, key in events[first:at]:
            if what == _SUBMISSION and key in book.waiting:
                yield book.told(key, now)


@dataclass(slots=True)
class _Book:
    jobs: Sequence[Finished]
    local: Sequence[Finished]
    processors: Sequence[int]
    users: Sequence[str]
    waiting: dict[int, Finished] = field(default_factory=dict)
    _running: dict[int, Finished] = field(default_factory=dict)
    _known: dict[int, Finished] = field(init=False)
    _others: list[int] = field(init=False)
    _times: StartTimes = field(init=False)

    def __post_init__(self) -> None:
        self._known = {job[2]: job for job in (*self.jobs, *self.local)}
        self._others = [0] * len(self.processors)
        self._times = StartTimes(self.processors)

    def events(self) -> Iterator[_Event]:
        """All that happens, in no order."""
        for end, _, key, job, _, _, start in self._known.values():
            if key >= 0:
                yield job.submit, _SUBMISSION, key
            yield start, _START, key
            yield end, _END if end > start else _END_AT_ONCE, key

    def happens(self, event: _Event) -> None:
        """Take an event in."""
        now, what, key = event
        job = self._known[key]
        if key < 0:
            self._holds(job, 1 if what == _START else -1)
        elif what == _SUBMISSION:
            self.waiting[key] = job
            asked = Asked(job[3].request, job[3].estimate, self.users[key])
            self._times.submitted(key, asked, now)
        elif what == _START:
            self._running[key] = self.waiting.pop(key)
            self._times.started(key, job[4], job[5], now)
        else:
            del self._running[key]
            self._times.ended(key, now)

    def told(self, key: int, now: float) -> Told:
        """What is told of a job that waits after its instant's pass."""
        estimate, wait = self._times.predict(key, now), self.waiting[key][6] - now
        told = None if estimate is None else estimate.after(-now)
        by_limits, by_running = self._by_limits(key, True, now), self._by_limits(key, False, now)
        return Told(now, wait, told, by_limits, by_running)

    def _holds(self, job: Finished, sign: int) -> None:
        for cluster, size in zip(job[4], job[5], strict=True):
            self._others[cluster] += sign * size
            left = self.processors[cluster] - self._others[cluster]
            self._times.processors[cluster] = max(1, left)

    def _by_limits(self, key: int, queue: bool, now: float) -> float:
        """By the availability profile of the limits; `queue`: with those that wait before it."""
        profile = profile_of(self._times.processors, worst_fit)
        for _, _, _, job, clusters, sizes, start in self._running.values():
            profile.take(now, max(start + job.estimate, now + 1), clusters, sizes)
        for number, found in self.waiting.items():
            job = found[3]
            start, clusters = profile.earliest(job.request, max(1.0, job.estimate), now)
            if number == key:
                return start - now
            if queue and start < inf:
                profile.take(start, start + max(1.0, job.estimate), clusters, job.request.sizes)
        return inf
