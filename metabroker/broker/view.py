"""What others may read of the core: the service, the metrics, the checks of the tests.

Nothing outside of this package reaches into the core's parts. A view changes nothing, and is read
in the thread in which the core runs.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from metabroker.policy import PolicyState, Request, Sizes, Why, parts_of
from metabroker.policy.view import SchedulerView

from . import tokens
from .after_restore import History
from .identities import Identities, System
from .job import Component, Job, NewJob
from .ledger import Avoided, LedgerEntry
from .links import Links
from .observation import Coming, NativeJob
from .orphans import UnclaimedOrphan
from .queues import Queues
from .resource_limits import Beyond, Usage
from .saga import Saga
from .scheduling import Scheduling
from .settings import Settings
from .state import BrokerState
from .tokens import Ref


@dataclass(eq=False)
class BrokerView:
    """All that does not depend on the time; `at` for what does. `dependent`: jobs that wait for
    other jobs, by number; some are held, too.
    `links`: what was measured between clusters."""

    _state: BrokerState
    _queues: Queues
    _saga: Saga
    _scheduling: Scheduling
    _identities: Identities
    dependent: Mapping[int, Job]
    links: Links

    def at(self, now: float) -> ViewAt:
        """The view of a moment (Unix seconds), as long as nothing is handled."""
        return ViewAt(self._state, self._queues, self._saga, now)

    @property
    def settings(self) -> Settings:
        """The numbers and names that the core goes by."""
        return self._state.settings

    @property
    def jobs(self) -> Mapping[int, Job]:
        """All that have not ended, by number."""
        return self._state.jobs

    # --- clusters -----------------------------------------------------------------------------

    @property
    def entries(self) -> Sequence[LedgerEntry]:
        """What is counted of each cluster."""
        return self._state.ledger.entries

    def sizes(self) -> list[int]:
        """Processors in all, for each cluster, as last known (0: never known)."""
        return self._state.ledger.sizes()

    def components(self, cluster: int) -> Collection[Component]:
        """Those that claim processors there, of all attempts."""
        return self._saga.claims.live[cluster].values()

    def component(self, ref: Ref) -> Component | None:
        """A component of any attempt, as long as anything of it may be left."""
        return self._saga.claims.known.get(ref)

    @property
    def pending_steps(self) -> int:
        """How many components wait for a step to be carried out."""
        return self._saga.claims.pending

    @property
    def unclaimed(self) -> Sequence[UnclaimedOrphan]:
        """What clusters show of a time that nobody remembers."""
        return list(self._saga.orphans)

    @property
    def history(self) -> History:
        """The returns of the store from backups."""
        return self._saga.orphans.history

    @property
    def behind(self) -> str:
        """Why the store must be older than the clusters, so that nothing is decided; "": it is
        not, as far as is known."""
        return self._state.behind

    @property
    def starting(self) -> bool:
        """Whether the clusters are still held against the store after a start (see `first_polls`):
        nothing is decided, and no job number given."""
        return self._state.first_polls.wait and not self._state.behind

    def systems(self) -> Mapping[str, System]:
        """What each cluster is, by its name, to be remembered (see `identities`)."""
        return self._identities.by_name()

    def successors(self) -> Mapping[str, str]:
        """Former names of clusters, and present names of the same systems (see `identities`)."""
        undecided = self._state.behind or self._state.first_polls.wait
        return {} if undecided else self._identities.successors()

    # --- queues -------------------------------------------------------------------------------

    @property
    def discipline(self) -> str | None:
        """Of the policy's queues, where it has one."""
        return self._queues.scheduler.discipline

    @property
    def in_queues(self) -> SchedulerView:
        """The jobs that wait in the policy's queues."""
        return self._queues.scheduler_view

    def place(self, job: int) -> tuple[int, int] | None:
        """The queue in which a job is, and how many are before it; None: it is in none."""
        view = self._queues.scheduler_view
        if job not in self._queues.scheduler or view.is_aside(job):
            return None
        return view.position(job)

    def queue_of(self, new: NewJob) -> int:
        """The queue that a new job would join."""
        return self._queues.queue_of(new)

    def ineligible(self) -> list[int]:
        """Jobs that are in no queue, since a cluster that they need does not answer."""
        return self._queues.scheduler_view.aside()

    @property
    def held_back(self) -> Mapping[int, Job]:
        """Jobs in no queue, since they are beyond a configured limit."""
        return self._queues.held_back.jobs

    @property
    def refused(self) -> Mapping[int, Job]:
        """Jobs in no queue, since they were refused wherever they could go."""
        return self._queues.refusals.jobs

    @property
    def decided(self) -> Mapping[int, object]:
        """Jobs in no queue, since they are about to start, or to come back to it."""
        return {**self._queues.decided, **self._queues.stepped_back}

    def usage(self) -> Usage:
        """What is in use, as far as configured limits need it."""
        return self._scheduling.usage()

    def beyond(
        self,
        job: Job | NewJob,
        queue: int,
        usage: Usage,
        placement: Sequence[int] | None = None,
    ) -> Beyond | None:
        """Which configured limit keeps a job back beside what is in use, from these clusters (None:
        from all)."""
        return self._queues.held_back.beyond(job, queue, usage, placement)

    def policy_state(self) -> PolicyState:
        """What the policy must remember over a restart. Who is about to start waits then, as far
        as the store tells."""
        return self._queues.scheduler.state([self._state.jobs[n].seq for n in self.decided])


@dataclass(frozen=True, slots=True)
class Plan:
    """Where a new job would go: its queue, its request there (None: reservations of others bar it
    from all clusters), the clusters on which it would start at once (None: it would wait), and the
    processors of its components: there, or as it was asked for."""

    queue: int
    request: Request | None
    start: tuple[int, ...] | None
    sizes: Sizes


@dataclass(eq=False)
class ViewAt:
    """The view of one moment: `now`, in Unix seconds."""

    _state: BrokerState
    _queues: Queues
    _saga: Saga
    now: float

    @cached_property
    def available(self) -> list[int]:
        """Processors that the broker could get, for each cluster."""
        idle = enumerate(self._state.ledger.available(self.now))
        suspended = self._queues.refusals.suspended
        return [0 if suspended(cluster, self.now) else n for cluster, n in idle]

    @cached_property
    def capacity(self) -> list[int]:
        """Processors in nodes that take jobs, for each cluster that answers; else 0."""
        return self._state.ledger.capacity(self.now)

    def known(self, cluster: int) -> bool:
        """Whether the cluster answers and what is known of it is fresh."""
        return self._state.ledger.known(cluster, self.now)

    def idle(self, cluster: int) -> int | None:
        """Processors that nobody holds there, as last seen; None: not known."""
        return self._state.ledger.idle(cluster, self.now)

    def avoided(self, cluster: int) -> Avoided | None:
        """Why the broker sends less there than is idle."""
        suspended = self._queues.refusals.suspended(cluster, self.now)
        if suspended is not None:
            return Avoided(0, *suspended, suspended=True)
        return self._state.ledger.avoided(cluster, self.now)

    def contested(self, request: Request) -> list[int]:
        """The contested clusters in which a job that asks for this might stand in line."""
        if len(request.sizes) > 1:
            return []
        ledger, able = self._state.ledger, request.clusters
        found = [c for c in ledger.contested(self.now) if ledger.takes_jobs(c, self.now)]
        return [cluster for cluster in found if able is None or cluster in able]

    def barred(self, job: Job | NewJob) -> frozenset[int]:
        """The clusters in which nothing of the job can ever run, as far as is known."""
        refused = job.excluded if isinstance(job, Job) else frozenset()
        bounds = self._queues.request_of(job).bounds
        small = {cluster for cluster, most in bounds if most < min(job.request.sizes)}
        return job.closed.union(refused, small)

    def native(self, component: Component) -> NativeJob | None:
        """Its job as the last poll of its cluster showed it."""
        snapshot = self._state.ledger.entries[component.cluster].snapshot
        token = tokens.make(self._state.settings.instance, component.ref)
        return None if snapshot is None else snapshot.jobs.get(token)

    def why(self, job: int) -> Why:
        """Why a job in one of the policy's queues waits."""
        return self._queues.scheduler_view.why(job, self.available, self.now, self.capacity)

    def request_of(self, new: NewJob, barred: frozenset[int] = frozenset()) -> Request:
        """What the policy would be asked for by a new job, by the nodes that clusters have, without
        the `barred` ones."""
        return self._queues.request_of(new, barred)

    def has_nodes(self, new: NewJob, plan: Plan) -> bool:
        """Whether nodes are idle on which its tasks fit, where it is to have a reservation."""
        assert plan.start is not None
        return self._state.ledger.fits(plan.start, plan.sizes, self.now, new.shape)

    def start(self, request: Request, queue: int, limit: float) -> tuple[int, ...] | None:
        """The clusters on which a job that joined the queue now would start at once; `limit`: for
        how long it may run, in seconds."""
        args = (request, queue, self.available, self.now, self.capacity)
        found = self._queues.scheduler_view.preview(*args, limit=limit)
        return None if found is None else tuple(found[1])

    def why_not(self, request: Request, queue: int) -> Why:
        """Why it would not."""
        args = (request, queue, self.available, self.now, self.capacity)
        return self._queues.scheduler_view.preview_why(*args)

    def ahead(self, job: Job | NewJob) -> dict[int, Coming]:
        """The clusters that have too little for as long as a job takes, and the reservations of
        others for which that is so (by the broker's clock)."""
        return self._queues.horizon.ahead(job, self.now)

    def would_hold(self, new: NewJob, cluster: int, processors: int) -> int:
        """What a component that asks for so many processors may hold there."""
        return self._queues.held_back.holdings.would(cluster, processors, new)

    def too_heavy(self, job: Job | NewJob, queue: int, usage: Usage) -> dict[int, Beyond]:
        """The clusters to which a job does not go since it would hold too much there, beside what
        is in use, or even alone; and beyond which limit."""
        return self._queues.held_back.too_heavy(job, queue, usage)

    def found_beyond(self, job: Job | NewJob) -> Beyond | None:
        """The limit that it was beyond wherever the policy would have started it last."""
        return self._queues.held_back.found(job)

    def as_asked(self, job: Job | NewJob) -> bool:
        """Whether a job holds in every cluster what it asks for."""
        return self._queues.held_back.holdings.as_asked(job)

    def plan(self, new: NewJob) -> Plan:
        """Where a new job would go now."""
        held_back = self._queues.held_back
        usage = held_back.usage(self._state.jobs, self._saga.claims.live)
        barred = new.closed.union(self.ahead(new), held_back.barred(new))
        while True:
            queue, request = self._queues.queue_of(new, barred), self.request_of(new, barred)
            if not self._queues.can_join(new, barred):
                return Plan(queue, None, None, new.request.sizes)
            start, placed = self.start(request, queue, new.time_limit), new
            if start is not None and len(start) > len(request.sizes):
                parts = parts_of(request, start, self.available)
                placed = replace(new, request=Request(parts))
            short = frozenset(self._queues.horizon.short(placed, start, self.now) if start else ())
            if start and not short and held_back.beyond(new, queue, usage) is None:
                short = held_back.heaviest(placed, queue, usage, start)
            if not short:
                return Plan(queue, request, start, placed.request.sizes)
            barred |= short

    def suspended_for(self, job: Job | NewJob) -> str:
        """Which suspended clusters keep a job back, in the clusters' words."""
        return self._queues.refusals.why(job, self.now)

    def may_have_started(self, job: Job) -> Component | None:
        """A component that may have run in a time of which the store does not tell, so that nothing
        else of the job starts until its records are read."""
        return self._saga.unread.of(job)

    def retried_in(self, job: Job) -> float:
        """Seconds until a job that was refused everywhere is tried again."""
        return max(0.0, self._queues.refusals.until(job, self.now) - self.now)
