"""The broker's core: events in, effects out (`handle`, `schedule`, `take`).

A driver hands over what has happened, lets the policy place what now fits, writes what `take`
gives in one transaction, and only then carries out the effects. At one instant: all events, then
one `schedule` (all ends, all arrivals, then one pass).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Sequence

from metabroker.policy import PolicyState, Request, Scheduler

from . import tokens
from .events import (
    AbandonJob,
    Armed,
    Arrived,
    CancelJob,
    Cleaned,
    ClusterUnreachable,
    Discarded,
    Ended,
    Event,
    Fetched,
    GaveUp,
    HoldJob,
    Observed,
    Opened,
    Refused,
    ReleaseJob,
    Reserved,
    Staged,
    Started,
    SubmitJob,
    Submitted,
    Tick,
    Unsure,
)
from .job import Component, Goal, Job, NewJob
from .ledger import Ledger
from .outbox import Mishap, Outbox, Ready, Timers
from .queueing import choose_local
from .refusals import Refusals
from .rejected import Rejected
from .resource_limits import HeldBack, Key, ResourceLimits, Usage, in_use, keys, refused, standing
from .restored import NEVER, History
from .saga import Saga
from .settings import Settings
from .sound import sound
from .states import IN_ATTEMPT, JobState
from .tokens import Ref

_ANY = 10**9  # a cluster that was never seen may be of any size


class Broker:
    """All jobs that have not ended, their queues, and what is known of the clusters."""

    def __init__(self, settings: Settings, scheduler: Scheduler, history: History = NEVER) -> None:
        """`history`: the returns of the store from backups, as far as there were any."""
        self.settings = settings
        self.scheduler = scheduler
        self.jobs: dict[int, Job] = {}
        self.ledger = Ledger(settings)
        self.timers = Timers(self._awaited)
        self.outbox = Outbox()
        self.refusals = Refusals(settings)
        self.saga = Saga(settings, self.ledger, self.outbox, self.timers, self, self.jobs, history)
        self.next_job = history.next_job
        self._next_seq = 1
        self.shares = HeldBack()
        self._standing: Counter[Key] | None = None  # how many wait, where it had to be counted
        self._freed: list[tuple[int, int, int, int]] = []
        self._dirty = False
        self._by_nodes = any(cluster.unit > 1 for cluster in settings.clusters)
        self.scheduler.give_whole([cluster.unit for cluster in settings.clusters])
        self._waiting = [0] * len(settings.clusters)
        self._lost_since: dict[int, float] = {}
        self._handlers = {
            SubmitJob: self._submit,
            CancelJob: self._cancel,
            HoldJob: self._hold,
            ReleaseJob: self._release,
            AbandonJob: self._abandon,
            Staged: self.saga.staged,
            Reserved: self.saga.reserved,
            Submitted: self.saga.submitted,
            Armed: self.saga.armed,
            Opened: self.saga.opened,
            Cleaned: self.saga.cleaned,
            Fetched: self.saga.fetched,
            Discarded: self.saga.discarded,
            Refused: self.saga.refused,
            Unsure: self.saga.unsure,
            Arrived: self.saga.arrived,
            Started: self.saga.started,
            Ended: self.saga.ended,
            GaveUp: self.saga.gave_up,
            Observed: self._observed,
            ClusterUnreachable: self._unreachable,
            Tick: self._tick,
        }

    # --- the driver's side --------------------------------------------------------------------

    def handle(self, event: Event, now: float) -> None:
        """Take over one event. What it leads to waits in the outbox.

        One that cannot be handled fails its job, or is as if its cluster had not answered, and is
        told among the outbox's mishaps.

        Raises:
            Rejected: a user's request cannot be carried out; nothing has changed.
        """
        try:
            self._handlers[type(event)](sound(event), now)  # type: ignore[operator]
        except Rejected:
            raise
        except Exception as error:
            self._contain(event, error, now)

    def _contain(self, event: Event, error: Exception, now: float) -> None:
        """Whom a mishap is for: one job, one cluster; else it is everybody's, and goes on."""
        if isinstance(event, Observed | ClusterUnreachable):
            self.outbox.mishaps.append(Mishap(error, cluster=event.cluster))
            self.ledger.lose(event.cluster, "what it tells cannot be used")
            self._dirty = True
        elif isinstance(event, CancelJob | HoldJob | ReleaseJob | AbandonJob):
            self.contain(event.job, error, now)
        elif isinstance(event, SubmitJob | Tick):
            raise error
        else:
            self.contain(event.ref.job, error, now, event.ref)

    def contain(self, number: int, error: Exception, now: float, ref: Ref | None = None) -> None:
        """Fail the job, of which something cannot be handled, and no other; see `Endings`."""
        job = self.jobs.get(number)
        if job is not None:
            self._withdraw(job)
        self.saga.contain(number, error, now, ref)

    def schedule(self, now: float) -> None:
        """One pass of the policy, if anything may have changed what fits."""
        self._standing = None
        if not self._dirty:
            return
        self._dirty = False
        if self._freed:
            # A departing job's clusters in order of decreasing component size (LS-RO).
            self._freed.sort()
            self.scheduler.depart([cluster for *_, cluster in self._freed if cluster >= 0])
            self._freed.clear()
        self._let_through(now)
        capacity = self.ledger.capacity(now)
        while self._pass(capacity, now):
            pass

    def _pass(self, capacity: Sequence[int], now: float) -> bool:
        """One pass. Whether another may start more: a policy knows nothing of shares, so others may
        start instead of those who have none left; nor does a placement of two components in one
        cluster know of whole nodes, so it may want more than there is."""
        usage = self.usage()
        begun, held_back = 0, False
        back: list[Job] = []
        for key, placement in self.scheduler.run(self.ledger.available(now), now, capacity):
            job = self.jobs[key]
            if self.shares.beyond(job, job.queue, usage) is not None:
                self.shares.add(job)
                self.scheduler.depart()
                held_back = True
                continue
            if not self._may_be_sent(job, placement, now):
                self._join_anew(job, now)
                self.scheduler.depart()
                held_back = True
                continue
            if self._by_nodes and not self._has_room(job, placement, begun, back, now):
                back.append(job)
                continue
            begun += 1
            self._count_waiting(job, -1)
            try:
                self.saga.begin(job, placement, now)
            except Exception as error:
                self.contain(job.id, error, now)
                continue
            usage.add(job, sum(component.processors for component in job.components), 1)
        for job in back:  # to their old places
            self._join(job, now)
        return held_back or bool(begun and back)

    def _let_through(self, now: float) -> None:
        """Those who have a share now, or are not kept back by a refusal any more, join the policy's
        queues, at their old places."""
        for job in self.shares.let_through(self.usage()) if self.shares.jobs else ():
            self._join(job, now)
        if not self.refusals.due(now):
            return
        for number, barred in list(self.refusals.detours.items()):
            job = self.jobs[number]
            if self.refusals.elsewhere(job, now) != barred and self.scheduler.remove(number):
                self._join_anew(job, now)
        for job in self.refusals.let_through(now, self._can_go):
            self._join_anew(job, now)
        self.scheduler.depart()

    def _may_be_sent(self, job: Job, placement: Sequence[int], now: float) -> bool:
        """Whether no refusal speaks against it; if so, its user's limits are taken down."""
        if not self.refusals.limits:
            return True
        if not self.refusals.elsewhere(job, now).isdisjoint(placement):
            return False
        until = self.refusals.spend(job, set(placement), now)
        if until is not None:
            self.timers.set(until, None)
        return True

    def _can_go(self, job: Job, barred: frozenset[int]) -> bool:
        """Whether the clusters would have room for it without these, if they were empty."""
        if not barred:
            return True
        request = job.request
        if request.clusters is not None:
            return barred.isdisjoint(request.clusters)
        sizes = [0 if c in barred else n or _ANY for c, n in enumerate(self.ledger.sizes())]
        queue = self.queue_of(job, barred)
        return queue not in barred and self.scheduler.ever_fits(request, queue, sizes)

    def can_go(self, job: Job) -> bool:
        """Whether any clusters are left that may accept it."""
        return self._can_go(job, job.excluded)

    def usage(self) -> Usage:
        """What is in use, as far as shares need it."""
        return in_use(self.jobs, self.saga.live) if self.shares.limits.hold_back else Usage()

    def limit(self, limits: ResourceLimits) -> None:
        """Hold users and queues to these shares from now on."""
        if limits != self.shares.limits:
            self.shares.limits = limits
            self._freed.append((0, 0, 0, -1))
            self._dirty = True

    def check_shares(self, new: NewJob) -> None:
        """Raises `Rejected` where a new job is beyond a share."""
        if self.shares.limits == ResourceLimits():
            return
        if self._standing is None:
            self._standing = standing(self.jobs.values())
        beyond = self.shares.refusal(new, self.queue_of(new), self._standing)
        if beyond is not None:
            raise refused(beyond, self.settings.clusters)

    def _has_room(
        self, job: Job, placement: Sequence[int], begun: int, back: Sequence[Job], now: float
    ) -> bool:
        """Whether there are nodes for it: not where several of its components go to one cluster,
        and fit there only if nodes could be parted. What the policy has decided after that is
        decided anew, by what is then idle; unless it was the first of all."""
        if back and begun:
            return False
        behind = any(other.queue == job.queue for other in back)
        return not behind and self.ledger.fits(placement, job.request.sizes, now)

    def take(self) -> Ready:
        """What must be written, and then done."""
        return self.outbox.take()

    def next_time(self) -> float | None:
        """When the next `Tick` is due."""
        return self.timers.next()

    def restore(self, jobs: Iterable[Job], components: Iterable[Component], now: float) -> None:
        """Go on from what the store holds. `jobs` have not ended; `components` are those of
        their present attempts, and all others that are not GONE or are owed a step.

        The driver must carry out the effects that this leaves behind: all that was owed, again.
        """
        waiting = []
        for job in jobs:
            self.jobs[job.id] = job
            self.next_job = max(self.next_job, job.id + 1)
            self._next_seq = max(self._next_seq, job.seq + 1)
            if job.state is JobState.QUEUED:
                waiting.append(job)
        waiting.sort(key=lambda job: job.seq)
        for job in waiting:
            self._arrive(job, now)
        for component in sorted(components, key=lambda c: c.ref):
            try:
                self._restore(component, now)
            except Exception as error:
                self.contain(component.ref.job, error, now, component.ref)
        for job in self.jobs.values():
            self.saga.resume_job(job)
        self._freed.append((0, 0, 0, -1))
        self._dirty = bool(self.jobs)

    def _restore(self, component: Component, now: float) -> None:
        component.asked_at = now
        self._next_seq = max(self._next_seq, component.seq + 1)
        self.saga.adopt(component)
        owner = self.jobs.get(component.ref.job)
        if (
            owner is not None
            and owner.state in IN_ATTEMPT
            and owner.attempt == component.ref.attempt
        ):
            owner.components.append(component)
        self.saga.resume(component)

    def recall(self, memory: PolicyState) -> None:
        """After `restore`: what the policy remembers besides the waiting jobs. Who joins from
        now on comes after all who ever joined."""
        self.scheduler.recall(memory)
        self._next_seq = max(self._next_seq, memory.next_seq)

    # --- what users ask -----------------------------------------------------------------------

    def _submit(self, event: SubmitJob, now: float) -> None:
        new = event.job
        self.check_shares(new)
        job = Job(
            id=self.next_job,
            user=new.user,
            name=new.name,
            request=new.request,
            time_limit=new.time_limit,
            submit_time=now,
            queue=0,
            local=new.local,
            home=new.home,
            stages_in=new.stages_in,
            stages_out=new.stages_out,
            state=JobState.HELD if new.hold else JobState.QUEUED,
        )
        self.next_job += 1
        self.jobs[job.id] = job
        self.outbox.note(now, job, "submitted", user=new.user, hold=new.hold)
        try:
            self._enqueue(job, new, now)
        except Exception as error:
            self.contain(job.id, error, now)
        if self._standing is not None:
            self._standing.update(keys(job.user, job.queue))

    def _enqueue(self, job: Job, new: NewJob, now: float) -> None:
        if new.hold:
            job.queue = self.queue_of(new)
            job.reason = f"held by {new.user} at submission"
        else:
            self.requeue(job, now)

    def _cancel(self, event: CancelJob, now: float) -> None:
        job = self._known(event.job)
        reason = f"cancelled by {event.by}"
        self.outbox.note(now, job, "cancel", by=event.by)
        job.by = event.by
        if job.state in (JobState.QUEUED, JobState.HELD):
            self._withdraw(job)
            self._end(job, JobState.CANCELLED, reason, now)
        elif not self.saga.abandon(job, JobState.CANCELLED, reason, now):
            job.reason = f"{reason}; waits until its clusters have ended it"
            self.saga.finish(job, Goal.CANCEL, now)

    def _hold(self, event: HoldJob, now: float) -> None:
        job = self._known(event.job)
        reason = f"held by {event.by}"
        if job.state is JobState.HELD:
            return
        if job.state is JobState.QUEUED:
            self._withdraw(job)
            job.move(JobState.HELD)
            job.reason = reason
            self.outbox.note(now, job, "held", by=event.by)
        elif not self.saga.abandon(job, JobState.HELD, reason, now):
            raise Rejected(
                f"job {job.id} is {job.state.value}: only a job that has not started can be held",
                f"cancel it with: metabroker cancel {job.id}",
            )

    def _release(self, event: ReleaseJob, now: float) -> None:
        job = self._known(event.job)
        if job.state is JobState.QUEUED:
            return
        if job.state is not JobState.HELD:
            raise Rejected(f"job {job.id} is {job.state.value}, not HELD", "nothing to release")
        job.move(JobState.QUEUED)
        job.reason = ""
        self.outbox.note(now, job, "released", by=event.by)
        self.requeue(job, now)

    def _abandon(self, event: AbandonJob, now: float) -> None:
        """A job that waits, or has ended, goes on as it is, without what it has left behind."""
        job = self.jobs.get(event.job)
        attempting = job is not None and job.state in IN_ATTEMPT
        told = self.saga.write_off(event.job, event.by, now)
        if not told and not attempting:
            raise Rejected(
                f"nothing of job {event.job} is in a cluster",
                f"see: metabroker show {event.job}",
            )
        if job is not None and not attempting:
            self.outbox.note(now, job, "abandoned", by=event.by, left=told)

    def _known(self, number: int) -> Job:
        job = self.jobs.get(number)
        if job is None:
            raise Rejected(
                f"job {number} is not known or has ended",
                f"see: metabroker show {number}",
                missing=True,
            )
        return job

    def _end(self, job: Job, state: JobState, reason: str, now: float) -> None:
        job.move(state)
        job.reason = reason
        job.end_time = now
        self.outbox.note(now, job, state.value.lower(), why=reason)
        self.ended(job)

    # --- queues -------------------------------------------------------------------------------

    def queue_of(self, job: Job | NewJob, excluded: Container[int] = ()) -> int:
        """The queue that the job joins now, if it must not go to some clusters."""
        local = choose_local(
            max(job.request.sizes),
            chosen=job.local,
            home=job.home,
            sizes=self.ledger.sizes(),
            known=[a.reachable for a in self.ledger.accounts],
            available=self._room,
            waiting=self._waiting,
            excluded=excluded,
        )
        return self.scheduler.queue_of(job.request, local)

    @property
    def _room(self) -> list[int]:
        return [
            max(0, a.usable - a.others - a.claimed) if a.reachable else 0
            for a in self.ledger.accounts
        ]

    def requeue(self, job: Job, now: float) -> None:
        """Join a queue at its tail, as the latest of all."""
        job.seq = self._next_seq
        self._next_seq += 1
        job.queued_at = now
        self.rejoin(job, now)

    def rejoin(self, job: Job, now: float) -> None:
        """Join a queue at its old place."""
        job.queue = self.queue_of(job, self.refusals.elsewhere(job, now))
        self.outbox.changed(job)
        self._arrive(job, now)

    def _arrive(self, job: Job, now: float) -> None:
        self._count_waiting(job, +1)
        if self.shares.limits.hold_back:
            self.shares.add(job)
        else:
            self._join(job, now)
        self._dirty = True

    def _join(self, job: Job, now: float) -> None:
        """Into the policy's queue, at the place that its seq gives it; unless it was refused, or
        its user is at a limit, wherever it could go."""
        request = job.request
        self.refusals.detours.pop(job.id, None)
        barred = self.refusals.elsewhere(job, now)
        if barred:
            if not self._can_go(job, barred):
                self.refusals.add(job)
                self.timers.set(self.refusals.until(job, now), None)
                return
            if request.clusters is None:
                request = Request(request.sizes, exclude=tuple(sorted(barred)))
                self.refusals.detours[job.id] = barred
        self.scheduler.arrive(job.id, request, job.queue, job.queued_at, seq=job.seq)

    def _join_anew(self, job: Job, now: float) -> None:
        """Into a queue that is chosen by where the job may go now, at its old place."""
        self._count_waiting(job, -1)
        job.queue = self.queue_of(job, self.refusals.elsewhere(job, now))
        self._count_waiting(job, +1)
        self.outbox.changed(job)
        self._join(job, now)

    def _withdraw(self, job: Job) -> None:
        """Out of its queue; whoever is behind may be able to start."""
        waits = self.refusals.remove(job.id)
        if self.scheduler.remove(job.id) or self.shares.remove(job.id) or waits:
            self._count_waiting(job, -1)
            self._dirty = True

    def _count_waiting(self, job: Job, sign: int) -> None:
        if job.queue < len(self._waiting):
            self._waiting[job.queue] += sign * sum(job.request.sizes)

    def freed(self, component: Component) -> None:
        """A departure, for the next pass."""
        ref = component.ref
        self._freed.append((ref.job, -component.processors, ref.component, component.cluster))
        self._dirty = True

    def retry_queues_at(self, time: float) -> None:
        """More may fit from `time` on."""
        self.timers.set(time, None)

    def accepted(self, job: Job, cluster: int) -> None:
        """Its user may be at no limit there any more."""
        if self.refusals.accepted(job.user, cluster):
            self._dirty = True

    def ended(self, job: Job) -> None:
        """Forget an ended job; its debts are kept apart."""
        self.outbox.changed(job)
        self.refusals.forget(job.id)
        del self.jobs[job.id]

    # --- clusters and time --------------------------------------------------------------------

    def _observed(self, event: Observed, now: float) -> None:
        cluster, snapshot = event.cluster, event.snapshot
        self._lost_since.pop(cluster, None)

        def claim(token: str) -> int:
            ref = tokens.parse(self.settings.instance, token)
            component = None if ref is None else self.saga.live[cluster].get(ref)
            return 0 if component is None else component.processors

        usable = self.ledger.accounts[cluster].usable
        if self.ledger.observe(cluster, snapshot, claim):
            self._grown(cluster)
        # Jobs that the cluster is too small for now step aside, or come back.
        self._dirty = self._dirty or usable != snapshot.usable
        self.saga.observe(cluster, snapshot, now)
        for left in self.saga.leftovers:
            # Whoever submitted it was told that number.
            self.next_job = max(self.next_job, left.ref.job + 1)

    def _grown(self, cluster: int) -> None:
        """More is idle than before: as good as a departure from that cluster."""
        self._freed.append((0, 0, 0, cluster))
        self._dirty = True

    def _unreachable(self, event: ClusterUnreachable, now: float) -> None:
        self.ledger.lose(event.cluster, event.detail)
        if event.cluster not in self._lost_since:
            self._dirty = True  # jobs that need it step aside
            self._lost_since[event.cluster] = now
            self.timers.set(now + self.settings.move_after, None)

    def _awaited(self, time: float, what: Ref | int | None) -> bool:
        return what is None or self.saga.awaits(time, what)

    def _tick(self, _event: Tick, now: float) -> None:
        for what in self.timers.due(now):
            if what is None:
                self._freed.append((0, 0, 0, -1))
                self._dirty = True
                self._move_waiting(now)
            else:
                try:
                    self.saga.due(what, now)
                except Exception as error:
                    number, ref = (what.job, what) if isinstance(what, Ref) else (what, None)
                    self.contain(number, error, now, ref)

    def _move_waiting(self, now: float) -> None:
        """Jobs that only the broker put into a lost cluster's queue go to another's tail."""
        lost = {
            cluster
            for cluster, since in self._lost_since.items()
            if now - since >= self.settings.move_after
        }
        if not lost:
            return
        if not any(self.ledger.known(c, now) for c in range(len(self._waiting))):
            self.timers.set(now + self.settings.move_after, None)
            return
        for job in list(self.jobs.values()):
            if job.state is not JobState.QUEUED or job.queue not in lost or job.local is not None:
                continue
            if job.request.clusters is not None:
                continue
            before = job.queue
            if self.queue_of(job) == before:
                continue
            self._withdraw(job)
            self.requeue(job, now)
            names = self.settings.clusters
            self.outbox.note(
                now,
                job,
                "moved",
                why=f"{names[before].name} does not answer",
                to=names[job.queue].name if job.queue < len(names) else "global",
            )

    def component(self, ref: Ref) -> Component | None:
        """A component that claims something, of any attempt."""
        return self.saga.component(ref)
