"""EASY backfilling on one pool: `metabroker.policy.easy` on arrays."""

from __future__ import annotations

from .compiled import entry, inlined, program
from .events import loop_of, loop_of_pyss
from .heap import push
from .layout import NOBODY, World
from .lines import append, remove


@inlined
def arrive(w: World, key: int) -> None:
    """A job joins the queue; `fresh` is the first that no pass has looked at."""
    append(w, 0, key)
    if w.state[0].fresh == NOBODY:
        w.state[0].fresh = key


@inlined
def place_of(w: World, time: float, key: int) -> int:
    """The place of a running job among those that are expected to end."""
    expected = w.expected
    low, high = 0, w.state[0].expecting
    while low < high:
        middle = (low + high) >> 1
        if expected[middle].time < time or (
            expected[middle].time == time and expected[middle].key < key
        ):
            low = middle + 1
        else:
            high = middle
    return low


@inlined
def depart(w: World, key: int, more: bool) -> None:
    """A job has ended."""
    state, expected = w.state[0], w.expected
    job = w.jobs[key & state.mask]
    at = place_of(w, job.start + job.estimate, key)
    state.expecting -= 1
    for place in range(at, state.expecting):
        expected[place].time = expected[place + 1].time
        expected[place].key = expected[place + 1].key
        expected[place].tie = expected[place + 1].tie
    state.free += job.total
    state.settled = 0


@inlined
def start(w: World, key: int, now: float) -> None:
    """A waiting job starts."""
    state, expected = w.state[0], w.expected
    job = w.jobs[key & state.mask]
    job.start = now
    at = place_of(w, now + job.estimate, key)
    for place in range(state.expecting, at, -1):
        expected[place].time = expected[place - 1].time
        expected[place].key = expected[place - 1].key
        expected[place].tie = expected[place - 1].tie
    expected[at].time = now + job.estimate
    expected[at].key = key
    expected[at].tie = job.total
    state.expecting += 1
    state.free -= job.total
    remove(w, key)
    state.waiting -= 1
    state.serial += 1
    push(w, now + job.run, state.serial if state.pyss else key, key)


@inlined
def decide(w: World, now: float) -> None:
    """One pass: after an end all jobs are looked at, else those that have come since."""
    state = w.state[0]
    if state.settled == 0:
        head = w.queues[0].head
        while head != NOBODY and w.jobs[head & state.mask].total <= state.free:
            start(w, head, now)
            head = w.queues[0].head
        if head != NOBODY:
            promise(w, now)
            backfill(w, w.jobs[head & state.mask].next, now)
    elif state.fresh != NOBODY:
        backfill(w, state.fresh, now)
    state.fresh = NOBODY
    state.settled = state.waiting


@inlined
def promise(w: World, now: float) -> None:
    """Find the shadow and the extra processors, for a head that cannot start."""
    state, expected = w.state[0], w.expected
    missing = w.jobs[w.queues[0].head & state.mask].total - state.free
    shadow = now
    for at in range(state.expecting):
        end = expected[at].time
        if missing <= 0 and end > shadow:
            break
        missing -= expected[at].tie
        if end > shadow:
            shadow = end
    state.shadow = shadow
    state.extra = -missing


@inlined
def backfill(w: World, key: int, now: float) -> None:
    """Start what does not postpone the head, from a job of the queue on."""
    state = w.state[0]
    while key != NOBODY and state.free > 0:
        job = w.jobs[key & state.mask]
        following = job.next
        if job.total <= state.free:
            if now + job.estimate <= state.shadow:
                start(w, key, now)
            elif job.total <= state.extra:
                state.extra -= job.total
                start(w, key, now)
        key = following


@program
def ever_fits(w: World, key: int) -> bool:
    """Could a job run with nothing else running?"""
    return bool(w.jobs[key & w.state[0].mask].total <= w.processors[0])


_loop = loop_of(arrive, depart, decide, ever_fits)
_loop_of_pyss = loop_of_pyss(arrive, depart, decide, ever_fits)


@entry
def play(w: World) -> int:
    """Play EASY; see `events.loop_of`."""
    return _loop(w)


@entry
def play_pyss(w: World) -> int:
    """The same in the order of pyss."""
    return _loop_of_pyss(w)
