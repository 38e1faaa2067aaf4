"""Jobs as the store holds them: scripts, accounts, rows and events. Reads only."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Select, bindparam, func, literal, select, tuple_

from metabroker.broker.events import Outcome
from metabroker.broker.states import JobState
from metabroker.submission.dependency import Named
from metabroker.submission.tasks import TaskSet

from . import tables
from .database import Part, rows_of
from .ended import Place
from .tables import live, not_gone

_FEW = 500  # numbers that are named in a question
_s, _j = tables.scripts.c, tables.jobs.c


def _among(column: ColumnElement[int], some: str = "some") -> ColumnElement[bool]:
    """It is one of the numbers that are given by this name when the question is asked: an
    expression that has them within is in a cycle of references, and they with it."""
    return column.in_(bindparam(some, expanding=True))


# Built once: read at every step of an attempt, or for each page of a long list, where what is built
# anew would be kept until Python's collector of cycles comes by.
_place = tuple_(_j.end_time, _j.id)
_IN_ORDER = _j.id + 0  # by the plain number SQLite would look among all that have ended
_WORDS_OF_SPEC = [
    *(_s.spec[key].as_string().label(key) for key in ("chdir", "output", "error", "script_name")),
    _s.spec["asked"].as_json().label("asked"),
]
_SPECS = (
    select(_j.id.label("job"), *_WORDS_OF_SPEC)
    .join(tables.jobs, _s.job == func.coalesce(_j.of, _j.id))
    .where(_among(_j.id))
)
_AMONG_JOBS, _AMONG_ARRAYS = _among(_j.id), _among(_j.of)
_AMONG_TASKS = _among(_j.task, "tasks")
_PARTS = (
    select(tables.components)
    .join(tables.jobs, _j.id == tables.components.c.job)
    # A job may have been tried very many times: of former attempts only what is left counts. Or the
    # next one has begun since the job's own row was read: then the one before is its present one.
    .where(
        _among(tables.components.c.job),
        (tables.components.c.attempt >= _j.attempt - 1) | not_gone(),
    )
    .order_by(tables.components.c.job, tables.components.c.attempt, tables.components.c.component)
)
# A task's is its array's.
_ARRAY = select(_j.of).where(_j.id == bindparam("job")).scalar_subquery()
_ITS_SCRIPT = _s.job == func.coalesce(_ARRAY, bindparam("job"))
_SCRIPT = select(_s.script, _s.spec).where(_ITS_SCRIPT)
_TARGET = select(
    _s.spec["chdir"].as_string().label("chdir"),
    _s.secret,
    _s.spec["accounts"].label("accounts"),
    _s.user,
).where(_ITS_SCRIPT)
_REQUEST = select(_s.job).where(
    _s.user == bindparam("user"), _s.request_id == bindparam("request_id")
)
_TASK = select(_j.of, _j.task).where(_j.id == bindparam("job"), _j.of.is_not(None))
_ATTEMPT = (
    select(tables.components, tables.jobs.c.sizes)
    .join(tables.jobs, tables.jobs.c.id == tables.components.c.job)
    .where(
        tables.components.c.job == bindparam("job"),
        tables.components.c.attempt == bindparam("attempt"),
    )
    .order_by(tables.components.c.component)
)


@dataclass(frozen=True, slots=True)
class Selection:
    """Which ended jobs: of a user, in some states, that ended from `since` on and before `until`
    (Unix seconds); of these the `newest` so many. `after` and `up_to`: between these places in the
    order of ends only, the later one included."""

    user: str | None = None
    states: tuple[str, ...] = ()
    since: float | None = None
    until: float | None = None
    newest: int | None = None
    after: Place | None = None
    up_to: Place | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """Some jobs' rows, each with its `components` (rows too; see `JobQueries.rows`). `rest`: what
    selects the others; None: these are all. `older`: there are some more beside the newest that
    were asked for."""

    rows: list[dict[str, Any]]
    rest: Selection | None
    older: bool = False


class Target(NamedTuple):
    """Where a job meets the broker in one cluster, and as whom: it never changes. `account`: None:
    the broker's own; `owner`: the user who submitted it."""

    chdir: str
    secret: str
    account: str | None
    owner: str


class JobQueries(Part):
    """What is asked of the jobs. From any thread."""

    def find_request(self, user: str, request_id: str) -> int | None:
        """The job that this user's request has become, if it has."""
        found = self._column(_REQUEST, user=user, request_id=request_id)
        return found[0] if found else None

    def script(self, job: int) -> tuple[bytes, dict[str, Any]]:
        """A job's script and its spec.

        Raises:
            KeyError: no such job.
        """
        row = self._of(job, _SCRIPT)
        return row.script, row.spec

    def meeting_place(self, job: int) -> tuple[str, str]:
        """The job's folder, and the secret of its components' folders.

        Raises:
            KeyError: no such job.
        """
        row = self._of(job, _TARGET)
        return row.chdir, row.secret

    def target(self, job: int, cluster: str) -> Target:
        """Where the job meets the broker in a cluster, and as whom.

        Raises:
            KeyError: no such job.
        """
        row = self._of(job, _TARGET)
        return Target(row.chdir, row.secret, (row.accounts or {}).get(cluster), row.user)

    def _of(self, job: int, query: Select[Any]) -> Any:
        with self._guard(), self._engine.connect() as connection:
            row = connection.execute(query, {"job": job}).first()
        if row is None:
            raise KeyError(job)
        return row

    def specs(self, jobs: Sequence[int]) -> dict[int, dict[str, Any]]:
        """What these jobs' users asked for beside processors, without scripts and environments: by
        job, `chdir`, `output`, `error`, `script_name`, `asked`."""
        found: dict[int, dict[str, Any]] = {}
        for some in _chunks(jobs, 500):
            for row in self._rows(_SPECS, some=some):
                found[row.pop("job")] = row
        return found

    def live_accounts(self, cluster: str) -> set[str]:
        """The accounts, other than the broker's own, of components that are not gone yet."""
        s, c = tables.scripts.c, tables.components.c
        live = select(func.coalesce(_j.of, _j.id)).join(tables.components, c.job == _j.id)
        live = live.where(not_gone(), c.cluster == cluster)
        query = select(s.spec["accounts"][cluster].as_string()).where(s.job.in_(live)).distinct()
        return {account for account in self._column(query) if account}

    def all_accounts(self, cluster: str) -> set[str]:
        """The accounts, other than the broker's own, of all jobs that ever could be put there."""
        given = select(tables.scripts.c.spec["accounts"][cluster].as_string()).distinct()
        return {account for account in self._column(given) if account}

    def task(self, job: int) -> tuple[int, int] | None:
        """The array that a job is a task of, and which; None: of none."""
        found = self._rows(_TASK, job=job)
        return (found[0]["of"], found[0]["task"]) if found else None

    def tasks(self, arrays: Collection[int], tasks: Collection[int] | None = None) -> list[int]:
        """The jobs of these arrays' tasks (of these `tasks`), as far as there are any."""
        found: list[int] = []
        query = select(_j.id, _j.task).where(_AMONG_ARRAYS, _j.of.is_not(None))
        named = {}
        if tasks is not None and len(tasks) <= _FEW:
            query, named = query.where(_AMONG_TASKS), {"tasks": sorted(tasks)}
        for some in _chunks(sorted(arrays), 500):
            rows = self._rows(query, some=some, **named)
            found += [row["id"] for row in rows if tasks is None or row["task"] in tasks]
        return sorted(found)

    def joined_by(self, job: int, most: int) -> list[dict[str, Any]]:
        """The newest `most` of the jobs that have joined this one, as rows."""
        query = select(_j.id).where(_j.joins == job, _j.joins.is_not(None))
        found = self._column(query.order_by(_j.id.desc()).limit(most))
        return self.rows(ids=found) if found else []

    def ended_tasks(self) -> list[tuple[int, JobState, int | None]]:
        """Of which arrays that have not ended tasks have: array, state, and largest exit code."""
        array = tables.jobs.alias()
        query = select(_j.of, _j.state, func.max(_j.exit_code).label("code"))
        query = query.join(array, array.c.id == _j.of).where(_j.of.is_not(None), tables.ended())
        unended = array.c.end_time.is_(None)
        rows = self._rows(query.where(unended).group_by(_j.of, _j.state))
        return [(row["of"], JobState(row["state"]), row["code"]) for row in rows]

    def outcomes(self, named: Collection[Named]) -> dict[Named, Outcome]:
        """What has become of those of these jobs and tasks that have ended."""
        if not named:
            return {}
        c, found = tables.jobs.c, {}
        kept = select(c.id, c.of, c.task, c.state, c.start_time, c.end_time, c.array)
        tasks: dict[int, list[int]] = {}
        for each in named:
            tasks.setdefault(each.job, []).extend([each.task] * (each.task >= 0))
        for some in _chunks(sorted(tasks), 500):
            for row in self._rows(kept.where(tables.ended(), _AMONG_JOBS), some=some):
                found[Named(row["id"])] = _outcome(row)
                if row["array"] is not None:
                    gone = TaskSet.read(row["array"]["cancelled"])
                    cancelled = Outcome(JobState.CANCELLED, row["end_time"] or 0.0)
                    over = (task for task in tasks[row["id"]] if task in gone)
                    found |= {Named(row["id"], task): cancelled for task in over}
        of_array = kept.where(tables.ended(), c.of == bindparam("array"), _AMONG_TASKS)
        for array in sorted(tasks):
            for some in _chunks(sorted(tasks[array]), 500):
                for row in self._rows(of_array, array=array, tasks=some):
                    found[Named(array, row["task"])] = _outcome(row)
        return {each: found[each] for each in named if each in found}

    def attempt(self, job: int, attempt: int) -> list[dict[str, Any]]:
        """The components' rows of one attempt, in order; `asked`: the processors of its request,
        where it may hold more; `single`: it is the only one, or a sibling of that (see
        `broker.saga.line`)."""
        rows = self._rows(_ATTEMPT, job=job, attempt=attempt)
        for row in rows:
            sizes = row.pop("sizes")
            row["single"] = len(sizes) == 1
            part = 0 if row["single"] else row["component"]
            # Its job may have been split otherwise since: then nobody needs what is told here.
            row["asked"] = sizes[part] if part < len(sizes) else row["processors"]
        return rows

    def live(self, *, user: str | None = None, limit: int | None = None) -> list[int]:
        """The numbers of the jobs that have not ended, in their order; with `limit`, the first."""
        c = tables.jobs.c
        query = select(c.id).where(live())
        if user is not None:
            query = query.where(c.user == user)
        if limit is not None:
            return self._column(query.order_by(_IN_ORDER).limit(limit))
        return sorted(self._column(query))

    def rows(
        self,
        *,
        ids: Sequence[int] | None = None,
        ended: bool | None = None,
        user: str | None = None,
        limit: int | None = None,
    ) -> list[dict[str, Any]]:
        """Jobs' rows, each with its `components` (rows too), in order of id; with `limit`, only the
        first. `components`: those of its latest two attempts, and of former ones what is not gone;
        for the others see `attempt`."""
        c = tables.jobs.c
        query: Select[Any] = select(tables.jobs)
        if ids is not None:
            query = query.where(_AMONG_JOBS)
        if ended is not None:
            query = query.where(tables.ended() if ended else tables.live())
        if user is not None:
            query = query.where(c.user == user)
        query = query.order_by(c.id)
        if limit is not None:
            query = query.limit(limit)
        with self._guard(), self._engine.connect() as connection:
            return self._with_components(
                connection, query, **({} if ids is None else {"some": ids})
            )

    def history(self, wanted: Selection, most: int, *, numbers: bool = False) -> Page:
        """At most so many of the ended jobs that are selected, in the order of their ends;
        `numbers`: of each row its `id` and `end_time` alone, which takes little memory."""
        c, older = tables.jobs.c, False
        with self._guard(), self._engine.connect() as connection:
            if wanted.up_to is None:
                last = _nth_newest(connection, wanted, 0)
                if last is None:
                    return Page([], None)
                first = None
                if wanted.newest is not None:  # those asked for come after the next older one
                    first = _nth_newest(connection, wanted, wanted.newest)
                    older = first is not None
                wanted = replace(wanted, after=first, up_to=last, newest=None)
            columns = select(c.id, c.end_time) if numbers else select(tables.jobs)
            query = _selected(columns, wanted).order_by(c.end_time, c.id).limit(most + 1)
            read = rows_of if numbers else self._with_components
            rows = read(connection, query)
        if len(rows) <= most:
            return Page(rows, None, older)
        there = (rows[most - 1]["end_time"], rows[most - 1]["id"])
        return Page(rows[:most], replace(wanted, after=there), older)

    def newest_ended(self, wanted: Selection, most: int) -> list[int]:
        """The numbers alone of the newest `most` of them, in the order of their ends."""
        c = tables.jobs.c
        query = _selected(select(c.id), wanted).order_by(c.end_time.desc(), c.id.desc())
        return self._column(query.limit(most))[::-1]

    def _with_components(
        self, connection: Connection, query: Select[Any], **asked: Any
    ) -> list[dict[str, Any]]:
        rows = rows_of(connection, query, **asked)
        self._add_components(connection, rows)
        return rows

    def _add_components(self, connection: Connection, rows: list[dict[str, Any]]) -> None:
        by_id = {row["id"]: row for row in rows}
        for row in rows:
            row["components"] = []
        attempted = [row["id"] for row in rows if row["attempt"]]
        for some in _chunks(attempted, 500):
            for part in rows_of(connection, _PARTS, some=some):
                by_id[part["job"]]["components"].append(part)

    def events(self, job: int, newest: int | None = None) -> list[dict[str, Any]]:
        """A job's events, oldest first; of very many the `newest`."""
        c = tables.events.c
        query = select(c.time, c.attempt, c.what, c.detail).where(c.job == job)
        return self._rows(query.order_by(c.id.desc()).limit(newest))[::-1]


def first_events(jobs: JobQueries, job: int, most: int) -> list[dict[str, Any]]:
    """A job's first events, oldest first."""
    c = tables.events.c
    query = select(c.time, c.attempt, c.what, c.detail).where(c.job == job)
    return jobs._rows(query.order_by(c.id).limit(most))


def count_events(
    jobs: JobQueries, job: int, most: int | None = None, what: Collection[str] | None = None
) -> int:
    """How many events a job has (`what`: of these kinds); `most`: it is not counted any further."""
    c = tables.events.c
    some = select(c.id).where(c.job == job).limit(most)
    if what is not None:
        some = some.where(c.what.in_(what))
    return int(jobs._column(select(func.count()).select_from(some.subquery()))[0])


def _nth_newest(connection: Connection, wanted: Selection, number: int) -> Place | None:
    """The place of one of the ended jobs that are selected; the newest is number 0."""
    c = tables.jobs.c
    places = _selected(select(c.end_time, c.id), wanted)
    ordered = places.order_by(c.end_time.desc(), c.id.desc()).offset(number).limit(1)
    found = connection.execute(ordered).first()
    return None if found is None else (found.end_time, found.id)


@lru_cache(maxsize=64)  # there are few states
def _in_states(states: tuple[str, ...]) -> ColumnElement[bool]:
    return _j.state.in_(states)


def _selected(query: Select[Any], wanted: Selection) -> Select[Any]:
    c = tables.jobs.c
    conditions = [tables.ended()]
    if wanted.user is not None:
        conditions.append(c.user == wanted.user)
    if wanted.states:
        conditions.append(_in_states(wanted.states))
    if wanted.since is not None:
        conditions.append(c.end_time >= wanted.since)
    if wanted.until is not None:
        conditions.append(c.end_time < wanted.until)
    if wanted.after is not None:
        conditions.append(_place > tuple_(*map(literal, wanted.after)))
    if wanted.up_to is not None:
        conditions.append(_place <= tuple_(*map(literal, wanted.up_to)))
    return query.where(*conditions)


def _chunks(values: Sequence[int], size: int) -> Iterable[Sequence[int]]:
    return (values[start : start + size] for start in range(0, len(values), size))


def _outcome(row: dict[str, Any]) -> Outcome:
    began = row["start_time"] or row["end_time"] or 0.0
    return Outcome(JobState(row["state"]), began, row["array"] is not None)
