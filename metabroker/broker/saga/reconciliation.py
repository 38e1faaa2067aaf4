"""What a poll of a cluster tells of components: lost ones, ended ones, and orphans.

A snapshot is the truth of the moment at which its poll began, so it says nothing of what was asked
of the cluster since. Absence counts only after a while: a controller that has just restarted may
not show its jobs yet.
"""

from __future__ import annotations

from dataclasses import dataclass

from metabroker.broker import tokens
from metabroker.broker.effects import CleanStray
from metabroker.broker.job import Component, Job
from metabroker.broker.observation import NativeJob, NativeState, Snapshot
from metabroker.broker.orphans import UnclaimedOrphans
from metabroker.broker.state import BrokerState
from metabroker.broker.states import Cause, JobState, Phase, Step
from metabroker.broker.store_behind import begun_elsewhere
from metabroker.broker.tokens import Ref

from .adoption import Adoption
from .barrier import TOO_LONG, Barrier
from .claims import Claims
from .completion import Completion
from .containment import Containment
from .line import Line
from .pending import PendingSteps
from .plans import Plans
from .rollback import Rollback
from .unread import Unread

_WITH_ITS_CLUSTER = frozenset({Phase.SUBMITTED, Phase.ARRIVED, Phase.ARMED, Phase.STARTED})
_BEFORE_THE_BARRIER = frozenset({Phase.RESERVED, Phase.SUBMITTED})
_CLOCKS_DIFFER = 60.0  # seconds, by so much at most: those of a controller and of its nodes
_AT_THE_BARRIER = frozenset({JobState.SUBMITTING, JobState.WAITING})


@dataclass(eq=False)
class Reconciliation:
    """Holds what a cluster shows against what the broker believes. What a poll tells of very many
    components is taken over in several turns; should another poll come meanwhile, the rest of them
    is held against that."""

    _state: BrokerState
    _claims: Claims
    _pending: PendingSteps
    _rollback: Rollback
    _completion: Completion
    _line: Line
    _containment: Containment
    _adoption: Adoption
    _orphans: UnclaimedOrphans
    _plans: Plans
    _barrier: Barrier
    _unread: Unread

    def __post_init__(self) -> None:
        self._shown = self._state.backlog.line(self._hold_against)
        self._strays = self._state.backlog.line(self._clean_stray)
        self._stuck: dict[Ref, float] = {}  # since the poll that began then, Unix seconds

    def observe(self, cluster: int, snapshot: Snapshot, now: float) -> None:
        """A poll has succeeded; the ledger has its snapshot."""
        most, live = self._state.settings.slice, self._claims.live[cluster]
        if self._stuck:
            known = self._claims.known
            self._stuck = {ref: since for ref, since in self._stuck.items() if ref in known}
        degraded = [self._parsed(t) for t, r in snapshot.reservations.items() if r.degraded]
        shown = [
            ref
            for ref, component in live.items()
            if _to_be_judged(component) or component.ahead or component.step is Step.CLEAN
        ]
        self._shown.add([(cluster, ref) for ref in (*shown, *degraded) if ref is not None])
        self._shown.work(most, now, self._containment.contain)
        orphans = self._orphans_of(cluster, snapshot)
        unclaimed = [token for token, lost in orphans if lost]
        self._strays.add([(cluster, token) for token, lost in orphans if not lost])
        self._strays.work(most, now, self._containment.contain)
        if unclaimed or len(self._orphans):
            self._adoption.adopt(cluster, snapshot, unclaimed, now)

    def _hold_against(self, shown: tuple[int, Ref], now: float) -> None:
        """One component against the last poll of its cluster."""
        cluster, ref = shown
        component = self._claims.live[cluster].get(ref)
        snapshot = self._state.ledger.entries[cluster].snapshot
        if component is None or snapshot is None:
            return
        try:
            if _to_be_judged(component):
                self._judge(component, snapshot, now)
            elif component.ahead:
                self._plans.judge(component, snapshot, now)
            elif component.step is Step.CLEAN:
                self._judge_left(component, snapshot, now)
            self._judge_reservation(component, snapshot, now)
        except Exception as error:  # what is told of one job is no matter of the others
            self._containment.contain(ref.job, error, now, ref)

    def _parsed(self, token: str) -> Ref | None:
        return tokens.parse(self._state.settings.instance, token)

    def _orphans_of(self, cluster: int, snapshot: Snapshot) -> list[tuple[str, bool]]:
        """What no live component explains, and whether it was begun in a time that nobody
        remembers, so that it is left alone."""
        shown = [t for t, j in snapshot.jobs.items() if j.state is not NativeState.ENDED]
        found: list[tuple[str, bool]] = []
        for token in dict.fromkeys([*shown, *snapshot.reservations]):
            ref = self._parsed(token)
            if ref is None or self._live_anywhere(ref):
                continue
            if self._state.ledger.cleaned_lately(cluster, token, snapshot.taken_at):
                continue
            history = self._orphans.history
            lost = history.unknown(ref) or begun_elsewhere(self._state, history, ref)
            found.append((token, ref not in self._claims.known and lost))
        return found

    def _clean_stray(self, stray: tuple[int, str], _now: float) -> None:
        """Have it removed, unless something explains it since."""
        cluster, token = stray
        ref, snapshot = self._parsed(token), self._state.ledger.entries[cluster].snapshot
        if ref is None or snapshot is None or self._live_anywhere(ref):
            return
        if not self._state.ledger.cleaned_lately(cluster, token, snapshot.taken_at):
            spare = ref in self._claims.known  # the step that is pending for it comes first
            self._state.outbox.effects.append(CleanStray(cluster, token, spare))

    def _live_anywhere(self, ref: Ref) -> bool:
        """Whether a live component explains it, in whichever cluster: two entries of the
        configuration may name one system, and each then shows the other's jobs."""
        component = self._claims.known.get(ref)
        return component is not None and ref in self._claims.live[component.cluster]

    def _judge_reservation(self, component: Component, snapshot: Snapshot, now: float) -> None:
        if component.phase in _BEFORE_THE_BARRIER and snapshot.reservations:
            token = tokens.make(self._state.settings.instance, component.ref)
            found = snapshot.reservations.get(token)
            if found is not None and found.degraded:
                self._degraded(component, snapshot, now)

    def _judge(self, component: Component, snapshot: Snapshot, now: float) -> None:
        settings = self._state.settings
        native = snapshot.jobs.get(tokens.make(settings.instance, component.ref))
        if native is not None and native.state is not NativeState.ENDED:
            # By the first poll of all: after a restart the barrier may open a moment later.
            self._check_limit(component, native, snapshot, now)
            if not _to_be_judged(component):
                return
        if snapshot.taken_at < component.asked_at + settings.visible_after:
            return
        if native is None:
            self._missing(component, snapshot, now)
        elif native.state is NativeState.ENDED:
            self._native_end(component, native, now)
        else:
            component.missing_since = None
            pending = native.state is NativeState.PENDING
            if pending and self._line.find(component.ref) is None:
                self._unread.read(component)  # it was not let through
            self._claims.judge(component, pending)
            self._count_suspended(component, native.suspended, snapshot.taken_at)
            detail = f"{native.word}: {native.reason}" if native.reason else native.word
            hosts = native.hosts or component.hosts
            if native.native_id == component.writer:
                component.native_id = native.native_id
            same = native.native_id == component.native_id
            submitted = native.submit_time if same else component.submit_time
            if same:
                component.listed = submitted is not None
            seen = (detail, hosts, submitted)
            if (component.detail, component.hosts, component.submit_time) != seen:
                component.detail, component.hosts, component.submit_time = seen
                self._state.outbox.changed(component)
            self._judge_pending(component, native, snapshot, now)

    def _judge_left(self, component: Component, snapshot: Snapshot, now: float) -> None:
        """It is to be cleaned up. That may take for ever where its gate is its user's, who can keep
        it from us: so what its cluster shows nothing of keeps no processors from others."""
        settings = self._state.settings
        token = tokens.make(settings.instance, component.ref)
        native = snapshot.jobs.get(token)
        if native is not None and native.state is NativeState.RUNNING:
            self._line.at_gates.seen_up(component.ref, now)
        if snapshot.settled and snapshot.taken_at >= component.asked_at + settings.visible_after:
            over = native is None or native.state is NativeState.ENDED
            self._claims.doubt(component, over and token not in snapshot.reservations)

    def _judge_pending(
        self, component: Component, native: NativeJob, snapshot: Snapshot, now: float
    ) -> None:
        """It waits in its cluster's own queue: in line; or since others want that cluster too,
        which nobody has seen."""
        standing = self._line.find(component.ref)
        if standing is not None:
            self._line.shown(*standing, native, snapshot, now)
        elif native.state is not NativeState.PENDING:
            self._stuck.pop(component.ref, None)
        elif component.started or self._opened(component):
            self._judge_put_back(component, native, snapshot, now)
        elif native.stuck:
            self._judge_stuck(component, native, snapshot, now)
        elif not component.reserves:
            self._stuck.pop(component.ref, None)
            waited = snapshot.taken_at - component.asked_at
            if waited > self._state.settings.line_pending and component.phase is Phase.SUBMITTED:
                until = snapshot.taken_at + self._state.settings.line_calm
                self._state.ledger.entries[component.cluster].contested_until = until

    def _opened(self, component: Component) -> bool:
        """Whether it has left the barrier with the others of its job, which run."""
        _, job = self._claims.find(component.ref)
        if job is None or job.single or job.state is not JobState.RUNNING:
            return False
        return component.phase is Phase.ARMED and component.step is Step.NONE

    def _judge_put_back(
        self, component: Component, native: NativeJob, snapshot: Snapshot, now: float
    ) -> None:
        """Its script was started, or let start, and now its cluster shows it pending again:
        somebody has put it back into the queue there. It would not be started a second time, or too
        late for the others; so nothing is waited for, but for a while, in which a restarted
        controller may find what runs on its nodes."""
        since = self._stuck.setdefault(component.ref, snapshot.taken_at)
        if snapshot.taken_at - since >= self._state.settings.line_pending:
            del self._stuck[component.ref]
            component.cause = Cause.KILLED
            component.detail = f"{native.word}: it was put back into its cluster's queue"
            self._out_of_cluster(component, now)

    def _judge_stuck(
        self, component: Component, native: NativeJob, snapshot: Snapshot, now: float
    ) -> None:
        """The only component of a job would stay pending for long. (Several wait for each other, or
        in their reservations, and no longer than the barrier does.)"""
        _, job = self._claims.find(component.ref)
        if job is None or not job.single or job.goal is not None or job.uncertain is not None:
            return
        if component.step is not Step.NONE or component.started:
            return
        since = self._stuck.setdefault(component.ref, snapshot.taken_at)
        if snapshot.taken_at - since >= self._state.settings.stuck_after:
            del self._stuck[component.ref]
            self._completion.stuck(job, component, f"{native.word}: {native.reason}", now)

    def _check_limit(
        self, component: Component, native: NativeJob, snapshot: Snapshot, now: float
    ) -> None:
        """Since a restart no deadline is set for what runs: its cluster ends it. Should that not
        happen it is due, by the time that it has run for by that cluster's own clock. By the same
        time what waits at the barrier has too little left of its native limit to be opened."""
        _, job = self._claims.find(component.ref)
        if job is None or job.single or job.goal is not None:
            return
        if job.state in _AT_THE_BARRIER and not job.irreversible:
            late = self._barrier.waited_too_long(component, native, snapshot)
            if late and self._unread.in_attempt(job) is None:
                self._rollback.roll_back(job, now, self._state.blame(component, TOO_LONG))
            return
        if job.state is not JobState.RUNNING or job.deadline is not None:
            return
        most = job.may_take + self._state.settings.overtime_grace
        late = self._barrier.ran_beyond(most, component, native, snapshot)
        if late and native.word != "SUSPENDED":
            self._state.set_deadline(job, now)

    def _count_suspended(self, component: Component, suspended: bool, taken_at: float) -> None:
        """What lies between two polls of which one shows it suspended does not count against its
        job's time limit. (Of several components suspended at once one is counted.)"""
        _, job = self._claims.find(component.ref)
        either, before = component.suspended or suspended, component.seen_at
        component.suspended, component.seen_at = suspended, taken_at
        if either and before is not None and job is not None and job.state is JobState.RUNNING:
            first = next((c for c in job.components if c.suspended), component)
            if first is component and job.deadline is not None:
                self._state.set_deadline(job, job.deadline + taken_at - before)

    def _missing(self, component: Component, snapshot: Snapshot, now: float) -> None:
        if not snapshot.settled:
            return
        if component.started and component.seen_at is None:
            _, job = self._claims.find(component.ref)
            if job is not None and _may_be_renamed(component, job, snapshot):
                return
        grace = self._state.settings.missing_grace
        if component.missing_since is None:
            component.missing_since = snapshot.taken_at
        elif snapshot.taken_at - component.missing_since >= grace:
            component.cause = Cause.LOST
            component.detail = "its cluster no longer knows it"
            self._out_of_cluster(component, now)

    def _native_end(self, component: Component, native: NativeJob, now: float) -> None:
        """The native job is over. Its own record, read while cleaning, has the last word."""
        component.cause = native.cause
        component.exit_code = native.exit_code
        component.end_time = native.end_time
        said = native.reason if native.cause is not None else ""
        component.detail = f"{native.word}: {said}" if said else native.word
        self._out_of_cluster(component, now)

    def _out_of_cluster(self, component: Component, now: float) -> None:
        self._state.outbox.changed(component)
        job = self._state.jobs.get(component.ref.job)
        standing = self._line.find(component.ref)
        if standing is not None:
            self._line.gone(*standing, now)
            return
        if job is None or component not in job.components:
            self._pending.start(component, Step.CLEAN, now)
            return
        self._state.note(now, job, component, "not in its cluster", why=component.detail)
        if job.irreversible:
            self._pending.start(component, Step.CLEAN, now)
        else:
            detail = component.detail
            if component.cause is not Cause.LOST:
                detail = f"its job ended before all were at the barrier ({detail})"
            self._rollback.roll_back(job, now, self._state.blame(component, detail))

    def _degraded(self, component: Component, snapshot: Snapshot, now: float) -> None:
        """Its reservation has lost nodes before its job was seen to run in it: it may never."""
        job = self._state.jobs.get(component.ref.job)
        if snapshot.taken_at < component.asked_at or job is None or job.single:
            return
        if component not in job.components or job.irreversible or self._unread.in_attempt(job):
            return
        why = "its reservation has lost nodes that it was given"
        component.cause, component.detail = Cause.NODE, why
        self._state.outbox.changed(component)
        if component.ahead:
            self._plans.give_up(job, self._state.blame(component, why), now)
        else:
            self._rollback.roll_back(job, now, self._state.blame(component, why))


def _may_be_renamed(component: Component, job: Job, snapshot: Snapshot) -> bool:
    """Whether one of these that is not over is perhaps the component's job, renamed before any
    poll: when it was submitted is but guessed then, but it was before its script has started. Or
    not even its id is known (on a full disk no record tells it), and it may be any, for as long as
    its job may take."""
    if component.native_id is not None:
        found = snapshot.unnamed.get(component.native_id)
        if found is None or found.state is NativeState.ENDED or component.submit_time is None:
            return False
        if found.submit_time is None or snapshot.clock_offset is None:
            return True
        submitted = found.submit_time - snapshot.clock_offset
        return component.start_time is None or submitted < component.start_time + _CLOCKS_DIFFER
    over = (component.start_time or 0.0) + job.may_take
    if component.writer is not None or snapshot.taken_at > over:
        return False
    return any(job.state is not NativeState.ENDED for job in snapshot.unnamed.values())


def _to_be_judged(component: Component) -> bool:
    return component.phase in _WITH_ITS_CLUSTER and component.step is not Step.CLEAN
