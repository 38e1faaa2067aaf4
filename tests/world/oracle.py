"""Knows the clusters' truth, and says when a promise is broken."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

from metabroker.broker import tokens
from metabroker.broker.core import Broker
from metabroker.broker.job import Component, Job
from metabroker.broker.states import JobState, Phase, Step
from metabroker.broker.tokens import Ref
from metabroker.policy import Placement, Reason, Request, Scheduler, SchedulerView, Start

_TOLD = 10.0  # seconds by which a told time may be wrong: on a full disk nothing is written down
_CLOCKS = 120.0  # seconds by which clocks may differ
_READY = ("armed and ready", "go and ready", "run and ready")


class Announcing(Protocol):
    """A cluster that tells when it is kept for others."""

    def shut_from(self, seen_at: float) -> float: ...


class Violation(Exception):
    """A promise was broken. `found`: all of this play, also those that were raised in a thread of
    the daemon's, which may have taken them for a trouble of its own."""

    found: ClassVar[list[Violation]] = []

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.found.append(self)


@dataclass(slots=True)
class Oracle:
    """What has really happened. `gate_position` tells where a component's gate stands, `held`
    whether it has its reservation, `ending` whether the store says that its attempt is over or is
    being ended.

    P3 in full: no script starts unless every component of its attempt was alive at the barrier,
    armed, and had said so. After that commit each is opened, unless a fault kills it before that,
    or the attempt is being ended: because a component has failed, or somebody has cancelled it.
    """

    instance: str
    siblings: Callable[[Ref], list[Ref]]
    gate_position: Callable[[Ref], str | None]
    held: Callable[[Ref], bool]
    ending: Callable[[Ref], bool]
    has_files: Callable[[Ref], bool]
    wanted: Callable[[Ref], bool]
    starts: dict[Ref, int] = field(default_factory=dict)
    running: set[Ref] = field(default_factory=set)
    exits: dict[Ref, int] = field(default_factory=dict)  # of those that ended by themselves
    yields: set[Ref] = field(default_factory=set)  # that ended well when they were told to end
    lost: set[Ref] = field(default_factory=set)  # forgotten by their controller while they ran
    answered: set[Ref] = field(default_factory=set)  # said at the barrier that they are armed
    left: set[Ref] = field(default_factory=set)  # the barrier, or their gate, by themselves
    fallen: set[Ref] = field(default_factory=set)  # killed by a fault after that
    between: set[Ref] = field(default_factory=set)  # killed between their gates and their scripts
    contested: set[int] = field(default_factory=set)
    unseen: set[Ref] = field(default_factory=set)  # not to be cleaned, and not seen there
    overtaken: dict[int, tuple[int, int]] = field(default_factory=dict)
    _barred: dict[int, tuple[int, ...]] = field(default_factory=dict)  # where who waits may not go
    _aside: dict[int, int] = field(default_factory=dict)  # the last pass when it could go nowhere
    _joined: set[int] = field(default_factory=set)  # a queue, in this turn for the first time
    _passes: int = 0  # of the policy, and starts by no pass
    _since: dict[int, int] = field(default_factory=dict)  # after which pass a job came, or anew
    _decided: dict[int, int] = field(default_factory=dict)  # in which pass a job was started last
    began: dict[Ref, tuple[float, ...]] = field(default_factory=dict)
    over: dict[Ref, tuple[float, float]] = field(default_factory=dict)
    cut: dict[Ref, float] = field(default_factory=dict)  # when their scripts were killed

    def started(self, token: str, now: float, there: float, passed: tuple[float, float]) -> None:
        """A user's script has started somewhere; `there`: when, by the clock of its files. Its
        wrapper had `passed` its gate then: long before, where its folder was away between."""
        ref = tokens.parse(self.instance, token)
        assert ref is not None
        self.starts[ref] = self.starts.get(ref, 0) + 1
        if self.starts[ref] > 1:
            raise Violation(f"P2: component {ref} was started twice")
        for other in self.running:
            if other.job == ref.job and other.attempt != ref.attempt and other not in self.lost:
                raise Violation(f"P2: {ref} was started while {other} was running")
        together = self.siblings(ref)
        others = [o for o in self.starts if o != ref and o._replace(component=ref.component) == ref]
        if len(together) == 1 and others:
            raise Violation(f"P2: {ref} was started, and so was another sibling of its job")
        for other in together:
            if other in self.starts:
                continue  # also this one itself
            position = self.gate_position(other)
            ready = position in _READY and other not in self.left
            if other in self.answered:
                ready = ready or other in self.fallen or self.ending(ref)
            if not ready:
                raise Violation(f"P3: {ref} was started while {other} was at {position}")
        if not self.wanted(ref):
            raise Violation(f"{ref} was started though its user was told that it would not be")
        if not self.has_files(ref):
            raise Violation(f"{ref} was started without its files")
        if not self.held(ref):
            raise Violation(f"{ref} was started without a reservation of its size")
        self.running.add(ref)
        self.began[ref] = (now, there, *passed)

    def gave_up(self, token: str) -> None:
        """A component has left the barrier by itself."""
        ref = tokens.parse(self.instance, token)
        assert ref is not None
        self.left.add(ref)
        for other in self.siblings(ref):
            if other in self.starts:
                raise Violation(f"P3: {ref} left the barrier though {other} was started")

    def answers(self, token: str) -> None:
        """A component has seen that its gate is armed."""
        ref = tokens.parse(self.instance, token)
        assert ref is not None
        self.answered.add(ref)

    def fell(self, token: str) -> None:
        """A fault has killed a component that had answered at the barrier."""
        ref = tokens.parse(self.instance, token)
        assert ref is not None
        self.fallen.add(ref)

    def fell_before_its_script(self, token: str) -> None:
        """A component was killed between its gate and its script: its record may say that this has
        started."""
        ref = tokens.parse(self.instance, token)
        assert ref is not None
        self.between.add(ref)

    def cleaned(self, ref: Ref) -> None:
        """A component has been cleaned: nothing of it runs, and nobody can start from its gate any
        more (I5)."""
        position = self.gate_position(ref)
        if position is not None and position.split()[0] in ("wait", "armed", "go"):
            raise Violation(f"P2: {ref} was cleaned, and its gate is at {position}")
        if ref in self.running and ref not in self.lost:
            raise Violation(f"P4: {ref} was cleaned, and its script runs")

    def stopped(self, token: str, exit_code: int | None, now: float, there: float) -> None:
        """A user's script is over: by itself, or it was killed (None)."""
        ref = tokens.parse(self.instance, token)
        assert ref is not None
        self.running.discard(ref)
        if exit_code is not None:
            self.exits[ref] = exit_code
            self.over[ref] = (now, there)
        else:
            self.cut.setdefault(ref, now)

    def yielded(self, token: str) -> None:
        """A user's script was told to end, and did so with exit code 0. Which makes it no success,
        unless nobody can tell any more why it was told."""
        ref = tokens.parse(self.instance, token)
        assert ref is not None
        self.yields.add(ref)

    def told_when(self, ref: Ref, start: float | None, end: float | None) -> None:
        """What users are told of a component: its script began then, and came to its end then."""
        for what, told, truth in (
            ("begun", start, self.began.get(ref)),
            ("ended", end, self.over.get(ref)),
        ):
            if told is None or truth is None:
                continue
            if not min(truth) - _TOLD <= told <= max(truth) + _TOLD:
                raise Violation(f"told: {ref} has {what} at {told}, and not at {truth}")

    def forgot(self, token: str) -> None:
        """A controller has lost a job."""
        ref = tokens.parse(self.instance, token)
        if ref is not None:
            self.lost.add(ref)

    def answering(
        self, placed: Iterable[int], seen: Sequence[tuple[bool, float]], at: float, stale: float
    ) -> None:
        """Clusters in which a job was placed: did they answer when last looked at (P5)?"""
        for cluster in placed:
            answers, when = seen[cluster]
            if not answers or at - when > stale + 1.0:
                raise Violation(f"P5: a job was placed in cluster {cluster}, which does not answer")

    @staticmethod
    def outlives(
        new: Iterable[Job],
        seen: Sequence[tuple[bool, float]],
        clusters: Sequence[Announcing],
        now: float,
        ahead: float,
    ) -> None:
        """No job was placed in a cluster that is kept for others before the job would be over, as
        the poll told by which that was decided (clocks may be some minutes apart). `ahead`: of the
        world's clock, the broker's."""
        for job in new:
            for component in job.components:
                if component.reached(Phase.ARRIVED):
                    continue  # a sibling that has come up, by its cluster's own decision
                seen_at = seen[component.cluster][1] - ahead
                shut = clusters[component.cluster].shut_from(seen_at - _CLOCKS)
                start = now if component.planned is None else component.planned - ahead
                if start < shut < start + job.time_limit - _CLOCKS:
                    where = f"cluster {component.cluster}, which is shut in {shut - now:.0f} s"
                    raise Violation(f"job {job.id} of {job.time_limit} s was placed in {where}")

    def doubts(self, broker: Broker) -> None:
        """What cannot be cleaned up, and is not seen in its cluster, holds nothing: that is found
        out anew in each life. So this looks before each transaction: nobody may hear of that."""
        for cluster, _entry in enumerate(broker.view.entries):
            parts = broker.view.components(cluster)
            self.unseen.update(p.ref for p in parts if p.step is Step.CLEAN and p.doubted)

    def within(self, broker: Broker, clusters: Sequence[tuple[int, bool]]) -> None:
        """The broker never claims more of a cluster than it has; but of one that others want, too,
        or did in a life before, where a sibling may come up while others of its jobs are on their
        way."""
        self.doubts(broker)
        entries = broker.view.entries
        for cluster, (most, wanted) in enumerate(clusters):
            parts = broker.view.components(cluster)
            claimed = sum(part.claimed for part in parts if part.ref not in self.unseen)
            if entries[cluster].contested_until:
                self.contested.add(cluster)
            if claimed > most and not wanted and cluster not in self.contested:
                raise Violation(f"{claimed} of {most} processors are claimed")
            placed = sum(part.claimed for part in parts if self._is_new(broker, part))
            if placed > most:
                raise Violation(f"{placed} of {most} processors are claimed by new attempts alone")

    def _is_new(self, broker: Broker, part: Component) -> bool:
        """Whether it was placed by the policy, and nothing of it is in its cluster's queue yet:
        what waits there, of ours too, may be more than there is."""
        job = broker.view.jobs.get(part.ref.job)
        if job is None or job.siblings or part not in job.components or part.ref in self.unseen:
            return False
        return part.phase is Phase.PLACED and part.step is not Step.CLEAN

    # --- aging --------------------------------------------------------------------------------

    def restarted(self, broker: Broker) -> None:
        """A broker has begun. Jobs whose attempt is under way are counted anew if they wait again:
        the policy remembers for those that wait."""
        for job in broker.view.jobs.values():
            if job.state is not JobState.QUEUED:
                self.overtaken.pop(job.id, None)

    def tells_who_leaves(self, scheduler: Scheduler) -> None:
        """Who leaves the policy's queue and comes back is counted anew, in one turn too: refused
        wherever it can go, for the while, or bound for other clusters."""
        remove, arrive, run = scheduler.remove, scheduler.arrive, scheduler.run

        def removed(key: int, started: Placement | None = None, seq: int = -1) -> bool:
            self.overtaken.pop(key, None)
            if started is None:
                self._since.pop(key, None)
            else:  # by no pass: who comes, or comes anew, after it was not overtaken by it
                self._passes = self._decided[key] = self._passes + 1
                self._aside.update(dict.fromkeys(SchedulerView(scheduler).aside(), self._passes))
            return remove(key, started, seq)

        def arrived(key: int, request: Request, *given: Any, **more: Any) -> None:
            if key not in self._barred:
                self._joined.add(key)
            elif self._barred[key] != request.exclude:
                self.overtaken.pop(key, None)
                self._since.pop(key, None)
            self._since.setdefault(key, self._passes)
            self._barred[key] = request.exclude
            arrive(key, request, *given, **more)

        def ran(*given: Any, **more: Any) -> list[Start]:
            self._passes += 1
            starts = run(*given, **more)
            self._decided.update((key, self._passes) for key, _placement in starts)
            if starts:
                self._aside.update(dict.fromkeys(SchedulerView(scheduler).aside(), self._passes))
            return starts

        scheduler.remove = removed  # type: ignore[method-assign]
        scheduler.arrive = arrived  # type: ignore[method-assign]
        scheduler.run = ran  # type: ignore[method-assign]

    def placed(
        self,
        broker: Broker,
        before: dict[int, tuple[int, int]],
        new: Iterable[Job],
        bound: int | None,
        now: float,
    ) -> None:
        """Has anybody who waited `before` (seq, clusters as bits) been overtaken too often by those
        that are `new` in an attempt?"""
        joined, self._joined = self._joined, set()  # a task may be made after others' starts
        if bound is None:
            return
        starts = [  # what a pass has decided may be carried out some turns later (slices)
            (
                before[job.id][0] if job.id in before else job.seq,
                {component.cluster for component in job.components},
                self._decided.pop(job.id, self._passes),
            )
            for job in new
            if job.components[0].ref not in self.starts  # else: found to run, by an older store
        ]
        for key, (seq, mask) in before.items():
            job = broker.view.jobs.get(key)
            if job is None or job.state is not JobState.QUEUED or job.seq != seq or key in joined:
                self.overtaken.pop(key, None)  # it had its turn: should it come back, counted anew
                if job is not None and job.state is not JobState.QUEUED:
                    self._since.pop(key, None)
                continue
            # Who waits for others, or was refused wherever it could go, is counted anew after it.
            outside = (broker.view.dependent, broker.view.held_back, broker.view.refused)
            if job.kept or any(key in others for others in outside):
                self.overtaken.pop(key, None)
                continue
            count = self.overtaken.get(key, (seq, 0))
            total = known = count[1] if count[0] == seq else 0
            if job.single and mask.bit_count() == 1 and job.request.clusters is None:
                mask &= 1 << job.queue  # it may be in another cluster's since before this pass
            barred = self._barred.get(key, ())  # it may go elsewhere since before this pass
            after = max(self._since.get(key, -1), self._aside.get(key, -1))
            for other, clusters, decided in starts:
                if other > seq and any(mask >> c & 1 for c in clusters.difference(barred)):
                    total += decided > after
            self.overtaken[key] = (seq, total)
            spared = total <= max(bound, known) or key in broker.view.decided
            if not spared and self._could_run(broker, key, now):
                raise Violation(f"aging: job {key} was overtaken {total} times (bound {bound})")

    @staticmethod
    def _could_run(broker: Broker, key: int, now: float) -> bool:
        capacity = broker.view.at(now).capacity
        why = broker._queues.scheduler_view.why(key, capacity, now, capacity)
        return why.protected and why.reason is not Reason.UNREACHABLE

    def results(self, state: JobState, results: Mapping[Ref, set[str]]) -> None:
        """A job with results has ended: they are at home, or kept where they were made."""
        for ref, places in results.items():
            if ref in self.exits and ref not in self.lost and not places:
                raise Violation(f"the results of {ref} are lost")
            if state is JobState.COMPLETED and "home" not in places:
                raise Violation(f"a job is COMPLETED, but the results of {ref} are not home")

    def at_the_end(
        self,
        state: JobState,
        refs: list[Ref],
        exit_code: int | None,
        *,
        kept: bool = False,
        cancelled: bool = False,
    ) -> None:
        """A job has ended: does its state say what has happened? `kept`: it has results that
        could not be brought back; `cancelled`: its user was told that it would be."""
        if state is JobState.COMPLETED:
            ends = self.exits | (dict.fromkeys(self.yields, None if cancelled else 0))
            missing = [str(ref) for ref in refs if ends.get(ref) != 0]
            if missing or exit_code != 0:
                raise Violation(f"a job is COMPLETED, but {missing} did not run to its end")
        if state is JobState.FAILED:
            # A process that its controller has forgotten may come to its end unseen.
            own = [None if ref in self.lost else self.exits.get(ref) for ref in refs]
            if own and all(code == 0 for code in own) and not kept:
                raise Violation(f"P6: a job is FAILED, but {refs} have all ended well")
            # Of a job of which one was killed the others are ended: how they end may be nothing.
            cuts = [self.cut[ref] for ref in refs if ref in self.cut]
            cuts += [-math.inf for ref in refs if ref in self.fallen and ref not in self.starts]
            cut = min(cuts, default=math.inf)
            before = any(self.exits.get(ref) and self.over[ref][0] <= cut for ref in refs)
            told = exit_code in [code for code in own if code] or (exit_code is None and not before)
            if any(own) and not told:
                raise Violation(f"P6: exit codes {own} became {exit_code}")
