"""The queue played forward: when would a job start if jobs ran as long as jobs like them did?

EASY on the processors that are known to be ours, whatever the clusters and the policy do in truth:
only what comes of it is compared with what comes (`conformal`). It is played several times, each
time with other run times; they are drawn from the jobs' numbers, so the same question has the same
answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from metabroker.policy import Request, make_planner

TIMES = 9
"""How often it is played."""
_STEP, _STEP_AT_MOST, _SHORT = 1 / 30_000, 0.1, 300.0
"""Ends are taken together that lie within this part of the time so far and of `_SHORT` seconds, for
each job that is played; a tenth at most. So a play with many jobs takes no more looks at all that
runs (a wide job has one at each end) than it can afford: without this its work would grow with the
square of the jobs. A start is late by as much, which is far less than is known of run times."""


class Ahead(NamedTuple):
    """A job that runs or waits. `possible`: how many seconds it may still run, each as likely as
    the others; `limit`: how many at most."""

    key: int
    request: Request
    limit: float
    possible: Sequence[float]


def expected_waits(
    processors: Sequence[int], running: Sequence[Ahead], waiting: Sequence[Ahead]
) -> list[float]:
    """The seconds that the last of the waiting jobs still waits, each time that it is played, in
    increasing order; none where it never starts. `waiting` in the order of the queue."""
    if not waiting or not make_planner("EASY", processors).ever_fits(waiting[-1].request):
        return []
    found = [_play(processors, running, waiting, turn) for turn in range(TIMES)]
    return sorted(wait for wait in found if wait is not None)


def _play(
    processors: Sequence[int], running: Sequence[Ahead], waiting: Sequence[Ahead], turn: int
) -> float | None:
    planner, target = make_planner("EASY", processors), waiting[-1].key
    for job in running:
        planner.submit(job.key, job.request, 0, job.limit, 0.0)
    begun = {key for key, _, _ in planner.run(0.0)}
    ends = [(_drawn(job, turn), job.key) for job in running if job.key in begun]
    heapify(ends)
    times = {job.key: _drawn(job, turn) for job in (*running, *waiting)}
    for job in waiting:
        planner.submit(job.key, job.request, 0, job.limit, 0.0)
    now, step = 0.0, min(_STEP_AT_MOST, _STEP * len(times))
    while True:
        for key, _, _ in planner.run(now):
            if key == target:
                return now
            heappush(ends, (now + times[key], key))
        if not ends:
            return None
        now = max(ends[0][0], now + step * (now + _SHORT))
        while ends and ends[0][0] <= now:
            planner.end(heappop(ends)[1], now)


def _drawn(job: Ahead, turn: int) -> float:
    return job.possible[_mixed(job.key * TIMES + turn) % len(job.possible)]


def _mixed(number: int) -> int:
    """A whole number that looks drawn (the finalizer of SplitMix64)."""
    number = (number * 0x9E3779B97F4A7C15 + 0x9E3779B97F4A7C15) & 0xFFFFFFFFFFFFFFFF
    number = ((number ^ number >> 30) * 0xBF58476D1CE4E5B9) & 0xFFFFFFFFFFFFFFFF
    number = ((number ^ number >> 27) * 0x94D049BB133111EB) & 0xFFFFFFFFFFFFFFFF
    return number ^ number >> 31
