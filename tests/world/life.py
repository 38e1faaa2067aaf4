"""One life of the daemon in virtual time: its turns, lines of effects and records."""

from __future__ import annotations

import logging
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from metabroker.broker.core import Broker
from metabroker.broker.effects import (
    CleanStray,
    Effect,
    Fetch,
    PendingEffect,
    Stage,
    Unwatch,
    Watch,
)
from metabroker.broker.events import (
    ClusterUnreachable,
    Event,
    Observed,
    Unsure,
)
from metabroker.broker.states import JobState
from metabroker.broker.tokens import Ref
from metabroker.clusters.operation import Operation, Pause
from metabroker.clusters.port import ClusterRefusal, UnknownOutcome
from metabroker.clusters.slurm import SlurmCluster
from metabroker.clusters.transports.base import Command, CommandLost
from metabroker.policy import PLACEMENTS, Aging, Limits, make
from metabroker.runtime.engine import Engine, Item
from metabroker.runtime.execution import carrying, carrying_stray, step_of
from metabroker.runtime.executor import Stopped
from metabroker.runtime.lines import Lines
from metabroker.runtime.records import Records
from metabroker.runtime.requests import RequestBuilder
from metabroker.runtime.turns import Turns
from metabroker.store import LeadershipLost, StoreUnavailable

from .oracle import Violation
from .slipping import Slipped

if TYPE_CHECKING:
    from .host import Host


# What the turns log is part of a world's story already.
logging.getLogger("metabroker.runtime.turns").addHandler(logging.NullHandler())


class Life:
    """One life of the daemon, from its start to its end or crash."""

    def __init__(self, host: Host) -> None:
        world = host.world
        scenario = world.scenario
        self.host = host
        self.world = world
        self.alive = True
        settings = replace(world.settings, term=host.term)
        scheduler = make(
            scenario.policy,
            len(world.clusters),
            aging=Aging(overtaken=scenario.overtaken),
            rng=random.Random(scenario.seed),
        )
        place = PLACEMENTS[
            "worst-fit-reuse" if scenario.policy in ("FCFS", "FPFS") else "worst-fit"
        ]
        self.engine = Engine(
            Broker(settings, scheduler),
            host.store,
            world.names,
            Limits(),
            place,
            written=self._written,
        )
        self.adapters: list[SlurmCluster] = [c.adapter(settings, host) for c in world.clusters]
        self.builder = [
            RequestBuilder(host.store, settings, c.plan.name, home=world.home)
            for c in world.clusters
        ]
        self.turns = Turns(self.engine, lambda: world.now, self._durable)
        self._lines = [Lines() for _ in world.clusters]
        self._records = [Records() for _ in world.clusters]
        self._waited: dict[int, tuple[int, int]] = {}
        self._in_trouble = self._recovered = False
        self._seen = [(False, 0.0)] * len(world.clusters)
        self._next_turn: float | None = None
        self._able_since = world.now

    def begin(self) -> None:
        """As the daemon begins: recover, then look at the clusters."""
        self.world.tell("a daemon starts")
        self.turns.recover()
        self._recovered = True
        self._plan_turn()
        for index in range(len(self.adapters)):
            self._poll(index)
        self._look()

    # --- the loop -----------------------------------------------------------------------------

    def post(self, item: Item) -> None:
        """Something has happened; the core's next turn takes it."""
        if not self.alive:
            return
        self.turns.add(item)
        self._turn_at(self.world.now)

    def _turn_at(self, time: float) -> None:
        if self._next_turn is None or time < self._next_turn:
            self._next_turn = time
            self.host.at(time, lambda: self._turn(time))

    def _turn(self, time: float) -> None:
        if not self.alive or self._next_turn != time:
            return
        self._next_turn = None
        self._in_trouble = self.turns.trouble is not None
        self._waited = {} if self._in_trouble else self._waiting()
        try:
            pause = self.turns.turn()
        except LeadershipLost:
            self.host.lost()
            return
        if self.turns.trouble is not None or pause == 0.0:
            self._turn_at(self.world.now + pause)
        else:
            self._plan_turn()

    def _durable(self, effects: Sequence[Effect]) -> None:
        """A turn's effects, once they are written."""
        broker, world = self.engine.broker, self.world
        if self._in_trouble:
            self._able_since = world.now
        elif self._recovered:
            new = [j for j in broker.view.jobs.values() if j.id in self._waited and j.components]
            placed = [c.cluster for job in new for c in job.components]
            world.oracle.within(broker, [c.plan.processors for c in world.clusters])
            world.oracle.answering(placed, self._seen, world.now, world.settings.stale_after)
            world.oracle.placed(broker, self._waited, world.scenario.overtaken, world.now)
        if self._recovered:
            self._go_on(list(effects))
        else:
            self._dispatch(effects)

    def _go_on(self, effects: list[Effect]) -> None:
        if effects and self.world.moment(self.host, "written"):
            return
        if self.host.stopped:
            self.host.at(self.world.now, lambda: self._act_on(effects))
        else:
            self._act_on(effects)

    def _act_on(self, effects: list[Effect]) -> None:
        if not self.alive:
            return
        self._dispatch(effects)
        self._plan_turn()

    def able_again(self) -> None:
        """It could not act, and can now."""
        self._able_since = self.world.now

    def _waiting(self) -> dict[int, tuple[int, int]]:
        """Waiting jobs: seq, and the clusters in which they could run, as bits."""
        broker = self.engine.broker
        clusters = len(self.adapters)
        found = {}
        for job in broker.view.jobs.values():
            if job.state is not JobState.QUEUED:
                continue
            mask = (1 << clusters) - 1
            if job.request.clusters is not None:
                mask = sum(1 << c for c in set(job.request.clusters))
            elif job.single and job.queue < clusters:
                mask = 1 << job.queue
            found[job.id] = (job.seq, mask)
        return found

    def _plan_turn(self) -> None:
        """When a timer is due. (In real time there is a turn each second besides.)"""
        due = self.engine.broker.next_time()
        if due is not None:
            self._turn_at(max(due, self.world.now))

    def _written(self, ready: Any) -> None:
        for entry in ready.journal:
            self.world.tally.add(f"event {entry.what}")
            self.world.tell(f"job {entry.job}.{entry.attempt} {entry.what} {entry.detail}")

    # --- effects ------------------------------------------------------------------------------

    def _dispatch(self, effects: Any) -> None:
        for effect in effects:
            if isinstance(effect, Watch):
                self._records[effect.cluster].watch(effect.ref)
            elif isinstance(effect, Unwatch):
                self._records[effect.cluster].unwatch(effect.ref)
            elif isinstance(effect, CleanStray):
                self._clean_stray(effect)
            elif self._lines[effect.cluster].add(effect):
                self._work(effect)

    def _work(self, effect: PendingEffect) -> None:
        ref, lines = effect.ref, self._lines[effect.cluster]
        task = carrying(effect, self.adapters[effect.cluster], self.builder[effect.cluster])

        def done(event: Any, error: Exception | None) -> None:
            if error is not None:
                event = Unsure(ref, step_of(effect), str(error))
            if self.world.moment(self.host, "done", type(effect).__name__):
                return
            self.world.tally.add(f"reply {type(event).__name__} {type(effect).__name__}")
            following = lines.finished(ref)
            self.post(event)
            if following is not None:
                self._work(following)

        def stops() -> bool:
            return isinstance(effect, Stage | Fetch) and not lines.alone(ref)

        begin = partial(self._advance, task, effect.cluster, None, None, done, stops)
        self.host.at(self.world.now + self.world.network.gate_latency(effect), begin)

    def _clean_stray(self, effect: CleanStray) -> None:
        lines = self._lines[effect.cluster]
        if not lines.claim(effect):
            return
        task = carrying_stray(effect, self.adapters[effect.cluster], self.builder[effect.cluster])
        self.world.tally.add("stray")
        self._advance(task, effect.cluster, None, None, lambda _r, _e: lines.removed(effect))

    def _advance(
        self,
        task: Operation[Any],
        cluster: int,
        answer: Any,
        error: Exception | None,
        done: Callable[[Any, Exception | None], None],
        stops: Callable[[], bool] = lambda: False,
    ) -> None:
        """One step of an operation, as `carry_out` does it in real time; `stops`: whether it is
        to end at its next pause."""
        if not self.alive:
            return
        if not self.host.may_act():
            again = partial(self._advance, task, cluster, answer, error, done, stops)
            self.host.at(self.world.now + 0.5, again)
            return
        try:
            step = task.send(answer) if error is None else task.throw(error)
        except StopIteration as end:
            done(end.value, None)
            return
        except Slipped as slipped:
            self.host.late(slipped, lambda: done(None, CommandLost("no answer")))
            return
        except Violation:
            raise
        except Exception as wrong:
            done(None, wrong)
            return
        if isinstance(step, Pause):
            if stops():
                done(None, Stopped("no longer wanted"))
                return
            self.host.at(
                self.world.now + self.world.network.rest(step.seconds),
                lambda: self._advance(task, cluster, None, None, done, stops),
            )
            return

        def reply(said: Any) -> None:
            failed = isinstance(said, Exception)
            answered, error = (None, said) if failed else (said, None)
            self._advance(task, cluster, answered, error, done, stops)

        self._send(cluster, step, self.host.hears(reply))

    def _send(self, cluster: int, command: Command, reply: Callable[[Any], None]) -> None:
        send = partial(self.world.network.send, self.world.clusters[cluster], command, reply)
        try:
            self.host.about_to(send)
        except Slipped as slipped:
            self.host.late(slipped, lambda: None)
        else:
            send()

    # --- looks --------------------------------------------------------------------------------

    def _poll(self, index: int) -> None:
        if not self.alive:
            return
        task = self.adapters[index].observe(self.world.now)
        began = self.world.now

        def done(snapshot: Any, error: Exception | None) -> None:
            event: Event = ClusterUnreachable(index, str(error))
            self._seen[index] = (error is None, began)
            if error is None:
                event = Observed(index, snapshot)
            elif not isinstance(error, ClusterRefusal | UnknownOutcome):
                raise error
            self.post(event)
            self.host.at(self.world.now + self.world.scenario.poll, lambda: self._poll(index))

        self._advance(task, index, None, None, done)

    def _look(self) -> None:
        if not self.alive:
            return
        self.host.at(self.world.now + self.world.scenario.look, self._look)
        if not self.host.may_act():
            return
        if self.turns.trouble is None:
            self.world.oracle.in_time(self.engine.broker, self.world.now, self._able_since)
        for index, records in enumerate(self._records):
            for ref in records.watched():
                self._look_at(index, records, ref)

    def _look_at(self, index: int, records: Records, ref: Ref) -> None:
        try:
            gate = self.builder[index].gate(ref)
            found = self.adapters[index].look([] if gate is None else [gate])
        except (UnknownOutcome, ClusterRefusal, StoreUnavailable):
            return
        now = self.world.now
        for record in found.values():
            for event in records.told({ref: record}, now, now):
                self.post(event)
