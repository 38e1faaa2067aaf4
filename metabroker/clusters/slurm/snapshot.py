"""From one look at a Slurm cluster to what the broker counts with.

Processors of nodes that take jobs, less those that jobs hold, less those that reservations keep
free for somebody: anybody's, ours included. What is ours is told apart by its token.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from metabroker.broker.observation import (
    SOON,
    Coming,
    NativeJob,
    NativeReservation,
    NativeState,
    NodeKind,
    Snapshot,
    kinds,
)
from metabroker.clusters.duplicates import by_token
from metabroker.clusters.hostlist import expand
from metabroker.clusters.reserved import Reserved, steps
from metabroker.policy.availability import Booked, Held, Wanted

from .parsing import JobLine, NodeLine, SlurmReservation, Use, WaitingLine
from .shaped import kept
from .states import (
    PREPARING,
    RESERVATION_GONE,
    end_cause,
    is_unsettled,
    job_state,
    takes_jobs,
    will_not_pass,
)


@dataclass(frozen=True, slots=True)
class SlurmPoll:
    """What the commands of one look printed, parsed. `offset`: seconds that the controller's
    clock, by which all times are, is ahead of that of `taken_at`."""

    taken_at: float
    nodes: Sequence[NodeLine]
    jobs: Sequence[JobLine]
    reservations: Sequence[SlurmReservation]
    inside: Sequence[Use] = ()  # running jobs of anybody in other people's reservations
    version: str = ""
    commands: int = 0
    waiting: Sequence[WaitingLine] = ()  # jobs of anybody that wait or run in the partition
    listed_at: float = math.inf  # when, by the clock of `taken_at`; inf: none of them is new
    asked: bool = False  # whether that was in this very look
    ours: frozenset[str] = frozenset()  # ids of our jobs that were seen since they were asked for
    offset: float = 0.0

    @property
    def there(self) -> float:
        """When it was taken, by the controller's clock."""
        return self.taken_at + self.offset


def in_partition(nodes: Iterable[NodeLine], partition: str | None) -> list[NodeLine]:
    """The nodes of the partition, or of the default one."""
    if partition is not None:
        return [node for node in nodes if node.partition == partition]
    return [node for node in nodes if node.default]


def snapshot(look: SlurmPoll, partition: str | None, prefix: str) -> Snapshot:
    """The poll as the broker's core reads it.

    `prefix` is how our tokens begin.
    """
    nodes = in_partition(look.nodes, partition)
    usable = [node for node in nodes if node.up and takes_jobs(node.state)]
    idle = {node.name: node.idle for node in usable}
    held = kept(look.reservations, usable)
    left = {n.name: max(0, min(n.idle, n.total - held.get(n.name, 0))) for n in usable}
    jobs = [job for job in look.jobs if job.name.startswith(prefix)]
    ours = _held((job.name, job) for job in jobs)
    inside = _inside(look)
    places = _places(look.waiting)
    waiting, arriving = _wanted_by_others(look, look.ours.union(job.id for job in jobs))
    reserved, later = 0, []
    for reservation in look.reservations:
        mine = reservation.name.startswith(prefix)
        far = reservation.start_time > look.there + SOON
        begins = reservation.state != "ACTIVE"  # also over what jobs of ours hold till then
        if far or (not mine and (begins or _maintains(reservation))):
            later.append(reservation)
        if far:
            continue
        free = _kept_free(reservation, idle, inside[reservation.name])
        reserved += free
        if mine:
            ours[reservation.name] += free
    return Snapshot(
        taken_at=look.taken_at,
        processors=sum(node.total for node in nodes),
        usable=sum(node.total - node.other for node in usable),
        busy=sum(node.allocated for node in usable) + reserved,
        ours=ours,
        jobs=by_token((job.name, native_job(job, places.get(job.id))) for job in jobs),
        unnamed={j.id: native_job(j) for j in look.jobs if not j.name.startswith(prefix)},
        reservations={
            r.name: NativeReservation(r.processors, r.start_time, r.end_time, r.nodes)
            for r in look.reservations
            if r.name.startswith(prefix)
        },
        coming=_coming(later, usable, look.there + SOON),
        reserved=_reserved(
            (r for r in later if not r.name.startswith(prefix)), usable, look.there + SOON
        ),
        version=look.version,
        settled=bool(nodes) and not any(is_unsettled(node.state) for node in nodes),
        commands=look.commands,
        waiting=waiting,
        arriving=arriving,
        held=_in_use(look, usable) if look.asked else None,
        wanted=_in_its_queue(look.waiting) if look.asked else (),
        nodes=kinds(NodeKind(n.total, n.memory, n.gpus) for n in nodes),
        idle=kinds(NodeKind(left[n.name], n.memory, n.gpus) for n in usable),
        free=kinds(NodeKind(n.total, n.memory, n.gpus) for n in usable if left[n.name] == n.total),
    )


_FOR_EVER = 5 * 365 * 86400.0  # seconds

# Why a job is pending that wants processors now; others wait for something of their own.
_COMPETING = frozenset({"Priority", "Resources", "None", ""})


_MOMENT = 4.0
"""Seconds that a controller may take to start a job for which there is room: by default it lets
batch jobs gather for 3 (`batch_sched_delay`), and it tells a submission in whole seconds."""


def _wanted_by_others(look: SlurmPoll, ours: Collection[str]) -> tuple[int, int]:
    """Processors that others' jobs wait for in the partition; and those that jobs which came a
    moment ago want: nobody has kept these waiting yet."""
    latest = look.listed_at + look.offset - _MOMENT
    wanted = [0, 0]
    for line in _competing(look.waiting):
        if line.id not in ours:
            wanted[(line.submit_time or 0.0) > latest] += line.processors
    return wanted[False], wanted[True]


def _places(waiting: Iterable[WaitingLine]) -> dict[str, int]:
    """The place in the partition's queue of each job that waits there for processors."""
    return {line.id: place for place, line in enumerate(_competing(waiting), 1)}


def _competing(waiting: Iterable[WaitingLine]) -> list[WaitingLine]:
    """Those that wait for processors, in the order of their priorities."""
    found = [line for line in waiting if line.state == "PENDING" and line.reason in _COMPETING]
    return sorted(found, key=lambda line: -line.priority)


def _in_its_queue(waiting: Iterable[WaitingLine]) -> tuple[Wanted, ...]:
    """The same with their time limits; one without any might take for ever."""
    return tuple(
        Wanted(
            line.processors,
            _FOR_EVER if line.limit is None else line.limit,
            line.submit_time or 0.0,
        )
        for line in _competing(waiting)
    )


def _in_use(look: SlurmPoll, usable: Iterable[NodeLine]) -> tuple[Held, ...]:
    """What runs, until its limit; with what is in a reservation that has begun, or will soon, until
    that ends. Jobs of other partitions are in nobody's list: the core sees that more is busy. A
    reservation whose nodes are all out of service holds nothing."""
    room = {node.name: node.total - node.other for node in usable}
    begun = [r for r in look.reservations if r.start_time <= look.there + SOON]
    inside = {reservation.name for reservation in begun}
    reserved = [Held(_taken(r, room), r.end_time) for r in begun if not _maintains(r)]
    running = [
        Held(line.processors, math.inf if line.end_time is None else line.end_time)
        for line in look.waiting
        if line.state != "PENDING" and line.reservation not in inside
    ]
    return tuple(held for held in (*running, *reserved) if held.processors > 0)


def _maintains(reservation: SlurmReservation) -> bool:
    return "MAINT" in reservation.flags.split(",")


def _coming(
    reservations: Sequence[SlurmReservation], usable: Iterable[NodeLine], soon: float
) -> tuple[Coming, ...]:
    """Reservations that have not begun, or others' for maintenance, each without what those
    before it take. What begins `soon` has its idle processors already.

    A job that is in none of them may not run into any, whatever its flags: FLEX lets only jobs of
    the reservation begin before it, and MAINT only jobs of it run in its nodes.
    """
    room = {node.name: node.total - node.other for node in usable}
    idle = {node.name: node.idle for node in usable}
    return tuple(
        Coming(
            reservation.name,
            reservation.start_time,
            reservation.end_time,
            processors=_taken(reservation, room),
            idle=_taken(reservation, idle) if reservation.start_time > soon else 0,
            maintenance=_maintains(reservation),
        )
        for reservation in sorted(reservations, key=lambda each: each.start_time)
    )


def _reserved(
    reservations: Iterable[SlurmReservation], usable: Iterable[NodeLine], soon: float
) -> tuple[Booked, ...]:
    """What they keep when; what begins `soon` is held already."""
    room = {node.name: node.total - node.other for node in usable}
    return steps(
        (
            Reserved(r.start_time, r.end_time, _of(r, room))
            for r in reservations
            if r.start_time > soon or _maintains(r)
        ),
        room,
    )


def _taken(reservation: SlurmReservation, left: dict[str, int]) -> int:
    """Take what the reservation can hold from what is left in each node; how much that is."""
    taken = _of(reservation, left)
    for name, processors in taken.items():
        left[name] -= processors
    return sum(taken.values())


def _of(reservation: SlurmReservation, left: Mapping[str, int]) -> dict[str, int]:
    """What the reservation can hold of what is left in each node."""
    limit = max(reservation.processors, reservation.core_count)
    told = reservation.of_each
    taken: dict[str, int] = {}
    for name in expand(reservation.nodes):
        most = min(left.get(name, 0), limit)
        if told:
            most = min(most, told.get(name, 0))
        if most:
            taken[name] = most
            limit -= most
    return taken


def _kept_free(reservation: SlurmReservation, idle: dict[str, int], running: int) -> int:
    """Processors that the reservation keeps from others on nodes that we could use.

    22.05 may keep more than it was asked for, and tells so by its cores alone.
    """
    names = [name for name in expand(reservation.nodes) if name in idle]
    if not names:
        return 0
    told = reservation.of_each
    if told:
        most = sum(min(idle[name], told.get(name, 0)) for name in names)
    else:
        most = sum(idle[name] for name in names)
    return max(0, min(most, max(reservation.processors, reservation.core_count) - running))


def _inside(look: SlurmPoll) -> Counter[str]:
    """Processors that running jobs hold in each reservation."""
    uses: dict[str, JobLine | Use] = {job.id: job for job in look.jobs}
    uses |= {use.id: use for use in look.inside}
    return _held((use.reservation, use) for use in uses.values() if use.reservation)


def _held(uses: Iterable[tuple[str, JobLine | Use]]) -> Counter[str]:
    """Processors that running jobs hold, by the name that stands before each."""
    held: Counter[str] = Counter()
    for name, use in uses:
        if job_state(use.state) is NativeState.RUNNING:
            held[name] += use.processors
    return held


# What Slurm says of a job in a word that says little: most often it is this.
_REASONS = {
    "None": "",
    "JobLaunchFailure": "JobLaunchFailure (can its node open its output, -o and -e, and enter its "
    "folder, -D, as the account that it runs under?)",
}
_SIBLING = "another cluster of its federation has started it"


def native_job(line: JobLine, position: int | None = None) -> NativeJob:
    """One line of squeue as the core reads it; `position`: in its partition's queue."""
    state = job_state(line.state)
    cause = end_cause(line.state) if state is NativeState.ENDED else None
    if line.state == RESERVATION_GONE and line.end_time is not None:
        state = NativeState.ENDED  # how, its own record tells
    ended = state is NativeState.ENDED
    return NativeJob(
        native_id=line.id,
        submit_time=line.submit_time,
        state=state,
        word=line.state,
        processors=line.processors,
        hosts=" ".join(expand(line.nodes)) if line.nodes else None,
        reason=_REASONS.get(line.reason, line.reason) if line.state != "REVOKED" else _SIBLING,
        start_time=line.start_time,
        end_time=line.end_time if ended else None,
        exit_code=0 if line.state == "COMPLETED" else None,
        cause=cause,
        suspended=line.state == "SUSPENDED",
        stuck=state is NativeState.PENDING and will_not_pass(line.reason),
        position=position if state is NativeState.PENDING else None,
        preparing=line.state in PREPARING,
    )
