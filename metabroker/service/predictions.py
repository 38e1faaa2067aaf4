"""When waiting jobs start, as users are told: `metabroker.prediction` over the broker's own jobs.

The core's thread only notes what has become durable (`written`). Working out an expectation takes
some milliseconds, with thousands of running jobs a second, so it is done elsewhere (`work`), a
bounded number at a time, and keeps nobody waiting who asks for what is known; until then, and where
too little is known, nothing is told.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from math import ceil, floor
from typing import Any

from metabroker.broker.job import Job, NewJob
from metabroker.broker.outbox import Ready
from metabroker.broker.states import JobState
from metabroker.broker.view import BrokerView
from metabroker.prediction import (
    CONFIDENCE,
    Achieved,
    Asked,
    Estimate,
    Past,
    StartTimes,
    What,
    in_order,
)
from metabroker.store.rows import ClusterNames

from .queries import Places

Json = dict[str, Any]
Row = Mapping[str, Any]

HISTORY = 2_000
"""Ended jobs that are learned from at the start."""
_EXPECTED = 500  # of those that waited: for so many it is worked out what had been expected
_WAITED = 10.0  # seconds: who waited no longer was not kept waiting by others
_AT_ONCE = 5  # expectations that are worked out in a row
_AGAIN = 60.0  # seconds
_PATIENCE = 2.0  # seconds that a dry run waits for the dry runs before it
_MOST_NEWS = 100_000  # jobs: beyond, the book begins anew


@dataclass(frozen=True, slots=True)
class _Seen:
    """A job as it was when it became durable."""

    job: int
    state: JobState
    asked: Asked
    submit: float
    start: float | None
    end: float | None
    clusters: tuple[int, ...]
    sizes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _News:
    """What one batch has changed, and the processors that the broker's jobs can have."""

    time: float
    jobs: Sequence[_Seen]
    processors: Sequence[int]


class Predictions:
    """Start times of the jobs of a broker. `written` and `begin` in the core's thread, all else in
    any."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._previewing = threading.Lock()
        """One at a time works out what a dry run is told, however many ask at once."""
        self._ended = False
        self._news: deque[_News] = deque()
        self._taking = threading.Lock()
        """Of the news: the core's thread holds it for a moment only, and the other one never."""
        self._untaken = 0
        self._lost = False
        self._book = StartTimes(())
        self._untold: dict[int, None] = {}
        """Jobs in queues of which nothing could be expected yet, in the order of their coming."""
        self._unknown: dict[int, None] = {}
        """Those of which too little was known when that was last tried, at `_tried`."""
        self._tried = clock()

    # In the core's thread.

    def begin(self, view: BrokerView, numbers: Iterable[int]) -> None:
        """Go on with those of these jobs that are there."""
        self._note([view.jobs[number] for number in numbers if number in view.jobs], view)

    def written(self, ready: Ready, view: BrokerView) -> None:
        """Something has become durable."""
        if ready.jobs:
            self._note(ready.jobs, view)

    def _note(self, jobs: Iterable[Job], view: BrokerView) -> None:
        if self._ended:
            return
        seen = [_seen(job) for job in jobs]
        processors = [entry.usable - entry.others for entry in view.entries]
        with self._taking:
            self._untaken += len(seen)
            if self._untaken > _MOST_NEWS:
                self._news.clear()
                self._untaken, self._lost = 0, True
            else:
                self._news.append(_News(self._clock(), seen, processors))

    # In a thread of its own.

    def learn(
        self,
        rows: Iterable[Row],
        names: ClusterNames,
        processors: Sequence[int],
        enough: Callable[[], bool] = lambda: False,
    ) -> None:
        """Learn from ended jobs, until there was `enough`."""
        known = {seen.key: seen for row in rows if (seen := _ended(row, names)) is not None}
        waited = sorted(job.submit for job in known.values() if job.start - job.submit > _WAITED)
        since = waited[-_EXPECTED] if len(waited) > _EXPECTED else 0.0
        with self._lock:
            self._book.resize(processors)
        for moment, what, key in in_order(known.values()):
            if enough():
                return
            job = known[key]
            with self._lock:
                self._book.happens(what, job, moment)
            if what is What.LOOK and job.start - moment > _WAITED and moment >= since:
                self._predict(key, moment)

    def work(self) -> bool:
        """Take over what is new, and work out some expectations; is there more to do?"""
        while (news := self._next()) is not None:
            with self._lock:
                self._book.resize(news.processors)
                for seen in news.jobs:
                    self._take(seen, news.time)
        with self._lock:
            some = list(islice(self._untold, _AT_ONCE))
        for job in some:
            if not self._predict(job, self._clock()):
                return False
        self._try_again()
        return bool(self._untold)

    def _predict(self, job: int, now: float) -> bool:
        """Have the book know what is expected of a waiting job; False: too many wait before it, or
        it waits no more. Without the lock while that is worked out: `end` may come in between."""
        with self._lock:
            question = self._book.ask(job, now)
        if question is None:
            return False
        expected = question.expected()
        with self._lock:
            found = self._book.settle(question, expected)
            if job in self._untold:
                del self._untold[job]
                if found is None:
                    self._unknown[job] = None
        return True

    def _try_again(self) -> None:
        """Of jobs of which nothing was known something may be known now."""
        now = self._clock()
        with self._lock:
            if self._unknown and not 0 <= now - self._tried < _AGAIN:
                self._tried = now
                self._untold |= self._unknown
                self._unknown.clear()

    def end(self) -> None:
        """Tell nothing any more."""
        self._ended = True
        with self._taking:
            self._news.clear()
        self._forget()

    def _next(self) -> _News | None:
        """What has become durable next. Where too much has at once, the jobs known so far are
        forgotten: of these nothing is told."""
        with self._taking:
            lost, self._lost = self._lost, False
            news = self._news.popleft() if self._news else None
            self._untaken -= 0 if news is None else len(news.jobs)
        if lost:
            self._forget()
        return news

    def _forget(self) -> None:
        with self._lock:
            self._untold.clear()
            self._unknown.clear()
            self._book.clear()

    def _take(self, seen: _Seen, now: float) -> None:
        book, job, state = self._book, seen.job, seen.state
        self._untold.pop(job, None)
        self._unknown.pop(job, None)
        if state.ended or state is JobState.RUNNING:
            if seen.start is not None and not book.runs(job):
                if not book.waits(job):
                    book.submitted(job, seen.asked, seen.submit)
                book.started(job, seen.clusters, seen.sizes, seen.start)
            if state.ended:
                book.left(job)
                book.ended(job, seen.end or now)
            return
        if book.runs(job):  # it is to run once more
            book.ended(job, now)
        if state is JobState.HELD:
            book.left(job)
        elif not book.waits(job):
            book.submitted(job, seen.asked, now)
        if state is JobState.QUEUED and not book.expects(job):
            self._untold[job] = None

    # From any thread.

    def add(self, places: Places) -> Places:
        """The same with when these jobs start; nothing of those that are in no queue, since what
        keeps them there (a limit, a reservation, a drained cluster) tells the book nothing."""
        now = self._clock()
        with self._lock:
            known = {
                job: self._book.now(job, now)
                for job, place in places.items()
                if place.position is not None
            }
        starts = {job: told(start, now) for job, start in known.items() if start is not None}
        return {
            job: replace(place, start=starts[job]) if job in starts else place
            for job, place in places.items()
        }

    def preview(self, asked: Asked, now: float) -> Json | None:
        """When a job would start that was submitted now and had to wait; None also where too many
        ask at once."""
        if not self._previewing.acquire(timeout=_PATIENCE):
            return None
        try:
            with self._lock:
                question = self._book.ask(asked, now)
            if question is None:
                return None
            expected = question.expected()
            with self._lock:
                return told(self._book.settle(question, expected), now)
        finally:
            self._previewing.release()

    def achieved(self) -> Achieved:
        """How good the last intervals were."""
        with self._lock:
            return self._book.achieved()


def told(estimate: Estimate | None, now: float) -> Json | None:
    """An estimate as the API has it, in whole Unix seconds; never of the past."""
    if estimate is None:
        return None
    return {
        "earliest": float(max(floor(estimate.earliest), floor(now))),
        "likely": float(max(round(estimate.likely), floor(now))),
        "latest": float(max(ceil(estimate.latest), ceil(now))),
        "confidence": CONFIDENCE,
    }


def asked(job: Job | NewJob, queue: int) -> Asked:
    """A job as far as its start depends on it."""
    return Asked(job.request, float(job.time_limit), job.user, queue, job.name)


def _seen(job: Job) -> _Seen:
    parts = [part for part in job.components if part.processors]
    # In no queue while it waits for others, or is an array: it is as if it were held.
    aside = job.after is not None or job.array is not None or job.kept
    outside = job.state is JobState.QUEUED and aside
    return _Seen(
        job.id,
        JobState.HELD if outside else job.state,
        asked(job, job.queue),
        job.submit_time,
        job.start_time,
        job.end_time,
        tuple(part.cluster for part in parts),
        tuple(part.processors for part in parts),
    )


def _ended(row: Row, names: ClusterNames) -> Past | None:
    """A job that has run and ended, by its row; None: it has not, or a cluster is unknown now."""
    parts = [p for p in row["components"] if p["attempt"] == row["attempt"] and p["processors"]]
    where, start, end = [part["cluster"] for part in parts], row["start_time"], row["end_time"]
    if start is None or end is None or not parts or not set(where) <= set(names.names):
        return None
    named = row["clusters"] if set(row["clusters"] or ()) <= set(names.names) else None
    queue = names.queue_index(row["queue"]) if row["queue"] in ("", *names.names) else 0
    return Past(
        row["id"],
        Asked(
            names.request(row["sizes"], named),
            float(row["time_limit"]),
            row["user"],
            queue,
            row["name"],
        ),
        row["submit_time"],
        max(start, row["submit_time"]),
        max(end, start, row["submit_time"]),
        tuple(names.names.index(name) for name in where),
        tuple(part["processors"] for part in parts),
    )
