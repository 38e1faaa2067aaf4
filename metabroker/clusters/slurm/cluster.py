"""A Slurm cluster: the operations over a transport, and its gates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Self

from metabroker.broker.observation import Snapshot
from metabroker.broker.states import Cause
from metabroker.clusters.announced import Announced
from metabroker.clusters.clocks import ClockWatch
from metabroker.clusters.command_errors import answered
from metabroker.clusters.examination import CheckResult
from metabroker.clusters.gate import wrapper
from metabroker.clusters.gated import GatedCluster, NativeEnd
from metabroker.clusters.native_queue import QueueWatch
from metabroker.clusters.operation import Operation
from metabroker.clusters.owners import Owners, Verified
from metabroker.clusters.port import (
    CleanRequest,
    CleanupResult,
    ClusterRefusal,
    ComponentRequest,
    NativeSubmission,
    ReserveRequest,
    UnknownOutcome,
)
from metabroker.clusters.transports.base import Transport
from metabroker.submission.native.sbatch import check_native

from . import cleaning, moving, operations
from .answers import confusing
from .cleaning import Ending
from .commands import SlurmIdentity
from .examine import examine
from .parsing import NodeLine, WaitingLine
from .snapshot import in_partition, snapshot
from .system_cores import SystemCores


@dataclass(frozen=True, slots=True, kw_only=True)
class SlurmOptions(SlurmIdentity):
    """What the configuration says of a Slurm cluster, where jobs go among it. `owners`: where the
    broker acts for users."""

    name: str
    instance: str
    clock_every: float = 0.0
    cores_every: float = 0.0  # how often it is looked at which cores its nodes keep for themselves
    queue_every: float | None = None  # how often it is looked at who waits, in seconds
    owners: Owners | None = None


class SlurmCluster(GatedCluster):
    """One Slurm cluster (see `metabroker.clusters.port.Cluster`)."""

    def __init__(self, options: SlurmOptions, transport: Transport) -> None:
        super().__init__(transport)
        self._options = options
        self._who: SlurmIdentity = options
        self._verified = None if options.owners is None else Verified(options.owners)
        self._prefix = f"mb-{options.instance}-"
        self._version = ""
        self._nodes: Sequence[NodeLine] = ()
        self._there = -math.inf  # the controller's time at the last look
        self._system = ""  # which cluster it is, as far as that was told
        self._queue: QueueWatch[WaitingLine] = QueueWatch(options.queue_every)
        self._endings: dict[str, Ending] = {}  # by token, of those that were told to end
        self._announced = Announced()
        self._clock = ClockWatch(self._look_around, options.clock_every)
        self._cores = SystemCores(options.cores_every)

    def acting_for(self, account: str) -> Self:
        """The same cluster, for jobs of that account."""
        view = super().acting_for(account)
        view._who = replace(self._who, user=account, acting=True)
        return view

    def observe(self, now: float) -> Operation[Snapshot]:
        """Look at nodes, reservations, and our own jobs; now and then at the clock."""
        more = yield from self._clock.look(now)
        asked = yield from self._look_at_its_queue(now)
        looking = operations.look(self._who, now, self._prefix, self._version, self._verified)
        found = yield from answered(looking)
        more += yield from self._clock.look(now, answers=True)
        self._there = now + self._clock.known
        others = [r for r in found.reservations if not r.name.startswith(self._prefix)]
        until = {r.name: r.end_time for r in others}
        comparing = self._announced.look(
            now + self._clock.known, until, is_there=operations.has_reservation
        )
        more += yield from answered(comparing)
        nodes = in_partition(found.nodes, self._who.partition)
        if not nodes:
            which = self._who.partition or "a default one"
            raise ClusterRefusal(Cause.INVALID, f"no node belongs to the partition ({which})")
        more += yield from self._cores.look(now, nodes[0].partition)
        nodes = self._cores.without(nodes, self._who.unit)
        self._nodes, self._version = nodes, found.version
        self._queue.seen(job.id for job in found.jobs if job.name.startswith(self._prefix))
        found = replace(
            found,
            nodes=nodes,
            offset=self._clock.known,
            waiting=self._queue.waiting,
            # By an unknown clock nobody can tell who came just before that.
            listed_at=math.inf if self._clock.offset is None else self._queue.listed_at,
            asked=bool(asked and self._queue.known),
            ours=self._queue.ours,
        )
        more += asked
        seen = snapshot(found, self._who.partition, self._prefix)
        self._queue.passing = seen.arriving > 0
        commands = seen.commands + more
        return replace(
            seen,
            commands=commands,
            clock_offset=self._clock.offset,
            clock_awaited=self._clock.awaited,
            system=self._system,
        )

    def _look_at_its_queue(self, now: float) -> Operation[int]:
        """Before our own jobs are asked for. Which partition is the default one is asked once."""
        asked, partition = 0, self._who.partition
        if partition is None and self._queue.every is not None:
            if not self._nodes:
                nodes = yield from answered(operations.all_nodes())
                self._nodes, asked = in_partition(nodes, None), 1
            partition = self._nodes[0].partition if self._nodes else None
        if partition is None:
            return asked
        return asked + (yield from self._queue.look(now, partial(operations.waiting_in, partition)))

    def _look_around(self) -> Operation[int]:
        told, self._system = yield from operations.time_and_identity()
        return told

    def reserve(self, request: ReserveRequest) -> Operation[None]:
        """Make the reservation, read it again, compare; or move it."""
        if request.move:
            yield from answered(moving.move(request, self._nodes))
            return
        asked = self._who, request, self._nodes, self._version, self._there
        yield from answered(operations.reserve(*asked))

    def submit(self, request: ComponentRequest) -> Operation[NativeSubmission]:
        """Lay out the gate, submit the wrapper."""
        request = replace(request, gate=self.placed(request.gate))
        gone = self._gates.prepare(request)
        script = wrapper(request, self._options.name, acting=self._who.acting)
        submitting = operations.submit(self._who, request, script)
        done = yield from self._submitted(request, submitting, gone)
        listed = partial(operations.find_by_id, self._who, done.native_id)
        done = yield from self._clock.dated(done, request.token, listed)
        self._queue.submitted(done.native_id)
        return done

    def clean(self, request: CleanRequest) -> Operation[CleanupResult]:
        """Fence, cancel, delete; the record stays until `discard`."""
        who = self._who
        stray = self._verified.stray(request.token) if self._verified and not who.acting else None
        if stray is not None:
            who = replace(who, user=stray, acting=True)
        seen = self._endings.get(request.token) or Ending()
        try:
            left = yield from self._cleaned(request, lambda asked: _ending(who, asked, seen))
        except UnknownOutcome:
            if seen.cancelled:  # also if the answer is lost
                self._endings[request.token] = seen
            raise
        self._endings.pop(request.token, None)
        return replace(left, detail=seen.words(left.cause))

    def examine(
        self, now: float, *, reserves: bool, least_age: float
    ) -> Operation[list[CheckResult]]:
        """What works here, and what is missing; see `examine`."""
        return examine(self._who, now, reserves=reserves, least_age=least_age)

    def identify(self) -> Operation[str]:
        """Which cluster it is: the same for all entries that name it."""
        return answered(operations.identify())

    def check_native(self, options: tuple[str, ...]) -> str | None:
        """What is wrong with a user's own options for sbatch."""
        return check_native(options) or confusing(options)


def _ending(who: SlurmIdentity, request: CleanRequest, seen: Ending) -> Operation[NativeEnd]:
    """Clean up; how the job ended."""
    seen.recorded = request.recorded
    seen.last = last = yield from cleaning.clean(
        who,
        request.token,
        reservation=request.reservation,
        native=request.native,
        writer=request.writer,
        seen=seen,
    )
    return NativeEnd(None, None) if last is None else NativeEnd(seen.cause(last), last.start_time)
