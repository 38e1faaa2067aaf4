"""Mistakes in what becomes of a job that the policy has split."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import Any

from metabroker.broker.job import Job
from metabroker.policy import Request
from metabroker.store import rows

from .planting import among, mutation, swap


@mutation
def split_for_its_limit(stack: contextlib.ExitStack) -> None:
    """A job that is split has no more time than one that is not."""

    def divide(self: Job, sizes: Any, extra: int) -> None:
        old(self, sizes, 0)

    old = swap(stack, Job, "divide", divide)


@mutation
def split_as_before(stack: contextlib.ExitStack) -> None:
    """A job that comes back to its queue keeps the components into which it was split."""
    swap(stack, Job, "unite", lambda self: None)


@mutation
def split_one_part_short(stack: contextlib.ExitStack) -> None:
    """The last component of a job that is split has one processor less."""

    def divide(self: Job, sizes: Any, extra: int) -> None:
        old(self, sizes, extra)
        *first, last = sizes
        self.request = Request((*first, max(1, last - 1)))

    old = swap(stack, Job, "divide", divide)


@mutation
@among("split-before-the-crash")
def extra_time_not_stored(stack: contextlib.ExitStack) -> None:
    """After a restart a job that is split has no more time than one that is not."""

    def row(job: Job) -> Any:
        if job.split is not None:
            job = replace(job, split=replace(job.split, extra=0))
        return old(job)

    old = swap(stack, rows, "split_row", row)
