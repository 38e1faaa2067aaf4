"""CONSERVATIVE backfilling on one pool: `metabroker.policy.conservative` and its profile on arrays.

`expected` holds the steps of the profile: when each begins, and in `tie` what is free then. The
slot that a job is promised is `slot` to `until`. The first queue is of those that wait, the second
of those that run, as the policy knows it.
"""

from __future__ import annotations

from math import inf

import numpy as np

from .compiled import entry, inlined, program
from .events import loop_of, loop_of_pyss
from .heap import push
from .layout import NOBODY, World
from .lines import append, remove


@program
def arrive(w: World, key: int) -> None:
    """A job joins the queue; the next pass promises it a slot."""
    if w.state[0].expecting == 0:
        clear(w)
    append(w, 0, key)


@program
def depart(w: World, key: int, more: bool) -> None:
    """A job has ended, before or after its slot, or with it."""
    state = w.state[0]
    job = w.jobs[key & state.mask]
    remove(w, key)
    now = job.start + job.run
    if job.until > now:
        add(w, now, job.until, job.total)
        state.early = True
    elif job.until < now:
        state.late = True


@inlined
def decide(w: World, now: float) -> None:
    """One pass: old promises are renewed, newcomers get theirs, and who is due starts."""
    state = w.state[0]
    forget(w, now)
    if state.late or overrun(w, now):
        promise_anew(w, now)
    elif state.early:
        move_forward(w, now)
    state.early = state.late = False
    for key in range(state.since, state.submitted):
        promise(w, key, now)
    state.since = state.submitted
    key = w.queues[0].head
    while key != NOBODY:
        following = w.jobs[key & state.mask].next
        if w.jobs[key & state.mask].slot <= now:
            start(w, key, now)
        key = following


@program
def start(w: World, key: int, now: float) -> None:
    """A job whose slot has come starts."""
    state = w.state[0]
    job = w.jobs[key & state.mask]
    job.start = now
    remove(w, key)
    append(w, 1, key)
    state.waiting -= 1
    state.serial += 1
    push(w, now + job.run, state.serial if state.pyss else key, key)


@program
def promise(w: World, key: int, now: float) -> None:
    """A job is promised the earliest slot that there is."""
    job = w.jobs[key & w.state[0].mask]
    job.slot = earliest(w, job.total, job.estimate, now)
    job.until = max(job.slot + job.estimate, np.nextafter(job.slot, inf))
    if job.slot < inf:
        add(w, job.slot, job.until, -job.total)


@program
def promise_anew(w: World, now: float) -> None:
    """All promises are made again, with those that are late expected to end at any moment."""
    state = w.state[0]
    clear(w)
    soon = np.nextafter(now, inf)
    key = w.queues[1].head
    while key != NOBODY:
        job = w.jobs[key & state.mask]
        add(w, now, max(job.until, soon), -job.total)
        key = job.next
    key = w.queues[0].head
    while key != NOBODY and key < state.since:
        promise(w, key, now)
        key = w.jobs[key & state.mask].next


@program
def move_forward(w: World, now: float) -> None:
    """Promises are moved forward in the order of submission, again until nobody moves."""
    state = w.state[0]
    moved = True
    while moved:
        moved = False
        key = w.queues[0].head
        while key != NOBODY and key < state.since:
            job = w.jobs[key & state.mask]
            before = job.slot
            if before < inf:
                add(w, before, job.until, job.total)
            promise(w, key, now)
            moved = moved or job.slot < before
            key = job.next


@program
def overrun(w: World, now: float) -> bool:
    """Does a job run that should have ended?"""
    key = w.queues[1].head
    while key != NOBODY:
        job = w.jobs[key & w.state[0].mask]
        if job.until <= now:
            return True
        key = job.next
    return False


@program
def clear(w: World) -> None:
    """A profile in which all is free."""
    w.state[0].expecting = 1
    w.expected[0].time = -inf
    w.expected[0].tie = w.processors[0]


@inlined
def step_of(w: World, time: float) -> int:
    """The first step that begins at `time` or later."""
    low, high = 0, w.state[0].expecting
    while low < high:
        middle = (low + high) >> 1
        if w.expected[middle].time < time:
            low = middle + 1
        else:
            high = middle
    return low


@inlined
def now_of(w: World, now: float) -> int:
    """The step that holds now."""
    step = step_of(w, now)
    if step < w.state[0].expecting and w.expected[step].time == now:
        return step
    return step - 1


@program
def forget(w: World, now: float) -> None:
    """Drop the steps that have ended."""
    state, steps = w.state[0], w.expected
    gone = now_of(w, now)
    state.expecting -= gone
    for step in range(state.expecting):
        steps[step].time = steps[step + gone].time
        steps[step].tie = steps[step + gone].tie


@program
def earliest(w: World, size: int, duration: float, now: float) -> float:
    """The first time from which so many processors are free for so long; inf: never."""
    state, steps = w.state[0], w.expected
    begin = now
    step = now_of(w, now)
    for later in range(step, state.expecting):
        if steps[later].time >= begin + duration and later > step:
            break
        if steps[later].tie < size:
            begin = inf
            if later + 1 < state.expecting:
                begin = steps[later + 1].time
            step = later + 1
    return begin


@program
def add(w: World, begin: float, end: float, processors: int) -> None:
    """So many more are free in between."""
    first, last = cut(w, begin), cut(w, end)
    for step in range(first, last):
        w.expected[step].tie += processors
    join(w, last)
    join(w, first)


@program
def cut(w: World, time: float) -> int:
    """The step that begins at `time`, made if there is none."""
    state, steps = w.state[0], w.expected
    step = step_of(w, time)
    if step == state.expecting or steps[step].time != time:
        for later in range(state.expecting, step, -1):
            steps[later].time = steps[later - 1].time
            steps[later].tie = steps[later - 1].tie
        state.expecting += 1
        steps[step].time = time
        steps[step].tie = steps[step - 1].tie
    return step


@program
def join(w: World, step: int) -> None:
    """Two steps with the same free processors become one."""
    state, steps = w.state[0], w.expected
    if 0 < step < state.expecting and steps[step].tie == steps[step - 1].tie:
        state.expecting -= 1
        for later in range(step, state.expecting):
            steps[later].time = steps[later + 1].time
            steps[later].tie = steps[later + 1].tie


@program
def ever_fits(w: World, key: int) -> bool:
    """Could a job run with nothing else running?"""
    return bool(w.jobs[key & w.state[0].mask].total <= w.processors[0])


_loop = loop_of(arrive, depart, decide, ever_fits)
_loop_of_pyss = loop_of_pyss(arrive, depart, decide, ever_fits)


@entry
def play(w: World) -> int:
    """Play CONSERVATIVE; see `events.loop_of`."""
    return _loop(w)


@entry
def play_pyss(w: World) -> int:
    """The same in the order of pyss."""
    return _loop_of_pyss(w)
