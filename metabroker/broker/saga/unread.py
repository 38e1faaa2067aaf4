"""Siblings that may have been let through in a time of which the store does not tell.

A store that has gone back by a moment may show siblings of a job in line of which one was let
through in the lost time. Their own records tell that. So after a start nothing else of the job is
let through while its cluster shows one of them as come up, or not at all, and its records were not
read since. What is pending was not let through. A no to the submission of one that is shown as come
up says nothing of it: an earlier try has got through.

Two things nobody could know: what is in a cluster that does not answer (see `first_polls`); and
whether one that is not shown, and had not been submitted by the store's word, ever was. It counts
as never submitted. (A cluster that forgets ended jobs at once shows the same of one that has run,
and while its files do not answer nobody can read that.)
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


@dataclass(eq=False)
class Unread:
    """Those of all jobs."""

    _state: BrokerState
    _claims: Claims
    # By job: each, and whether it had been submitted, by the store's word.
    _refs: dict[int, dict[Ref, bool]] = field(default_factory=dict)

    def restored(self, sibling: Component) -> None:
        """The broker has started, and remembers it in line."""
        of_job = self._refs.setdefault(sibling.ref.job, {})
        of_job[sibling.ref] = sibling.reached(Phase.SUBMITTED)

    def read(self, sibling: Component) -> bool:
        """What has become of it before the start is known from now on; whether it was not."""
        refs = self._refs.get(sibling.ref.job, {})
        if sibling.ref not in refs:
            return False
        del refs[sibling.ref]
        if not refs:
            del self._refs[sibling.ref.job]
        return True

    def of(self, job: Job) -> Component | None:
        """A sibling of the job that may have been let through, if there is one."""
        for ref, submitted in self._refs.get(job.id, {}).items():
            component = self._claims.known.get(ref)
            if component is None or component.phase is Phase.GONE:
                continue
            entry = self._state.ledger.entries[component.cluster]
            if entry.snapshot is None or not entry.reachable:
                continue
            native = self._native(component)
            if submitted if native is None else native.state is not NativeState.PENDING:
                return component
        return None

    def got_through(self, sibling: Component) -> bool:
        """Whether an earlier try of its submission got through, as far as anybody knows, and what
        has become of it was not read yet."""
        if sibling.ref not in self._refs.get(sibling.ref.job, {}):
            return False
        if self._state.ledger.entries[sibling.cluster].snapshot is None:
            return True
        native = self._native(sibling)
        return native is not None and native.state is not NativeState.PENDING

    def _native(self, component: Component) -> NativeJob | None:
        """As the last poll has shown it."""
        snapshot = self._state.ledger.entries[component.cluster].snapshot
        token = tokens.make(self._state.settings.instance, component.ref)
        return None if snapshot is None else snapshot.jobs.get(token)
