"""The running jobs by their ends: a binary heap of ENDs."""

from __future__ import annotations

from .compiled import inlined
from .layout import World


@inlined
def push(w: World, time: float, tie: int, key: int) -> None:
    """A job has started."""
    state, ends = w.state[0], w.ends
    at = state.running
    state.running = at + 1
    while at > 0:
        above = (at - 1) >> 1
        if ends[above].time < time or (ends[above].time == time and ends[above].tie < tie):
            break
        ends[at].time = ends[above].time
        ends[at].tie = ends[above].tie
        ends[at].key = ends[above].key
        at = above
    ends[at].time = time
    ends[at].tie = tie
    ends[at].key = key


@inlined
def pop(w: World) -> int:
    """The key of the job that ends first."""
    state, ends = w.state[0], w.ends
    first: int = ends[0].key
    size = state.running - 1
    state.running = size
    time, tie, key = ends[size].time, ends[size].tie, ends[size].key
    at = 0
    while True:
        below = 2 * at + 1
        if below >= size:
            break
        other = below + 1
        if other < size and (
            ends[other].time < ends[below].time
            or (ends[other].time == ends[below].time and ends[other].tie < ends[below].tie)
        ):
            below = other
        if time < ends[below].time or (time == ends[below].time and tie < ends[below].tie):
            break
        ends[at].time = ends[below].time
        ends[at].tie = ends[below].tie
        ends[at].key = ends[below].key
        at = below
    ends[at].time = time
    ends[at].tie = tie
    ends[at].key = key
    return first
