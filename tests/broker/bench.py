"""A broker on the bench: events in, and all that it says put into words.

What it says goes into a real store after each step, as in the daemon, so that a restart can be
tried at any moment.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from metabroker.broker import tokens
from metabroker.broker.after_restore import History, Restored, in_line, remembered, settle
from metabroker.broker.core import Broker
from metabroker.broker.effects import Effect
from metabroker.broker.events import Event, Tick
from metabroker.broker.job import Component, Job
from metabroker.broker.outbox import Mishap, OutboxEntry, Ready
from metabroker.broker.resource_limits import ResourceLimits
from metabroker.broker.settings import ClusterSettings, Settings
from metabroker.broker.states import Phase, Step
from metabroker.broker.tokens import Ref
from metabroker.policy import SPLITTING, Aging, make
from metabroker.policy.scheduler import PolicyState
from metabroker.store import Store, Transaction
from metabroker.store.rows import ClusterNames

from .statements import compile_once

START = 1_000_000.0
INSTANCE = "abcdef01"


def _store() -> Store:
    made = Store("sqlite://", migrate=False)
    compile_once(made._engine)
    return made


class Bench:
    """One broker, its clock and its store. `changes`: every change of a job's state so far.
    `contained`: what could not be handled; None: that is raised."""

    def __init__(
        self,
        clusters: Mapping[str, int],
        *,
        policy: str = "GS",
        placeholders: Sequence[str] = (),
        submission_retries: int = 3,
        completion_retries: int = 0,
        aging: Aging | None = None,
        units: Mapping[str, int] | None = None,
        shares: ResourceLimits | None = None,
        slice: int = 100,
        placement: str | None = None,
    ) -> None:
        whole = units or {}
        made = tuple(
            ClusterSettings(
                name,
                reserves=name not in placeholders,
                processors=processors,
                unit=whole.get(name, 1),
            )
            for name, processors in clusters.items()
        )
        self.settings = Settings(
            INSTANCE,
            made,
            submission_retries=submission_retries,
            completion_retries=completion_retries,
            slice=slice,
            splits=policy in SPLITTING,
            close_to_files=placement is not None and placement.startswith("close-to-files"),
        )
        self.placement = placement
        self.policy = policy
        self.aging = aging
        self.shares = shares or ResourceLimits()
        self._restored: list[Restored] = []
        self.now = START
        self.names = ClusterNames(list(clusters))
        self.store = _store()
        self.broker = self._new()
        self.states: dict[int, str] = {}
        self.changes: set[tuple[str, str]] = set()
        self.contained: list[Mishap] | None = None

    def close(self) -> None:
        """Let go of the store."""
        self.store.close()

    def _new(self) -> Broker:
        clusters = len(self.settings.clusters)
        scheduler = make(
            self.policy,
            clusters,
            placement=self.placement,
            aging=self.aging,
            rng=random.Random(1),
        )
        broker = Broker(self.settings, scheduler, History(self._restored))
        broker.limit(self.shares)
        return broker

    # --- what happens -------------------------------------------------------------------------

    def handle(self, *events: Event) -> Ready:
        """Events of one moment, one pass, and what came of them (it is in the store then)."""
        for event in events:
            self.broker.handle(event, self.now)
            self._note_states()
        return self.settle()

    def settle(self) -> Ready:
        """One pass, and what came of it."""
        self.broker.schedule(self.now)
        self._note_states()
        ready = self.broker.take()
        for mishap in ready.mishaps:
            if self.contained is None:
                raise mishap.error
            self.contained.append(mishap)
        memory = {"clusters": self.names.names, "memory": self.broker.view.policy_state()}
        each = zip(self.names.names, self.broker.view.entries, strict=True)
        drained = {name: entry.drained for name, entry in each if entry.drained}
        self.store.commit(Transaction(ready, memory=memory, drained=drained), self.names)
        self.check()
        return ready

    def _note_states(self) -> None:
        for job in self.broker._state.outbox.jobs.values():
            old, new = self.states.get(job.id), job.state.value
            if old is not None and old != new:
                self.changes.add((old, new))
            self.states[job.id] = new

    def ticks(self, seconds: float) -> list[tuple[float, Ready]]:
        """Time passes; what each tick that was due led to."""
        until = self.now + seconds
        found = []
        while (due := self.broker.next_time()) is not None and due <= until:
            self.now = max(self.now, due)
            found.append((self.now, self.handle(Tick())))
        self.now = until
        return found

    def restored(self, *, polled: bool = True) -> Broker:
        """A broker made from the store, as after a crash (it has not been scheduled yet). `polled`:
        its clusters have shown what it remembers."""
        recovered = self.store.recover(self.names)
        broker = self._new()
        drained = self.store.systems.drained()
        broker.recall_drained({self.names.names.index(n): d for n, d in drained.items()})
        broker.restore(
            recovered.jobs, recovered.components, self.now, recovered.ended, recovered.tasks
        )
        broker.number_from(recovered.next_job)
        broker.recall(PolicyState(*recovered.memory["memory"]))
        for cluster in range(len(self.names.names) if polled else 0):
            broker._still_waits(cluster, self.now, listed=True)
        return broker

    def restart(self) -> Ready:
        """Go on with a broker made from the store."""
        self.broker = self.restored()
        return self.settle()

    def back_up(self) -> bytes:
        """The store of now."""
        connection: Any = self.store._engine.raw_connection().driver_connection
        return bytes(connection.serialize())

    def come_back(self, backup: bytes, *, release: bool = False) -> Ready:
        """The store is lost; go on with a backup of it."""
        self._put_back(backup)
        found = self.store.recover(self.names)
        term = self.settings.term + 1
        restored = Restored(
            backup_time=self.now,
            time=self.now,
            when="then",
            term=term,
            last_job=found.next_job - 1,
            next_job=found.next_job + 100,
            attempts=remembered(found.jobs),
            siblings=in_line(found.jobs),
        )
        ready = Ready(*settle(found.jobs, found.components, restored, release=release), [])
        self.store.commit(Transaction(ready), self.names)
        self._restored.append(restored)
        self.settings = replace(self.settings, term=term)
        self.states = {job.id: job.state.value for job in found.jobs}
        return self.restart()

    def go_back(self, backup: bytes) -> Ready:
        """The store is as it was then, and nobody says so."""
        self._put_back(backup)
        found = self.store.recover(self.names)
        self.states = {job.id: job.state.value for job in found.jobs}
        return self.restart()

    def _put_back(self, backup: bytes) -> None:
        self.store.close()
        self.store = _store()
        connection: Any = self.store._engine.raw_connection().driver_connection
        connection.deserialize(backup)

    # --- invariants, after every step ---------------------------------------------------------

    def check(self) -> None:
        """What must hold whatever has happened."""
        broker = self.broker
        for cluster, account in enumerate(broker.view.entries):
            live = broker._saga.claims.live[cluster].values()
            assert account.claimed == sum(c.claimed for c in live)
            assert all(c.phase is not Phase.GONE for c in live)
        for job in broker.view.jobs.values():
            assert not job.state.ended
            waits = (job.id in broker._queues.scheduler) + (job.id in broker.view.held_back)
            waits += (job.id in broker.view.refused) + (job.id in broker.view.decided)
            assert (job.id in broker.view.dependent) == (job.after is not None)
            outside = job.after is not None or job.array is not None or job.kept
            waits += job.state.value == "QUEUED" and outside
            assert waits == (job.state.value == "QUEUED")
            attempting = job.state.value not in ("QUEUED", "HELD")
            assert bool(job.components) == attempting
            for component in job.components:
                assert component.ref[:2] == (job.id, job.attempt)
                if component.phase is not Phase.GONE:
                    assert broker.view.component(component.ref) is component
        waiting = [0] * len(self.settings.clusters)
        for job in broker.view.jobs.values():
            if job.after is not None or job.array is not None:
                continue
            if job.state.value == "QUEUED" and job.queue < len(waiting):
                waiting[job.queue] += sum(job.request.sizes)
        assert broker._queues._demand.processors == waiting

    # --- words --------------------------------------------------------------------------------

    def token(self, ref: Ref) -> str:
        """The token of a component."""
        return tokens.make(INSTANCE, ref)

    def name(self, cluster: int) -> str:
        """A cluster's name."""
        return self.names.names[cluster]

    def describe(self, ready: Ready) -> list[str]:
        """All that must be written and done, a line each."""
        return [
            *(self._entry(entry) for entry in ready.journal),
            *(self._job(job) for job in ready.jobs),
            *(self._component(component) for component in ready.components),
            *(self._effect(effect) for effect in ready.effects),
        ]

    def _job(self, job: Job) -> str:
        words = [f"job {job.id} {job.state.value}"]
        if job.attempt:
            words.append(f"attempt={job.attempt}")
        for label in ("submission_failures", "completion_failures"):
            if getattr(job, label):
                words.append(f"{label.replace('_', '-')}={getattr(job, label)}")
        if job.goal is not None:
            words.append(f"goal={job.goal.value}")
        if job.deadline is not None:
            words.append(f"deadline={self.clock(job.deadline)}")
        if job.exit_code is not None:
            words.append(f"exit={job.exit_code}")
        return " ".join(words) + (f": {job.reason}" if job.reason else "")

    def _component(self, component: Component) -> str:
        words = [str(component.ref), self.name(component.cluster), component.phase.value]
        if component.step is not Step.NONE:
            words.append(f"owed={component.step.value}")
        if component.retry_at is not None:
            words.append(f"retry={self.clock(component.retry_at)}")
        if component.cause is not None:
            words.append(f"cause={component.cause.value}")
        if component.exit_code is not None:
            words.append(f"exit={component.exit_code}")
        return " ".join(words) + (f": {component.detail}" if component.detail else "")

    def _effect(self, effect: Effect) -> str:
        words = [f"-> {type(effect).__name__}"]
        for field in fields(effect):
            value: Any = getattr(effect, field.name)
            if field.name == "native":  # who cleans must know it; see test_renamed
                continue
            # Any will do, at once.
            if field.name in ("shape", "tasks", "start", "joins") and not value:
                continue
            if field.name == "ref":
                words.append(str(value))
            elif field.name == "cluster":
                words.append(self.name(value))
            elif isinstance(value, bool):
                words.extend([field.name] if value else [])
            else:
                words.append(f"{field.name}={value}")
        return " ".join(words)

    def _entry(self, entry: OutboxEntry) -> str:
        detail = "".join(f" {key}={value}" for key, value in entry.detail.items() if value != "")
        return (
            f"# {entry.job}.{entry.attempt} {entry.what}:{detail}"
            if detail
            else (f"# {entry.job}.{entry.attempt} {entry.what}")
        )

    @staticmethod
    def clock(time: float) -> str:
        """A time, in seconds since the beginning."""
        return f"{round(time - START, 3):g}s"
