"""Jobs as users read them, from the store: the same for every broker that uses it."""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from metabroker.api.answers import encode
from metabroker.api.calls import DEFAULT, GREATEST, LARGEST_PAGE, cursor
from metabroker.api.pages import PAGE, Pages, page
from metabroker.api.service import Failure, Json, ServiceError
from metabroker.broker.events import Outcome
from metabroker.broker.states import IN_ATTEMPT, JobState
from metabroker.store import Store, StoreUnavailable
from metabroker.store.ended import Archived
from metabroker.store.job_queries import Page, Selection, count_events, first_events
from metabroker.submission.dependency import Named
from metabroker.submission.tasks import TaskSet

from . import orphans_view, reasons, under_way
from .job_view import job_view, joined_view, start_view

T = TypeVar("T")
Row = dict[str, Any]
Places = dict[int, reasons.Waiting]
"""Where jobs wait, by their numbers, and why: what only the core of the broker that leads knows."""
Where = Callable[[Sequence[Row]], Places]


class Listing(Protocol):
    """What is told of the jobs of a long list, page after page, as of one moment."""

    def places(self, rows: Sequence[Row]) -> Places:
        """Of those of these rows that wait."""

    def texts(self, numbers: Sequence[int]) -> dict[int, bytes]:
        """Those of these jobs that need not be read from the store, as JSON."""


_LATE = 2.0  # seconds of an error for which others need not wait, too
_AWAY = 1.0  # seconds for which it is told to all who ask
_MOST_EVENTS, _FIRST_EVENTS = 2000, 100  # of a job: the newest, and of these many the first
_MOST_FILES = 3  # that are named
_MOST_JOINED = 64  # jobs that have joined one, the newest
ENDED_WORDS = frozenset(state.value for state in JobState if state.ended)
_IN_ATTEMPT_WORDS = frozenset(state.value for state in IN_ATTEMPT) - {JobState.RUNNING.value}


@dataclass(frozen=True, slots=True)
class _Away:
    """`why` the store does not answer; it is not asked again before (monotonic clock)."""

    why: str
    until: float


class Queries:
    """Those calls of `metabroker.api.service.Service` that the store answers."""

    def __init__(
        self,
        store: Store,
        places: Where,
        listing: Callable[[], Listing],
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`places`: of those of these rows that wait; `listing`: begins a long list; `clock`: by
        which the times of the store are."""
        self._store = store
        self._places = places
        self._listing = listing
        self._clock = clock
        self.instance = store.instance
        self._away: _Away | None = None
        self._answered = 0.0  # when somebody's read was last (monotonic clock)

    def calls(self) -> Mapping[str, Callable[..., Json]]:
        """The calls of the API that are answered here."""
        return {
            "job": self.job,
            "queue": self.active,
            "history": self.ended,
            "records": self.records,
            "links": self.links,
        }

    def links(self) -> Json:
        """What was measured between clusters."""
        known = self.reading(self._store.systems.links)
        return {"links": [link.told() for link in known]}

    def job(self, job: int, tasks: str | None = None) -> Json:
        """One job with its history; `tasks`: one of an array's."""
        job = job if tasks is None else self.task(job, tasks)
        row = self.row(job)
        view = self.view(row, self._places([row]) if row["state"] == "QUEUED" else {})
        view["events"], view["events_left_out"] = self._events(job)
        joined = self.reading(lambda: self._store.jobs.joined_by(job, _MOST_JOINED))
        view["joined_by"] = joined_view(joined)
        # Each job has events from its submission on.
        view["events_kept"] = bool(view["events"])
        view["chdir"], _secret = self.reading(lambda: self._store.jobs.meeting_place(job))
        return view

    def _events(self, job: int) -> tuple[list[Json], int]:
        """Its events, and of very many the first ones and the newest; and how many there are
        between these."""
        jobs, left_out = self._store.jobs, 0
        found = self.reading(lambda: jobs.events(job, newest=_MOST_EVENTS))
        if len(found) == _MOST_EVENTS:
            left_out = self.reading(lambda: count_events(jobs, job)) - len(found)
        if left_out > 0:
            first = self.reading(lambda: first_events(jobs, job, _FIRST_EVENTS))
            found = first + found[len(first) :]
        return [
            {"time": e["time"], "event": e["what"], "attempt": e["attempt"], **e["detail"]}
            for e in found
        ], max(0, left_out)

    def tasks_of(self, job: int, tasks: str) -> TaskSet:
        """Tasks of an array. Raises `ServiceError`."""
        if self.row(job)["array"] is None:
            what, advice = f"job {job} is no array", f"see: metabroker show {job}"
            raise ServiceError(Failure.NOT_FOUND, what, advice)
        return TaskSet.read(tasks)

    def task(self, job: int, tasks: str) -> int:
        """The job of one task of an array. Raises `ServiceError`."""
        wanted = self.tasks_of(job, tasks)
        found = []
        if len(wanted) == 1:
            found = self.reading(lambda: self._store.jobs.tasks([job], wanted))
        if not found:
            what, advice = f"task {tasks} of job {job} is no job of its own yet", "name the array"
            raise ServiceError(Failure.NOT_FOUND, what, advice)
        return found[0]

    def count_changes(self, job: int, most: int) -> int:
        """How often it was held, released or changed, counted up to `most`."""
        what = ("held", "released", "changed")
        return self.reading(lambda: count_events(self._store.jobs, job, most, what))

    def outcomes(self, named: Collection[Named]) -> Mapping[Named, Outcome]:
        """What has become of those of these jobs that have ended."""
        return self.reading(lambda: self._store.jobs.outcomes(named))

    def active(self, *, user: str | None = None, limit: int | None = None) -> Json:
        """Jobs that have not ended: those that had not when this was asked, and have not when their
        page is read. A long list comes in `Pages`; where its jobs wait, and why, is as of its
        first page (from a broker that stands by: as of each page)."""
        numbers = self.reading(lambda: self._store.jobs.live(user=user, limit=limit))
        if len(numbers) <= PAGE:
            return {"jobs": self._active(numbers, self._places)}
        return {"jobs": Pages(self._pages(array("q", numbers)))}  # a quarter of a list's memory

    def records(
        self,
        *,
        jobs: Sequence[int] | None = None,
        user: str | None = None,
        since: float | None = None,
    ) -> Json:
        """These jobs, or those that have not ended, or have since then: each with what its user
        asked for (`"spec"`: `chdir`, `output`, `error`, `script_name`, `asked`; null: not kept)."""
        if jobs is None:
            numbers = self.reading(lambda: self._store.jobs.live(user=user))
            wanted = Selection(user, (), since)
            ended = self.reading(lambda: self._store.jobs.newest_ended(wanted, GREATEST))
            numbers = list(dict.fromkeys((*ended, *numbers)))
        else:
            tasks = self.reading(lambda: self._store.jobs.tasks(jobs))
            numbers = sorted({*jobs, *tasks})
        told = {"instance": self.instance, "time": self._clock()}
        if len(numbers) <= PAGE:
            return {"jobs": self._records(numbers, self._places), **told}
        return {"jobs": Pages(self._pages_of_records(array("q", numbers))), **told}

    def _pages_of_records(self, numbers: Sequence[int]) -> Iterator[bytes]:
        listing = self._listing()
        for first in range(0, len(numbers), PAGE):
            some = list(numbers[first : first + PAGE])
            yield page(self._records(some, listing.places))

    def _records(self, numbers: Sequence[int], where: Where) -> list[Json]:
        rows = self.rows(numbers)
        places = where([row for row in rows if row["state"] == JobState.QUEUED.value])
        specs = self.reading(lambda: self._store.jobs.specs([row["id"] for row in rows]))
        return [{**self.view(row, places), "spec": specs.get(row["id"])} for row in rows]

    def _pages(self, numbers: Sequence[int]) -> Iterator[bytes]:
        listing = self._listing()
        for first in range(0, len(numbers), PAGE):
            some = list(numbers[first : first + PAGE])
            texts = listing.texts(some)
            others = [number for number in some if number not in texts]
            if others:
                views = self._active(others, listing.places)
                texts |= {view["job"]: encode(view) for view in views}
            yield b",".join(texts[number] for number in some if number in texts)

    def _active(self, numbers: Sequence[int], where: Where) -> list[Json]:
        rows = [row for row in self.rows(numbers) if row["state"] not in ENDED_WORDS]
        places = where(rows)
        return [self.view(row, places) for row in rows]

    def ended(
        self,
        *,
        user: str | None = None,
        since: float | None = None,
        until: float | None = None,
        state: Sequence[str] = (),
        limit: int | None = DEFAULT,
        page: int = LARGEST_PAGE,
        after: Sequence[Sequence[float]] | None = None,
    ) -> Json:
        """Of the jobs that have ended the newest `limit` (None: all), in the order of their ends.

        An answer has `page` of them at most, and comes in `Pages` itself where these are many.
        Where there are more, `"next"` is what `after` must be for those that follow (else null).
        `"older"`: whether jobs were left out for the limit.
        """
        places: Sequence[Any] = (None, None) if after is None else [(a, int(b)) for a, b in after]
        newest = limit if after is None else None
        wanted = Selection(user, tuple(state), since, until, newest, *places)
        found = self._history(wanted, min(page, LARGEST_PAGE))
        rest, numbers = found.rest, [row["id"] for row in found.rows]
        few = len(numbers) <= PAGE
        return {
            "jobs": self._ended(numbers)
            if few
            else Pages(self._pages_of_ended(array("q", numbers))),
            "next": None if rest is None else cursor((rest.after, rest.up_to)),
            "older": found.older,
        }

    def _history(self, wanted: Selection, most: int) -> Page:
        return self.reading(lambda: self._store.jobs.history(wanted, most, numbers=True))

    def _pages_of_ended(self, numbers: Sequence[int]) -> Iterator[bytes]:
        for first in range(0, len(numbers), PAGE):
            yield page(self._ended(list(numbers[first : first + PAGE])))

    def _ended(self, numbers: Sequence[int]) -> list[Json]:
        """In this order; without those that were removed since."""
        found = {row["id"]: row for row in self.rows(numbers)}
        return [self.of_row(found[number]) for number in numbers if number in found]

    def ended_among(self, jobs: Sequence[int]) -> list[Json]:
        """Those of these jobs that have ended."""
        rows = self.reading(lambda: self._store.jobs.rows(ids=jobs, ended=True))
        return [self.of_row(row) for row in rows]

    def rows(self, jobs: Sequence[int]) -> list[Row]:
        """The rows of these jobs."""
        return self.reading(lambda: self._store.jobs.rows(ids=jobs))

    def of_row(self, row: Row) -> Json:
        """A job's object as its row tells it."""
        return job_view(row, self.instance)

    def view(self, row: Row, places: Places) -> Json:
        """A job's object, with where and why it waits."""
        place = places.get(row["id"])
        reason = None
        if row["state"] == "QUEUED":
            reason = place.reason if place is not None else row["reason"]
        elif row["state"] in _IN_ATTEMPT_WORDS:
            reason = under_way.why_not_yet(row)
        view = job_view(row, self.instance, reason)
        view["position"] = place.position if place is not None else None
        view |= start_view(place.start if place is not None else None)
        if view["plan"] is not None:
            view["earliest_start"] = view["plan"]["start"]
        return view

    def row(self, number: int) -> Row:
        """A job's row. Raises `ServiceError`."""
        rows = self.reading(lambda: self._store.jobs.rows(ids=[number]))
        if not rows:
            lost = self.reading(self._store.restorations.history).lost(number)
            if lost is not None:
                raise orphans_view.lost_job(lost, number)
            archived = self.reading(lambda: self._store.ended.files_of(number))
            if archived:
                raise no_longer_kept(number, archived)
            raise ServiceError(
                Failure.NOT_FOUND, f"there is no job {number}", "list them with: metabroker queue"
            )
        return rows[0]

    def reading(self, read: Callable[[], T]) -> T:
        """What is read. Raises `ServiceError` where it cannot be: at once where the store has just
        kept somebody waiting for that, since all who ask wait in the same few threads."""
        began = time.monotonic()
        if self._away is not None and began < self._away.until:
            raise unavailable(self._away.why)
        try:
            found = read()
        except StoreUnavailable as error:
            ended = time.monotonic()
            # Else it is this read that takes too long, and others are answered beside it.
            if ended - began >= _LATE and self._answered < began:
                self._away = _Away(str(error), ended + _AWAY)
            raise unavailable(str(error)) from error
        self._answered = time.monotonic()
        return found


def no_longer_kept(number: int, archived: Sequence[Archived]) -> ServiceError:
    """A job of that number was removed, if there was one."""
    when = time.strftime("%Y-%m-%d", time.localtime(archived[-1].latest))
    files = " or ".join(f"{each.folder}/{each.name}.jsonl" for each in archived[-_MOST_FILES:])
    return ServiceError(
        Failure.NOT_FOUND,
        f"job {number} is no longer kept: ended jobs of its time were archived and removed, the "
        f"last of them on {when}",
        f"look for it in {files} on the broker's host",
    )


def unavailable(why: str) -> ServiceError:
    """Not now."""
    return ServiceError(Failure.UNAVAILABLE, why, "try again later; nothing was changed")
