"""Lists of very many jobs: what the core of the broker that leads tells of them, page by page.

The core is asked once where all jobs stand (`reasons.Moment`), and then only about those of which
that does not tell. Jobs that wait, and were in no attempt yet, need not be read from the store
either: all that is told of them is in the core's own objects. Those are read one by one beside the
core, which may be changing one of them at this very moment, and what is not written yet may show.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from metabroker.broker.job import Job
from metabroker.broker.states import JobState
from metabroker.runtime.loop import Loop
from metabroker.store.rows import ClusterNames

from . import reasons
from .job_view import waiting_text
from .queries import Places, Row


class CoreListing:
    """One list. From any thread."""

    def __init__(
        self,
        loop: Loop,
        clock: Callable[[], float],
        start_times: Callable[[Places], Places] = lambda places: places,
    ) -> None:
        """`start_times`: adds when jobs start."""
        self._start_times = start_times
        self._loop = loop
        self._clock = clock
        self._names = loop.engine.names
        self._view = view = loop.engine.broker.view
        self._moment = loop.ask(lambda: reasons.Moment(view, clock()))

    def of(self, numbers: Sequence[int]) -> Places:
        """Where those of these jobs wait that are queued, and why."""
        found: Places = {}
        unknown: list[int] = []
        for number in numbers:
            job = self._view.jobs.get(number)
            waits = None if job is None else self._moment.waiting(job)
            if waits is None:
                unknown.append(number)
            else:
                found[number] = waits
        if unknown:
            found |= self._loop.ask(lambda: reasons.of(self._view, self._clock(), unknown))
        return self._start_times(found)

    def places(self, rows: Sequence[Row]) -> Places:
        """The same by their rows."""
        return self.of([row["id"] for row in rows if row["state"] == JobState.QUEUED.value])

    def texts(self, numbers: Sequence[int]) -> dict[int, bytes]:
        """Those of these jobs of which the core knows all, as JSON."""
        if self._loop.trouble is not None:  # what it knows is not written
            return {}
        known = {number: self._view.jobs.get(number) for number in numbers}
        jobs = [job for job in known.values() if job is not None and _never_begun(job)]
        places = self.of([job.id for job in jobs if job.state is JobState.QUEUED])
        held = {job.id: reasons.Waiting(None, job.reason) for job in jobs if job.id not in places}
        return {
            job.id: _text(job, self._names, places.get(job.id) or held[job.id])
            for job in jobs
            if _never_begun(job)  # still
        }


def _never_begun(job: Job) -> bool:
    return job.attempt == 0 and job.state in (JobState.QUEUED, JobState.HELD)


def _text(job: Job, names: ClusterNames, waits: reasons.Waiting) -> bytes:
    return waiting_text(job, names, waits.position, waits.reason, waits.start)
