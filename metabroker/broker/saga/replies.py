"""What clusters answer to a step that was carried out.

A reply names its component by job, attempt and number, and counts only if that very step is
pending: a late answer of attempt 1 is never taken for one of attempt 2. What it tells of the
component (that there is a reservation, or a native job) is kept all the same, for its cleanup.
"""

from __future__ import annotations

from dataclasses import dataclass

from metabroker.broker.events import Armed, Cleaned, Discarded, Opened, Reserved, Staged, Submitted
from metabroker.broker.queues import Queues
from metabroker.broker.state import BrokerState
from metabroker.broker.states import Phase, Step

from .attempts import Attempts
from .claims import Claims
from .completion import Completion
from .line import Line
from .pending import PendingSteps
from .records import take_over
from .unread import Unread


@dataclass(eq=False)
class Replies:
    """Takes over what was carried out, and goes on."""

    _state: BrokerState
    _queues: Queues
    _claims: Claims
    _pending: PendingSteps
    _attempts: Attempts
    _completion: Completion
    _line: Line
    _unread: Unread

    def staged(self, event: Staged, now: float) -> None:
        """A component's files are in its cluster."""
        component, job = self._claims.find(event.ref)
        if component is None or job is None or component.step is not Step.STAGE:
            return
        self._pending.done(component)
        told = {"files": event.files, "bytes": event.size}
        self._state.note(now, job, component, "files sent", **told)
        if all(c.step is Step.NONE for c in job.components):
            self._attempts.claim(job, now)

    def reserved(self, event: Reserved, now: float) -> None:
        """A vote in favour."""
        component, job = self._claims.find(event.ref)
        if component is None:
            return
        moved = component.reservation and component.step is Step.RESERVE
        component.reservation = True
        component.advance(Phase.RESERVED)
        self._state.outbox.changed(component)
        if component.step is Step.RESERVE and job is not None:
            self._pending.done(component)
            if moved and component.planned is not None:
                entry = self._state.ledger.entries[component.cluster]
                entry.has_moved(now - component.asked_at)
                component.planned = job.moves_to(component)
                component.moving = None
                self._attempts.move_next(job, now)
                self._attempts.proceed(job, now)
                return
            self._state.ledger.accepted(component.cluster)
            self._queues.accepted(job, component.cluster, Step.RESERVE, now)
            told = {} if component.planned is None else {"begins": component.planned}
            held = component.processors
            self._state.note(now, job, component, "reserved", processors=held, **told)
            self._attempts.proceed(job, now)

    def submitted(self, event: Submitted, now: float) -> None:
        """The cluster has the component's job."""
        component, job = self._claims.find(event.ref)
        if component is None:
            return
        component.named_late |= component.step is Step.CLEAN and component.native_id is None
        self._claims.submitted(component, event, now)
        component.advance(Phase.SUBMITTED)
        if component.step is Step.SUBMIT and job is not None:
            component.asked_at = now
            self._pending.done(component)
            self._state.ledger.accepted(component.cluster)
            self._queues.accepted(job, component.cluster, Step.SUBMIT, now)
            self._state.note(now, job, component, "submitted", native_id=event.native_id)
            if job.single:
                job.deadline = None
            self._attempts.proceed(job, now)

    def armed(self, event: Armed, now: float) -> None:
        """The component will not give up any more."""
        component, job = self._claims.find(event.ref)
        if component is not None and component.step is Step.ARM and job is not None:
            self._pending.done(component)
            component.advance(Phase.ARMED)
            self._attempts.proceed(job, now)

    def opened(self, event: Opened, now: float) -> None:
        """The component has been told to start; the reservation of a plan ends sooner from now
        on."""
        component, _job = self._claims.find(event.ref)
        if component is not None and component.step is Step.OPEN:
            self._pending.done(component)
            self._state.ledger.entries[component.cluster].eased = now

    def cleaned(self, event: Cleaned, now: float) -> None:
        """Nothing of the component is left in its cluster: a former attempt's cleanup is done, or
        an attempt ends. Whoever cleaned before its submission was answered has looked for its name
        alone, and its job may have been renamed: it is looked for by its id too."""
        component, job = self._claims.find(event.ref)
        if component is None or component.step is not Step.CLEAN:
            return
        if component.named_late:
            self._pending.repeat(component)
            return
        take_over(component, self._state.jobs.get(event.ref.job), event, now)
        if job is None:
            self._line.cleaned(component, now)
        else:
            self._unread.read(component)
        self._completion.gone(component, now)
        if job is not None:
            self._completion.settle(job, now)

    def discarded(self, event: Discarded, _now: float) -> None:
        """The last of the component."""
        component, _job = self._claims.find(event.ref)
        if component is not None and component.step in (Step.KEEP, Step.DISCARD):
            self._pending.done(component)
            self._claims.forget(component)
