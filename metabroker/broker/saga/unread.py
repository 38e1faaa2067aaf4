"""Siblings that may have been let through in a time of which the store does not tell.

A store that has gone back by a moment may show siblings of a job in line of which one was let
through in the lost time. Their own records tell that. So after a start nothing else of the job is
let through while its cluster shows one of them as come up, or not at all, and its records were not
read since. What is pending was not let through. Of what is in a cluster that does not answer nobody
could know (see `first_polls`).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from metabroker.broker import tokens
from metabroker.broker.job import Component, Job
from metabroker.broker.observation import NativeState
from metabroker.broker.state import BrokerState
from metabroker.broker.states import Phase
from metabroker.broker.tokens import Ref

from .claims import Claims


@dataclass(eq=False)
class Unread:
    """Those of all jobs."""

    _state: BrokerState
    _claims: Claims
    _refs: dict[int, set[Ref]] = field(default_factory=dict)  # by job

    def restored(self, sibling: Component) -> None:
        """The broker has started, and remembers it in line."""
        if sibling.reached(Phase.SUBMITTED):
            self._refs.setdefault(sibling.ref.job, set()).add(sibling.ref)

    def read(self, sibling: Component) -> bool:
        """What has become of it before the start is known from now on; whether it was not."""
        refs = self._refs.get(sibling.ref.job, set())
        if sibling.ref not in refs:
            return False
        refs.discard(sibling.ref)
        if not refs:
            del self._refs[sibling.ref.job]
        return True

    def of(self, job: Job) -> Component | None:
        """A sibling of the job that may have been let through, if there is one."""
        for ref in self._refs.get(job.id, ()):
            component = self._claims.known.get(ref)
            if component is None or component.phase is Phase.GONE:
                continue
            entry = self._state.ledger.entries[component.cluster]
            if entry.snapshot is None or not entry.reachable:
                continue
            native = entry.snapshot.jobs.get(tokens.make(self._state.settings.instance, ref))
            if native is None or native.state is not NativeState.PENDING:
                return component
        return None
