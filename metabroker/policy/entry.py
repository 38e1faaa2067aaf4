"""A waiting job, and a decision: what schedulers, queues and counts pass on."""

from bisect import bisect_left
from collections import deque
from typing import NamedTuple

from metabroker.policy.request import Placement, Request


class Entry(NamedTuple):
    """A waiting job. Two are the same job just if their seqs are equal."""

    seq: int
    """The order of joining over all queues."""
    key: int
    request: Request
    pin: int
    """The one cluster on which it can run (single-component jobs in a local queue), or -1."""
    queue: int
    joined: float
    """When it joined."""


Start = tuple[int, Placement]
"""A decision: (key of the job, cluster of each component in the user's order)."""


def place_of(line: deque[Entry], seq: int) -> int:
    """How many entries of a line in order of seq are before this seq."""
    first: tuple[int, ...] = (seq,)
    return bisect_left(line, first)


def insert(line: deque[Entry], entry: Entry) -> None:
    """Put an entry at its place in a line in order of seq; one of the same seq, which is the same
    job as it was before it left, gives way. Cheap near both ends, some microseconds elsewhere."""
    at = place_of(line, entry.seq)
    if at < len(line) and line[at].seq == entry.seq:
        line[at] = entry
    else:
        line.insert(at, entry)
