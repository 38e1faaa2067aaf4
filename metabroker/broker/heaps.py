"""Heaps of jobs in the order of joining, by kind, in which those that have left are passed over.

What was taken out stays in them until it is the first. Who changes a job all day takes it out, and
puts it in again, as often: so they are made anew before they hold much more than waits.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable
from heapq import heapify
from typing import TypeVar

from .job import Job

K = TypeVar("K", bound=Hashable)

_PASSED_OVER = 64


def crowded(entries: int, waiting: Collection[object] | int) -> bool:
    """Whether there are so many entries of those that have left, beside those that wait."""
    count = waiting if isinstance(waiting, int) else len(waiting)
    return entries > 2 * count + _PASSED_OVER


def heaps(jobs: Iterable[Job], kind: Callable[[Job], K]) -> dict[K, list[tuple[int, int]]]:
    """Of these jobs, by their seqs and numbers."""
    found: dict[K, list[tuple[int, int]]] = {}
    for job in jobs:
        found.setdefault(kind(job), []).append((job.seq, job.id))
    for line in found.values():
        heapify(line)
    return found
