"""The broker's core: events in, effects out (`handle`, `schedule`, `take`).

A driver hands over what has happened, lets the policy place what now fits, writes what `take`
gives in one transaction, and only then carries out the effects. At one instant: all events, then
one `schedule` (all ends, all arrivals, then one pass).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from metabroker.policy import Backfilling, PolicyState, Scheduler
from metabroker.submission.dependency import Named

from . import store_behind, tokens
from .after_restore import NEVER, History
from .arrays import Arrays
from .dependencies import Dependencies
from .drained import Drained
from .drains import Drains
from .events import (
    AbandonJob,
    Asked,
    CancelJob,
    ChangeJob,
    ClusterUnreachable,
    DrainCluster,
    Event,
    HoldJob,
    Observed,
    Outcome,
    ReleaseJob,
    ResumeCluster,
    SubmitJob,
    TellLinks,
    Tick,
)
from .identities import Identities, NotUsable
from .input_checks import sound
from .job import Component, Job, NewJob
from .ledger import Ledger
from .links import Link
from .lost_clusters import LostClusters
from .observation import Snapshot
from .orphans import UnclaimedOrphans
from .outbox import Mishap, Ready, Timers
from .queues import Queues, places
from .rejected import Rejected
from .renamed import with_tokens
from .requests import Requests
from .resource_limits import ResourceLimits
from .running import RunningJobs
from .saga import Saga
from .scheduling import Scheduling
from .settings import Settings
from .settling import settle_parts
from .state import BrokerState
from .states import IN_ATTEMPT, JobState
from .tokens import Ref
from .view import BrokerView


class Broker:
    """All jobs that have not ended, their queues, and what is known of the clusters. `view`: what
    others may read of it."""

    def __init__(self, settings: Settings, scheduler: Scheduler, history: History = NEVER) -> None:
        """`history`: the returns of the store from backups, as far as there were any."""
        self.settings = settings
        timers = Timers(self._awaited)
        self._state = state = BrokerState(settings, Ledger(settings), timers, history.next_job)
        self._queues = queues = Queues(state, scheduler, self.contain)
        self._saga = saga = Saga(state, queues, UnclaimedOrphans(settings, history))
        if isinstance(scheduler, Backfilling):
            scheduler.follow(RunningJobs(state, saga))
        self._scheduling = Scheduling(
            state, queues, saga, lambda job, now: self._requests.catch_up(job, now)
        )
        self._dependencies = dependencies = Dependencies(state, queues)
        self._arrays = Arrays(state, queues, dependencies, self.contain)
        self._requests = requests = Requests(state, queues, saga, dependencies)
        self._lost = LostClusters(state, queues)
        self._drains = drains = Drains(state, queues, saga, self._lost)
        self._identities = Identities(settings, saga.claims.in_cluster)
        self.view = BrokerView(
            state,
            queues,
            saga,
            self._scheduling,
            self._identities,
            dependencies.waiting,
            state.links,
        )
        self._handlers: Mapping[type, Callable[[Any, float], None]] = {
            SubmitJob: requests.submit,
            CancelJob: requests.cancel,
            HoldJob: requests.hold,
            ReleaseJob: requests.release,
            ChangeJob: requests.change,
            AbandonJob: requests.abandon,
            **dict.fromkeys(saga.handled, saga.handle),
            DrainCluster: drains.drain,
            ResumeCluster: drains.resume,
            TellLinks: queues.links_told,
            Observed: self._observed,
            ClusterUnreachable: self._unreachable,
            Tick: self._tick,
        }

    # --- what a driver does in turn -----------------------------------------------------------

    def handle(self, event: Event, now: float) -> None:
        """Take over one event. What it leads to waits in the outbox.

        One that cannot be handled fails its job, or is as if its cluster had not answered, and is
        told among the outbox's mishaps.

        Raises:
            Rejected: a user's request cannot be carried out; nothing has changed.
        """
        try:
            if self._state.behind:
                self._only_look(sound(event))
            else:
                self._handlers[type(event)](sound(event), now)
        except Rejected:
            raise
        except Exception as error:
            self._contain(event, error, now)

    def _only_look(self, event: Event) -> None:
        """The store is behind: users are refused, polls counted, and answers of clusters dropped.
        What they were answers to is pending in the store, and is asked again after a restart."""
        if isinstance(event, Asked):
            why = f"the broker decides nothing: {self._state.behind}"
            raise Rejected(why, f"tell the administrator: {store_behind.ADVICE}")
        if isinstance(event, Observed):
            self._count(event.cluster, event.snapshot)
        elif isinstance(event, ClusterUnreachable):
            self._state.ledger.lose(event.cluster, event.detail)

    def _contain(self, event: Event, error: Exception, now: float) -> None:
        """Whom a mishap is for: one job, one cluster; else it is everybody's, and goes on."""
        if isinstance(event, Observed | ClusterUnreachable):
            self._state.outbox.mishaps.append(Mishap(error, cluster=event.cluster))
            self._state.ledger.lose(event.cluster, "what it tells cannot be used")
            self._queues.changed = True
        elif isinstance(event, CancelJob | HoldJob | ReleaseJob | ChangeJob | AbandonJob):
            self.contain(event.job, error, now)
        elif isinstance(event, SubmitJob | DrainCluster | ResumeCluster | TellLinks | Tick):
            raise error
        else:
            self.contain(event.ref.job, error, now, event.ref)

    def contain(self, number: int, error: Exception, now: float, ref: Ref | None = None) -> None:
        """Fail the job, of which something cannot be handled, and no other."""
        self._saga.containment.contain(number, error, now, ref)

    def schedule(self, now: float) -> None:
        """Passes of the policy, if anything may have changed what fits."""
        if self._queues.changed and not self._state.behind and not self._state.first_polls.wait:
            self._requests.before_pass(now)
            self._scheduling.run(now)

    def take(self) -> Ready:
        """What must be written, and then done."""
        ready = self._state.outbox.take()
        self._requests.count(ready.jobs)
        self._arrays.changed(ready.jobs)
        self._dependencies.changed(ready.jobs, ready.components)
        return ready

    def next_time(self) -> float | None:
        """When the next `Tick` is due (Unix seconds): at once, if there is more to do than one turn
        does."""
        if self._state.behind:
            return None
        moments = [self._state.timers.next(), self._scheduling.unfinished]
        if self._state.backlog:
            moments.append(self._state.backlog.since)
        return min((moment for moment in moments if moment is not None), default=None)

    # --- what a driver asks for ---------------------------------------------------------------

    def check_limits(self, new: NewJob, ended: Mapping[Named, Outcome] | None = None) -> None:
        """Hold a submission that is not made yet against the configured limits, and what it depends
        on against the jobs that there are (`ended`: those that are over; None: not that).

        Raises:
            Rejected: it is beyond one, or depends on a job that there is not.
        """
        self._requests.check_limits(new)
        if ended is not None:
            self._dependencies.check(new.after, ended)

    def limit(self, limits: ResourceLimits) -> None:
        """Hold users and queues to these limits from now on."""
        if limits != self._queues.held_back.limits:
            self._queues.held_back.change(limits)
            self._dependencies.terms.limit(limits.dependencies)
            self._queues.more_may_fit()

    def remove_unclaimed(self, tokens: Collection[str]) -> None:
        """An administrator wants these orphans removed: with the next polls of their clusters."""
        for orphan in self._saga.orphans:
            if orphan.token in tokens:
                orphan.unwanted = True

    # --- a restart ----------------------------------------------------------------------------

    def recall_drained(self, drained: Mapping[int, Drained]) -> None:
        """Before `restore`: which clusters are drained."""
        self._drains.recall(drained)

    def recall_links(self, links: Iterable[Link]) -> None:
        """Before `restore`: what was measured between clusters."""
        self._state.links.tell(links)

    def restore(
        self,
        jobs: Iterable[Job],
        components: Iterable[Component],
        now: float,
        ended: Mapping[Named, Outcome] | None = None,
        tasks: Iterable[tuple[int, JobState, int | None]] = (),
    ) -> None:
        """Go on from what the store holds. `jobs` have not ended; `components` are those of
        their present attempts, and all others that are not GONE or have a step pending; `ended`:
        what has become of other jobs, which these wait for; `tasks`: of which arrays tasks have
        ended, in which states, and their largest exit codes.

        What was pending is handed out again once the clusters were polled (see `first_polls`).
        """
        until = now + self.settings.stale_after
        self._state.first_polls.begin(len(self.settings.clusters), until)
        self._state.timers.set(until, None)
        waiting = []
        for job in jobs:
            self._state.jobs[job.id] = job
            self.number_from(job.id + 1)
            self._queues.next_seq = max(self._queues.next_seq, job.seq + places(job))
            if job.state is JobState.QUEUED:
                waiting.append(job)
        waiting.sort(key=lambda job: job.seq)
        for job in waiting:
            # Where the policy is another one since, in a queue of that, at the place of its seq.
            keeps = self._queues.scheduler_view.keeps
            if settle_parts(job, self._state) or not keeps(job.request, job.queue):
                job.queue = self._queues.queue_of(job)
                self._state.outbox.changed(job)
            self._queues.arrive(job, now)
        for component in sorted(components, key=lambda c: c.ref):
            try:
                self._restore(component, now)
            except Exception as error:
                self.contain(component.ref.job, error, now, component.ref)
        self._arrays.restored(tasks)
        self._requests.restored()
        for job in self._state.jobs.values():
            self._saga.deadlines.resume(job, now)
            self._dependencies.begin(job, ended or {}, now)
        self._drains.restored(now)
        self._queues.more_may_fit()
        self._queues.changed = bool(self._state.jobs)

    def _restore(self, component: Component, now: float) -> None:
        component.asked_at = now
        self._queues.next_seq = max(self._queues.next_seq, component.seq + 1)
        self._saga.claims.add(component)
        owner = self._state.jobs.get(component.ref.job)
        if (
            owner is not None
            and owner.state in IN_ATTEMPT
            and owner.attempt == component.ref.attempt
        ):
            if not component.sibling:  # else it stood in line for nothing
                owner.components.append(component)
                if owner.state is not JobState.RUNNING:
                    self._saga.unread.restored(component)
        elif owner is not None:
            self._saga.line.restore(owner, component, now)
        self._saga.pending.resume(component)

    def recall(self, memory: PolicyState) -> None:
        """After `restore`: what the policy remembers besides the waiting jobs. Who joins from
        now on comes after all who ever joined."""
        self._queues.scheduler.restore(memory)
        self._queues.next_seq = max(self._queues.next_seq, memory.next_seq)

    @property
    def next_job(self) -> int:
        """The number that the next job gets."""
        return self._state.next_job

    def number_from(self, number: int) -> None:
        """Whoever submitted them was told all numbers below this one: none is given again."""
        self._state.next_job = max(self._state.next_job, number)

    # --- clusters and time --------------------------------------------------------------------

    def _observed(self, event: Observed, now: float) -> None:
        cluster, orphans, claims = event.cluster, self._saga.orphans, self._saga.claims
        live = claims.live[cluster].values()
        snapshot = with_tokens(event.snapshot, live, self._state.jobs, self.settings.instance)
        history = orphans.history
        wrong = self._identities.trouble(cluster, snapshot)
        why = store_behind.trouble(self._state, history, claims.known, cluster, snapshot)
        if why:
            self._state.behind = why
            told = store_behind.StoreBehind(f"{why}; nothing is decided any more")
            self._state.outbox.mishaps.append(Mishap(told, cluster=cluster))
            self._count(cluster, snapshot)
            return
        if wrong:
            self._not_usable(cluster, wrong, now)
            return
        self._lost.answers(cluster)
        waits = self._still_waits(cluster, now, listed=True)
        entry = self._state.ledger.entries[cluster]
        nodes, before, unseen = entry.nodes, entry.snapshot, entry.unseen
        more = self._count(cluster, snapshot)
        if entry.nodes != nodes:
            self._queues.nodes_changed(now)
        if self._queues.wait_for_nodes and (before is None or unseen or not before.alike(snapshot)):
            self._queues.more_may_fit()
        ahead = self._queues.horizon.observed(cluster, now)
        if waits:
            return
        if more:
            self._queues.grown(cluster)
        if ahead or self._scheduling.outdated(now):
            # Jobs that the cluster has too little for now step aside, or come back.
            self._queues.changed = True
        self._saga.reconciliation.observe(cluster, snapshot, now)
        for orphan in orphans:
            if history.unknown(orphan.ref) and tokens.proven(self.settings.key, orphan.ref):
                self.number_from(orphan.ref.job + 1)

    def _count(self, cluster: int, snapshot: Snapshot) -> bool:
        """What a poll tells of processors. True if more may be idle than before."""
        claim = self._saga.claims.shown(cluster, snapshot.ours)
        return self._state.ledger.observe(cluster, snapshot, claim)

    def _not_usable(self, cluster: int, why: str, now: float) -> None:
        """It is as if the cluster did not answer, and nothing is sent to it."""
        if self._state.ledger.entries[cluster].detail != why:
            self._state.outbox.mishaps.append(Mishap(NotUsable(why), cluster=cluster))
        self._state.first_polls.unseen.add(cluster)
        self._unreachable(ClusterUnreachable(cluster, why), now)

    def _unreachable(self, event: ClusterUnreachable, now: float) -> None:
        self._state.ledger.lose(event.cluster, event.detail)
        self._lost.lost(event.cluster, now)
        self._still_waits(event.cluster, now, listed=False)

    def _still_waits(self, cluster: int | None, now: float, *, listed: bool) -> bool:
        """A poll of the cluster has come to an end (None: it is waited for no longer): hand out
        what may be done now. Whether nothing may be decided yet."""
        first, clusters = self._state.first_polls, range(len(self.settings.clusters))
        waited, shut = first.wait, [c for c in clusters if self._state.shut(c)]
        if cluster is None:
            first.give_up(now)
        elif listed:
            first.compared(cluster)
        else:
            first.failed(cluster)
        if waited and not first.wait:
            self._queues.changed = True
            self._arrays.look_again()
            for job in self._state.jobs.values():
                self._saga.deadlines.resume(job, now)
        for each in shut:
            if not self._state.shut(each):
                self._saga.hand_out(each)
        return first.wait

    def _awaited(self, time: float, what: Ref | int | None) -> bool:
        return what is None or self._saga.deadlines.awaits(time, what)

    def _tick(self, _event: Tick, now: float) -> None:
        for what in self._state.timers.due(now, self.settings.slice):
            if what is None:
                self._still_waits(None, now, listed=False)
                self._dependencies.due(now, self.contain)
                self._queues.more_may_fit()
                self._lost.move_waiting(now)
            elif not self._state.first_polls.wait:  # deadlines begin anew when that is over
                try:
                    self._saga.deadlines.due(what, now)
                except Exception as error:
                    number, ref = (what.job, what) if isinstance(what, Ref) else (what, None)
                    self.contain(number, error, now, ref)
        self._state.backlog.work(self.settings.slice, now, self.contain)
