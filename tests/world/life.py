"""One lead of a broker: its own loop, executors and watchers, over a world's clusters."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING

from metabroker.broker import tokens
from metabroker.broker.core import Broker
from metabroker.broker.effects import CleanStray, Effect, PendingEffect, Submit
from metabroker.broker.events import (
    Cleaned,
    ClusterUnreachable,
    Discarded,
    Observed,
    Refused,
    Unsure,
)
from metabroker.broker.job import Component
from metabroker.broker.outbox import Ready
from metabroker.broker.states import JobState, Phase, Step
from metabroker.broker.tokens import Ref
from metabroker.clusters.simulated.model import State
from metabroker.policy import ALL_PLACEMENTS, SPLITTING, Aging, Limits, make
from metabroker.runtime.asked import Item
from metabroker.runtime.carrier import Carrier
from metabroker.runtime.engine import Engine
from metabroker.runtime.executor import ClusterExecutor
from metabroker.runtime.loop import Loop
from metabroker.runtime.requests import RequestBuilder
from metabroker.runtime.watcher import WatchInterval
from metabroker.store import StoreUnavailable

from . import noticed, virtual
from .account_rules import discarded, not_closed, not_given_up
from .adapters import adapter
from .come_and_go import Heeded
from .home import WorldHome
from .keeping import goes_on
from .local_users import wanted_by_others
from .oracle import Violation
from .overdue import Overdue
from .reads import placement
from .run_as import transport
from .scenario import WHOLE
from .splitting import Parts, long_enough
from .told import chosen, clean, lost, remembered, waits, where

if TYPE_CHECKING:
    from .host import Host

# A loop that looks at the clock so often in one instant goes on for ever: in 1000 turns or more.
_LOOKS = 4000
_SLOW_DISK = 0.2  # seconds of a turn, where slices are tiny: much comes in between two of them
_QUICK = 0.5  # seconds between two looks while a component is on its way


class Life:
    """What a broker has while it leads."""

    def __init__(self, host: Host) -> None:
        world = host.world
        scenario = world.scenario
        self.host = host
        self.world = world
        self._process = host.process
        term = host.store.leadership.term() if host.alone else host.term
        self.policy = scenario.later if scenario.later and world.lives else scenario.policy
        world.lives += 1
        settings = replace(world.settings, term=term, splits=self.policy in SPLITTING)
        scheduler = make(
            self.policy,
            len(world.clusters),
            placement=placement(scenario),
            aging=Aging(overtaken=scenario.overtaken),
            rng=random.Random(scenario.seed),
            overhead=scenario.overhead,
        )
        world.oracle.tells_who_leaves(scheduler)
        self.engine = Watched(self, Broker(settings, scheduler, host.store.restorations.history()))
        rng = random.Random(f"{scenario.seed} workers")
        carrier = Carrier()
        self.executors = [
            ClusterExecutor(
                index,
                adapter(cluster, settings, transport(host, cluster), host.store),
                RequestBuilder(
                    host.store,
                    settings,
                    cluster.plan.name,
                    home=WorldHome(host),
                    users=world.listed,
                    permit=None if host.lease is None else host.lease.permit,
                ),
                self.post,
                workers=rng.choice((1, 2, 4, 8)),
                clock=self.clock,
                hook=self._hook,
                pace=WatchInterval(min(_QUICK, scenario.look), scenario.look),
                carrier=carrier,
            )
            for index, cluster in enumerate(world.clusters)
        ]
        self._looks = 0.0, 0  # when the loop's last one was, and how many in that instant
        self.loop = Loop(self.engine, self.executors, self._look, scenario.slice)
        self._seen = [(False, 0.0)] * len(world.clusters)
        self._told_time = [False] * len(world.clusters)  # whether its clock is known
        self._cleaned: list[Ref] = []  # what clusters have told since the last turn
        self._able_since = world.now
        self._starting = True  # the clusters are still held against the store
        self._parts = Parts()
        self._heeded = Heeded()
        self._overdue = Overdue()
        self._begun: dict[int, int] = {}  # attempts that were under way before this turn
        self.left: frozenset[Ref] = frozenset()

    def clock(self) -> float:
        """What its host takes for Unix seconds."""
        return self._process.wall

    def _look(self) -> float:
        """As its loop looks at the clock."""
        now = self.clock()
        self._looks = now, self._looks[1] + 1 if self._looks[0] == now else 1
        if self._looks[1] > _LOOKS:
            raise Violation(f"{_LOOKS} looks of the loop at the clock in one instant")
        return now

    def begin(self) -> None:
        """Recover, then look at the clusters.

        Raises:
            StoreUnavailable, LeadershipLost: it cannot begin.
        """
        self.world.tell("a daemon starts")
        self.loop.start()
        self.engine.recovered = True
        self.world.oracle.restarted(self.engine.broker)
        self.world.step_times.restarted(self.engine.broker)
        if self.host.claims():  # else it was stopped as it began, and others have led since
            remembered(self.world, self.engine.broker)
        for executor in self.executors:
            self.host.process.start(lambda executor=executor: self._poll(executor))  # type: ignore[misc]
        self.left = frozenset(self.world.oracle.left)  # before any look of this life's
        self.world.users.led()
        kept = self.world.scenario.kept
        if kept is not None:
            self.host.process.start(lambda: goes_on(self, kept))

    def end(self) -> None:
        """As the daemon ends: finish what is under way."""
        self.loop.stop()
        for closing in [self.host.process.start(e.close) for e in self.executors]:
            closing.join(None)

    def post(self, item: Item) -> None:
        """Something has happened, or somebody asks."""
        self.loop.post(item)

    @property
    def able_since(self) -> float:
        """Since when it can act, by the world's time."""
        return self._able_since

    def able_again(self) -> None:
        """It could not act, and can now."""
        self._able_since = self.world.now

    def in_time(self) -> None:
        """Has the broker done what is due?"""
        if self.loop.trouble is None and not self.engine.broker.view.behind:
            if self._starting and not self.engine.broker.view.starting:
                self._starting = False
                self.world.step_times.begin_anew()
            since, clock = self._able_since, self.clock()
            away = [
                max(*c.until.values(), c.accounts.troubled_until, 0.0) for c in self.world.clusters
            ]
            broker, now = self.engine.broker, self.world.now
            self.world.step_times.check(broker, now, since, clock, away, self._unread)
            self.world.users.arrays.in_time(self.engine.broker, self.world.now, since)
            self.world.joining.in_time(self.engine.broker, self.world.now, since)
            noticed.starts(self, since, away)
            self._overdue.check(self)
            self._heeded.check(self.engine.broker, self.world.clusters, self.world.now, since)

    def _unread(self, component: Component) -> bool:
        """Whether its native job runs, and nobody can read its records."""
        token = tokens.make(self.engine.broker.settings.instance, component.ref)
        cluster, now = self.world.clusters[component.cluster], self.world.now
        if now >= max(cluster.until.get("files", 0.0), cluster.accounts.troubled_until):
            return False
        return any(job.name == token and job.state is State.RUNNING for job in cluster.ours())

    def _poll(self, executor: ClusterExecutor) -> None:
        while True:
            executor.observe()
            virtual.sleep(self.world.scenario.poll)

    def _hook(self, when: str, effect: PendingEffect) -> None:
        if when == "before":
            virtual.sleep(self.world.network.gate_latency(effect))
        else:
            self.host.comes_to("done", type(effect).__name__)

    # --- what the oracle is told ----------------------------------------------------------------

    def turned(self, waited: dict[int, tuple[int, int]], effects: Iterable[Effect]) -> None:
        """A turn is durable; `waited`: see `waiting`, before it."""
        broker, world = self.engine.broker, self.world
        jobs, begun = broker.view.jobs.values(), self._begun
        new = [j for j in jobs if j.components and begun.get(j.id) != j.attempt]
        # A sibling that has come up in a cluster's own queue starts there, whatever polls say.
        parts = [c for job in new for c in job.components if not c.reached(Phase.ARRIVED)]
        placed = [component.cluster for component in parts]
        if not world.back.happened:  # what is found again may be more than was known to be there
            most = [(c.plan.processors, c.busy or c.put_back) for c in world.clusters]
            world.oracle.within(broker, most)
            wanted_by_others(world, broker, self.clock() - world.now)
        world.oracle.answering(placed, self._seen, self.clock(), world.settings.stale_after)
        ahead = self.clock() - world.now
        clocks = zip(self._seen, self._told_time, strict=True)
        seen = [(answers, when if told else -inf) for (answers, when), told in clocks]
        world.oracle.outlives(new, seen, world.clusters, world.now, ahead)
        chosen = [c.cluster for job in new for c in job.components if c.reached(Phase.ARRIVED)]
        world.administrator.check(placed, chosen)
        world.oracle.placed(broker, waited, new, world.scenario.overtaken, self.clock())
        not_closed(world, broker)
        waits(broker)
        self._parts.check(broker)
        for ref in self._cleaned:
            component = broker.view.component(ref)
            if component is None or component.step is not Step.CLEAN:
                clean(world, ref)
        self._cleaned.clear()
        for effect in effects:
            if isinstance(effect, Submit):
                long_enough(broker, effect)
            if isinstance(effect, CleanStray):
                world.tally.add("stray")

    def takes(self, item: Item) -> None:
        """The core is about to handle that."""
        if isinstance(item, Observed):
            self._seen[item.cluster] = (True, item.snapshot.taken_at)
            at = item.snapshot.taken_at - (self.clock() - self.world.now)
            noticed.in_truth(self.world.clusters[item.cluster], at)
            self._told_time[item.cluster] |= item.snapshot.clock_offset is not None
        elif isinstance(item, ClusterUnreachable):
            self._seen[item.cluster] = (False, self.clock())
        elif isinstance(item, Refused | Unsure):
            self.world.tally.add(f"reply {type(item).__name__} {item.step.value}")
            if isinstance(item, Refused):
                not_given_up(item)
        else:
            if isinstance(item, Cleaned):
                self.world.oracle.cleaned(item.ref)
                self._cleaned.append(item.ref)
            if isinstance(item, Discarded):
                discarded(self.world, item.ref)
            self.world.tally.add(f"reply {type(item).__name__}")

    def waiting(self) -> dict[int, tuple[int, int]]:
        """Waiting jobs: seq, and the clusters in which they could run, as bits."""
        broker = self.engine.broker
        clusters = len(self.executors)
        found = {}
        self._begun = {job.id: job.attempt for job in broker.view.jobs.values() if job.components}
        for job in broker.view.jobs.values():
            if job.state is not JobState.QUEUED or job.array is not None:
                continue
            mask = (1 << clusters) - 1
            if job.id in broker.view.refused:  # it may be overtaken till the end of this turn
                mask = 0
            elif job.request.clusters is not None:
                mask = sum(1 << c for c in set(job.request.clusters))
            elif job.single and job.queue < clusters:
                mask = 1 << job.queue
            else:
                mask &= ~sum(1 << c for c in broker._queues.refusals.detours.get(job.id, ()))
            found[job.id] = (job.seq, mask)
        return found

    def written(self, ready: Ready) -> None:
        """What has become durable."""
        for entry in ready.journal:
            self.world.tally.add(f"event {entry.what}")
            self.world.tell(f"job {entry.job}.{entry.attempt} {entry.what} {entry.detail}")
            lost(self.world, entry)
            chosen(self.left, entry)
            where(self.world.oracle.between, entry)
            self.world.users.heard(entry.job, entry.what)


class Watched(Engine):
    """The engine, of which the oracle sees each turn."""

    def __init__(self, life: Life, broker: Broker) -> None:
        world = life.world
        policy = life.policy
        usual = {"FCFS": "worst-fit-reuse", "FPFS": "worst-fit-reuse"}
        usual["MULTI-SITE"] = "fewest-clusters"
        place = ALL_PLACEMENTS[placement(world.scenario) or usual.get(policy, "worst-fit")]
        super().__init__(
            broker,
            life.host.store,
            world.names,
            Limits(),
            place,
            written=life.written,
            mishap=world.back.mishap,
        )
        self.recovered = False
        self._life = life
        self._troubled = False
        tiny = world.scenario.slice < WHOLE
        self._disk = random.Random(f"{world.scenario.seed} disk") if tiny else None

    def process(self, items: Iterable[Item], now: float) -> Sequence[Effect]:
        """See `Engine.process`."""
        waited, taken = self._life.waiting(), list(items)
        for item in taken:
            self._life.takes(item)
        effects = super().process(taken, now)
        self._life.turned(waited, effects)
        self._moment(effects)
        if self._disk is not None:
            virtual.sleep(self._disk.uniform(0, _SLOW_DISK))
        return effects

    def flush(self) -> Sequence[Effect]:
        """See `Engine.flush`."""
        try:
            effects = super().flush()
        except StoreUnavailable:
            self._troubled = True
            raise
        if self._troubled:
            self._troubled = False
            self._life.able_again()
            self._moment(effects)
        return effects

    def _moment(self, effects: Sequence[Effect]) -> None:
        """A crash may come when all is written and nothing of it done."""
        if effects and self.recovered:
            self._life.host.comes_to("written")
