"""Sequential jobs and gangs on one pool: `metabroker.policy.job_mix` on arrays.

Each size and kind has a queue of its own; `local` is its index.
"""

from __future__ import annotations

from .compiled import entry, inlined, program
from .events import loop_of, loop_of_pyss
from .heap import push
from .layout import NOBODY, World
from .lines import append, remove

LARGEST_FIRST = 1
"""The version LG-SS; else AFCFS."""
NOT_ANY = -1
ANY_SIZE = 1 << 62


@inlined
def arrive(w: World, key: int) -> None:
    """A job is submitted; it joins a queue in the next pass."""


@inlined
def depart(w: World, key: int, more: bool) -> None:
    """A job has ended."""
    state = w.state[0]
    state.free += w.queues[w.jobs[key & state.mask].local].needs
    state.departed = True


@inlined
def decide(w: World, now: float) -> None:
    """One pass: after an end all that wait are tried, else each newcomer."""
    state = w.state[0]
    for key in range(state.since, state.submitted):
        index = w.jobs[key & state.mask].local
        may = not state.departed and w.queues[index].needs <= state.free and not blocked(w, index)
        append(w, index, key)
        if may:
            start(w, index, now)
    state.since = state.submitted
    if state.departed:
        state.departed = False
        scan(w, now)


@program
def first_of(w: World, gangs: bool, most: int) -> int:
    """The queue whose head comes first, among those of jobs of at most so many processors, of
    `gangs` alone or of all; NOT_ANY: there is none."""
    state = w.state[0]
    best, least = NOT_ANY, 0
    for index in range(len(w.queues)):
        queue = w.queues[index]
        if queue.head == NOBODY or queue.needs > most or (gangs and not queue.gang):
            continue
        rank = queue.head
        if state.version == LARGEST_FIRST:
            rank = -queue.tasks if queue.gang else queue.tasks
        if best == NOT_ANY or rank < least:
            best, least = index, rank
    return best


@program
def blocked(w: World, index: int) -> bool:
    """Is a job that arrives blocked by a gang in front?"""
    if w.queues[index].gang or not w.state[0].blocking:
        return False
    first = first_of(w, False, ANY_SIZE)
    return first != NOT_ANY and bool(w.queues[first].gang)


@program
def scan(w: World, now: float) -> None:
    """Start all that fit, in their order."""
    state = w.state[0]
    gangs = False
    if state.blocking:
        first = first_of(w, False, ANY_SIZE)
        gangs = first != NOT_ANY and w.queues[first].gang and w.queues[first].needs > state.free
    while True:
        index = first_of(w, gangs, state.free)
        if index == NOT_ANY:
            return
        start(w, index, now)


@inlined
def start(w: World, index: int, now: float) -> None:
    """The head of a queue starts."""
    state = w.state[0]
    key = w.queues[index].head
    job = w.jobs[key & state.mask]
    job.start = now
    remove(w, key)
    state.free -= w.queues[index].needs
    state.waiting -= 1
    state.serial += 1
    push(w, now + job.run, state.serial if state.pyss else key, key)


@program
def ever_fits(w: World, key: int) -> bool:
    """Could a job run with nothing else running?"""
    return bool(w.jobs[key & w.state[0].mask].total <= w.processors[0])


_loop = loop_of(arrive, depart, decide, ever_fits)
_loop_of_pyss = loop_of_pyss(arrive, depart, decide, ever_fits)


@entry
def play(w: World) -> int:
    """Play AFCFS or LG-SS, with or without blocking; see `events.loop_of`."""
    return _loop(w)


@entry
def play_pyss(w: World) -> int:
    """The same in the order of pyss."""
    return _loop_of_pyss(w)
