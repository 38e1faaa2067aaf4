"""From one look at an OpenPBS cluster to what the broker counts with.

Processors of vnodes that take jobs, less those that are assigned (to running jobs, and to
reservations that have begun), less those of reservations that will begin soon. Where jobs are given
whole nodes, only those of vnodes that have nothing of anybody on them are idle.
"""

from __future__ import annotations

import re
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
from metabroker.clusters.reserved import Reserved, steps
from metabroker.policy.availability import Booked, Held, Wanted

from .commands import PbsIdentity
from .parsing import PbsJob, PbsNode, PbsReservation, QueueLine, is_queue
from .states import (
    end_cause,
    ended_words,
    has_begun,
    holds,
    is_degraded,
    is_exclusive,
    is_taken_whole,
    is_unsettled,
    job_state,
    state_word,
    takes_jobs,
)

_RUNS = frozenset("RSUE")  # or is suspended, or exits: it may have its processors
_STUCK = frozenset("HW")  # held, or waits for a time: nothing of that is ours
_NEVER = "Can Never Run"  # the scheduler's comment
_AMOUNT = re.compile(r"[0-9]+[kmgtp]?[bw]?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class PbsPoll:
    """What the commands of one look printed, parsed. `jobs`: the account's own; `offset`: seconds
    that the server's clock, by which all times are, is ahead of that of `taken_at`."""

    taken_at: float
    nodes: Sequence[PbsNode]
    jobs: Sequence[PbsJob]
    reservations: Sequence[PbsReservation]
    version: str = ""
    commands: int = 0
    waiting: Sequence[str] = ()  # ids of anybody's jobs that wait in the queue, in its order
    ours: frozenset[str] = frozenset()  # ids of our jobs that were seen since those were asked for
    lines: Sequence[QueueLine] | None = None  # anybody's jobs, if asked for in this very look
    offset: float = 0.0
    reserved: Sequence[str] = ()  # ids of all reservations, also of those that cannot be read

    @property
    def there(self) -> float:
        """When it was taken, by the server's clock."""
        return self.taken_at + self.offset


def for_us(nodes: Iterable[PbsNode], who: PbsIdentity) -> list[PbsNode]:
    """The vnodes that our jobs can run on: those of our queue, where it has some of its own, else
    those that no queue has for itself; and with what our chunks ask for by name."""
    nodes = list(nodes)
    bound = {node.queue for node in nodes if node.queue is not None}
    wanted = who.queue if who.queue in bound else None
    return [node for node in nodes if node.queue == wanted and _has(node, who.chunk or "")]


def _has(node: PbsNode, chunk: str) -> bool:
    """Whether a vnode has what a chunk asks for; of amounts only PBS can tell."""
    for part in chunk.split(":"):
        name, given, value = part.partition("=")
        values = re.split(r",\s*", node.available.get(name, ""))
        if given and _AMOUNT.fullmatch(value) is None and value not in values:
            return False
    return True


def snapshot(look: PbsPoll, who: PbsIdentity, prefix: str) -> Snapshot:
    """The poll as the broker's core reads it.

    `prefix` is how our tokens begin.
    """
    nodes = for_us(look.nodes, who)
    usable = {node.name: node for node in nodes if takes_jobs(node.states)}
    whole = who.unit > 1
    idle = {name: _idle(node, whole) for name, node in usable.items()}
    places = {number: place for place, number in enumerate(look.waiting, 1)}
    jobs = named(look.jobs, who.user, prefix)
    mine = [r for r in look.reservations if is_ours(r, who.user, prefix)]
    own = {r.id for r in mine}
    ours = _held(look.jobs, usable, who.user, prefix)
    later = []
    for reservation in sorted(look.reservations, key=lambda r: r.id not in own):
        if not holds(reservation.state):
            continue
        far = reservation.start_time > look.there + SOON
        begins = not has_begun(reservation.state)  # also over what jobs of ours hold till then
        if far or (reservation.id not in own and (begins or _maintains(reservation))):
            later.append(reservation)
        if far:
            continue
        kept = _kept(reservation, usable, idle, whole)
        if reservation.id in own:
            # Its job is inside it.
            ours[reservation.name] = max(ours.get(reservation.name, 0), kept)
    return Snapshot(
        taken_at=look.taken_at,
        processors=sum(node.total for node in nodes),
        usable=sum(node.total for node in usable.values()),
        busy=sum(node.total for node in usable.values()) - sum(idle.values()),
        ours=ours,
        jobs=by_token((job.name, native_job(job, places.get(job.id))) for job in jobs),
        unnamed={j.id: native_job(j) for j in look.jobs if not j.name.startswith(prefix)},
        reservations={
            r.name: NativeReservation(
                r.processors,
                r.start_time,
                r.end_time,
                " ".join(r.vnodes) or None,
                degraded=is_degraded(r.state, r.substate),
            )
            for r in mine
        },
        coming=_coming(later, own, usable, idle, whole, look.there + SOON),
        reserved=_reserved((r for r in later if r.id not in own), usable, whole, look.there + SOON),
        version=look.version,
        settled=bool(nodes) and not all(is_unsettled(node.states) for node in nodes),
        commands=look.commands,
        waiting=len(places.keys() - look.ours.union(job.id for job in jobs)),
        held=_in_use(look, usable, idle),
        wanted=_in_queue(look, who.queue),
        nodes=kinds(_hosts(nodes, {n.name: n.total for n in nodes}, chunked=not whole)),
        idle=(left := kinds(_hosts(usable.values(), idle, chunked=not whole))),
        free=left,
    )


_FOR_EVER = 5 * 365 * 86400.0  # seconds: what PBS takes a job for that has no walltime


def _in_queue(look: PbsPoll, queue: str | None) -> tuple[Wanted, ...]:
    """What waits for processors in our queue, or in all, by its walltime."""
    return tuple(
        Wanted(
            line.processors,
            _FOR_EVER if line.seconds is None else line.seconds,
            line.since,
        )
        for line in look.lines or ()
        if line.state == "Q" and (queue is None or is_queue(line.queue, queue))
    )


def _in_use(
    look: PbsPoll, usable: Mapping[str, PbsNode], idle: Mapping[str, int]
) -> tuple[Held, ...] | None:
    """What runs, until its walltime; with what is in a reservation that has begun, or will soon,
    until that ends. On which nodes jobs of other queues run is not told: of more than is in use on
    ours those that end first are left out."""
    if look.lines is None:
        return None
    soon = look.there + SOON
    begun = [r for r in look.reservations if holds(r.state) and r.start_time <= soon]
    inside = [reservation.queue for reservation in begun]
    found = [
        Held(sum(n for name, n in r.vnodes.items() if name in usable), r.end_time)
        for r in begun
        if not _maintains(r)
    ]
    for line in look.lines:
        if line.state in _RUNS and not any(is_queue(line.queue, name) for name in inside):
            found.append(Held(line.processors, line.until(look.there)))
    busy, latest = sum(node.total for node in usable.values()) - sum(idle.values()), []
    for held in sorted(found, key=lambda each: -each.until):
        latest.append(Held(min(held.processors, max(0, busy)), held.until))
        busy -= held.processors
    return tuple(held for held in latest if held.processors)


def _hosts(
    nodes: Iterable[PbsNode], processors: Mapping[str, int], *, chunked: bool
) -> list[NodeKind]:
    """The hosts of vnodes that have so many processors: a chunk may span the vnodes of one. What
    has never been up says nothing of itself yet."""
    hosts: dict[str, list[PbsNode]] = {}
    for node in nodes:
        if node.total:
            hosts.setdefault(node.available.get("host", node.name), []).append(node)
    return [
        NodeKind(
            processors=sum(processors[node.name] for node in parts),
            memory=sum(node.memory or 0 for node in parts) or None,
            gpus=sum(node.gpus for node in parts),
            chunked=chunked,
        )
        for parts in hosts.values()
    ]


def is_ours(thing: PbsJob | PbsReservation, user: str, prefix: str) -> bool:
    """Whether it is the broker's: names are not unique, and anybody may take any."""
    return thing.name.startswith(prefix) and thing.owner == user


def named(jobs: Iterable[PbsJob], user: str, prefix: str) -> list[PbsJob]:
    """Those that bear a name that the broker has given."""
    return [job for job in jobs if is_ours(job, user, prefix)]


def _idle(node: PbsNode, whole: bool) -> int:
    if is_taken_whole(node.states) or (whole and node.assigned):
        return 0
    return max(0, node.total - node.assigned)


def _kept(
    reservation: PbsReservation, usable: Mapping[str, PbsNode], idle: dict[str, int], whole: bool
) -> int:
    """Processors of ours to use that a reservation holds. Those of one that has not begun are
    not assigned yet: they are taken from `idle`; whole nodes, where it is they that jobs get."""
    kept = 0
    for name, wanted in reservation.vnodes.items():
        if name not in usable:
            continue
        if has_begun(reservation.state):
            kept += _of(usable[name], wanted)
        else:
            taken = idle[name] if whole else min(idle[name], wanted)
            idle[name] -= taken
            kept += taken
    return kept


def _maintains(reservation: PbsReservation) -> bool:
    return reservation.id.startswith("M")


def _coming(
    reservations: Iterable[PbsReservation],
    own: Collection[str],
    usable: Mapping[str, PbsNode],
    idle: Mapping[str, int],
    whole: bool,
    soon: float,
) -> tuple[Coming, ...]:
    """Reservations that have not begun, or others' for maintenance, each without what those
    before it take; what begins `soon` has its idle processors already. Others' are told by their
    ids: any user may give one any name."""
    room, left = {name: node.total for name, node in usable.items()}, dict(idle)
    return tuple(
        Coming(
            reservation.name if reservation.id in own else reservation.id,
            reservation.start_time,
            reservation.end_time,
            processors=_kept(reservation, usable, room, whole),
            idle=_kept(reservation, usable, left, whole) if reservation.start_time > soon else 0,
            maintenance=_maintains(reservation),
        )
        for reservation in sorted(reservations, key=lambda each: each.start_time)
    )


def _reserved(
    reservations: Iterable[PbsReservation],
    usable: Mapping[str, PbsNode],
    whole: bool,
    soon: float,
) -> tuple[Booked, ...]:
    """What they keep when; what begins `soon` is held already."""
    room = {name: node.total for name, node in usable.items()}
    return steps(
        (
            Reserved(
                r.start_time,
                r.end_time,
                {n: room[n] if whole else wanted for n, wanted in r.vnodes.items() if n in room},
            )
            for r in reservations
            if r.start_time > soon or _maintains(r)
        ),
        room,
    )


def _of(node: PbsNode, processors: int) -> int:
    """What so many processors of a vnode really take away from it."""
    return node.total if is_exclusive(node.states) else min(processors, node.total)


def _held(
    jobs: Iterable[PbsJob], usable: Mapping[str, PbsNode], user: str, prefix: str
) -> dict[str, int]:
    """Processors that each of our tokens' running jobs hold."""
    held: dict[str, int] = {}
    for job in named(jobs, user, prefix):
        if job_state(job.state) is NativeState.RUNNING:
            taken = sum(_of(usable[name], n) for name, n in job.vnodes.items() if name in usable)
            held[job.name] = held.get(job.name, 0) + taken
    return held


def native_job(job: PbsJob, position: int | None = None) -> NativeJob:
    """One job as the core reads it; `position`: in its queue."""
    state = job_state(job.state)
    ended = state is NativeState.ENDED
    cause = end_cause(job.substate, job.exit_status) if ended else None
    return NativeJob(
        native_id=job.id,
        submit_time=job.submit_time,
        state=state,
        word=state_word(job.state),
        processors=job.processors,
        hosts=" ".join(job.hosts) or None,
        reason=_reason(job, state),
        start_time=job.start_time,
        end_time=job.end_time if ended else None,
        exit_code=0 if ended and cause is None else None,
        cause=cause,
        suspended=job.state in ("S", "U"),
        stuck=job.state in _STUCK or job.comment.startswith(_NEVER),
        position=position if state is NativeState.PENDING else None,
    )


def _reason(job: PbsJob, state: NativeState) -> str:
    """Why it waits, or how it ended, in words."""
    if state is NativeState.PENDING:
        return job.comment
    return ended_words(job.substate, job.exit_status) if state is NativeState.ENDED else ""
