"""What happened, in the order in which a book is told of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum

from .asked import Asked


class What(IntEnum):
    """The events of one instant, in their order: the processors of jobs that end are there for
    those that start, and who still waits after that has to wait."""

    END = 0
    SUBMISSION = 1
    START = 2
    END_AT_ONCE = 3
    LOOK = 4
    """A job that was submitted at this instant is looked at."""


@dataclass(frozen=True, slots=True)
class Past:
    """A job that has run, on `sizes[i]` processors of `clusters[i]`. Moments in seconds."""

    key: int
    asked: Asked
    submit: float
    start: float
    end: float
    clusters: tuple[int, ...]
    sizes: tuple[int, ...]


def in_order(jobs: Iterable[Past]) -> list[tuple[float, What, int]]:
    """All that happened to them: (moment, what, key)."""
    events = []
    for job in jobs:
        over = What.END if job.end > job.start else What.END_AT_ONCE
        events += [
            (job.submit, What.SUBMISSION, job.key),
            (job.start, What.START, job.key),
            (job.end, over, job.key),
            (job.submit, What.LOOK, job.key),
        ]
    return sorted(events)
