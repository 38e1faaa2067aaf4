"""What all queue policies do: `policy.scheduler`, `policy.fcfs` and `policy.fpfs` on arrays."""

from __future__ import annotations

from typing import Any

from .compiled import inlined, program
from .heap import push
from .layout import (
    AT_ARRIVALS,
    DISABLED,
    ENABLED,
    GP,
    GS,
    LP,
    LQ,
    LS,
    NEXT_DEPARTURE,
    NOBODY,
    RELEASE_ORDER,
    RELEASED,
    World,
)
from .lines import append, remove
from .placing import place


@inlined
def queue_of(w: World, key: int) -> int:
    """The queue that a job joins."""
    state = w.state[0]
    job = w.jobs[key & state.mask]
    local: int = job.local
    if state.family == LS or (state.family != GS and job.parts == 1):
        return local
    clusters: int = state.clusters
    return clusters


@inlined
def arrive(w: World, key: int) -> None:
    """A job joins its queue. It is new (to be tried at its arrival) if nobody waited there at the
    last pass; under FPFS all are."""
    state = w.state[0]
    index = queue_of(w, key)
    head = w.queues[index].head
    w.jobs[key & state.mask].new = state.fpfs or head == NOBODY or head >= state.since
    append(w, index, key)
    if state.family == LQ and state.option == AT_ARRIVALS:
        state.departed = True


@inlined
def depart(w: World, key: int, more: bool) -> None:
    """A job has ended. Where nobody waits and nobody comes, that decides nothing."""
    state = w.state[0]
    slot = key & state.mask
    told = more or state.waiting > 0
    if told:
        state.departed = True
    for part in range(w.jobs[slot].parts):
        cluster = w.where[slot, part]
        w.idle[cluster] += w.sizes[slot, part]
        if told and state.version == RELEASE_ORDER:
            released(w, cluster)


@program
def released(w: World, cluster: int) -> None:
    """A cluster has been released since the last departure pass."""
    state, order = w.state[0], w.lists[RELEASED]
    for at in range(state.released):
        if order[at] == cluster:
            return
    order[state.released] = cluster
    state.released += 1


@inlined
def alone(w: World, key: int) -> bool:
    """Does the job run on one cluster only, that of its queue?"""
    job = w.jobs[key & w.state[0].mask]
    return bool(job.parts == 1 and job.queue < w.state[0].clusters)


@inlined
def fits_on(w: World, key: int, idle: Any) -> bool:
    """Would a waiting job fit on these idle processors? Its clusters are then in `where`."""
    slot = key & w.state[0].mask
    if alone(w, key):
        cluster = w.jobs[slot].queue
        w.where[slot, 0] = cluster
        return bool(idle[cluster] >= w.sizes[slot, 0])
    return place(w, idle, slot)


@program
def ever_fits(w: World, key: int) -> bool:
    """Could a waiting job run with nothing else running?"""
    return fits_on(w, key, w.processors)


@inlined
def start(w: World, key: int, now: float) -> None:
    """A waiting job starts on the clusters in `where`."""
    state = w.state[0]
    slot = key & state.mask
    job = w.jobs[slot]
    for part in range(job.parts):
        w.idle[w.where[slot, part]] -= w.sizes[slot, part]
    remove(w, key)
    state.waiting -= 1
    state.serial += 1
    job.start = now
    push(w, now + job.run, state.serial if state.pyss else key, key)


@program
def visit(w: World, index: int, now: float) -> bool:
    """Start at most one job of a non-empty queue; False: nothing fits, disable it."""
    state, queue = w.state[0], w.queues[index]
    if not state.fpfs:
        head = queue.head
        if not fits_on(w, head, w.idle):
            return False
        start(w, head, now)
        return True
    key = queue.scan
    while key != NOBODY:
        following = w.jobs[key & state.mask].next
        if fits_on(w, key, w.idle):
            start(w, key, now)
            queue.scan = following
            return True
        key = following
    queue.scan = NOBODY
    return False


@program
def rewind(w: World) -> None:
    """A pass begins: scans begin at the heads."""
    for index in range(len(w.queues)):
        w.queues[index].scan = w.queues[index].head


@program
def newcomer(w: World, key: int, now: float) -> bool:
    """Try a job that has arrived after the last pass, under FCFS if nobody is in front of it."""
    state = w.state[0]
    job = w.jobs[key & state.mask]
    if job.queue < 0:
        return False
    queue = w.queues[job.queue]
    if not state.fpfs and queue.head != key:
        return False
    if not fits_on(w, key, w.idle):
        return False
    if queue.scan == key:
        queue.scan = job.next
    start(w, key, now)
    return True


@program
def waiting_locals(w: World, count: int) -> int:
    """Append the non-empty local queues to the `count` enabled ones; returns how many there are."""
    enabled = w.lists[ENABLED]
    for index in range(w.state[0].clusters):
        if w.queues[index].head != NOBODY:
            enabled[count] = index
            count += 1
    return count


@program
def emptied(w: World, index: int, count: int) -> int:
    """Append the queues to be enabled because this one became empty during the pass."""
    state = w.state[0]
    glob = state.clusters
    if state.family == GP and index == glob and state.option != NEXT_DEPARTURE:
        return waiting_locals(w, count)
    if state.family == LP and not state.opened and w.queues[glob].head != NOBODY:
        state.opened = True
        w.lists[ENABLED][count] = glob
        return count + 1
    return count


@program
def rounds(w: World, count: int, now: float) -> int:
    """Visit the `count` enabled queues in rounds, at most one start per queue and round.

    Returns the number of queues in DISABLED, in the order in which they were disabled.
    """
    enabled, disabled = w.lists[ENABLED], w.lists[DISABLED]
    over = 0
    while count > 0:
        at = still = 0
        while at < count:
            index = enabled[at]
            at += 1
            if not visit(w, index, now):
                disabled[over] = index
                over += 1
            elif w.queues[index].head != NOBODY:
                enabled[still] = index
                still += 1
            else:
                disabled[over] = index
                over += 1
                count = emptied(w, index, count)
        count = still
    return over
