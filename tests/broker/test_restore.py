"""A broker made from the store at any moment is the one that wrote it."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from metabroker.broker.core import Broker
from metabroker.broker.effects import Reserve, Submit
from metabroker.broker.events import (
    Armed,
    Arrived,
    CancelJob,
    Cleaned,
    ClusterUnreachable,
    Discarded,
    Ended,
    Event,
    GaveUp,
    HoldJob,
    Observed,
    Opened,
    Refused,
    ReleaseJob,
    Reserved,
    Started,
    SubmitJob,
    Submitted,
    Unsure,
)
from metabroker.broker.job import Component, NewJob
from metabroker.broker.observation import Snapshot
from metabroker.broker.rejected import Rejected
from metabroker.broker.states import Cause, JobState, Phase, Step
from metabroker.policy import Aging, Request
from metabroker.store.rows import component_row, job_row

from .bench import Bench

POLICIES = ("GS", "LS-OR", "GP", "LP-GF", "EQ-LF", "LQ", "FCFS", "FPFS")


class Walk:
    """Anything that could happen, happens in a random order."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.bench = Bench(
            {"delft": 64, "leiden": 32, "lab": 16},
            policy=self.rng.choice(POLICIES),
            placeholders=self.rng.choice(([], ["lab"])),
            completion_retries=self.rng.choice((0, 2)),
            aging=self.rng.choice((None, Aging(overtaken=2, wait=60.0))),
        )
        self.look_at_all()

    # --- what happens -------------------------------------------------------------------------

    def step(self) -> None:
        """One event of one of the kinds that are possible now. Clusters are polled mostly: nothing
        is begun in one that was not for long."""
        if self.rng.random() < 0.7:
            self.look_at_all()
        kinds: list[Callable[[], Event | None]] = [
            self._reply, self._reply, self._reply, self._reply, self._record, self._record,
            self._user, self._look,
        ]  # fmt: skip
        event = self.rng.choice(kinds)()
        self.bench.ticks(self.rng.choice((0.0, 0.1, 1.0, 7.0, 40.0)))
        if event is not None:
            try:
                self.bench.handle(event)
            except Rejected:
                self.bench.settle()

    def _components(self, *, owed: bool) -> list[Component]:
        known = self.bench.broker._saga.claims.known.values()
        return [c for c in known if (c.step is not Step.NONE) == owed]

    def _reply(self) -> Event | None:
        parts = self._components(owed=True)
        if not parts:
            return None
        part = self.rng.choice(parts)
        luck = self.rng.random()
        if luck < 0.1:
            return Unsure(part.ref, part.step, "timed out", self.rng.random() < 0.5)
        if luck < 0.2:
            return Refused(part.ref, part.step, self.rng.choice(list(Cause)), "no")
        return self.done(part)

    def done(self, part: Component) -> Event:
        """What is owed was done."""
        code = self.rng.choice((0, 0, 1, 143))
        replies: dict[Step, Event] = {
            Step.RESERVE: Reserved(part.ref),
            Step.SUBMIT: Submitted(part.ref, "7", self.bench.now),
            Step.ARM: Armed(part.ref),
            Step.OPEN: Opened(part.ref),
            Step.CLEAN: Cleaned(part.ref, part.started, exit_code=code if part.started else None),
            Step.DISCARD: Discarded(part.ref),
        }
        return replies[part.step]

    def _record(self) -> Event | None:
        """A component writes something down."""
        parts = [
            c for c in self.bench.broker._saga.claims.known.values() if c.phase is not Phase.GONE
        ]
        if not parts:
            return None
        part = self.rng.choice(parts)
        job = self.bench.broker.view.jobs.get(part.ref.job)
        if part.started:
            code = self.rng.choice((0, 0, 0, 3))
            return Ended(part.ref, self.bench.now, code, self.rng.random() < 0.2)
        opened = job is not None and (job.single or job.state is JobState.RUNNING)
        if part.phase is Phase.ARMED or opened:
            return Started(part.ref, self.bench.now, "n1")
        if part.phase in (Phase.SUBMITTED, Phase.RESERVED):
            return Arrived(part.ref, "n1")
        return GaveUp(part.ref) if self.rng.random() < 0.1 else None

    def _user(self) -> Event:
        number = self.rng.randint(1, max(1, self.bench.broker.next_job - 1))
        kinds: list[Callable[[], Event]] = [
            lambda: SubmitJob(self._job()),
            lambda: SubmitJob(self._job()),
            lambda: CancelJob(number, "anna"),
            lambda: HoldJob(number, "anna"),
            lambda: ReleaseJob(number, "anna"),
        ]
        return self.rng.choice(kinds)()

    def _job(self) -> NewJob:
        sizes = tuple(self.rng.randint(1, 16) for _ in range(self.rng.choice((1, 1, 2, 3))))
        where: tuple[int, ...] | None = None
        if self.rng.random() < 0.3:
            where = tuple(self.rng.sample(range(3), len(sizes)))
        local = where[0] if where is not None and len(sizes) == 1 else None
        hold = self.rng.random() < 0.1
        return NewJob("anna", "job", Request(sizes, where), 600, local=local, hold=hold)

    def _look(self) -> Event:
        cluster = self.rng.randrange(3)
        if self.rng.random() < 0.2:
            return ClusterUnreachable(cluster, "connect failure")
        return self.look(cluster)

    def look(self, cluster: int) -> Observed:
        """A cluster that shows nothing of ours yet, and is otherwise idle."""
        size = self.bench.settings.clusters[cluster].processors
        return Observed(cluster, Snapshot(self.bench.now, size, size, 0, settled=False))

    def look_at_all(self) -> None:
        """All clusters answer."""
        self.bench.handle(*(self.look(cluster) for cluster in range(3)))

    def to_the_end(self) -> None:
        """Clusters do as they are told, components go on by themselves, and users release what is
        held, until all has ended."""
        for _ in range(400):
            self.look_at_all()
            for job in list(self.bench.broker.view.jobs.values()):
                if job.state is JobState.HELD:
                    self.bench.handle(ReleaseJob(job.id, "anna"))
            for part in list(self.bench.broker._saga.claims.known.values()):
                if part.step is not Step.NONE:
                    self.bench.handle(self.done(part))
                elif (event := self._next(part)) is not None:
                    self.bench.handle(event)
            self.bench.ticks(1.0)
            if not self.bench.broker.view.jobs and not self.bench.broker.view.pending_steps:
                return

    def _next(self, part: Component) -> Event | None:
        """What a component that is asked for nothing does by itself."""
        if part.started:
            return Ended(part.ref, self.bench.now, 0)
        job = self.bench.broker.view.jobs.get(part.ref.job)
        if part.phase is Phase.ARRIVED and job is not None and job.uncertain is not None:
            return GaveUp(part.ref)  # it has waited at its gate since before the restore
        opened = job is not None and (job.single or job.state is JobState.RUNNING)
        if part.phase is Phase.ARMED or opened:
            return Started(part.ref, self.bench.now, "n1")
        return Arrived(part.ref, "n1") if part.phase is Phase.SUBMITTED else None


def digest(bench: Bench, broker: Broker) -> dict[str, Any]:
    """What a broker believes: jobs, components, claims, queues; no deadline outlives a restart, and
    no refusal."""
    plain, refused = {"deadline": None}, bench.broker.view.refused
    memory = broker.view.policy_state()
    return {
        "jobs": {n: job_row(job, bench.names) | plain for n, job in broker.view.jobs.items()},
        "attempts": {
            n: [component_row(c, bench.names) for c in job.components]
            for n, job in broker.view.jobs.items()
        },
        "owed": {c.ref: c.step for c in broker._saga.claims.known.values()},
        "claims": [account.claimed for account in broker.view.entries],
        "queues": {
            queue: sorted(
                (job.seq, n)
                for n, job in broker.view.jobs.items()
                if n in broker._queues.scheduler
                and n not in refused
                and broker._queues.scheduler_view.position(n)[0] == queue
            )
            for queue in broker.view.in_queues.queues
        },
        "waiting": broker._queues._demand.processors,
        "next": (broker.next_job, broker._queues.next_seq),
        "memory": memory._replace(next_seq=0) if refused else memory,
    }


def test_most_moments_of_a_walk_have_something_to_restore() -> None:
    """Else the tests below would look at nothing."""
    moments = {"live": 0, "owed": 0, "started": 0}
    for seed in range(8):
        walk = Walk(seed)
        for _ in range(50):
            walk.step()
            known = walk.bench.broker._saga.claims.known.values()
            moments["live"] += bool(known)
            moments["owed"] += any(part.step is not Step.NONE for part in known)
            moments["started"] += any(part.started for part in known)
        walk.bench.close()
    assert min(moments.values()) > 40, moments


@pytest.mark.parametrize("seed", range(16))
def test_at_any_moment(seed: int) -> None:
    walk = Walk(seed)
    bench = walk.bench
    for _ in range(80):
        walk.step()
        restored = bench.restored()
        assert digest(bench, restored) == digest(bench, bench.broker)
        if walk.rng.random() < 0.1:
            bench.restart()
    bench.close()


@pytest.mark.parametrize("seed", range(12))
def test_all_that_is_owed_comes_out_again(seed: int) -> None:
    walk = Walk(seed)
    bench = walk.bench
    for _ in range(60):
        walk.step()
        effects = bench.restored().take().effects
        again = {
            effect.ref: effect
            for effect in effects
            if hasattr(effect, "ref") and type(effect).__name__ not in ("Watch", "Unwatch")
        }
        owed = {c.ref for c in bench.broker._saga.claims.known.values() if c.step is not Step.NONE}
        assert again.keys() == owed
        requests = [e for e in again.values() if isinstance(e, Reserve | Submit)]
        assert all(effect.again for effect in requests), "it may have been carried out before"
    bench.close()


@pytest.mark.parametrize("seed", range(24))
def test_whatever_has_happened_once_clusters_do_as_they_are_told_all_ends(seed: int) -> None:
    walk = Walk(seed)
    bench = walk.bench
    for _ in range(80):
        walk.step()
        if walk.rng.random() < 0.1:
            bench.restart()
    walk.to_the_end()
    assert not bench.broker.view.jobs
    assert digest(bench, bench.broker)["claims"] == [0, 0, 0]
    assert digest(bench, bench.broker)["owed"] == {}
    bench.close()


def test_a_reservation_without_an_answer_before_a_restart_costs_its_job_nothing() -> None:
    """Under a new name it is asked for again; the old one is cleaned up."""
    bench = Bench({"delft": 64, "leiden": 32}, submission_retries=1)
    for cluster, size in enumerate((64, 32)):
        free = Snapshot(bench.now, size, size, 0, settled=False)
        bench.handle(Observed(cluster, free))
    new = NewJob("anna", "job", Request((4, 4)), 600, local=False, hold=False)
    bench.handle(SubmitJob(new))
    bench.restart()
    (job,) = bench.broker.view.jobs.values()
    before, refs = job.seq, [component.ref for component in job.components]
    bench.handle(Unsure(refs[0], Step.RESERVE, "asked for before"))
    assert (job.state, job.seq, job.submission_failures) == (JobState.QUEUED, before, 0)
    steps = [bench.broker._saga.claims.known[ref].step for ref in refs]
    assert steps == [Step.CLEAN, Step.CLEAN]
    bench.close()
