"""Mistakes with the files of jobs."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from metabroker.broker.job import Component, Job
from metabroker.broker.saga.completion import Completion
from metabroker.broker.saga.outcome import has_failed
from metabroker.broker.saga.pending import PendingSteps
from metabroker.broker.saga.replies import Replies
from metabroker.broker.saga.rollback import Rollback
from metabroker.broker.states import Step
from metabroker.clusters import file_transfer, gated
from metabroker.clusters.port import Transferred
from metabroker.clusters.submit_directory import LocalSubmitDirectory
from metabroker.clusters.transports.base import CommandLost
from metabroker.runtime import requests

from .planting import among, mutation, shared, swap


@mutation
def files_not_awaited(stack: contextlib.ExitStack) -> None:
    """A job goes on when the first of its components has its files."""

    def staged(self: Any, event: Any, now: float) -> None:
        component, job = self._claims.find(event.ref)
        if component is None or job is None or component.step is not Step.STAGE:
            return
        self._pending.done(component)
        for other in job.components:
            other.step = Step.NONE
        self._attempts.claim(job, now)

    swap(stack, Replies, "staged", staged)


@mutation
def results_not_awaited(stack: contextlib.ExitStack) -> None:
    """A job has ended before its results are back."""

    def settle(self: Any, job: Job, now: float) -> None:
        job.stages_out, before = False, job.stages_out
        old(self, job, now)
        job.stages_out = before

    old = swap(stack, Completion, "settle", settle)


@mutation
def sent_files_forgotten(stack: contextlib.ExitStack) -> None:
    """A component of which nothing but its files is in its cluster is taken for untouched."""

    def undo(self: Any, job: Job, now: float) -> None:
        job.stages_in, before = False, job.stages_in
        old(self, job, now)
        job.stages_in = before

    old = swap(stack, Rollback, "_undo", undo)


@mutation
def results_thrown_away(stack: contextlib.ExitStack) -> None:
    """Results that cannot be brought back are removed."""

    def start(self: Any, component: Component, step: Step, now: float) -> None:
        old(self, component, Step.DISCARD if step is Step.KEEP else step, now)

    old = swap(stack, PendingSteps, "start", start)


@mutation
@among("kept-results")
def results_that_stay_end_the_others(stack: contextlib.ExitStack) -> None:
    """A component whose results cannot be brought back has failed: so the others are ended."""
    failed = staticmethod(lambda job: any(has_failed(job, part) for part in job.components))
    swap(stack, Completion, "_ends_others", failed)


@mutation
def old_results_taken_for_new(stack: contextlib.ExitStack) -> None:
    """What is at home already is not brought again, though it is of an earlier run."""

    def fetching(files: Any, home: Any, order: Any, part: int) -> Any:
        found = home.look(order.folder, f"{order.into}/out/result")
        if found is not None:
            return Transferred(1, found.size)
        return (yield from old(files, home, order, part))

    old = swap(stack, gated, "fetching", fetching)


@mutation
@among("lossy")
def lost_part_taken_for_sent(stack: contextlib.ExitStack) -> None:
    """Nobody answers whether a part of a file was written: it will have been."""

    @contextlib.contextmanager
    def far(what: str) -> Iterator[None]:
        if not what.startswith("cannot write ") or what.endswith(" its files"):
            with old(what):
                yield
            return
        with contextlib.suppress(CommandLost):
            yield

    old = swap(stack, file_transfer, "_far", far)


@mutation
def results_not_synced(stack: contextlib.ExitStack) -> None:
    """Results are reported while the names they have at home are in memory alone."""
    swap(stack, LocalSubmitDirectory, "sync", lambda self, folder, name: None)


@shared
def homes_not_fenced(stack: contextlib.ExitStack) -> None:
    """Who does not lead any more writes at home all the same."""
    swap(stack, requests, "fenced", lambda files, _permit: files)
