"""The planners again, as slow and obvious as can be: everything is counted from the job list.

Written from ER 2.4 (EASY, MULTI-SITE), Feitelson and Weil (CONSERVATIVE) and KH 2.2 (the job mix),
without profiles, shadows kept from pass to pass, or lines of equal jobs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from metabroker.policy import Launch, Place, Placement, Request, Sequential, worst_fit
from metabroker.policy.request import Sizes


@dataclass
class Job:
    """A job that waits or runs."""

    key: int
    request: Request
    estimate: float
    submitted: float
    start: float = inf
    clusters: Placement = ()

    @property
    def end(self) -> float:
        return self.start + self.estimate

    def on(self, cluster: int) -> int:
        """Its processors on a cluster."""
        parts = zip(self.clusters, self.request.sizes, strict=True)
        return sum(size for where, size in parts if where == cluster)


class Slow:
    """The queue, the running jobs and the calls of a Planner."""

    def __init__(self, processors: Sequence[int], place: Place) -> None:
        self.processors = list(processors)
        self.place = place
        self.queue: list[Job] = []
        self.running: list[Job] = []
        self.launches: list[Launch] = []

    def submit(self, key: int, request: Request, local: int, estimate: float, now: float) -> None:
        self.queue.append(Job(key, request, estimate, now))

    def end(self, key: int, now: float) -> None:
        self.running = [job for job in self.running if job.key != key]

    def run(self, now: float) -> list[Launch]:
        self.launches = []
        self.decide(now)
        return self.launches

    def decide(self, now: float) -> None:
        raise NotImplementedError

    def idle(self) -> list[int]:
        return [
            size - sum(job.on(cluster) for job in self.running)
            for cluster, size in enumerate(self.processors)
        ]

    def start(self, job: Job, clusters: Placement, now: float) -> None:
        self.queue.remove(job)
        job.start, job.clusters = now, clusters
        self.running.append(job)
        assert min(self.idle()) >= 0
        self.launches.append((job.key, clusters, job.request.sizes))


class SlowEasy(Slow):
    """Backfilling that does not postpone the head; its promise stands until a job ends."""

    promised: tuple[float, Placement] | None = None

    def end(self, key: int, now: float) -> None:
        super().end(key, now)
        self.promised = None

    def decide(self, now: float) -> None:
        while self.queue:
            clusters = self.place(self.queue[0].request, self.idle())
            if clusters is None:
                break
            self.start(self.queue[0], clusters, now)
            self.promised = None
        if not self.queue:
            return
        head = self.queue[0]
        self.promised = shadow, promised = self.promised or self.promise(head)
        for job in self.queue[1:]:
            clusters = self.place(job.request, self.idle())
            if clusters is not None and now + job.estimate > shadow:
                clusters = self.place(job.request, self.beside(head, shadow, promised))
            if clusters is not None:
                self.start(job, clusters, now)

    def free_at(self, time: float) -> list[int]:
        free = self.idle()
        for job in self.running:
            if job.end <= time:
                free = [size + job.on(cluster) for cluster, size in enumerate(free)]
        return free

    def promise(self, head: Job) -> tuple[float, Placement]:
        for time in sorted(job.end for job in self.running):
            clusters = self.place(head.request, self.free_at(time))
            if clusters is not None:
                return time, clusters
        raise AssertionError("the head can never run")

    def beside(self, head: Job, shadow: float, promised: Placement) -> list[int]:
        """What is idle now and not needed for the head at the shadow."""
        left = self.free_at(shadow)
        for cluster, size in zip(promised, head.request.sizes, strict=True):
            left[cluster] -= size
        return list(map(min, self.idle(), left))


class SlowPoolEasy(Slow):
    """On one pool, by the definition: who does not make the head's earliest start later, starts."""

    def decide(self, now: float) -> None:
        while self.queue and self.queue[0].request.total <= self.idle()[0]:
            self.start(self.queue[0], (0,), now)
        for job in self.queue[1:]:
            if job.request.total > self.idle()[0]:
                continue
            head = self.queue[0]
            before = self.earliest(head, self.running, now)
            job.start, job.clusters = now, (0,)
            if self.earliest(head, [*self.running, job], now) <= before:
                self.start(job, (0,), now)

    def earliest(self, head: Job, running: list[Job], now: float) -> float:
        for time in [now, *sorted(job.end for job in running)]:
            used = sum(job.request.total for job in running if job.end > time)
            if used + head.request.total <= sum(self.processors):
                return time
        raise AssertionError("the head can never run")


class SlowMultiSite(SlowPoolEasy):
    """Over all machines: a newcomer starts wherever there is room; who waits is looked at when a
    job has ended, as on one pool, with the estimate of a job that would be split stretched."""

    def __init__(self, processors: Sequence[int], overhead: float) -> None:
        super().__init__(processors, worst_fit)
        self.overhead = overhead
        self.newcomers: list[Job] = []
        self.ended = False
        self.parts: dict[int, tuple[Placement, Sizes]] = {}

    def submit(self, key: int, request: Request, local: int, estimate: float, now: float) -> None:
        super().submit(key, request, local, estimate, now)
        self.newcomers.append(self.queue[-1])

    def end(self, key: int, now: float) -> None:
        super().end(key, now)
        del self.parts[key]
        self.ended = True

    def idle(self) -> list[int]:
        left = list(self.processors)
        for clusters, sizes in self.parts.values():
            for cluster, size in zip(clusters, sizes, strict=True):
                left[cluster] -= size
        return left

    def decide(self, now: float) -> None:
        waiting = [job for job in self.queue if job not in self.newcomers]
        if self.ended:
            while waiting and waiting[0].request.total <= sum(self.idle()):
                self.start_somewhere(waiting.pop(0), now)
            for job in waiting[1:]:
                if job.request.total <= sum(self.idle()) and self.harmless(job, waiting[0], now):
                    self.start_somewhere(job, now)
        for job in self.newcomers:
            if job.request.total <= sum(self.idle()):
                self.start_somewhere(job, now)
        self.newcomers, self.ended = [], False

    def harmless(self, job: Job, head: Job, now: float) -> bool:
        """Whether the head can start as early with the job as without it."""
        started = Job(job.key, job.request, self.stretched(job), now, now)
        before = self.earliest(head, self.running, now)
        return self.earliest(head, [*self.running, started], now) <= before

    def stretched(self, job: Job) -> float:
        whole = job.request.total <= max(self.idle())
        return job.estimate * (1 if whole else 1 + self.overhead)

    def start_somewhere(self, job: Job, now: float) -> None:
        """In the tightest machine that has room, else in the machines with the most idle."""
        size, idle = job.request.total, self.idle()
        job.estimate, job.start = self.stretched(job), now
        room = [cluster for cluster in range(len(idle)) if idle[cluster] >= size]
        if room:
            parts = [(min(room, key=lambda cluster: idle[cluster]), size)]
        else:
            parts = []
            for cluster in sorted(range(len(idle)), key=lambda cluster: -idle[cluster]):
                part = min(size - sum(size for _, size in parts), idle[cluster])
                if part:
                    parts.append((cluster, part))
        clusters, sizes = zip(*parts, strict=True)
        self.parts[job.key] = tuple(clusters), tuple(sizes)
        assert min(self.idle()) >= 0 and sum(sizes) == size
        self.queue.remove(job)
        self.running.append(job)
        self.launches.append((job.key, *self.parts[job.key]))


class SlowConservative(Slow):
    """Every job is promised a slot; slots move forward until none can."""

    def __init__(self, processors: Sequence[int], place: Place) -> None:
        super().__init__(processors, place)
        self.early = False

    def end(self, key: int, now: float) -> None:
        self.early = self.early or any(job.key == key and job.end > now for job in self.running)
        super().end(key, now)

    def decide(self, now: float) -> None:
        moved = self.early
        self.early = False
        while moved:
            moved = False
            for job in self.queue:
                if job.start == inf:
                    continue
                before = job.start
                self.book(job, now)
                assert job.start <= before, "a promise was broken"
                moved = moved or job.start < before
        for job in self.queue:
            if job.start == inf:
                self.book(job, now)
        for job in [job for job in self.queue if job.start <= now]:
            assert job.start == now
            self.start(job, job.clusters, now)

    def book(self, job: Job, now: float) -> None:
        others = [o for o in self.queue + self.running if o is not job and o.start < inf]
        for time in sorted({now} | {other.end for other in others if other.end > now}):
            least = self.least_free(others, time, time + job.estimate)
            clusters = self.place(job.request, least)
            if clusters is not None:
                job.start, job.clusters = time, clusters
                return
        raise AssertionError("the job can never run")

    def least_free(self, others: list[Job], start: float, end: float) -> list[int]:
        moments = [start, *(other.start for other in others if start < other.start < end)]
        frees = [
            [
                size - sum(o.on(cluster) for o in others if o.start <= moment < o.end)
                for cluster, size in enumerate(self.processors)
            ]
            for moment in moments
        ]
        return [min(column) for column in zip(*frees, strict=True)]


class SlowJobMix(Slow):
    """The rules of KH 2.2; the queue is a list that is sorted before it is looked at."""

    def __init__(self, policy: str, processors: Sequence[int], place: Place) -> None:
        super().__init__(processors, place)
        self.largest_first = policy.startswith("LG-SS")
        self.blocking = policy.endswith("-BS")
        self.job_left = False
        self.news: list[Job] = []

    def submit(self, key: int, request: Request, local: int, estimate: float, now: float) -> None:
        self.news.append(Job(key, request, estimate, now))

    def end(self, key: int, now: float) -> None:
        super().end(key, now)
        self.job_left = True

    def in_order(self) -> list[Job]:
        return sorted(self.queue, key=self.rank)

    def rank(self, job: Job) -> tuple[int, int]:
        if not self.largest_first:
            return 0, job.key
        if isinstance(job.request, Sequential):
            return job.request.tasks, job.key
        return -job.request.total, job.key

    def decide(self, now: float) -> None:
        news, self.news = self.news, []
        if self.job_left:
            self.job_left = False
            self.queue += news
            self.scan(now)
            return
        for job in news:
            waiting = self.in_order()
            gang_first = bool(waiting) and not isinstance(waiting[0].request, Sequential)
            self.queue.append(job)
            blocked = self.blocking and gang_first and isinstance(job.request, Sequential)
            if not blocked and job.request.total <= self.idle()[0]:
                self.start(job, (0,), now)

    def scan(self, now: float) -> None:
        waiting = self.in_order()
        if not waiting:
            return
        first = waiting[0].request
        gang_waits = not isinstance(first, Sequential) and first.total > self.idle()[0]
        for job in waiting:
            if self.blocking and gang_waits and isinstance(job.request, Sequential):
                continue
            if job.request.total <= self.idle()[0]:
                self.start(job, (0,), now)
