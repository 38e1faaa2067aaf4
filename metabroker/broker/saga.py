"""The co-allocation saga: one attempt of one job, from placement until nothing of it is left.

The reserve phase is the vote; the commit is the moment at which every component waits at the
barrier and is armed. Until then everything is undone by `_roll_back`, at once and whatever the
clusters answer: what an attempt may have left in a cluster becomes a debt, a component that is
owed a `Clean`, kept until the cluster was seen clean. After the commit (and for a single-component
job from its submission on) the script may be running, so an attempt ends only when the clusters
have said of every component that it is over.

Here are the decisions; `metabroker.broker.core` has the queues and what users ask.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from .effects import Watch
from .events import (
    Armed,
    Arrived,
    Cleaned,
    Discarded,
    Ended,
    GaveUp,
    Opened,
    Refused,
    Reserved,
    Staged,
    Started,
    Submitted,
    Unsure,
)
from .job import Component, Goal, Job
from .staging import Staging
from .states import Cause, JobState, Phase, Step
from .tokens import Ref

_SIGNAL = 128
"""Exit codes above it are a shell's for a command that died of a signal."""

_ENDS = frozenset({Cause.NODE, Cause.KILLED, Cause.OVERTIME, Cause.EXIT, Cause.LOST})
_UNCOMMITTED = frozenset({JobState.RESERVING, JobState.SUBMITTING, JobState.WAITING})


class Saga(Staging):
    """The way of an attempt: what each answer, record and deadline leads to."""

    # --- beginning ----------------------------------------------------------------------------

    def begin(self, job: Job, placement: Iterable[int], now: float) -> None:
        """Start the job's next attempt on the clusters that the policy has chosen."""
        job.attempt += 1
        job.reason = ""
        clusters, sizes = self._settings.clusters, job.request.sizes
        job.components = [
            Component(
                ref=Ref(job.id, job.attempt, index, self._settings.term),
                cluster=cluster,
                processors=clusters[cluster].held(processors),
                reserves=clusters[cluster].reserves and not job.single,
                seq=job.seq,
                asked_at=now,
            )
            for index, (processors, cluster) in enumerate(zip(sizes, placement, strict=True))
        ]
        for component in job.components:
            self.adopt(component)
            self._out.changed(component)
        self._out.note(
            now,
            job,
            "placed",
            clusters=[clusters[c.cluster].name for c in job.components],
            processors=[c.processors for c in job.components],
        )
        for component, asked in zip(job.components, sizes, strict=True):
            if component.processors != asked:
                held = component.processors
                self._note(now, job, component, "rounded up", asked=asked, held=held)
        if job.stages_in:
            self._stage_all(job, now)
        else:
            self._claim_all(job, now)

    def _claim_all(self, job: Job, now: float) -> None:
        """Reserve where that can be done; else submit at once."""
        if any(c.reserves for c in job.components):
            if job.state is not JobState.RESERVING:
                job.move(JobState.RESERVING)
            self._deadline(job, now + self._settings.reserve_timeout)
            for component in job.components:
                if component.reserves:
                    self._owe(component, Step.RESERVE, now)
        else:
            self._submit_all(job, now)

    def resume(self, component: Component) -> None:
        """After a restart: do again what is owed, and look again where it is to be looked."""
        if component.step is not Step.NONE:
            component.tries += 1
            self._emit(component, again=True)
        watched = component.step in (Step.SUBMIT, Step.ARM, Step.OPEN, Step.NONE)
        watched = watched and component.phase is not Phase.GONE
        if watched and (component.reached(Phase.SUBMITTED) or component.step is Step.SUBMIT):
            self._out.effects.append(Watch(component.ref, component.cluster))

    def resume_job(self, job: Job) -> None:
        """After a restart: the job's deadline again."""
        if job.deadline is not None:
            self._timers.set(job.deadline, job.id)

    # --- forward ------------------------------------------------------------------------------

    def _proceed(self, job: Job, now: float) -> None:
        """Take the attempt's next step if all of its components are ready for it."""
        parts = job.components
        if job.uncertain is not None:
            return
        if job.state is JobState.RESERVING:
            if all(c.reservation for c in parts if c.reserves):
                self._submit_all(job, now)
        elif job.state is JobState.SUBMITTING and not job.single:
            if all(c.step is Step.NONE and c.reached(Phase.SUBMITTED) for c in parts):
                job.move(JobState.WAITING)
                self._deadline(job, now + self._settings.barrier_timeout)
                self._out.note(now, job, "waiting")
                self._proceed(job, now)
        elif job.state is JobState.WAITING:
            if all(c.phase is Phase.ARMED for c in parts):
                self._commit(job, now)
            elif all(c.phase is Phase.ARRIVED and c.step is Step.NONE for c in parts):
                for component in parts:
                    self._owe(component, Step.ARM, now)

    def _submit_all(self, job: Job, now: float) -> None:
        job.move(JobState.SUBMITTING)
        self._deadline(job, now + self._settings.submit_timeout)
        self._out.note(now, job, "submitting")
        for component in job.components:
            self._out.effects.append(Watch(component.ref, component.cluster))
            self._owe(component, Step.SUBMIT, now)

    def _commit(self, job: Job, now: float) -> None:
        """The point of no return: from here on every component's script starts (P3)."""
        job.move(JobState.RUNNING)
        job.start_time = now
        self._deadline(job, now + job.time_limit + self._settings.overtime_grace)
        self._out.note(now, job, "opened")
        for component in job.components:
            self._owe(component, Step.OPEN, now)

    # --- replies ------------------------------------------------------------------------------

    def staged(self, event: Staged, now: float) -> None:
        """A component's files are in its cluster."""
        job = self._sent(event, now)
        if job is not None:
            self._claim_all(job, now)

    def reserved(self, event: Reserved, now: float) -> None:
        """A vote in favour."""
        component, job = self._find(event.ref)
        if component is None:
            return
        component.reservation = True
        component.advance(Phase.RESERVED)
        self._out.changed(component)
        if component.step is Step.RESERVE and job is not None:
            self._done(component)
            self._ledger.accepted(component.cluster)
            self._note(now, job, component, "reserved", processors=component.processors)
            self._proceed(job, now)

    def submitted(self, event: Submitted, now: float) -> None:
        """The cluster has the component's job."""
        component, job = self._find(event.ref)
        if component is None:
            return
        component.native_id = event.native_id
        component.submit_time = event.submit_time
        component.advance(Phase.SUBMITTED)
        self._out.changed(component)
        if component.step is Step.SUBMIT and job is not None:
            component.asked_at = now
            self._done(component)
            self._ledger.accepted(component.cluster)
            self._queues.accepted(job, component.cluster)
            self._note(now, job, component, "submitted", native_id=event.native_id)
            if job.single:
                job.deadline = None
            self._proceed(job, now)

    def armed(self, event: Armed, now: float) -> None:
        """The component will not give up any more."""
        component, job = self._find(event.ref)
        if component is not None and component.step is Step.ARM and job is not None:
            self._done(component)
            component.advance(Phase.ARMED)
            self._proceed(job, now)

    def opened(self, event: Opened, now: float) -> None:
        """The component has been told to start."""
        component, _job = self._find(event.ref)
        if component is not None and component.step is Step.OPEN:
            self._done(component)

    def cleaned(self, event: Cleaned, now: float) -> None:
        """Nothing of the component is left in its cluster: a debt is paid, or an attempt ends."""
        component, job = self._find(event.ref)
        if component is None or component.step is not Step.CLEAN:
            return
        self._record(component, event, now)
        self._gone(component, now)
        if job is not None:
            self._settle(job, now)

    def discarded(self, event: Discarded, _now: float) -> None:
        """The last of the component."""
        component = self._where.get(event.ref)
        if component is not None and component.step in (Step.KEEP, Step.DISCARD):
            self._done(component)
            del self._where[event.ref]

    def refused(self, event: Refused, now: float) -> None:
        """A cluster said no."""
        component, job = self._find(event.ref)
        if component is None or component.step is not event.step:
            return
        if event.step in (Step.FETCH, Step.KEEP):
            ever = event.cause is Cause.INVALID
            self._not_fetched(component, job, event.detail, now, ever=ever)
            return
        # That files cannot be put somewhere says nothing of its processors.
        files = event.step is Step.STAGE and event.cause is Cause.BUSY
        component.cause = Cause.REFUSED if files else event.cause
        component.detail = event.detail
        self._out.changed(component)
        if event.step in (Step.CLEAN, Step.DISCARD):
            self._later(component, now)
            return
        if event.cause is Cause.BUSY and event.step is not Step.STAGE:
            # It is full: as many are not asked of it again at once, whoever asks. All else that a
            # cluster refuses is a matter of the one who asked.
            until = self._ledger.refused(component.cluster, component.processors, event.detail, now)
            self._queues.retry_queues_at(until)
        if event.cause is Cause.UNREACHABLE and event.step is not Step.STAGE:
            self._ledger.suspect(component.cluster, now)
        if job is None:
            return
        self._note(now, job, component, "refused", step=event.step.value, why=event.detail)
        if event.step is Step.OPEN:
            component.cause = Cause.LOST
            self._owe(component, Step.CLEAN, now)
        elif job.single and component.tries and event.step is not Step.STAGE:
            # A no to this try says nothing of an earlier one, whose script may be running.
            self.finish(job, Goal.FAIL, now)
        else:
            self._roll_back(job, now, self._blame(component, event.detail), component)

    def unsure(self, event: Unsure, now: float) -> None:
        """No answer. A vote that does not come is a refusal; all else is asked again."""
        component, job = self._find(event.ref)
        if component is None or component.step is not event.step:
            return
        if event.step in (Step.FETCH, Step.KEEP):
            self._not_fetched(component, job, event.detail, now)
            return
        # Why it ended is not that something could not be asked afterwards.
        told = event.step is Step.CLEAN and component.cause in _ENDS
        if component.detail != event.detail and not told:
            component.detail = event.detail
            self._out.changed(component)
        if event.step is Step.RESERVE and job is not None:
            self._ledger.suspect(component.cluster, now)
            self._note(now, job, component, "no answer", step="reserve", why=event.detail)
            self._roll_back(job, now, self._blame(component, event.detail))
            return
        if event.step is Step.SUBMIT:
            self._ledger.suspect(component.cluster, now)
        self._later(component, now)
        if job is not None and event.fenced and job.single and not component.started:
            # Shut before it started: the job need not wait for its cluster to answer.
            self._move_on(job, now)

    # --- the components' own records ----------------------------------------------------------

    def arrived(self, event: Arrived, now: float) -> None:
        """A component waits at the barrier."""
        component, job = self._find(event.ref)
        if component is None or component.reached(Phase.ARRIVED):
            return
        component.advance(Phase.ARRIVED)
        component.hosts = event.hosts or component.hosts
        self._out.changed(component)
        if job is not None:
            self._note(now, job, component, "at the barrier", hosts=component.hosts)
            self._proceed(job, now)

    def started(self, event: Started, now: float) -> None:
        """A component's script runs."""
        component, job = self._find(event.ref)
        if component is None or component.started:
            return
        component.started = True
        component.start_time = start = self._within(job, event.time, now)
        component.hosts = event.hosts or component.hosts
        component.advance(Phase.STARTED)
        if component.step is Step.OPEN:
            self._done(component)
        self._out.changed(component)
        if job is None:
            return
        self._note(now, job, component, "started", hosts=component.hosts)
        if job.state is not JobState.RUNNING and job.uncertain is not None:
            self._committed_before(job, start, now)
        elif job.single and job.state is JobState.SUBMITTING:
            job.move(JobState.RUNNING)
            job.start_time = start
            job.deadline = None
            self._out.changed(job)

    def ended(self, event: Ended, now: float) -> None:
        """A component's script is over, by its own record."""
        component, job = self._find(event.ref)
        if component is None or component.over:
            return
        component.exit_code = event.exit_code
        component.cause = Cause.EXIT if event.exit_code else None
        ended = self._within(job, event.time, now)
        component.end_time = max(ended, component.start_time or ended)
        cleaning = component.step is Step.CLEAN
        # What fails while it is being ended was most likely ended, as was what died of a signal:
        # its cluster knows. (Its own record may not: the signal reaches the script a moment before
        # the wrapper.)
        signalled = event.signalled or event.exit_code > _SIGNAL
        if not signalled and not (cleaning and event.exit_code):
            component.advance(Phase.ENDED)
        self._out.changed(component)
        if not signalled and not component.reserves and not cleaning:
            # Its native job ends by itself: there is nothing to ask its cluster for. Should
            # anything be left all the same, the next look shows it as a stray.
            self._gone(component, now)
        elif not cleaning:
            self._owe(component, Step.CLEAN, now)
        if job is not None:
            self._note(now, job, component, "ended", exit_code=event.exit_code)
            self._settle(job, now)

    def gave_up(self, event: GaveUp, now: float) -> None:
        """A component left the barrier at its own deadline: the attempt cannot be committed."""
        component, job = self._find(event.ref)
        if component is None or job is None or component.step is Step.CLEAN:
            return
        component.cause = Cause.GAVE_UP
        self._note(now, job, component, "gave up")
        if job.irreversible:
            self._owe(component, Step.CLEAN, now)
        else:
            self._roll_back(job, now, self._blame(component, "gave up waiting at the barrier"))

    # --- time ---------------------------------------------------------------------------------

    def awaits(self, time: float, what: Ref | int) -> bool:
        """Whether a timer that was set for that moment is still to be heard."""
        if isinstance(what, Ref):
            component = self._where.get(what)
            return component is not None and component.retry_at == time
        job = self._jobs.get(what)
        return job is not None and job.deadline == time

    def due(self, what: Ref | int, now: float) -> None:
        """A moment that was set has come: a step to try again, or a job's deadline."""
        if isinstance(what, Ref):
            component = self._where.get(what)
            at = None if component is None else component.retry_at
            if component is not None and at is not None and at <= now:
                component.retry_at = None
                self._emit(component, again=True)
            return
        job = self._jobs.get(what)
        if job is not None and job.deadline is not None and job.deadline <= now:
            job.deadline = None
            self._overdue(job, now)

    def _overdue(self, job: Job, now: float) -> None:
        if job.state is JobState.RUNNING:
            if job.goal is None:
                self._out.note(now, job, "over its time limit")
                self.finish(job, Goal.TIMEOUT, now)
        elif job.irreversible:
            self._out.note(now, job, "not submitted in time")
            self.finish(job, Goal.FAIL, now)
        elif job.state in _UNCOMMITTED:
            late = next(
                (c for c in job.components if c.step is not Step.NONE or not self._at_barrier(c)),
                job.components[0],
            )
            expected = "sent its files" if late.step is Step.STAGE else _EXPECTED[job.state]
            detail = f"not {expected} in time"
            if late.detail:
                detail += f" ({late.detail})"
            self._roll_back(job, now, self._blame(late, detail))

    @staticmethod
    def _at_barrier(component: Component) -> bool:
        return component.reached(Phase.ARRIVED)


_EXPECTED: Mapping[JobState, str] = {
    JobState.RESERVING: "reserved",
    JobState.SUBMITTING: "submitted",
    JobState.WAITING: "at the barrier",
}
