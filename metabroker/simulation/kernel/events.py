"""The loop over ends and submissions, in both orders of `engine.py`: what it says there holds here.

A program returns to be given what it needs, and goes on from where it was.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf

from .compiled import inlined, merged, program
from .heap import pop
from .layout import ENDED, IMPOSSIBLE, MORE_DRAWS, MORE_JOBS, MORE_ROOM, NOBODY, OVER, SPARE, World

Arrive = Callable[[World, int], None]
"""A job joins the queue that it belongs to."""
Depart = Callable[[World, int, bool], None]
"""A job has ended; True: at the same instant there is more to come before the pass."""
Decide = Callable[[World, float], None]
"""One pass."""
Fits = Callable[[World, int], bool]
"""Could a waiting job run with nothing else running?"""
Instant = Callable[[World, float], int]
"""All that happens at one instant; the key of a job that could never run, or -1."""
Loop = Callable[[World], int]


def loop_of(arrive: Arrive, depart: Depart, decide: Decide, fits: Fits) -> Loop:
    """The loop in batch order with these functions of a policy: it plays until something is
    missing, and returns what. After IMPOSSIBLE, `oldest` is the job."""
    return _loop_of(batch_of(arrive, depart, decide, fits))


def loop_of_pyss(arrive: Arrive, depart: Depart, decide: Decide, fits: Fits) -> Loop:
    """The same in the order of pyss."""
    return _loop_of(pyss_of(arrive, depart, decide, fits))


def _loop_of(instant: Instant) -> Loop:
    @merged
    def loop(w: World) -> int:
        state = w.state[0]
        while True:
            now = following(w)
            if not state.last and read_until(w) <= now:
                return MORE_JOBS
            if now == inf:
                return ENDED
            if state.done >= state.most_done:
                return MORE_ROOM
            if state.draw >= state.draws:
                return MORE_DRAWS
            impossible = instant(w, now)
            if impossible >= 0:
                state.oldest = impossible
                return IMPOSSIBLE

    return loop


def batch_of(arrive: Arrive, depart: Depart, decide: Decide, fits: Fits) -> Instant:
    """An instant in batch order: all ends, then all submissions, then one pass. It returns the key
    of a job that could never run, or -1."""

    @merged
    def batch(w: World, now: float) -> int:
        state = w.state[0]
        first = state.submitted
        more = is_due(w, now)
        while state.running > 0 and w.ends[0].time <= now:
            key = pop(w)
            depart(w, key, more)
            finish(w, key, now)
        while is_due(w, now):
            arrive(w, submit(w))
        if state.waiting > 0:
            decide(w, now)
            if state.waiting > 0:
                for key in range(first, state.submitted):
                    if w.jobs[key & state.mask].queue >= 0 and not fits(w, key):
                        return key
        return -1

    return batch


def pyss_of(arrive: Arrive, depart: Depart, decide: Decide, fits: Fits) -> Instant:
    """The same in the order of pyss: each submission with a pass, then each end with a pass."""

    @merged
    def pyss(w: World, now: float) -> int:
        state, ending = w.state[0], w.lists[SPARE]
        ended = 0
        while state.running > 0 and w.ends[0].time <= now:
            ending[ended] = pop(w)
            ended += 1
        for at in range(ended):
            if is_foreseen(w, ending[at]):
                depart(w, ending[at], True)
                finish(w, ending[at], now)
        at = 0
        while True:
            key = NOBODY
            if is_due(w, now):
                key = submit(w)
                arrive(w, key)
            elif at == ended:
                return -1
            else:
                if not is_foreseen(w, ending[at]):
                    depart(w, ending[at], True)
                    finish(w, ending[at], now)
                at += 1
            decide(w, now)
            if key != NOBODY and w.jobs[key & state.mask].queue >= 0 and not fits(w, key):
                return key

    return pyss


@inlined
def following(w: World) -> float:
    """The next instant at which something happens; inf: nothing is left."""
    state = w.state[0]
    now = inf
    if state.running > 0:
        now = w.ends[0].time
    if state.submitted < state.given:
        now = min(now, w.jobs[state.submitted & state.mask].submit)
    return now


@inlined
def read_until(w: World) -> float:
    """When the last job that has been read is submitted."""
    state = w.state[0]
    if state.given == 0:
        return -inf
    submitted: float = w.jobs[(state.given - 1) & state.mask].submit
    return submitted


@inlined
def is_due(w: World, now: float) -> bool:
    """Is the next job of the stream submitted now?"""
    state = w.state[0]
    there = state.submitted < state.given
    return bool(there and w.jobs[state.submitted & state.mask].submit <= now)


@program
def is_foreseen(w: World, key: int) -> bool:
    """Does the policy know that this job, which ends now, does?"""
    job = w.jobs[key & w.state[0].mask]
    return bool(w.state[0].foresees and job.run >= job.estimate)


@inlined
def submit(w: World) -> int:
    """The next job of the stream is submitted: its key."""
    state = w.state[0]
    key: int = state.submitted
    state.submitted = key + 1
    state.waiting += 1
    return key


@inlined
def finish(w: World, key: int, now: float) -> None:
    """A job has ended."""
    state = w.state[0]
    job, done = w.jobs[key & state.mask], w.done[state.done]
    state.done += 1
    done.key = key
    done.submit = job.submit
    done.start = job.start
    done.end = now
    done.total = job.total
    done.first = job.first
    job.queue = OVER
