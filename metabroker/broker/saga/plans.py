"""Plans: an attempt of a co-allocated job that is to start later, at a time that is held for it.

On clusters that others use too, all parts of a job are hardly ever free at one instant. So the job
gets a time (see `planning`), and its attempt is an ordinary one but for this: its reservations are
made for that time, one cluster after another in the order of the clusters, and its components are
submitted into them a little ahead of it (`Settings.plan_lead`), so that they meet at the barrier
when it comes. Till then it claims no processors (`Component.ahead`).

    RESERVING: reserve in each cluster -> all held: it has a time -> submit ahead of it -> as ever

All or nothing: a refusal gives up all, and the job is planned anew for a later time, or not for a
while if that has happened often. The same if a reservation is lost. That is nobody's failed
submission: the job is back at its old place, and what it had is cleaned up first.

Should all its processors be idle earlier, or be free earlier than was known when it was planned,
its reservations are moved to that time, again one after another. What was moved is held until the
end of the time that was planned first; so if one cannot be moved, the others go back to where they
were, and the plan is what it was. When its script starts, its reservations are told to end soon
after its limit (`Open.until`), so that others who are planned after it may begin earlier.

A plan is in the store, as `Component.planned`: what has been reserved, and what is to be, is known
after a restart like any other step.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from metabroker.broker import tokens
from metabroker.broker.events import Refused
from metabroker.broker.job import Component, Job
from metabroker.broker.observation import SOON, NativeReservation, Snapshot
from metabroker.broker.queues import Queues
from metabroker.broker.state import BrokerState
from metabroker.broker.states import Cause, JobState, Phase, Step

from .claims import Claims
from .pending import PendingSteps
from .rollback import Rollback

_CLOCKS = 10.0  # seconds by which a reservation may begin at another time than was asked for
_MOST_DOUBLED = 5  # times
_PAUSE = 0.02  # of the time until a plan's start there is nothing new
_A_MINUTE = 60.0  # seconds by which a plan that was refused is put off at first


@dataclass(slots=True)
class _Tried:
    """What has become of a job's plans. `moves`: how often it was refused; `not_before`: when its
    next one may start; `again`: when it may be planned, or told an earlier time, by what clusters
    had told at those times when it was last looked for one (`by`); `early`: when it may be tried to
    move its reservations, after so many `tries` while it was `told` one time and so much was held
    (`beside`) in its clusters."""

    moves: int = 0
    not_before: float = 0.0
    again: float = 0.0
    by: tuple[float, ...] = ()
    early: float = 0.0
    tries: int = 0
    told: float | None = None
    beside: tuple[int, ...] = ()


@dataclass(eq=False)
class Plans:
    """The plans of all jobs, until their components are submitted."""

    _state: BrokerState
    _queues: Queues
    _claims: Claims
    _pending: PendingSteps
    _rollback: Rollback
    _tried: dict[int, _Tried] = field(default_factory=dict)
    _jobs: dict[int, Job] = field(default_factory=dict)  # some may have left theirs since

    def watch(self, job: Job) -> None:
        """The job has a plan, or is about to."""
        self._jobs[job.id] = job
        self._tried.setdefault(job.id, _Tried()).by = self._told_at(job)

    def standing(self) -> list[Job]:
        """The jobs that have a plan, or are about to, and are not submitted yet."""
        known = self._state.jobs
        self._jobs = {n: job for n, job in self._jobs.items() if n in known and is_ahead(job)}
        self._tried = {n: tried for n, tried in self._tried.items() if n in known}
        return list(self._jobs.values())

    # --- when a job may be planned ------------------------------------------------------------

    def not_before(self, job: Job, now: float, *, held: bool = False) -> float | None:
        """The earliest moment for which the job may be planned now; None: not now. What it had
        before must be cleaned up, unless it is `held`, and is to be told an earlier time."""
        tried = self._tried.get(job.id, _Tried())
        left = any(c.phase is not Phase.GONE for c in self._claims.of_job(job.id)) and not held
        early = tried.again > now and not (held and self._has_eased(job, tried))
        return None if left or early else max(now, tried.not_before)

    def _has_eased(self, job: Job, tried: _Tried) -> bool:
        """Whether one of its clusters has told of the time to come since another job of ours began
        or ended there, and it was not looked for a time by that."""
        entries = [self._state.ledger.entries[c.cluster] for c in job.components]
        told = zip(entries, tried.by, self._told_at(job), strict=False)
        return any(by < entry.eased < at for entry, by, at in told)

    def _told_at(self, job: Job) -> tuple[float, ...]:
        told = (self._state.ledger.entries[c.cluster].outlook for c in job.components)
        return tuple(0.0 if each is None else each.taken_at for each in told)

    def may_try(self, job: Job, now: float) -> bool:
        """Whether it may be tried to move its reservations: at once if somebody has left, or has
        come, since that was refused."""
        tried = self._tried.get(job.id, _Tried())
        changed = tried.told != job.planned or tried.beside != self._beside(job)
        return changed or tried.early <= now

    def _beside(self, job: Job) -> tuple[int, ...]:
        """What is held in its clusters, and what its own reservations keep of it: one that begins
        soon keeps what somebody leaves, and so as much is held as before."""
        found = []
        for component in job.components:
            entry = self._state.ledger.entries[component.cluster]
            token = tokens.make(self._state.settings.instance, component.ref)
            found += [entry.others + entry.claimed, entry.kept(token)]
        return tuple(found)

    def later(self, job: Job, now: float, pause: float) -> None:
        """It was looked for a time for it: that is done again after a pause, in seconds."""
        tried = self._tried.setdefault(job.id, _Tried())
        tried.again, tried.by = now + pause, self._told_at(job)

    def pause(self, job: Job, now: float) -> float:
        """Between two looks for an earlier time for it: the longer, the further its time is."""
        least = self._state.settings.plan_early
        return max(least, _PAUSE * ((job.planned or now) - now))

    def tried(self, job: Job, now: float) -> None:
        """It is tried to move its reservations: the pauses after that double, since its processors
        may be others than those which are idle."""
        tried = self._tried.setdefault(job.id, _Tried())
        if tried.told != job.planned:
            tried.tries, tried.told = 0, job.planned
        doubled = self._state.settings.plan_early * 2 ** min(tried.tries, _MOST_DOUBLED)
        tried.early, tried.beside = now + min(doubled, self.pause(job, now)), self._beside(job)
        tried.tries += 1

    # --- what clusters answer -----------------------------------------------------------------

    def refused(self, component: Component, job: Job, event: Refused, now: float) -> bool:
        """A cluster has not made a reservation, or not moved it; whether that is all there is to
        it. What it says of its user, or of the job, is a matter of any attempt."""
        if component.reservation and event.cause is not Cause.LOST:
            entry = self._state.ledger.entries[component.cluster]
            entry.has_moved(now - component.asked_at)
            if event.cause is Cause.BUSY:  # else it says nothing of others' plans
                entry.disproved = now
            self._stays(component, job, now)
            return True
        if event.cause not in (Cause.BUSY, Cause.LOST):
            return False
        self._put_off(job, self._state.blame(component, event.detail), now)
        return True

    def no_answer(self, component: Component, job: Job, why: str, now: float) -> None:
        """Nobody knows whether a reservation was made, or moved."""
        if component.reservation:
            self._stays(component, job, now)
        else:
            self._put_off(job, self._state.blame(component, why), now)

    def _stays(self, component: Component, job: Job, now: float) -> None:
        """It is held for the time that was planned, at least: so are the others. (One that cannot
        go back is held for longer.) Another job of ours may have what this one cannot."""
        self._pending.done(component)
        self._queues.retry_at(now)
        promised = job.planned or now
        back = component.moving is not None and component.moving >= promised
        for other in job.components:
            other.moving = None
            early = other.planned is not None and other.planned < promised
            if early and other is not component and not back and job.uncertain is None:
                other.moving = promised
                self._pending.start(other, Step.RESERVE, now)

    # --- giving up ----------------------------------------------------------------------------

    def _put_off(self, job: Job, why: str, now: float) -> None:
        settings, planned = self._state.settings, job.planned or now
        tried = self._tried.setdefault(job.id, _Tried())
        tried.moves += 1
        tried.not_before = planned + _A_MINUTE * 2 ** min(tried.moves - 1, 10)
        if tried.moves >= settings.plan_moves:
            tried.moves, tried.not_before = 0, 0.0
            tried.again = now + settings.plan_pause
        self.give_up(job, why, now)

    def give_up(self, job: Job, why: str, now: float) -> None:
        """Back to its queue, at its old place: it is planned anew when all of it is cleaned up."""
        known = (component.cause.value for component in job.components if component.cause)
        cause, why = next(known, "put-off"), f"its plan is given up: {why}"
        self._rollback.take_out(job, JobState.QUEUED, why, now, cause)
        self._queues.retry_at(now + self._state.settings.plan_again)

    # --- what clusters show -------------------------------------------------------------------

    def judge(self, component: Component, snapshot: Snapshot, now: float) -> None:
        """A poll of the cluster in which it has a reservation for later."""
        settings, (_, job) = self._state.settings, self._claims.find(component.ref)
        if job is None or component.step is not Step.NONE or not component.reservation:
            return
        if snapshot.taken_at < component.asked_at + settings.visible_after:
            return
        found = snapshot.reservations.get(tokens.make(settings.instance, component.ref))
        if found is not None:
            component.missing_since = None
            self._keep_time(component, job, found)
            why = self._ends_early(component, job, found, now)
            why = why or self._in_the_way(component, job, now)
        elif not snapshot.settled:
            return
        elif component.missing_since is None:
            component.missing_since, why = snapshot.taken_at, ""
        elif snapshot.taken_at - component.missing_since < settings.missing_grace:
            return
        else:
            why = "its reservation is gone"
        if why:
            self.give_up(job, self._state.blame(component, why), now)

    def _keep_time(self, component: Component, job: Job, found: NativeReservation) -> None:
        """When its reservation begins is its cluster's to say: somebody has set a clock, or has
        moved the reservation."""
        planned, start = component.planned, found.start_time
        if planned is None or start is None:
            return
        start -= self._state.ledger.entries[component.cluster].clock_offset
        if abs(start - planned) > _CLOCKS:
            component.planned = start
            self._state.outbox.changed(component)
            if is_held(job):
                lead = self._state.settings.plan_lead
                self._state.set_deadline(job, (job.planned or start) - lead)

    def _ends_early(
        self, component: Component, job: Job, found: NativeReservation, now: float
    ) -> str:
        """That its reservation ends before its job would, in words."""
        if found.end_time is None:
            return ""
        end = found.end_time - self._state.ledger.entries[component.cluster].clock_offset
        over = max(now, component.planned or now) + job.time_limit
        over += self._state.settings.plan_patience
        return "its reservation ends too soon" if end + _CLOCKS < over else ""

    def _in_the_way(self, component: Component, job: Job, now: float) -> str:
        """What leaves too little for it, in words: maintenance, which may be reserved over others'
        reservations, or nodes that are out of service when it is to begin."""
        entry = self._state.ledger.entries[component.cluster]
        start = component.planned or 0.0
        found = entry.maintenance(start, start + job.time_limit, component.processors)
        if found is not None:
            return f"maintenance ({found.name}) comes then"
        left = entry.usable - component.processors
        return "too few of its nodes take jobs" if left < 0 and start - now <= SOON else ""


def is_ahead(job: Job) -> bool:
    """Whether the job has a plan, or is about to, and is not submitted yet."""
    return job.planned is not None and job.state is JobState.RESERVING


def is_held(job: Job) -> bool:
    """Whether all its reservations are made."""
    return all(component.reservation for component in job.components)
