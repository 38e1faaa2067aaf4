"""What a look at a cluster tells of components: lost ones, ended ones, and strays."""

from __future__ import annotations

from . import tokens
from .adoption import Adoption
from .effects import CleanStray
from .job import Component
from .observation import NativeJob, NativeState, Snapshot
from .states import Cause, Phase, Step

_WITH_ITS_CLUSTER = frozenset({Phase.SUBMITTED, Phase.ARRIVED, Phase.ARMED, Phase.STARTED})
_BEFORE_THE_BARRIER = frozenset({Phase.RESERVED, Phase.SUBMITTED})


class Reconciliation(Adoption):
    """Holds what a cluster shows against what the broker believes."""

    def observe(self, cluster: int, snapshot: Snapshot, now: float) -> None:
        """Hold what a look showed against what the broker believes."""
        for component in list(self.live[cluster].values()):
            if component.phase in _WITH_ITS_CLUSTER and component.step is not Step.CLEAN:
                try:
                    self._judge(component, snapshot, now)
                except Exception as error:  # what is told of one job is no matter of the others
                    self.contain(component.ref.job, error, now, component.ref)
        self._judge_reservations(cluster, snapshot, now)
        known = self.live[cluster]
        shown = [t for t, j in snapshot.jobs.items() if j.state is not NativeState.ENDED]
        lost: list[str] = []
        for token in dict.fromkeys([*shown, *snapshot.reservations]):
            ref = tokens.parse(self._settings.instance, token)
            if ref is None or ref in known:
                continue
            if self._ledger.cleaned_lately(cluster, token, snapshot.taken_at):
                continue
            if ref not in self._where and self.leftovers.history.unknown(ref):
                lost.append(token)
            else:
                spare = ref in self._where  # what is owed to it comes first
                self._out.effects.append(CleanStray(cluster, token, spare))
        if lost or len(self.leftovers):
            self._look_for_lost(cluster, snapshot, lost, now)

    def _judge_reservations(self, cluster: int, snapshot: Snapshot, now: float) -> None:
        degraded = [t for t, r in snapshot.reservations.items() if r.degraded]
        for ref in [tokens.parse(self._settings.instance, token) for token in degraded]:
            component = None if ref is None else self.live[cluster].get(ref)
            if component is not None and component.phase in _BEFORE_THE_BARRIER:
                self._degraded(component, snapshot, now)

    def _judge(self, component: Component, snapshot: Snapshot, now: float) -> None:
        if snapshot.taken_at < component.asked_at + self._settings.visible_after:
            return
        native = snapshot.jobs.get(tokens.make(self._settings.instance, component.ref))
        if native is None:
            self._missing(component, snapshot, now)
        elif native.state is NativeState.ENDED:
            self._native_end(component, native, now)
        else:
            component.missing_since = None
            detail = f"{native.word}: {native.reason}" if native.reason else native.word
            hosts = native.hosts or component.hosts
            if (component.detail, component.hosts) != (detail, hosts):
                component.detail, component.hosts = detail, hosts
                self._out.changed(component)

    def _missing(self, component: Component, snapshot: Snapshot, now: float) -> None:
        """Not shown. A controller that has just restarted may not know its jobs yet."""
        if not snapshot.settled:
            return
        if component.missing_since is None:
            component.missing_since = snapshot.taken_at
        elif snapshot.taken_at - component.missing_since >= self._settings.missing_grace:
            component.cause = Cause.LOST
            component.detail = "its cluster does not know it any more"
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
        self._out.changed(component)
        job = self._jobs.get(component.ref.job)
        if job is None or component not in job.components:
            self._owe(component, Step.CLEAN, now)
            return
        self._note(now, job, component, "not in its cluster", why=component.detail)
        if job.irreversible:
            self._owe(component, Step.CLEAN, now)
        else:
            detail = component.detail
            if component.cause is not Cause.LOST:
                detail = f"its job ended before all were at the barrier ({detail})"
            self._roll_back(job, now, self._blame(component, detail))

    def _degraded(self, component: Component, snapshot: Snapshot, now: float) -> None:
        """Its reservation has lost nodes before its job was seen to run in it: it may never."""
        job = self._jobs.get(component.ref.job)
        if snapshot.taken_at < component.asked_at or job is None or job.single:
            return
        if component not in job.components or job.irreversible:
            return
        why = "its reservation has lost nodes that it was given"
        component.cause, component.detail = Cause.NODE, why
        self._out.changed(component)
        self._roll_back(job, now, self._blame(component, why))
