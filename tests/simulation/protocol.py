"""The whole broker in virtual time on clusters that answer at once: no latency, no fault.

The same core that the daemon drives, with its ledger, saga and policy; here its effects are carried
out by clusters which reserve, submit, arm and open within the instant, and whose components run for
exactly their time. At one instant: all ends, then all submissions, then one pass.
"""

from __future__ import annotations

import heapq
import math
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from metabroker.broker import tokens
from metabroker.broker.core import Broker
from metabroker.broker.effects import Arm, Clean, Discard, Effect, Open, Reserve, Submit
from metabroker.broker.events import (
    Armed,
    Arrived,
    Cleaned,
    Discarded,
    Ended,
    Event,
    Observed,
    Opened,
    Reserved,
    Started,
    SubmitJob,
    Submitted,
)
from metabroker.broker.job import NewJob, Split
from metabroker.broker.observation import Snapshot
from metabroker.broker.settings import ClusterSettings, Settings
from metabroker.broker.tokens import Ref
from metabroker.policy import Scheduler, transfer_time
from metabroker.simulation.job import SimJob
from metabroker.submission.inputs import Inputs

LONG = 10**9


@dataclass
class Cluster:
    """Its truth: which tokens hold how many processors."""

    processors: int
    held: dict[str, int] = field(default_factory=dict)

    def hold(self, token: str, processors: int) -> None:
        """As a reservation, or as the job itself."""
        self.held[token] = processors
        assert sum(self.held.values()) <= self.processors, "more processors used than there are"


class Protocol:
    """One run. `reserves[c]`: whether cluster c holds components by reservations. `overhead`: the
    policy may split every job, which takes (1 + overhead) times as long then; None: it splits
    none. `inputs`: what each job reads, for a placement that goes by it; its script is at work once
    that is there."""

    def __init__(
        self,
        scheduler: Scheduler,
        processors: Sequence[int],
        reserves: Sequence[bool],
        *,
        overhead: float | None = None,
        inputs: Sequence[Inputs] = (),
    ) -> None:
        names = [f"c{index}" for index in range(len(processors))]
        clusters = [
            ClusterSettings(name, holds, size)
            for name, holds, size in zip(names, reserves, processors, strict=True)
        ]
        self._split = None if overhead is None else Split(len(names))
        self.settings = Settings(
            "0123abcd",
            tuple(clusters),
            stale_after=LONG,
            splits=overhead is not None,
            overhead=overhead or 0.0,
            close_to_files=bool(inputs),
        )
        self._inputs = inputs
        self._placed: dict[int, float] = {}
        self.broker = Broker(self.settings, scheduler)
        self.clusters = [Cluster(size) for size in processors]
        self.now = 0.0
        self.starts: dict[int, float] = {}
        self.parts: dict[int, int] = {}  # of the jobs that were split
        self._jobs: list[SimJob] = []
        self._ends: list[tuple[float, int, Ref, int]] = []
        self._serial = 0
        self._answers: dict[type, Callable[[Effect], Sequence[Event]]] = {
            Reserve: self._reserve,
            Submit: self._submit,
            Arm: lambda e: [Armed(e.ref)],  # type: ignore[union-attr]
            Open: self._open,
            Clean: self._clean,
            Discard: lambda e: [Discarded(e.ref)],  # type: ignore[union-attr]
        }

    def run(self, jobs: Sequence[SimJob]) -> list[float]:
        """The start time of each job."""
        self._jobs = list(jobs)
        for index, cluster in enumerate(self.clusters):
            self._tell([Observed(index, Snapshot(0.0, cluster.processors, cluster.processors, 0))])
        self.broker.schedule(self.now)  # that there are clusters at all counts as a departure
        waiting = deque(jobs)
        while waiting or self._ends:
            times = [waiting[0].submit] if waiting else []
            times += [self._ends[0][0]] if self._ends else []
            self.now = min(times)
            ended = []
            while self._ends and self._ends[0][0] <= self.now:
                _end, _serial, ref, cluster_index = heapq.heappop(self._ends)
                ended.append((ref, cluster_index))
            self._end(ended)
            while waiting and waiting[0].submit <= self.now:
                self._arrive(waiting.popleft())
            self.broker.schedule(self.now)
            self._carry_out()
        assert not self.broker.view.jobs and not self.broker.view.pending_steps
        assert not any(cluster.held for cluster in self.clusters)
        return [self.starts[index + 1] for index in range(len(self._jobs))]

    def _arrive(self, job: SimJob) -> None:
        limit = math.ceil(job.estimate)
        new = NewJob("u", "job", job.request, limit, local=job.local, split=self._split)
        if self._inputs:  # the broker finds out by itself what they cost
            number = self.broker.next_job - 1
            plain = replace(job.request, costs=())
            new = replace(new, request=plain, inputs=self._inputs[number])
        self._tell([SubmitJob(new)])

    def _tell(self, events: Sequence[Event]) -> None:
        for event in events:
            self.broker.handle(event, self.now)
        self._carry_out()

    def _carry_out(self) -> None:
        """Carry out all that is owed, and what that leads to, within the instant."""
        while True:
            ready = self.broker.take()
            assert not ready.mishaps, ready.mishaps
            effects = ready.effects
            if not effects:
                return
            for effect in effects:
                answer = self._answers.get(type(effect))
                for event in answer(effect) if answer is not None else ():
                    self.broker.handle(event, self.now)

    # --- the clusters -------------------------------------------------------------------------

    def _reserve(self, effect: Effect) -> list[Event]:
        assert isinstance(effect, Reserve)
        self.clusters[effect.cluster].hold(self._token(effect.ref), effect.processors)
        return [Reserved(effect.ref)]

    def _submit(self, effect: Effect) -> list[Event]:
        assert isinstance(effect, Submit)
        self.clusters[effect.cluster].hold(self._token(effect.ref), effect.processors)
        if not effect.barrier:
            self._begin(effect.ref, effect.cluster)
            return [Submitted(effect.ref, "1"), Started(effect.ref, self.now, "")]
        return [Submitted(effect.ref, "1"), Arrived(effect.ref, "")]

    def _open(self, effect: Effect) -> list[Event]:
        assert isinstance(effect, Open)
        self._begin(effect.ref, effect.cluster)
        return [Opened(effect.ref), Started(effect.ref, self.now, "")]

    def _begin(self, ref: Ref, cluster: int) -> None:
        known = self._placed.setdefault(ref.job, self.now)
        assert known == self.now, "the components of a job start at one moment"
        job = self._jobs[ref.job - 1]
        parts = self.broker.view.jobs[ref.job].components
        start = self.now + transfer_time(job.request, [part.cluster for part in parts])
        self.starts[ref.job] = start
        self._serial += 1
        run_time = job.run_time
        if self._split is not None and len(parts) > 1:
            run_time *= 1 + self.settings.overhead
            self.parts[ref.job] = len(parts)
        end = start + run_time
        heapq.heappush(self._ends, (end, self._serial, ref, cluster))

    def _end(self, ended: Sequence[tuple[Ref, int]]) -> None:
        for ref, cluster in ended:
            if self.broker.view.component(ref) is not None:
                self._tell([Ended(ref, self.now, 0)])
            self.clusters[cluster].held.pop(self._token(ref), None)

    def _clean(self, effect: Effect) -> list[Event]:
        assert isinstance(effect, Clean)
        self.clusters[effect.cluster].held.pop(self._token(effect.ref), None)
        return [Cleaned(effect.ref, True, None, self.now, 0)]

    def _token(self, ref: Ref) -> str:
        return tokens.make(self.settings.instance, ref)
