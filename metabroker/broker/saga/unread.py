"""Components that may have been let through in a time of which the store does not tell.

A store that has gone back by a moment may show siblings of a job in line of which one was let
through in the lost time, or an attempt at the barrier that was opened. Their own records tell that.
So after a start nothing else of the job is let through, or begun, while its cluster shows one of
them as come up, or not at all, and its records were not read since. What is pending was not let
through. A no to the submission of one that is shown as come up says nothing of it: an earlier try
has got through. And as long as such a one runs, by its cluster's word, no time that passes ends its
attempt, since its script may be running: its native time limit does.

Two things nobody could know: what is in a cluster that has not answered since the start (see
`first_polls`); and whether one that is not shown, and had not been submitted by the store's word,
ever was. It counts as never submitted. (A cluster that forgets ended jobs at once shows the same of
one that has run, and while its files do not answer nobody can read that.)
"""

from __future__ import annotations

from dataclasses import dataclass, field

from metabroker.broker import tokens
from metabroker.broker.job import Component, Job
from metabroker.broker.observation import NativeJob, NativeState
from metabroker.broker.state import BrokerState
from metabroker.broker.states import Phase
from metabroker.broker.tokens import Ref

from .claims import Claims

_UP = frozenset({NativeState.RUNNING, NativeState.UNKNOWN})


@dataclass(eq=False)
class Unread:
    """Those of all jobs."""

    _state: BrokerState
    _claims: Claims
    # By job: each, and whether it had been submitted, by the store's word.
    _refs: dict[int, dict[Ref, bool]] = field(default_factory=dict)

    def restored(self, component: Component) -> None:
        """The broker has started, and remembers it, in line or in an attempt that does not run."""
        of_job = self._refs.setdefault(component.ref.job, {})
        of_job[component.ref] = component.reached(Phase.SUBMITTED)

    def read(self, component: Component) -> bool:
        """What has become of it before the start is known from now on; whether it was not."""
        refs = self._refs.get(component.ref.job, {})
        if component.ref not in refs:
            return False
        del refs[component.ref]
        if not refs:
            del self._refs[component.ref.job]
        return True

    def of(self, job: Job) -> Component | None:
        """A component of the job that may have been let through, if there is one."""
        for ref, submitted in self._refs.get(job.id, {}).items():
            component = self._claims.known.get(ref)
            if component is None or component.phase is Phase.GONE:
                continue
            entry = self._state.ledger.entries[component.cluster]
            if entry.snapshot is None:
                continue
            native = self._native(component)
            if submitted if native is None else native.state is not NativeState.PENDING:
                return component
        return None

    def may_run(self, component: Component) -> bool:
        """Whether its cluster shows it as running, so that its script may be."""
        native = self._native(component)
        unread = component.ref in self._refs.get(component.ref.job, {})
        return unread and native is not None and native.state in _UP

    def in_attempt(self, job: Job) -> Component | None:
        """A component of the job's attempt whose script may be running, if there is one."""
        return next(filter(self.may_run, job.components), None)

    def got_through(self, component: Component) -> bool:
        """Whether an earlier try of its submission got through, as far as anybody knows, and what
        has become of it was not read yet."""
        if component.ref not in self._refs.get(component.ref.job, {}):
            return False
        if self._state.ledger.entries[component.cluster].snapshot is None:
            return True
        native = self._native(component)
        return native is not None and native.state is not NativeState.PENDING

    def _native(self, component: Component) -> NativeJob | None:
        """As the last poll has shown it."""
        snapshot = self._state.ledger.entries[component.cluster].snapshot
        token = tokens.make(self._state.settings.instance, component.ref)
        return None if snapshot is None else snapshot.jobs.get(token)
