"""Where jobs wait: the policy's queues, and three places outside of the policy's sight.

A job joins a queue at its tail, as the latest of all (`requeue`), or at its old place (`rejoin`).
It waits outside while it waits for other jobs (`dependencies`), while its user or queue is at a
configured limit (`held_back`), or while it was refused wherever it could go (`refusals`); what the
policy decides is then as if it were not there.

Which queue it joins, where the papers say "submitted locally" (BE03 3, BE07 3.1), is ours to say:
the local queue of the cluster that its user named; else of its user's home cluster; else of the one
which has the most idle processors after what already waits there. Only clusters large enough for it
count. Where the placement is close to files, these decide among clusters that could have it at
once.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from typing import NamedTuple

from metabroker.policy import Request, Scheduler, SchedulerView, Sizes
from metabroker.submission.shape import Shape

from .backlog import Contain
from .demand import Demand
from .events import TellLinks
from .held_back import HeldBack
from .holdings import Holdings
from .horizon import Horizon
from .job import Component, Job, NewJob
from .links import groups
from .refusals import Refusals
from .settling import settle_parts
from .state import BrokerState
from .states import Step
from .transfer import Costs

_ANY = 10**9  # a cluster that was never seen may be of any size
_MOST_SHAPES = 4096  # of tasks, of which it is remembered where they fit
Bounds = tuple[tuple[int, int], ...]


class Departure(NamedTuple):
    """Processors that are free again, for the policy. In the order of its fields a job's clusters
    come by decreasing component size (LS-RO, BE03 2.5); `order` is minus that size."""

    job: int
    order: int
    component: int
    cluster: int


_NOWHERE = -1
_MORE_MAY_FIT = Departure(0, 0, 0, _NOWHERE)
"""As good as a departure, of no cluster: a limit or a pause is over."""


class Queues:
    """All waiting jobs. `changed`: whether anything may have changed what fits, since the last pass
    of the policy. `wait_for_nodes`: a job waits for nodes on which its tasks fit, though as many
    processors are idle.

    What a pass has decided may be too much for one turn. `decided`: the placements of those that
    have not begun yet, the first one last; `stepped_back`: who is to come back from there to the
    policy's queues."""

    def __init__(self, state: BrokerState, scheduler: Scheduler, contain: Contain) -> None:
        """`contain` fails a job of which something cannot be handled."""
        self._state = state
        self._contain = contain
        self.scheduler = scheduler
        self.scheduler_view = SchedulerView(scheduler)
        self.horizon = Horizon(state.settings, state.ledger)
        self.held_back = HeldBack(Holdings(state.settings, state.ledger))
        self.refusals = Refusals(
            state.settings,
            lambda job, now: self.held_back.barred(job).union(self.horizon.ahead(job, now)),
        )
        self.changed = False
        self.wait_for_nodes = False
        self.next_seq = 1
        self.decided: dict[int, tuple[int, ...]] = {}
        self.divided: Mapping[int, Sizes] = {}  # of those that the policy has split
        self.stepped_back: dict[int, Job] = {}
        self._departures: list[Departure] = []
        self._bounds: dict[Shape, Bounds] = {}
        self._costs = Costs(state.settings, state.links)
        self._demand = Demand(len(state.settings.clusters))
        scheduler.give_whole([cluster.unit for cluster in state.settings.clusters])
        pair, sizes = Request((1, 1)), [_ANY, *(0 for _ in state.settings.clusters[1:])]
        apart = not scheduler.ever_fits(pair, scheduler.queue_of(pair, 0), sizes)
        self.held_back.holdings.apart = apart

    # --- joining and leaving ------------------------------------------------------------------

    def queue_of(self, job: Job | NewJob, excluded: Collection[int] = ()) -> int:
        """The queue that the job joins now, if it must not go to some clusters."""
        entries = self._state.ledger.entries
        answers = [entry.reachable and entry.drained is None for entry in entries]
        largest, bounds = max(job.request.sizes), self._bounds_of(job.shape)
        local = choose_local(
            largest,
            chosen=job.local,
            home=job.home,
            sizes=self._state.ledger.sizes(),
            known=answers,
            available=[
                max(0, entry.usable - entry.others - entry.claimed) if answering else 0
                for entry, answering in zip(entries, answers, strict=True)
            ],
            waiting=self._demand.processors,
            excluded={c for c, most in bounds if most < largest}.union(excluded, job.closed),
            costs=self._costs.of(job.inputs),
        )
        return self.scheduler.queue_of(job.request, local)

    def requeue(self, job: Job, now: float) -> None:
        """Join a queue at its tail, as the latest of all."""
        job.seq = self.next_seq
        self.next_seq += places(job)
        job.queued_at = now
        self.rejoin(job, now)

    def rejoin(self, job: Job, now: float) -> None:
        """Join a queue at its old place."""
        settle_parts(job, self._state)
        job.queue = self.queue_of(job, self.refusals.elsewhere(job, now))
        self._state.outbox.changed(job)
        self.arrive(job, now)

    def arrive(self, job: Job, now: float) -> None:
        """Wait in the queue that the job has, or outside of it for other jobs or a limit."""
        if job.after is not None or job.array is not None or self._kept(job):
            return
        self._demand.add(job)
        if self.held_back.limits.hold_back or self.held_back.jobs:  # who came before goes first
            self.held_back.add(job)
        else:
            self.join(job, now)
        self.changed = True

    def _kept(self, job: Job) -> bool:
        """Whether a task that was held has to wait, since so many others of its array are under way
        as its user wants (see `arrays`)."""
        owner = self._state.jobs.get(job.of) if job.of else None
        if owner is not None and owner.array is not None:
            owner.array.held.discard(job.id)
            owner.array.kept.pop(job.id, None)
            job.kept = owner.array.room < 0
            if job.kept:
                owner.array.kept[job.id] = None
        return job.kept

    def join(self, job: Job, now: float) -> None:
        """Into the policy's queue, at the place that its seq gives it; unless it was refused, or
        its user is at a limit, wherever it could go."""
        self.refusals.detours.pop(job.id, None)
        barred = self.refusals.elsewhere(job, now)
        if barred:
            if not self.can_go(job, barred):
                self.refusals.add(job)
                return
            if job.request.clusters is None:
                self.refusals.detours[job.id] = barred
        request = self.request_of(job, barred)
        self.scheduler.arrive(job.id, request, job.queue, job.queued_at, seq=job.seq)

    def request_of(self, job: Job | NewJob, barred: Collection[int] = ()) -> Request:
        """What the policy is asked for: without clusters that the job must not go to, and in the
        others no more than fits on their nodes."""
        request, bounds = job.request, self._bounds_of(job.shape)
        near, costs = _groups_of(job, self._state), self._costs.of(job.inputs)
        if request.clusters is not None:
            return Request(request.sizes, request.clusters, groups=near) if near else request
        without = tuple(sorted(barred))
        if job.split is not None:
            most = job.split.component
            bounds = _bounded(bounds, most, len(self._state.settings.clusters))
            return Request(
                (request.total,),
                exclude=without,
                bounds=bounds,
                groups=near,
                parts=job.split.parts,
                grain=job.shape.cpus_per_task,
                costs=costs,
            )
        if not (barred or bounds or near or costs):
            return request
        return Request(request.sizes, exclude=without, bounds=bounds, groups=near, costs=costs)

    def nodes_changed(self, now: float) -> None:
        """A cluster has other nodes than before: jobs may fit where they did not, or not where they
        did."""
        self.changed = self.changed or self.held_back.keeps  # who may hold less, or more, there
        self.held_back.nodes_changed()
        self.refusals.look_again()
        before = self._bounds
        self._bounds = {shape: self._state.ledger.bounds(shape) for shape in before}
        changed = {shape for shape, bounds in self._bounds.items() if bounds != before[shape]}
        if not changed:
            return
        jobs = [job for job in self._state.jobs.values() if job.shape in changed]
        self.all_join_anew((job for job in jobs if self.scheduler.remove(job.id)), now)
        self.changed = True

    def links_told(self, event: TellLinks, now: float) -> None:
        """Links between clusters were measured: jobs may fit where they did not, or not where they
        did."""
        self._state.links.tell(event.links)
        self._costs.forget()
        by_files, jobs = self._state.settings.close_to_files, list(self._state.jobs.values())
        jobs = [job for job in jobs if job.max_latency is not None or (by_files and job.inputs)]
        self.all_join_anew((job for job in jobs if self.scheduler.remove(job.id)), now)
        self.changed = True

    def _bounds_of(self, shape: Shape) -> Bounds:
        if not shape:
            return ()
        found = self._bounds.get(shape)
        if found is None:
            if len(self._bounds) >= _MOST_SHAPES:
                live = {job.shape for job in self._state.jobs.values()}
                self._bounds = {s: b for s, b in self._bounds.items() if s in live}
            found = self._bounds[shape] = self._state.ledger.bounds(shape)
        return found

    def join_anew(self, job: Job, now: float) -> None:
        """Into a queue that is chosen by where the job may go now, at its old place."""
        self.placed(job)
        job.queue = self.queue_of(job, self.refusals.elsewhere(job, now))
        self._demand.add(job)
        self._state.outbox.changed(job)
        self.join(job, now)

    def all_join_anew(self, jobs: Iterable[Job], now: float) -> None:
        """The same of many; one that cannot fails, and no other."""
        for job in jobs:
            try:
                self.join_anew(job, now)
            except Exception as error:
                self._contain(job.id, error, now, None)

    def withdraw(self, job: Job) -> None:
        """Out of its queue; whoever is behind may be able to start."""
        waits = self.refusals.remove(job.id)
        waits = self.held_back.remove(job.id) or waits
        waits = self.stepped_back.pop(job.id, None) is not None or waits
        if self.decided.pop(job.id, None) is not None:
            waits = True
            self.more_may_fit()
        if self.scheduler.remove(job.id) or waits:
            self.changed = True
        self.placed(job)

    def started(self, job: Job, clusters: Sequence[int]) -> None:
        """It goes to these clusters by another way than a pass, wherever it waits here: it has come
        up first in a cluster's own queue, or is planned."""
        waits = job.id in self.scheduler
        self.held_back.forget(job)
        self.scheduler.remove(job.id, tuple(clusters), job.seq)
        if not waits:
            self.withdraw(job)
            return
        self.placed(job)
        self.changed = True

    def placed(self, job: Job) -> None:
        """The policy has taken it out of its queue."""
        self._demand.remove(job.id)

    def ended(self, job: Job) -> None:
        """Forget an ended job; what clusters still hold of it is kept apart."""
        self._state.outbox.changed(job)
        self.refusals.forget(job.id)
        self.held_back.forget(job)
        del self._state.jobs[job.id]

    def can_go(self, job: Job, barred: frozenset[int] | None = None) -> bool:
        """Whether the clusters would have room for it without the `barred` ones, if they were
        empty; None: without those that will never accept it."""
        return self.can_join(job, job.excluded if barred is None else barred)

    def can_join(self, job: Job | NewJob, barred: frozenset[int]) -> bool:
        """The same of a job that may be new."""
        barred |= job.closed
        if not barred:
            return True
        request = job.request
        if request.clusters is not None:
            return barred.isdisjoint(request.clusters)
        known = self._state.ledger.sizes()
        sizes = [0 if c in barred else n or _ANY for c, n in enumerate(known)]
        for cluster, most in self._bounds_of(job.shape):
            sizes[cluster] = min(sizes[cluster], most)
        queue = self.queue_of(job, barred)
        if job.split is not None:
            request = self.request_of(job, barred)
        return queue not in barred and self.scheduler.ever_fits(request, queue, sizes)

    # --- what may let others start ------------------------------------------------------------

    def freed(self, component: Component) -> None:
        """A departure, for the next pass."""
        ref, order = component.ref, -component.processors
        self._departures.append(Departure(ref.job, order, ref.component, component.cluster))
        self.changed = True

    def grown(self, cluster: int) -> None:
        """More is idle than before: as good as a departure from that cluster."""
        self._departures.append(Departure(0, 0, 0, cluster))
        self.changed = True

    def more_may_fit(self) -> None:
        """Something that kept jobs back is over."""
        self._departures.append(_MORE_MAY_FIT)
        self.changed = True

    def accepted(self, job: Job, cluster: int, step: Step, now: float) -> None:
        """A cluster has carried out a step for the job: it may be suspended no more."""
        if self.refusals.accepted(job.user, cluster, step, now):
            self.changed = True

    def retry_at(self, time: float) -> None:
        """More may fit from `time` (Unix seconds) on."""
        self._state.timers.set(time, None)

    def depart(self) -> None:
        """Tell the policy of all departures since the last pass."""
        if self._departures:
            self._departures.sort()
            clusters = [left.cluster for left in self._departures]
            self.scheduler.depart([cluster for cluster in clusters if cluster != _NOWHERE])
            self._departures.clear()


def places(job: Job) -> int:
    """How many places in the order of joining a job takes: an array one for each task, too."""
    return 1 if job.array is None else 1 + len(job.array.tasks)


def choose_local(
    largest: int,
    *,
    chosen: int | None,
    home: int | None,
    sizes: Sequence[int],
    known: Sequence[bool],
    available: Sequence[int],
    waiting: Sequence[int],
    excluded: Container[int] = (),
    costs: Sequence[float] = (),
) -> int:
    """The local queue of a job whose largest component has `largest` processors.

    `sizes`, `known`, `available` and `waiting` give, for each cluster, its processors in all (0:
    not known), whether it answers and is not drained, those that could be had now, and those that
    the jobs in its local queue wait for; `excluded` are those that the job must not go to. `costs`:
    the seconds until its files are there, which decide among clusters that could have it at once;
    (): they do not matter. Ties go to the lowest index.
    """
    if chosen is not None:
        return chosen
    clusters = range(len(sizes))
    fitting = [c for c in clusters if sizes[c] >= largest or sizes[c] == 0]
    fitting = [c for c in fitting if c not in excluded] or fitting
    answering = [c for c in fitting if known[c]]
    candidates = answering or fitting or list(clusters)
    if home is not None and home in candidates:
        return home
    at_once = [c for c in candidates if available[c] - waiting[c] >= largest] if costs else []
    if at_once:
        return min(at_once, key=lambda c: (costs[c], waiting[c] - available[c], c))
    return max(candidates, key=lambda c: (available[c] - waiting[c], -c))


def _bounded(bounds: Bounds, most: int | None, clusters: int) -> Bounds:
    """The bounds, with so many processors at most in any cluster."""
    if most is None:
        return bounds
    known = dict(bounds)
    return tuple((c, min(most, known.get(c, most))) for c in range(clusters))


def _groups_of(job: Job | NewJob, state: BrokerState) -> tuple[tuple[int, ...], ...]:
    """The sets of clusters that are as near to each other as the job wants; () if it does not
    matter."""
    if job.max_latency is None or job.alone:
        return ()
    names = [cluster.name for cluster in state.settings.clusters]
    return groups(names, state.links, job.max_latency)
