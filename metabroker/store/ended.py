"""Ended jobs whose time is over: what of them may go, and its removal in small transactions.

Three things of a job go, each at its own time after the job's end: its script, its events, and
last the job itself with all that is left of it. A job of which something is owed, or kept, in a
cluster stays with all that it has (`holds_something`): it tells where that is.

The job with the highest number stays too, and so does the last event. By these the store, and a
backup of it, know how far it has come: no number is given twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from enum import Enum
from typing import Any

from sqlalchemy import (
    Connection,
    Engine,
    Select,
    Text,
    delete,
    exists,
    func,
    insert,
    literal,
    select,
    tuple_,
    update,
)

from metabroker.broker.states import Cause, Phase, Step

from . import tables
from .database import Guard, Part, rows_of

Row = Mapping[str, Any]
Place = tuple[float, int]
"""A job's place in the order of ends: when it ended (Unix seconds), and its number."""

FIRST: Place = (-1e300, 0)
_ROWS = 20_000  # events and components of a batch, unless one job alone has more
_GONE: Mapping[str, Any] = {
    "args": [],
    "environment": {},
    "native": {},
    "stage_in": [],
    "stage_out": [],
    "input_at": [],
}
"""What of a job's spec goes with its script. The rest stays as long as the job: whoever must clean
up behind it goes by that."""


class What(Enum):
    """What of a job goes."""

    SCRIPT = "script"
    EVENTS = "events"
    JOB = "job"


@dataclass(frozen=True, slots=True)
class EndedJob:
    """One job, as far as it is to go: its row, its components' of all attempts, its events, and
    its script with what else only its start needs (None: that has gone before)."""

    row: Row
    components: Sequence[Row]
    events: Sequence[Row]
    script: Row | None

    @property
    def number(self) -> int:
        """The job's number."""
        number: int = self.row["id"]
        return number


@dataclass(frozen=True, slots=True)
class Batch:
    """Some jobs in the order of their ends; `last`: the place up to which was looked."""

    jobs: Sequence[EndedJob]
    last: Place


@dataclass(frozen=True, slots=True)
class Archived:
    """One pair of files of the archive. Times in Unix seconds, sizes in bytes: what lies beyond
    them in the files does not count."""

    name: str
    folder: str
    began: float
    latest: float
    jobs: int = 0
    first_job: int | None = None
    last_job: int | None = None
    lines_size: int = 0
    swf_size: int = 0


class Changed(Exception):
    """What is in the store is not what was archived: nothing was removed."""


def holds_something(components: Sequence[Row], events: Sequence[Row]) -> bool:
    """Whether a cluster may hold something of a job, is owed a step for it, or keeps results that
    could not be brought back."""
    return any(
        part["phase"] != Phase.GONE.value
        or part["step"] != Step.NONE.value
        or part["cause"] == Cause.RESULTS.value
        for part in components
    ) or any(event["what"] == "results kept" for event in events)


class EndedJobs(Part):
    """The tables, for whoever leads."""

    def __init__(
        self, engine: Engine, guard: Guard, fence: Callable[[Connection, int], None]
    ) -> None:
        """`fence`: see `Leadership.fence`."""
        super().__init__(engine, guard)
        self._fence = fence

    def batch(
        self, what: What, before: float, after: Place, most: int, bytes_: int
    ) -> Batch | None:
        """Of the next `most` jobs that ended before a moment and have such a thing, those of which
        it may go; None: there are no more. Fewer where their scripts have so many bytes, or they
        have very many events and components."""
        j = tables.jobs.c
        newest = select(func.max(j.id)).scalar_subquery()
        place = tuple_(j.end_time, j.id) > tuple_(literal(after[0]), literal(after[1]))
        due = select(tables.jobs).where(tables.ended(), place, j.end_time < before, j.id < newest)
        if what is What.JOB:
            due = due.where(_without_tasks())
        else:
            due = due.where(_present(what))
        due = due.order_by(j.end_time, j.id).limit(most)
        with self._guard(), self._engine.connect() as connection:
            rows: list[Row] = list(rows_of(connection, due))
            if not rows:
                return None
            rows = _cut(connection, rows, bytes_) if what is not What.EVENTS else rows
            rows = _few(connection, rows)
            jobs = _whole(connection, rows, scripts=what is not What.EVENTS)
        chosen = [job for job in jobs if not holds_something(job.components, job.events)]
        return Batch(chosen, (rows[-1]["end_time"], rows[-1]["id"]))

    def remove(
        self, what: What, jobs: Sequence[EndedJob], archived: Archived, term: int | None
    ) -> None:
        """Remove what has been archived, and note how far its files count now.

        Raises:
            Changed: the store does not hold what was archived any more; nothing was removed.
            LeadershipLost: the same; another broker leads.
        """
        numbers = [job.number for job in jobs]
        with self._writing(term) as connection:
            _note(connection, archived)  # first: from here on nobody else writes to an SQLite file
            if what is What.SCRIPT:
                _drop_scripts(connection, jobs)
                return
            if _extent(connection, numbers) != _archived_extent(jobs):
                raise Changed("a job has changed while it was archived")
            _drop_events(connection, numbers)
            if what is What.JOB:
                for table, column in (
                    (tables.components, tables.components.c.job),
                    (tables.scripts, tables.scripts.c.job),
                    (tables.jobs, tables.jobs.c.id),
                ):
                    connection.execute(delete(table).where(column.in_(numbers)))

    def archive(self, name: str) -> Archived | None:
        """The files of that name, as far as they count."""
        found = self._archived(select(tables.archives).where(tables.archives.c.name == name))
        return found[0] if found else None

    def archives(self) -> list[Archived]:
        """All files, the oldest first."""
        c = tables.archives.c
        return self._archived(select(tables.archives).order_by(c.began, c.name))

    def files_of(self, job: int) -> list[Archived]:
        """The files of which one has the job, if it has been removed; none: it has not."""
        c = tables.archives.c
        around = select(tables.archives).where(c.first_job <= job, c.last_job >= job)
        return self._archived(around.order_by(c.began, c.name))

    def submitted(self, numbers: Sequence[int]) -> dict[int, float]:
        """When jobs were submitted, of those that are there."""
        j = tables.jobs.c
        rows = self._rows(select(j.id, j.submit_time).where(j.id.in_(numbers)))
        return {row["id"]: row["submit_time"] for row in rows}

    def _archived(self, query: Select[Any]) -> list[Archived]:
        return [Archived(**row) for row in self._rows(query)]

    @contextmanager
    def _writing(self, term: int | None) -> Iterator[Connection]:
        with self._guard(), self._engine.begin() as connection:
            if term is not None:
                self._fence(connection, term)
            yield connection


def _note(connection: Connection, archived: Archived) -> None:
    table, values = tables.archives, asdict(archived)
    again = update(table).where(table.c.name == archived.name).values(values)
    if connection.execute(again).rowcount == 0:
        connection.execute(insert(table).values(values))


def _without_tasks() -> Any:
    """That it is no array of which tasks are kept: their script is its own."""
    task = tables.jobs.alias()
    return ~exists().where(task.c.of == tables.jobs.c.id, task.c.of.is_not(None))


def _present(what: What) -> Any:
    """That there is anything of that to go."""
    s, e, job = tables.scripts.c, tables.events.c, tables.jobs.c.id
    if what is What.SCRIPT:
        return exists().where(s.job == job, func.length(s.script) > 0)
    return exists().where(e.job == job)


def _extent(connection: Connection, numbers: Sequence[int]) -> tuple[int, ...]:
    """How many of these jobs have ended, their components and those that hold something, their
    events and the last of these. An ended job changes in nothing else: so nothing is read again
    while others cannot write."""
    j, c, e = tables.jobs.c, tables.components.c, tables.events.c
    locked = select(j.id).where(tables.ended(), j.id.in_(numbers)).with_for_update()
    parts = select(func.count()).where(c.job.in_(numbers))
    events = select(func.count(), func.coalesce(func.max(e.id), 0)).where(e.job.in_(numbers))
    return (
        len(connection.execute(locked).all()),
        connection.execute(parts).scalar_one(),
        connection.execute(parts.where(tables.not_gone())).scalar_one(),
        *connection.execute(events).one(),
    )


def _archived_extent(jobs: Sequence[EndedJob]) -> tuple[int, ...]:
    events = [event["id"] for job in jobs for event in job.events]
    parts = sum(len(job.components) for job in jobs)
    return len(jobs), parts, 0, len(events), max(events, default=0)


def _cut(connection: Connection, rows: list[Row], most: int) -> list[Row]:
    """The first of these, whose scripts and specs together have at most so many bytes."""
    s = tables.scripts.c
    sizes = select(s.job, func.length(s.script) + func.length(s.spec.cast(Text)))
    given = connection.execute(sizes.where(s.job.in_([row["id"] for row in rows]))).all()
    size = {row[0]: row[1] for row in given}
    total = 0
    for index, row in enumerate(rows):
        total += size.get(row["id"], 0)
        if total > most:
            return rows[: max(1, index)]
    return rows


def _few(connection: Connection, rows: list[Row]) -> list[Row]:
    """The first of these, whose events and components together are at most so many: all are in
    memory at once, and go in one transaction, in which nobody else can write."""
    numbers, count = [row["id"] for row in rows], Counter[int]()
    for of in (tables.events.c.job, tables.components.c.job):
        counted = select(of, func.count()).where(of.in_(numbers)).group_by(of)
        for job, found in connection.execute(counted):
            count[job] += found
    total = 0
    for index, number in enumerate(numbers):
        total += count[number]
        if total > _ROWS:
            return rows[: max(1, index)]
    return rows


def _whole(connection: Connection, rows: Sequence[Row], *, scripts: bool) -> list[EndedJob]:
    """These jobs with all that is theirs."""
    numbers = [row["id"] for row in rows]
    parts, events, s = tables.components, tables.events, tables.scripts
    ordered = select(parts).order_by(parts.c.job, parts.c.attempt, parts.c.component)
    of_parts = _by_job(connection, ordered.where(parts.c.job.in_(numbers)))
    told = select(events).where(events.c.job.in_(numbers)).order_by(events.c.id)
    of_events = _by_job(connection, told)
    of_scripts = {}
    if scripts:
        of_scripts = _by_job(connection, select(s).where(s.c.job.in_(numbers)))
    return [
        EndedJob(
            row,
            of_parts.get(row["id"], []),
            of_events.get(row["id"], []),
            next(iter(of_scripts.get(row["id"], ())), None),
        )
        for row in rows
    ]


def _by_job(connection: Connection, query: Select[Any]) -> dict[int, list[Row]]:
    found: dict[int, list[Row]] = {}
    for row in rows_of(connection, query):
        found.setdefault(row["job"], []).append(row)
    return found


def _drop_events(connection: Connection, numbers: Sequence[int]) -> None:
    e = tables.events.c
    newest = select(func.max(e.id)).scalar_subquery()
    connection.execute(delete(tables.events).where(e.job.in_(numbers), e.id < newest))


def _drop_scripts(connection: Connection, jobs: Sequence[EndedJob]) -> None:
    """The row stays: by it a request id is known, and what may be left in a cluster is found."""
    for job in jobs:
        assert job.script is not None, "one that has none was not chosen"
        spec = {**job.script["spec"], **_GONE}
        gone = update(tables.scripts).where(tables.scripts.c.job == job.number)
        connection.execute(gone.values(script=b"", spec=spec))
