"""What attempts claim in clusters, from placement until each cluster was seen clean.

A component is *live* as long as it claims processors, and *known* as long as anything of it may be
left: a component of a former attempt stays here until it is cleaned up and its folder is gone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from metabroker.broker import tokens
from metabroker.broker.events import Submitted
from metabroker.broker.job import Component, Job
from metabroker.broker.queues import Queues
from metabroker.broker.state import BrokerState
from metabroker.broker.states import Phase, Step
from metabroker.broker.tokens import Ref


class Claims:
    """The components of all attempts under way, and of former ones that are not cleaned up.

    `live`: those that claim processors, for each cluster; `known`: all of them.
    """

    def __init__(self, state: BrokerState, queues: Queues) -> None:
        self._state = state
        self._queues = queues
        self.live: list[dict[Ref, Component]] = [{} for _ in state.settings.clusters]
        self.known: dict[Ref, Component] = {}
        self._of_job: dict[int, dict[Ref, Component]] = {}
        self._ids: dict[tuple[int, str], Ref] = {}  # whose a native job's id is, in each cluster

    def add(self, component: Component) -> None:
        """Count the component's claim: of a new one, or one that the store remembers."""
        if component.phase is not Phase.GONE or component.step is not Step.NONE:
            self.known[component.ref] = component
            self._of_job.setdefault(component.ref.job, {})[component.ref] = component
            if component.native_id is not None and component.submit_time is not None:
                self._ids[component.cluster, component.native_id] = component.ref
        if component.phase is Phase.GONE:
            return
        self.live[component.cluster][component.ref] = component
        early = component.phase in (Phase.PLACED, Phase.RESERVED)
        component.ahead = (
            component.planned is not None and early and component.step is not Step.SUBMIT
        )
        if not component.ahead:
            self._state.ledger.claim(component.cluster, component.processors)

    def begin(self, component: Component) -> None:
        """The time of one that was planned ahead has come: now it claims its processors."""
        if component.ahead:
            component.ahead = False
            component.missing_since = None  # its reservation, if at all
            self._state.ledger.claim(component.cluster, component.processors)

    def submitted(self, component: Component, event: Submitted, now: float) -> None:
        """Its cluster has its job, under that id. If another one's had that id, the cluster has
        forgotten that job: what bears the id from now on is this one's, by whatever name."""
        before = self._ids.get((component.cluster, event.native_id))
        forgotten = None if before is None else self.known.get(before)
        if forgotten is not None and before != component.ref:
            forgotten.submit_time = None
            self._state.outbox.changed(forgotten)
        self._ids[component.cluster, event.native_id] = component.ref
        component.native_id, component.listed = event.native_id, False
        component.submit_time = event.submit_time
        if event.submit_time is None:
            # About then by the cluster's clock; the first poll that shows it tells exactly.
            component.submit_time = now + self._state.ledger.entries[component.cluster].clock_offset
        self._state.outbox.changed(component)

    def hold(self, sibling: Component, processors: int) -> None:
        """A sibling is the one that its job starts with: from now on it claims these."""
        sibling.processors = processors
        sibling.contradicted = 0
        self._state.ledger.claim(sibling.cluster, processors)
        self._state.outbox.changed(sibling)

    def judge(self, component: Component, pending: bool) -> None:
        """A poll says whether it is pending. What tells that it has come up are records that its
        user can write, so they are not believed against its cluster: with the second poll in a row
        that shows it pending all the same it holds nothing, until it runs there. (What the first
        shows may be of a moment before.)"""
        self.doubt(
            component, pending and component.reached(Phase.ARRIVED) and not component.reserves
        )

    def doubt(self, component: Component, against: bool) -> None:
        """A poll speaks `against` its holding anything, or for it: with the second in a row that
        does it counts as holding nothing."""
        before = component.doubted
        component.contradicted = component.contradicted + 1 if against else 0
        if component.sibling or component.doubted is before:
            return
        counts = -component.processors if component.doubted else component.processors
        self._state.ledger.claim(component.cluster, counts)
        if component.doubted:
            self._queues.grown(component.cluster)

    def shown(self, cluster: int, ours: Mapping[str, int]) -> Callable[[str], int]:
        """A poll shows what holds how many processors there, by token. Answers what each claims."""
        live, found, changed = self.live[cluster], dict[str, Component](), False
        before = {ref: component.shown for ref, component in live.items() if component.shown}
        for known in before:
            live[known].shown = 0
        for token, processors in ours.items():
            ref = tokens.parse(self._state.settings.instance, token)
            component = None if ref is None else live.get(ref)
            if component is not None:
                found[token], component.shown = component, processors
                changed = changed or before.get(component.ref, 0) != processors
        if changed and self._queues.held_back.keeps:
            self._queues.changed = True
        return lambda token: found[token].claimed if token in found else 0

    def release(self, component: Component, now: float) -> None:
        """Its processors are held no more: others may start."""
        self.doubt(component, against=False)
        component.advance(Phase.GONE)
        del self.live[component.cluster][component.ref]
        token = tokens.make(self._state.settings.instance, component.ref)
        self._state.ledger.free(component.cluster, component.claimed, token, now)
        self._queues.freed(component)
        self._state.outbox.changed(component)

    def forget(self, component: Component) -> None:
        """Nothing of it is left anywhere."""
        del self.known[component.ref]
        key = component.cluster, component.native_id or ""
        if self._ids.get(key) == component.ref:
            del self._ids[key]
        of_job = self._of_job[component.ref.job]
        del of_job[component.ref]
        if not of_job:
            del self._of_job[component.ref.job]

    def find(self, ref: Ref) -> tuple[Component | None, Job | None]:
        """The component, and its job if this is of the job's present attempt."""
        component = self.known.get(ref)
        if component is None:
            return None, None
        job = self._state.jobs.get(ref.job)
        if job is None or job.attempt != ref.attempt or component not in job.components:
            return component, None
        return component, job

    def of_job(self, number: int) -> Iterator[Component]:
        """Those of all attempts of a job; they may be changed or forgotten meanwhile."""
        yield from list(self._of_job.get(number, {}).values())

    def in_cluster(self, cluster: int) -> list[Component]:
        """Those of which anything may be left in the cluster."""
        return [c for c in self.known.values() if c.cluster == cluster]

    @property
    def pending(self) -> int:
        """How many components wait for a step to be carried out."""
        return sum(1 for c in self.known.values() if c.step is not Step.NONE)
