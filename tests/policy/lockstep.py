"""The real policy and the slow reference, driven by the same events and compared after each."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

from metabroker.policy import Aging, Options, Placement, Request, SchedulerView, make
from tests.policy.reference import Job, Reference


@dataclass
class Lockstep:
    """Both schedulers of one policy over clusters with `processors` each."""

    policy: str
    processors: Sequence[int]
    discipline: str
    placement: str
    aging: Aging | None = None
    options: Options = field(default_factory=Options)
    seed: int = 0

    def __post_init__(self) -> None:
        count = len(self.processors)
        self.real = make(
            self.policy,
            count,
            placement=self.placement,
            discipline=self.discipline,
            aging=self.aging,
            rng=Random(self.seed),
            options=self.options,
        )
        self.slow = Reference(
            self.policy,
            count,
            self.placement,
            self.discipline,
            self.aging,
            Random(self.seed),
            self.options,
        )
        self.now = 0.0
        self.up = [True] * count
        self.used = [0] * count
        self.running: list[tuple[Request, Placement]] = []
        self.requests: dict[int, Request] = {}
        self.started: list[int] = []
        self.held: list[Job] = []
        self.next_key = 10_000
        """Keys fall while seqs rise: who mixes them up is found out."""

    def arrive(self, request: Request, local: int) -> None:
        """A new job."""
        key, self.next_key = self.next_key, self.next_key - 1
        self.requests[key] = request
        queue = self.real.queue_of(request, local)
        self.real.arrive(key, request, queue, self.now)
        self.slow.arrive(key, request, queue, self.now)

    def end(self, which: int) -> None:
        """One of the running jobs ends."""
        if not self.running:
            return
        request, placement = self.running.pop(which % len(self.running))
        for cluster, size in zip(placement, request.sizes, strict=True):
            self.used[cluster] -= size
        clusters = [placement[component] for component in request.order]
        self.real.depart(clusters)
        self.slow.depart(clusters)

    def cancel(self, which: int) -> None:
        """One of the waiting jobs is removed."""
        waiting = sorted(job.key for job in self.slow.jobs)
        if waiting:
            key = waiting[which % len(waiting)]
            assert self.real.remove(key)
            assert not self.real.remove(key)
            self.slow.remove(key)

    def hold(self, which: int) -> None:
        """One of the waiting jobs is removed, and will come back."""
        waiting = sorted(self.slow.jobs, key=lambda job: job.key)
        if waiting:
            job = waiting[which % len(waiting)]
            self.real.remove(job.key)
            self.slow.remove(job.key)
            self.held.append(job)

    def release(self) -> None:
        """Those come back to their old places."""
        for job in self.held:
            request = self.requests[job.key]
            self.real.arrive(job.key, request, job.queue, self.now, seq=job.seq)
            self.slow.arrive(job.key, request, job.queue, self.now, seq=job.seq)
        self.held.clear()

    def toggle(self, cluster: int) -> None:
        """A cluster cannot be reached any more, or again."""
        self.up[cluster] = not self.up[cluster]
        if self.up[cluster]:
            self.real.depart()
            self.slow.depart()

    def run(self, with_capacity: bool) -> None:
        """One pass of both; they must agree in everything that can be seen."""
        capacity = [n if up else 0 for n, up in zip(self.processors, self.up, strict=True)]
        idle = [
            max(0, room - used) if room else 0
            for room, used in zip(capacity, self.used, strict=True)
        ]
        mine, its = idle.copy(), idle.copy()
        known = capacity if with_capacity else None
        starts = self.real.run(mine, self.now, known)
        assert starts == self.slow.run(its, self.now, known)
        assert mine == its
        for key, placement in starts:
            request = self.requests[key]
            self.running.append((request, placement))
            self.started.append(key)
            for cluster, size in zip(placement, request.sizes, strict=True):
                self.used[cluster] += size
        self._compare_state()

    def _compare_state(self) -> None:
        real, slow = SchedulerView(self.real), self.slow
        queues = {index: [job.key for job in slow.queue(index)] for index in real.queues}
        assert real.waiting() == {index: len(keys) for index, keys in queues.items()}
        assert {index: list(real.keys(index)) for index in real.queues} == queues
        assert real.heads() == {index: keys[0] for index, keys in queues.items() if keys}
        assert set(real.aside()) == {job.key for job in slow.jobs if slow.is_aside(job)}
        assert len(self.real) == len(slow.jobs)
