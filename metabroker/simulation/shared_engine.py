"""The discrete-event loop over clusters that have users and a scheduler of their own.

At one instant: all ends, all submissions of local users, all of the broker's. Then the local
schedulers have their passes, and only then the broker has its own: what it finds idle is promised
to no local job. A job of the broker is *placed* by the policy: it is submitted to the clusters'
own queues and starts in all of them at once, or it is withdrawn and keeps its place. Where the
local scheduler would not start it, this cluster counts for the rest of the instant as having less
than it asked for.

With a `Line`, jobs of one component that the policy would start next *stand in line* in contested
clusters, those in whose own queues somebody waits (`policy.line`). They wait there as siblings; the
first that starts wins, and the others are withdrawn at that instant, before anything else starts.

With a `Plan`, co-allocated jobs that wait get a time that their clusters keep for them
(`planned`).

Local users submit until the broker's last job is submitted. A cluster without local users is as in
`engine`: a run in which no cluster has any starts every job when `simulate` does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from heapq import heappop, heappush, merge
from math import inf
from operator import attrgetter

from metabroker.policy import Placement, Request, Scheduler, Start
from metabroker.policy.entry import Entry
from metabroker.policy.line import NativeQueue, Standing, stand
from metabroker.policy.local_queue import LocalEasy
from metabroker.policy.local_reserving import RESERVING, LocalReserving
from metabroker.policy.view import SchedulerView

from .errors import Overbooked, impossible, overbooked
from .job import SimJob
from .local_users import SCHEDULERS, Line, SharedCluster
from .planned import Plan, PlanFigures, Plans
from .stream import CHUNK, Finished, Sink, in_order

Arrival = tuple[float, int, SimJob]
"""A local user's job: (submission, cluster, job)."""

_NO_JOB = SimJob(inf, Request((1,)), 0, 0.0, 0.0)
_NO_ARRIVAL: Arrival = (inf, 0, _NO_JOB)


def simulate_shared(
    policy: Scheduler,
    jobs: Iterable[SimJob],
    clusters: Sequence[SharedCluster],
    sink: Sink,
    local_sink: Sink,
    line: Line | None = None,
    plan: Plan | None = None,
) -> PlanFigures:
    """Play the broker's `jobs` to a new policy on clusters with local users; returns what plans
    came to.

    `line`: None is idle-only placement. `plan`: None is without plans. `sink` gets the broker's
    jobs after their ends, `local_sink` those of local users, with negative keys. Ends when all have
    ended. Raises as `engine.simulate`.
    """
    if policy.clusters != len(clusters):
        raise ValueError(f"a policy for {policy.clusters} clusters on a system of {len(clusters)}")
    engine = _SharedEngine(policy, clusters, sink, local_sink, line, plan)
    engine.play(in_order(jobs), _arrivals(clusters))
    return PlanFigures() if engine.plans is None else engine.plans.figures


def _arrivals(clusters: Sequence[SharedCluster]) -> Iterator[Arrival]:
    """The local users' jobs of all clusters in the order of their submission."""

    def of(index: int, cluster: SharedCluster) -> Iterator[Arrival]:
        return ((job.submit, index, job) for job in in_order(cluster.jobs))

    return merge(*(of(index, cluster) for index, cluster in enumerate(clusters)))


class _SharedEngine:
    """The events, and a book of idle processors of its own."""

    def __init__(
        self,
        policy: Scheduler,
        clusters: Sequence[SharedCluster],
        sink: Sink,
        local_sink: Sink,
        line: Line | None,
        plan: Plan | None,
    ) -> None:
        self._policy = policy
        self._view = SchedulerView(policy)
        self._line = line or Line(0)
        self._processors = [cluster.processors for cluster in clusters]
        kept: list[LocalReserving] = []
        if plan is not None:
            kept = [RESERVING[c.scheduler]((c.processors,)) for c in clusters]
        pools: list[LocalEasy] = [SCHEDULERS[c.scheduler]((c.processors,)) for c in clusters]
        self._pools: Sequence[LocalEasy | LocalReserving] = kept or pools
        self._idle = list(self._processors)
        self._sinks = {True: local_sink, False: sink}
        self._done: dict[bool, list[Finished]] = {True: [], False: []}
        self._ends: list[Finished] = []
        self._waiting: dict[int, SimJob] = {}
        self._local: dict[int, SimJob] = {}
        """The waiting jobs of local users, by key."""
        self._wanted = [0] * len(clusters)
        """By cluster, the processors for which jobs of local users wait."""
        self._standing: dict[int, list[int]] = {}
        """By key, the clusters in whose own queues a job stands in line."""
        self._restless: set[int] = set()
        """The clusters whose schedulers have a pass to do."""
        self._moved = False
        """Processors may have become idle that no job of the broker has left."""
        self._limits: dict[int, int] = {}
        """By cluster, the most that the broker may count on for the rest of this instant."""
        self._serial = 0
        self._local_submitted = 0
        self._sized: dict[int, Request] = {}
        self._possible: set[object] = set()
        self.submitted = 0

        def begin(key: int, placement: Placement, now: float) -> None:
            self._begin(key, self._waiting.pop(key), placement, now)

        self.plans: Plans | None = None
        if plan is not None:
            self.plans = Plans(plan, kept, policy, self._waiting, self._restless, begin)

    def play(self, stream: Iterator[SimJob], arrivals: Iterator[Arrival]) -> None:
        """Everything, until the last job has ended."""
        following = next(stream, _NO_JOB)
        local = next(arrivals, _NO_ARRIVAL)
        ends, plans, now = self._ends, self.plans, 0.0
        while ends or following.submit < inf or plans:
            if following.submit == inf:
                local = _NO_ARRIVAL
            planned = plans.next_start(now) if plans else inf
            now = min(ends[0].end if ends else inf, following.submit, local[0], planned)
            if plans is not None:
                plans.passed(now)
            self._end_all(now, following.submit <= now)
            while local[0] <= now:
                self._submit_locally(local[1], local[2])
                local = next(arrivals, _NO_ARRIVAL)
            first = self.submitted
            while following.submit <= now:
                self._submit(following)
                following = next(stream, _NO_JOB)
            self._settle(now)
            self._check(first)
        for local_users in self._done:
            self._flush(local_users)

    # The events.

    def _end_all(self, now: float, more: bool) -> None:
        """All ends of an instant, in the order of the keys, as a daemon sorts them."""
        ends = self._ends
        ending = []
        while ends and ends[0].end <= now:
            ending.append(heappop(ends))
        for job in sorted(ending, key=attrgetter("key")):
            self._end(job, now, more)

    def _end(self, job: Finished, now: float, more: bool) -> None:
        _, _, key, sim, clusters, sizes, _ = job
        for cluster, size in zip(clusters, sizes, strict=True):
            self._idle[cluster] += size
        for cluster in set(clusters):
            self._pools[cluster].end(key, now)
            self._restless.add(cluster)
        if key < 0:
            self._moved = True
        elif more or self._waiting:
            self._policy.depart([clusters[index] for index in sim.request.order])
        done = self._done[key < 0]
        done.append(job)
        if len(done) == CHUNK:
            self._flush(key < 0)

    def _flush(self, local_users: bool) -> None:
        done = self._done[local_users]
        if done:
            self._done[local_users] = []
            self._sinks[local_users](done)

    def _submit_locally(self, cluster: int, job: SimJob) -> None:
        self._local_submitted += 1
        key = -self._local_submitted
        if job.request.total > self._processors[cluster]:
            raise impossible(key, job.request, (self._processors[cluster],))
        self._local[key] = job
        self._wanted[cluster] += job.request.total
        self._pools[cluster].submit(key, job.request, 0, job.estimate, job.submit)
        self._restless.add(cluster)

    def _submit(self, job: SimJob) -> None:
        key = self.submitted
        self.submitted = key + 1
        self._waiting[key] = job
        queue = self._policy.queue_of(job.request, job.local)
        self._policy.arrive(key, job.request, queue, job.submit)

    # The passes.

    def _settle(self, now: float) -> None:
        """Passes of the local schedulers and of the broker, until nobody can start anything."""
        self._limits.clear()
        plans = self.plans
        if plans is not None:
            plans.start_due(now)
        self._local_passes(now)
        while self._waiting and (self._broker_pass(now) or self._stand(now)):
            self._local_passes(now)
        if plans is not None and plans.after_pass(self._contested(), now):
            self._settle(now)

    def _local_passes(self, now: float) -> None:
        restless = self._restless
        while restless:
            cluster = min(restless)
            restless.remove(cluster)
            self._limits.pop(cluster, None)
            for key, _, _ in self._pools[cluster].run(now):
                if key < 0:
                    job = self._local.pop(key)
                    self._wanted[cluster] -= job.request.total
                    self._begin(key, job, (cluster,), now)
                else:
                    self._won(key, cluster, now)

    def _broker_pass(self, now: float) -> bool:
        """The policy's pass; is there more to do for a local scheduler?"""
        contested = tuple(self._contested()) if self._line.depth else ()
        if self._moved:
            self._moved = False
            self._policy.depart()
        while starts := self._policy.run(self._offered(), now, None, contested):
            for place, (key, clusters) in enumerate(starts):
                if self._restless or not self._place(key, clusters, now):
                    self._put_back(starts[place:])
                    break
            else:
                break
            if self._restless:
                break
        return bool(self._restless)

    def _offered(self) -> list[int]:
        idle = [pool.idle for pool in self._pools]
        for cluster, most in self._limits.items():
            idle[cluster] = min(idle[cluster], most)
        return idle

    def _put_back(self, starts: Iterable[Start]) -> None:
        """What the policy has decided and was not done: the jobs take their old places."""
        for key, _ in starts:
            submit, request, local, _, _ = self._waiting[key]
            self._policy.arrive(
                key, request, self._policy.queue_of(request, local), submit, seq=key
            )
        self._policy.depart()

    def _place(self, key: int, clusters: Placement, now: float) -> bool:
        """Start a job where the policy says, if all local schedulers start it at once."""
        job = self._waiting[key]
        needs: dict[int, int] = {}
        for cluster, size in zip(clusters, job.request.sizes, strict=True):
            needs[cluster] = needs.get(cluster, 0) + size
        for cluster, size in needs.items():
            if not self._pools[cluster].starts_now(size, job.estimate, now):
                self._limits[cluster] = size - 1
                return False
        for cluster, size in needs.items():
            pool = self._pools[cluster]
            request = self._sized.setdefault(size, Request((size,)))
            pool.submit(key, request, 0, job.estimate, now)
            if [start[0] for start in pool.run(now)] != [key]:
                raise Overbooked(f"job {key} was promised a start on cluster {cluster}")
        self._withdraw(key, self._standing.pop(key, ()))
        self._begin(key, self._waiting.pop(key), clusters, now)
        return True

    # The line.

    def _contested(self) -> list[int]:
        """Where somebody waits in the cluster's own queue: local users, or a sibling of ours."""
        ours = {cluster for clusters in self._standing.values() for cluster in clusters}
        return [cluster for cluster, wanted in enumerate(self._wanted) if wanted or cluster in ours]

    def _stand(self, now: float) -> bool:
        """Who is next stands in line; does anybody in one queue more than before?"""
        if not self._line.depth:
            return False
        queues = {c: NativeQueue(self._processors[c], self._wanted[c]) for c in self._contested()}
        if not queues:
            return False
        jobs = [self._may_stand(entry) for entry in self._view.next_singles(self._line.depth)]
        found = stand(jobs, queues, self._line.siblings)
        for key, clusters in found.items():
            job = self._waiting[key]
            self._standing.setdefault(key, []).extend(clusters)
            for cluster in clusters:
                self._pools[cluster].submit(key, job.request, 0, job.estimate, now)
                self._restless.add(cluster)
        return bool(found)

    def _may_stand(self, entry: Entry) -> Standing:
        key, request = entry.key, entry.request
        clusters: Iterable[int] = range(len(self._processors))
        if entry.pin >= 0:
            clusters = (entry.pin,)
        elif request.needs:
            clusters = (request.needs[0][0],)
        able = [cluster for cluster in clusters if cluster not in request.exclude]
        return Standing(key, request.total, able, self._standing.get(key, ()))

    def _won(self, key: int, cluster: int, now: float) -> None:
        """A sibling starts: the only one of its job, so the others leave their queues now."""
        others = [other for other in self._standing.pop(key) if other != cluster]
        self._withdraw(key, others)
        self._policy.remove(key, started=(cluster,))
        self._begin(key, self._waiting.pop(key), (cluster,), now)

    def _withdraw(self, key: int, clusters: Iterable[int]) -> None:
        for cluster in clusters:
            self._pools[cluster].withdraw(key)
            self._restless.add(cluster)
            self._moved = True

    def _begin(self, key: int, job: SimJob, clusters: Placement, now: float) -> None:
        sizes = job.request.sizes
        for cluster, size in zip(clusters, sizes, strict=True):
            idle = self._idle[cluster]
            if size > idle:
                raise overbooked(key, cluster, size, idle)
            self._idle[cluster] = idle - size
        self._serial += 1
        end = now + job.run_time
        heappush(self._ends, Finished(end, self._serial, key, job, clusters, sizes, now))

    def _check(self, first: int) -> None:
        """A job that has to wait must be able to run at all: else it might block all others."""
        for key in range(first, self.submitted):
            job = self._waiting.get(key)
            kind = job and (job.request.shape, job.local)
            if job is None or kind in self._possible:
                continue
            queue = self._policy.queue_of(job.request, job.local)
            if not self._policy.ever_fits(job.request, queue, self._processors):
                raise impossible(key, job.request, self._processors)
            self._possible.add(kind)
