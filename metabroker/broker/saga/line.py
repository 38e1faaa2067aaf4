"""The line: a job that waits stands in the own queues of several clusters, and starts in one.

Where others want a cluster too, its scheduler promises every processor to jobs that wait there. So
a job of one component that the policy would start next waits there as well, in several clusters at
once, as *siblings* (see `policy.line` for where, `line_up` for who). It is QUEUED all the time: its
place in its own queue, aging and limits are those of a waiting job.

Start once. Each sibling comes to a gate of its own, and waits there. The broker's choice is the
job's way from QUEUED to SUBMITTING with that one component, which is durable before that gate is
opened; no other gate of the job is ever opened in this attempt, so nothing else of it can start,
whatever becomes of the losers: they are cleaned, as former attempts are. Should the winner's
opening be in doubt, its step stays pending, and the job stays where it is, until its cluster has
answered. A sibling that nobody opens leaves its gate after `Settings.line_patience` by itself.

What a sibling is refused costs the job no try while it has others; with the last one the attempt
is over, as that of any job.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from metabroker.broker import tokens
from metabroker.broker.events import (
    Arrived,
    Ended,
    GaveUp,
    Refused,
    Staged,
    Started,
    Submitted,
    Unsure,
)
from metabroker.broker.job import Component, Job
from metabroker.broker.observation import NativeJob, NativeState, Snapshot
from metabroker.broker.queues import Queues
from metabroker.broker.state import BrokerState
from metabroker.broker.states import Cause, JobState, Phase, Step
from metabroker.broker.tokens import Ref

from .at_gates import AtGates
from .claims import Claims
from .pending import PendingSteps
from .rollback import Rollback
from .unread import Unread

_UNDER_WAY = frozenset({Step.NONE, Step.STAGE, Step.SUBMIT})
_WAITS = frozenset({JobState.QUEUED, JobState.HELD})
_HAS_RUN = (
    "its script has run, in a time of which the store does not tell: see what it has done, "
    "then release or cancel the job"
)
_FOR_A_WHILE = frozenset({Cause.LIMIT, Cause.DENIED, Cause.UNREACHABLE})


@dataclass(eq=False)
class Line:
    """The siblings of all jobs."""

    _state: BrokerState
    _queues: Queues
    _claims: Claims
    _pending: PendingSteps
    _rollback: Rollback
    unread: Unread
    _lines: dict[int, Job] = field(default_factory=dict)  # some may have left it since
    at_gates: AtGates = field(default_factory=AtGates)
    _stuck: dict[Ref, float] = field(default_factory=dict)  # since the poll that began then
    _early: dict[Ref, Arrived] = field(default_factory=dict)  # told before the first polls ended

    def find(self, ref: Ref) -> tuple[Component, Job] | None:
        """A sibling that stands in line, and its job."""
        component, job = self._claims.known.get(ref), self._state.jobs.get(ref.job)
        if component is None or job is None or component not in job.line:
            return None
        return component, job

    def restore(self, job: Job, component: Component, now: float) -> None:
        """After a restart: a component of a job that is in no attempt. Where it stood in line the
        cluster was contested, and it may be still."""
        if component.ref.attempt != job.attempt:
            return
        stands = component.sibling and component.step in _UNDER_WAY
        if stands and component.phase is not Phase.GONE:
            job.line.append(component)
            self._lines[job.id] = job
            self.unread.restored(component)
            until = now + self._state.settings.line_calm
            self._state.ledger.entries[component.cluster].contested_until = until

    def standing(self) -> list[Job]:
        """The jobs that stand in line anywhere."""
        jobs = self._state.jobs
        self._lines = {n: job for n, job in self._lines.items() if job.line and n in jobs}
        return list(self._lines.values())

    # --- joining and leaving ------------------------------------------------------------------

    def stand(self, job: Job, clusters: Collection[int], now: float) -> None:
        """The job stands in line in these clusters, too."""
        if not job.line:
            job.attempt, job.siblings = job.attempt + 1, 0
            self._lines[job.id] = job
        settings = self._state.settings
        term = tokens.number(settings.key, job.id, job.attempt, settings.term)
        for cluster in clusters:
            ref = Ref(job.id, job.attempt, job.siblings, term)
            job.siblings += 1
            sibling = Component(ref, cluster, 0, reserves=False, seq=job.seq, asked_at=now)
            job.line.append(sibling)
            self._claims.add(sibling)
            self._state.note(now, job, sibling, "in line")
            if job.stages_in:
                self._pending.start(sibling, Step.STAGE, now)
            else:
                self._submit(sibling, now)

    def leave(self, job: Job, why: str, now: float) -> None:
        """The job stands in line nowhere any more."""
        for sibling in list(job.line):
            self.withdraw(sibling, job, why, now)

    def withdraw(self, sibling: Component, job: Job, why: str, now: float) -> None:
        """The job stands in line there no more. Its place in other queues, and here, it keeps."""
        job.line.remove(sibling)
        self._stuck.pop(sibling.ref, None)
        self._early.pop(sibling.ref, None)
        self.at_gates.withdrawn(sibling.ref)
        self._state.note(now, job, sibling, "withdrawn", why=why)
        self._pending.start(sibling, Step.CLEAN, now)
        self._queues.changed = True

    def _submit(self, sibling: Component, now: float) -> None:
        self._pending.watch(sibling)
        self._pending.start(sibling, Step.SUBMIT, now)

    # --- what clusters answer -----------------------------------------------------------------

    def staged(self, event: Staged, now: float) -> None:
        """Its files are there: now it may stand in line."""
        sibling, job = self._found(event.ref)
        if sibling.step is Step.STAGE:
            told = {"files": event.files, "bytes": event.size}
            self._state.note(now, job, sibling, "files sent", **told)
            self._submit(sibling, now)

    def submitted(self, event: Submitted, now: float) -> None:
        """It stands in its cluster's own queue."""
        sibling, job = self._found(event.ref)
        self._claims.submitted(sibling, event, now)
        sibling.advance(Phase.SUBMITTED)
        if sibling.step is Step.SUBMIT:
            sibling.asked_at = now
            self._pending.done(sibling)
            self._queues.accepted(job, sibling.cluster, Step.SUBMIT, now)
            self._state.note(now, job, sibling, "submitted", native_id=event.native_id)

    def refused(self, event: Refused, now: float) -> None:
        """One sibling less; with the last one the attempt is over."""
        sibling, job = self._found(event.ref)
        if sibling.step is not event.step:
            return
        if self.unread.got_through(sibling):  # its own matter: the cluster stays open to others
            sibling.detail = event.detail
            self._state.outbox.changed(sibling)
            self._pending.retry_later(sibling, now)
            return
        files = event.step is Step.STAGE and event.cause in (Cause.BUSY, Cause.UNREACHABLE)
        sibling.cause = Cause.FILES if files else event.cause
        sibling.detail = event.detail
        step, why = event.step.value, event.detail
        self._state.note(now, job, sibling, "refused", step=step, why=why)
        if sibling.cause is Cause.UNREACHABLE:
            self._state.ledger.mark_unverified(sibling.cluster, now)
        elif sibling.cause is Cause.REFUSED:
            self._queues.refusals.not_known_why(job, sibling, now)
        if job.line == [sibling]:
            self._give_up(job, sibling, now)
            return
        if sibling.cause is Cause.INVALID:
            job.excluded |= {sibling.cluster}
        elif sibling.cause in _FOR_A_WHILE:
            self._queues.refusals.suspend(job, sibling, now)
        self._pause(job, sibling.cluster, now)
        self.withdraw(sibling, job, event.detail, now)

    def _give_up(self, job: Job, last: Component, now: float) -> None:
        """What the last sibling is refused is its job's failed submission."""
        self._queues.withdraw(job)  # nobody is overtaken
        self._take(job, last, now)
        self._rollback.roll_back(job, now, self._state.blame(last, last.detail), last)

    def unsure(self, event: Unsure, now: float) -> None:
        """No answer: asked again, as long as it stands there."""
        sibling, _ = self._found(event.ref)
        if sibling.step is event.step:
            sibling.detail = event.detail
            self._state.outbox.changed(sibling)
            if event.step is Step.SUBMIT:
                self._state.ledger.mark_unverified(sibling.cluster, now)
            self._pending.retry_later(sibling, now)

    # --- what its own records tell ------------------------------------------------------------

    def arrived(self, event: Arrived, now: float) -> None:
        """It has come up in its cluster's queue, and waits at its gate. Just after a start that is
        looked at again once all clusters were polled: one may show that another one was chosen."""
        sibling, job = self._found(event.ref)
        if not event.begun:
            self.unread.read(sibling)
        if sibling.reached(Phase.ARRIVED):
            return
        if self._state.first_polls.wait and not event.begun:
            self._early[sibling.ref] = event
            return
        sibling.advance(Phase.ARRIVED)
        sibling.hosts = event.hosts or sibling.hosts
        self.at_gates.arrived(sibling.ref, now)
        self._state.outbox.changed(sibling)
        self._state.note(now, job, sibling, "at its gate", hosts=sibling.hosts)
        if job.state is not JobState.QUEUED or event.begun:
            return  # its script runs, of which an older store does not tell: see `found_started`
        against = self._against(job, sibling.cluster, now)
        if against:
            self._pause(job, sibling.cluster, now)
            self.withdraw(sibling, job, against, now)
        else:
            self._choose(job, sibling, now)

    def _against(self, job: Job, cluster: int, now: float) -> str:
        """Why the job may not start there now, though it has come up; "": it may."""
        if self.unread.of(job) is not None:
            return "another one of its siblings may have started: nobody has read its records yet"
        if self._state.owes(job):
            return "something was asked of its array that is to be done before it starts"
        if self._state.ledger.drained(cluster):
            return "its cluster is drained"
        may_start = self._queues.scheduler_view.may_start(job.seq, cluster, now)
        if not may_start or self._before_one_placed(job, cluster):
            return "a job before it may not be overtaken again"
        held_back = self._queues.held_back
        if held_back.limits.hold_back:
            usage = held_back.usage(self._state.jobs, self._claims.live)
            if held_back.beyond(job, job.queue, usage, (cluster,)) is not None:
                return "its user, or its queue, is at a limit"
        return ""

    def _before_one_placed(self, job: Job, cluster: int) -> bool:
        """Whether one is before it that may not be overtaken again: a pass has placed it, but it
        is to begin in a later turn, and would wait again if it found no room then; or it has found
        none."""
        view, queues = self._queues.scheduler_view, self._queues
        placed = [self._state.jobs[n] for n in (*queues.decided, *queues.stepped_back)]
        not_sent = {other.seq for other in placed}
        before = [
            other
            for other in placed
            if other.seq < job.seq
            and (other.request.clusters is None or cluster in other.request.clusters)
        ]
        if any(view.was_protected(other.id) for other in before):
            return True
        return bool(before) and view.due_back((other.seq for other in before), not_sent)

    def cleaned(self, component: Component, now: float) -> None:
        """One that may have been let through (see `unread`), in line or in an attempt that was
        rolled back since, was cleaned. If its script has run (`started`), only the job's user can
        tell whether it is to run again."""
        job, unread = self._state.jobs.get(component.ref.job), self.unread.read(component)
        held = self.at_gates.cleaned(component.ref, now)
        if held is not None and job is not None:
            self._state.note(now, job, component, "cleaned up", held=round(held, 3))
        if not unread or job is None or not component.started:
            return
        if job.state not in _WAITS:
            return
        why = self._state.blame(component, _HAS_RUN)
        if job.state is JobState.QUEUED:
            self._queues.withdraw(job)
            self.leave(job, why, now)
            job.move(JobState.HELD)
        job.reason = why
        self._state.outbox.changed(job)
        self._state.outbox.note(now, job, "held", why=why)

    def hold_off(self, job: Job, now: float) -> None:
        """It is sent nowhere for a while."""
        for cluster in range(len(self._state.settings.clusters)):
            self._pause(job, cluster, now)

    def gave_up(self, event: GaveUp, now: float) -> None:
        """It has left its gate: the broker was away for too long."""
        sibling, job = self._found(event.ref)
        sibling.cause = Cause.GAVE_UP
        self.withdraw(sibling, job, "gave up waiting at its gate", now)

    def found_started(self, event: Started | Ended, now: float) -> None:
        """Its script has run, of which the store does not tell (it is one of some time before): so
        it is the one that was chosen."""
        sibling, job = self._found(event.ref)
        self._choose(job, sibling, now)

    def _choose(self, job: Job, winner: Component, now: float) -> None:
        """The one durable choice, before the gate is opened."""
        for other in list(job.line):
            if other is not winner:
                self.withdraw(other, job, "it starts in another cluster", now)
        self.unread.read(winner)
        waited = self.at_gates.chosen(winner.ref, now)
        self._queues.started(job, [winner.cluster])
        self._take(job, winner, now)
        self._state.note(now, job, winner, "chosen", waited=round(waited, 3))
        self._pending.start(winner, Step.OPEN, now)

    def _take(self, job: Job, sibling: Component, now: float) -> None:
        """Into an attempt that is this sibling's."""
        settings = self._state.settings.clusters[sibling.cluster]
        held = settings.held(job.request.sizes[0], job.shape.cpus_per_task)
        self._claims.hold(sibling, held)
        self._stuck.pop(sibling.ref, None)
        self._early.pop(sibling.ref, None)
        job.line = []
        job.components = [sibling]
        job.reason = ""
        job.move(JobState.SUBMITTING)
        self._state.outbox.changed(job)

    # --- what its cluster shows ---------------------------------------------------------------

    def shown(
        self, sibling: Component, job: Job, native: NativeJob, snapshot: Snapshot, now: float
    ) -> None:
        """It is still in its cluster's queue; is that of any use?"""
        early = self._early.pop(sibling.ref, None)
        if early is not None:
            self.arrived(early, now)
            return
        if native.state is NativeState.PENDING or native.preparing:
            self.unread.read(sibling)
        if not native.stuck or sibling.reached(Phase.ARRIVED):
            self._stuck.pop(sibling.ref, None)
            return
        since = self._stuck.setdefault(sibling.ref, snapshot.taken_at)
        if snapshot.taken_at - since >= self._state.settings.stuck_after:
            self._pause(job, sibling.cluster, now)
            self.withdraw(sibling, job, f"it would stay pending there ({sibling.detail})", now)

    def gone(self, sibling: Component, job: Job, now: float) -> None:
        """Its cluster does not have it any more."""
        self._pause(job, sibling.cluster, now)
        self.withdraw(sibling, job, f"not in its cluster ({sibling.detail})", now)

    def _pause(self, job: Job, cluster: int, now: float) -> None:
        until = now + self._state.settings.limit_most
        self._queues.refusals.pause(job, cluster, until)
        self._queues.retry_at(until)

    def _found(self, ref: Ref) -> tuple[Component, Job]:
        found = self.find(ref)
        assert found is not None
        return found
