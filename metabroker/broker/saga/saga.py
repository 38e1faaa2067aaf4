"""The saga's parts, put together (see the package for what they do and why that is safe)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from metabroker.broker.events import (
    Armed,
    Arrived,
    Cleaned,
    Discarded,
    Ended,
    Fetched,
    GaveUp,
    Opened,
    Refused,
    Reserved,
    Staged,
    Started,
    Submitted,
    Unsure,
)
from metabroker.broker.orphans import UnclaimedOrphans
from metabroker.broker.queues import Queues
from metabroker.broker.state import BrokerState

from .adoption import Adoption
from .attempts import Attempts
from .barrier import Barrier
from .claims import Claims
from .completion import Completion
from .containment import Containment
from .deadlines import Deadlines
from .failures import Failures
from .line import Line
from .outcome import AttemptOutcome
from .pending import PendingSteps
from .plans import Plans
from .reconciliation import Reconciliation
from .records import Records
from .replies import Replies
from .rollback import Rollback
from .staging import Staging
from .unread import Unread

Handler = Callable[[Any, float], None]


class Saga:
    """All attempts under way."""

    def __init__(self, state: BrokerState, queues: Queues, orphans: UnclaimedOrphans) -> None:
        self.orphans = orphans
        self.claims = claims = Claims(state, queues)
        self.pending = pending = PendingSteps(state)
        outcome = AttemptOutcome(state, queues)
        barrier = Barrier(state, pending)
        self.rollback = rollback = Rollback(state, claims, pending, outcome)
        self.completion = completion = Completion(state, claims, pending, barrier, outcome)
        staging = Staging(state, claims, pending, completion)
        self.attempts = attempts = Attempts(state, claims, pending, barrier, staging)
        self.containment = containment = Containment(
            state, queues, claims, pending, outcome, completion
        )
        self.unread = unread = Unread(state, claims)
        self.line = line = Line(state, queues, claims, pending, rollback, unread)
        self.plans = plans = Plans(state, queues, claims, pending, rollback)
        adoption = Adoption(state, claims, pending, orphans)
        self.reconciliation = Reconciliation(
            state,
            claims,
            pending,
            rollback,
            completion,
            line,
            containment,
            adoption,
            orphans,
            plans,
            barrier,
            unread,
        )
        self.deadlines = Deadlines(
            state, claims, pending, rollback, completion, outcome, attempts, plans, barrier, unread
        )
        replies = Replies(state, queues, claims, pending, attempts, completion, line, unread)
        failures = Failures(
            state, queues, claims, pending, outcome, rollback, completion, staging, plans, unread
        )
        records = Records(
            state, claims, pending, barrier, attempts, rollback, completion, unread, line
        )
        self._in_line: Mapping[type, Handler] = {
            Staged: line.staged,
            Submitted: line.submitted,
            Refused: line.refused,
            Unsure: line.unsure,
            Arrived: line.arrived,
            GaveUp: line.gave_up,
            Started: line.found_started,
            Ended: line.found_started,
        }
        self._handlers: Mapping[type, Handler] = {
            Staged: replies.staged,
            Reserved: replies.reserved,
            Submitted: replies.submitted,
            Armed: replies.armed,
            Opened: replies.opened,
            Cleaned: replies.cleaned,
            Fetched: staging.fetched,
            Discarded: replies.discarded,
            Refused: failures.refused,
            Unsure: failures.unsure,
            Arrived: records.arrived,
            Started: records.started,
            Ended: records.ended,
            GaveUp: records.gave_up,
        }

    @property
    def handled(self) -> Collection[type]:
        """The kinds of event that are about one component."""
        return self._handlers.keys()

    def handle(self, event: Any, now: float) -> None:
        """Take over what is told of one component."""
        in_line = self._in_line.get(type(event))
        if in_line is not None and self.line.find(event.ref) is not None:
            in_line(event, now)
            if not isinstance(event, Started | Ended):
                return
        self._handlers[type(event)](event, now)

    def hand_out(self, cluster: int) -> None:
        """Steps that were pending while the cluster was shut (see `BrokerState.shut`)."""
        for component in self.claims.in_cluster(cluster):
            self.pending.hand_out(component)
