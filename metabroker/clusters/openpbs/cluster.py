"""An OpenPBS cluster: the operations over a transport, and its gates."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Self

from metabroker.broker.observation import NativeState, Snapshot
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
from metabroker.submission.native.qsub import check_native

from . import operations, reservations, reserving
from .answers import confusing
from .commands import PbsIdentity
from .examine import examine
from .last_seen import LastSeen
from .operations import Ending
from .own_reservations import OwnReservations
from .parsing import PbsJob
from .ports import HostPorts, PbsPace
from .queue_lines import QueueLines
from .recent_jobs import Known
from .snapshot import for_us, is_ours, named, snapshot

_KILL_DELAY = 45.0
"""Seconds for which a job that was told to end is left to end, or to be killed by PBS."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenPBSOptions(PbsIdentity):
    """What the configuration says of an OpenPBS cluster, where jobs go among it. `owners`: where
    the broker acts for users; `ports`: of the host on which commands run, if others run there."""

    name: str
    instance: str
    clock_every: float = 0.0
    queue_every: float | None = None  # how often it is looked at who waits, in seconds
    lines_every: float | None = None  # and for how long they wait and run
    owners: Owners | None = None
    ports: HostPorts | None = None


class OpenPBSCluster(GatedCluster):
    """One OpenPBS cluster (see `metabroker.clusters.port.Cluster`)."""

    def __init__(self, options: OpenPBSOptions, transport: Transport) -> None:
        super().__init__(transport)
        self._options = options
        self._who: PbsIdentity = options
        self._prefix = f"mb-{options.instance}-"
        self._version = ""
        self._verified = None if options.owners is None else Verified(options.owners)
        self._ahead = [0.0]  # shared by all views of this cluster
        self._own = OwnReservations(options.owner)
        self._lasting = LastSeen()
        self._known = Known()
        # To end, by token: when, and whether it was not ending anyhow.
        self._told: dict[str, tuple[float, bool]] = {}
        self._pace = PbsPace(options.ports or HostPorts())
        self._system = ""  # which server it is, as far as that was told
        self._queue: QueueWatch[str] = QueueWatch(options.queue_every)
        self._lines = QueueLines(options.lines_every)
        self._announced = Announced()
        self._clock = ClockWatch(self._look_around, options.clock_every)

    def acting_for(self, account: str) -> Self:
        """The same cluster, for jobs of that account."""
        view = super().acting_for(account)
        view._who = replace(self._who, user=account, operator=self._who.operator or self._who.user)
        return view

    def observe(self, now: float) -> Operation[Snapshot]:
        """Look at our own jobs, nodes and reservations; now and then at the clock."""
        asks = operations.LOOK + 2 * (self._options.lines_every is not None)
        now += yield from answered(self._pace.looking(asks))
        more = yield from self._clock.look(now)
        more += yield from self._queue.look(now, partial(operations.waiting_in, self._who.queue))
        verified, poll = self._verified, self._own.poll_begins()
        accounts = () if verified is None else verified.owners.accounts()
        found = yield from answered(
            operations.look(self._who, now, self._version, accounts, self._known, self._own.doubts)
        )
        more += yield from self._clock.look(now, answers=True)
        ours = self._who.operator or self._who.user
        own = [r for r in found.reservations if is_ours(r, ours, self._prefix)]
        ids = {r.id for r in own}
        others = {r.id: r.end_time for r in found.reservations if r.id not in ids}
        self._own.seen(poll, own)
        ends = now + self._clock.known, others, found.reserved
        comparing = self._announced.look(*ends, is_there=reservations.is_there)
        more += yield from answered(comparing)
        if verified is not None:
            found = replace(found, jobs=_of_owners(found.jobs, self._prefix, self._who, verified))
        if not for_us(found.nodes, self._who):
            raise ClusterRefusal(
                Cause.INVALID, "no node serves this queue (see `queue` and `chunk`)"
            )
        self._version = found.version
        self._lasting.seen(found, self._clock.known)
        self._queue.seen(job.id for job in named(found.jobs, self._who.user, self._prefix))
        found = replace(
            found,
            offset=self._clock.known,
            waiting=self._queue.waiting,
            ours=self._queue.ours,
        )
        kept = frozenset((r.id, r.end_time) for r in own)
        asked, lines = yield from self._lines.look(now, self._clock.known, kept)
        more += asked
        found = replace(found, lines=lines)
        seen = snapshot(found, self._who, self._prefix)
        commands = seen.commands + more
        self._pace.looked(asks - commands)
        return replace(
            seen,
            commands=commands,
            clock_offset=self._clock.offset,
            clock_awaited=self._clock.awaited,
            system=self._system,
        )

    def _look_around(self) -> Operation[int]:
        if not self._system:  # it costs a port, and an entry seldom comes to mean another server
            with contextlib.suppress(ClusterRefusal, UnknownOutcome):
                self._system = yield from operations.identify()
        return (yield from operations.time_there())

    def reserve(self, request: ReserveRequest) -> Operation[None]:
        """Make the reservation, read it again, compare."""
        reserving_it = reserving.reserve(self._who, request, self._ahead[0], self._own)
        self._ahead[0] = yield from answered(self._pace.working(reserving_it))

    def submit(self, request: ComponentRequest) -> Operation[NativeSubmission]:
        """Lay out the gate, submit the wrapper."""
        request = replace(request, gate=self.placed(request.gate))
        gone = self._gates.prepare(request)
        acting = self._who.operator is not None
        script = wrapper(request, self._options.name, system="openpbs", acting=acting)
        submitting = self._pace.working(operations.submit(self._who, request, script, self._own))
        done = yield from self._submitted(request, submitting, gone)
        listed = partial(operations.find_by_id, self._who, done.native_id)
        done = yield from self._clock.dated(done, request.token, listed)
        self._known.submitted(done.native_id)
        self._queue.submitted(done.native_id)
        return done

    def clean(self, request: CleanRequest) -> Operation[CleanupResult]:
        """Fence, cancel, delete; the record stays until `discard`."""
        seen = Ending()
        left = yield from self._cleaned(
            request, lambda asked: self._pace.working(self._ending(asked, seen))
        )
        return replace(left, detail=seen.words(left.cause))

    def _ending(self, request: CleanRequest, seen: Ending) -> Operation[NativeEnd]:
        """Clean up; how the job ended, also where the server forgets jobs that have."""
        who = self._who
        stray = None
        if self._verified is not None and who.operator is None:
            stray = self._verified.stray(request.token)
        if stray is not None:
            who = replace(who, user=stray, operator=who.user)
        told_at, seen.taken = self._told.get(request.token, (-math.inf, False))
        seen.recorded = request.recorded
        seen.told = before = self._pace.now - told_at < _KILL_DELAY
        try:
            last = yield from operations.clean(
                who,
                request.token,
                reservation=request.reservation,
                seen=seen,
                native=request.native,
                writer=request.writer,
                doubts=self._own.doubts,
            )
        finally:
            if seen.told and not before:
                told_at = self._pace.now
            if seen.told or seen.taken:
                self._told[request.token] = told_at, seen.taken
        self._told.pop(request.token, None)
        seen.last = last
        if last is not None and last.state is NativeState.ENDED:
            return NativeEnd(last.cause, last.start_time)
        marks = self.look([request.gate]) if request.gate is not None else {}
        own = next(iter(marks.values()), None)
        cause = self._lasting.cause(request.token, own, ended=seen.taken)
        return NativeEnd(cause, None)

    def examine(
        self, now: float, *, reserves: bool, least_age: float
    ) -> Operation[list[CheckResult]]:
        """What works here, and what is missing; see `examine`."""
        return examine(self._who, now, reserves=reserves)

    def identify(self) -> Operation[str]:
        """Which server it is: the same for all entries that name it."""
        return answered(operations.identify())

    def check_native(self, options: tuple[str, ...]) -> str | None:
        """What is wrong with a user's own options for qsub."""
        return check_native(options) or confusing(options)


def _of_owners(
    jobs: Sequence[PbsJob], prefix: str, who: PbsIdentity, verified: Verified
) -> list[PbsJob]:
    """The broker's jobs, whose owners are those that they were submitted for: as its own."""
    named = [job for job in jobs if job.name.startswith(prefix)]
    ours = verified.seen([(job.name, job.owner) for job in named])
    others = [job for job in jobs if not job.name.startswith(prefix)]
    return others + [replace(j, owner=who.user) for j in named if (j.name, j.owner) in ours]
