"""The store: one writer (the core's thread), any number of readers."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from sqlalchemy import Connection, Row, Table, func, insert, select, union, update
from sqlalchemy.dialects import postgresql, sqlite

from metabroker.broker.drained import Drained
from metabroker.broker.events import Outcome
from metabroker.broker.identities import System
from metabroker.broker.job import Component, Job
from metabroker.broker.links import Link
from metabroker.broker.outbox import Ready
from metabroker.broker.states import JobState
from metabroker.submission.dependency import Named

from . import postgres, tables
from .access_tokens import TokenTable
from .batches import Batches
from .database import Guard, StoreUnavailable, guard, open_engine, place, rows_of
from .ended import EndedJobs
from .job_queries import JobQueries
from .leadership import Clock, Leadership, LeadershipLost, MustRestart, database_clock
from .listener import Listener
from .moving import Extent, Told, extent, move
from .requests import Requests
from .restoration_log import RestorationLog
from .rows import ClusterNames, component_of, component_row, event_row, job_of, job_row
from .schema import bring_up_to_date
from .systems import DRAINED, LINKS, SYSTEMS, Systems, told
from .tables import live, unfinished

_EVENTS = insert(tables.events)
_MEMORY = "policy memory"
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Accepted:
    """A submission that became a job: what only its start needs, kept beside it."""

    job: int
    user: str
    request_id: str | None
    script: bytes
    spec: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Transaction:
    """All that is written in one transaction. `memory`: what the policy must remember besides
    the waiting jobs, `systems`: what each cluster is, `drained`: those that are drained, both by
    name, `links`: what was measured between them; None: that has not changed. `id`: by
    which the store knows that it has been written already, where the answer to a commit was lost.
    """

    ready: Ready
    accepted: Sequence[Accepted] = ()
    clusters: Sequence[Mapping[str, Any]] = ()
    memory: Any = None
    systems: Mapping[str, System] | None = None
    drained: Mapping[str, Drained] | None = None
    links: Sequence[Link] | None = None
    id: str = field(default_factory=lambda: secrets.token_hex(8))

    def __bool__(self) -> bool:
        known = (self.memory, self.systems, self.drained, self.links)
        facts = any(fact is not None for fact in known)
        # A mishap is told by who leads, which only the database knows.
        told = self.ready.mishaps
        return bool(self.ready or told or self.accepted or self.clusters or facts)


@dataclass(frozen=True, slots=True)
class Recovered:
    """What the store holds of everything that has not ended, or still has something pending.

    `components`: all of the present attempts, the ended ones too, since an attempt's outcome is
    made of all of its components; of former attempts those that are not gone. Of a job that stands
    in line all of its siblings: their names are not given again. `ended`: what has become of other
    jobs, which some of these wait for; `tasks`: of arrays among these.
    """

    jobs: list[Job]
    components: list[Component]
    next_job: int
    memory: Any  # what `Transaction.memory` said last, or None
    unreadable: Mapping[int, Exception] = field(default_factory=dict)  # by jobs' numbers
    ended: Mapping[Named, Outcome] = field(default_factory=dict)
    tasks: Sequence[tuple[int, JobState, int | None]] = ()


class Store:
    """One database, brought up to date when it is opened.

    Raises:
        StoreUnavailable: it cannot be opened, or was written by a newer metabroker.
    """

    def __init__(self, url: str, *, migrate: bool = True, clock: Clock = database_clock) -> None:
        """`clock`: the database's, for leases."""
        self._engine = open_engine(url)
        self._guard = self._guarded(guard(self._engine))
        self._upserts: dict[str, Any] = {}  # by table
        with self._guard():
            bring_up_to_date(self._engine, migrate=migrate)
            self.instance = self._made_once("instance", secrets.token_hex(4))
            self.key = self._made_once("key", secrets.token_hex(16))
        self._make_parts(clock)
        self.term: int | None = None  # in whose name is written, where there are several brokers
        self._writer: Connection | None = None

    def _make_parts(self, clock: Clock) -> None:
        self._batches = Batches()
        self.jobs = JobQueries(self._engine, self._guard)
        self.access_tokens = TokenTable(self._engine, self._guard)
        self.leadership = Leadership(self._engine, self._guard, clock)
        self.ended = EndedJobs(self._engine, self._guard, lambda c, t: self.leadership.fence(c, t))
        self.requests = Requests(self._engine, self._guard, self.instance, clock)
        self.restorations = RestorationLog(self._engine, self._guard)
        self.systems = Systems(self._engine, self._guard, self.leadership)

    def _guarded(self, uses: Guard) -> Guard:
        """What stands around each use of the database; tests let it fail."""
        return uses

    # --- writing ------------------------------------------------------------------------------

    def commit(self, batch: Transaction, names: ClusterNames) -> None:
        """Write it all, or nothing; durable when this returns.

        Raises:
            StoreUnavailable: nothing was written (or: it cannot be told; writing the same batch
                again is safe).
            LeadershipLost: nothing was written, since another broker leads.
            CommitsLost: nothing was written, since the database has lost what was before it.
        """
        try:
            self._commit(batch, names)
            self._batches.before = batch.id
        except MemoryError as error:
            where = place(self._engine.url)
            raise StoreUnavailable(f"store {where}: too little memory to write to it") from error

    def _commit(self, batch: Transaction, names: ClusterNames) -> None:
        ready = batch.ready
        with self._guard(), self._write() as connection:
            if self.term is not None:
                self.leadership.fence(connection, self.term)
            if not self._batches.is_new(connection, batch.id):
                return
            if batch.accepted:
                rows = [_script_row(accepted) for accepted in batch.accepted]
                self._upsert(connection, tables.scripts, rows)
            self._upsert(connection, tables.jobs, [job_row(j, names) for j in ready.jobs])
            self._upsert(
                connection, tables.components, [component_row(c, names) for c in ready.components]
            )
            if ready.journal:
                connection.execute(_EVENTS, [event_row(entry) for entry in ready.journal])
            self._upsert(connection, tables.clusters, [dict(c) for c in batch.clusters])
            facts = {_MEMORY: batch.memory, SYSTEMS: batch.systems, DRAINED: told(batch.drained)}
            facts[LINKS] = None if batch.links is None else [link.told() for link in batch.links]
            rows = [{"name": n, "value": json.dumps(v)} for n, v in facts.items() if v is not None]
            self._upsert(connection, tables.facts, rows)

    def _upsert(self, connection: Connection, table: Table, rows: list[dict[str, Any]]) -> None:
        if rows:
            connection.execute(self._statement(table), rows)

    def _statement(self, table: Table) -> Any:
        found = self._upserts.get(table.name)
        if found is None:
            keys = [column.name for column in table.primary_key]
            statement = self._dialect.insert(table)
            if table is tables.scripts:
                # A script is written once: its secret stays when a batch is written again.
                found = self._once(table)
            else:
                new = {c.name: statement.excluded[c.name] for c in table.c if c.name not in keys}
                found = statement.on_conflict_do_update(index_elements=keys, set_=new)
            self._upserts[table.name] = found
        return found

    def _once(self, table: Table) -> Any:
        """An insert of what is not there yet."""
        keys = [column.name for column in table.primary_key]
        return self._dialect.insert(table).on_conflict_do_nothing(index_elements=keys)

    @property
    def _dialect(self) -> Any:
        return sqlite if self._engine.dialect.name == "sqlite" else postgresql

    # --- recovering ---------------------------------------------------------------------------

    def known_clusters(self) -> dict[str, int]:
        """Processors of each cluster, as last seen."""
        return {row["name"]: row["processors"] for row in self.cluster_rows()}

    def cluster_rows(self) -> list[dict[str, Any]]:
        """What was last seen of each cluster."""
        query = select(tables.clusters).order_by(tables.clusters.c.name)
        with self._guard(), self._engine.connect() as connection:
            return rows_of(connection, query)

    def referred_clusters(self) -> set[str]:
        """The clusters that unfinished work refers to."""
        c, active = tables.jobs.c, live()
        with self._guard(), self._engine.connect() as connection:
            where = select(tables.components.c.cluster)
            owed = union(*(where.where(each) for each in unfinished()))
            used = set(connection.execute(owed).scalars())
            for column in (c.queue, c.local, c.home):
                used.update(connection.execute(select(column).where(active).distinct()).scalars())
            ordered = select(c.clusters).where(active, c.clusters.is_not(None))
            for names in connection.execute(ordered).scalars():
                used.update(names or ())
        return {name for name in used if name}

    def recover(self, names: ClusterNames) -> Recovered:
        """All that has not ended, or still has something pending, as it was last written."""
        unreadable: dict[int, Exception] = {}
        self._batches.before = None  # what is there counts, whoever wrote it
        with self._guard(), self._engine.connect() as connection:
            open_ = select(tables.jobs).where(live()).order_by(tables.jobs.c.id)
            jobs = list(_readable(rows_of(connection, open_), "id", job_of, names, unreadable))
            parts = select(tables.components)
            wanted = union(*(parts.where(each) for each in unfinished()))
            ordered = wanted.order_by("job", "attempt", "component")
            rows = rows_of(connection, ordered)
            components = list(_readable(rows, "job", component_of, names, unreadable))
            last = connection.execute(select(func.max(tables.jobs.c.id))).scalar() or 0
            memory = self._fact(connection, _MEMORY)
        remembered = None if memory is None else json.loads(memory)
        named = frozenset[Named]().union(*(_named(job) for job in jobs))
        ended = self.jobs.outcomes(named)
        arrays = any(job.array is not None for job in jobs)
        tasks = self.jobs.ended_tasks() if arrays else []
        return Recovered(jobs, components, last + 1, remembered, unreadable, ended, tasks)

    def give_up(self, job: int, reason: str, now: float) -> None:
        """End a job that cannot be read as FAILED."""
        c = tables.jobs.c
        words = {"state": JobState.FAILED.value, "reason": reason, "end_time": now}
        with self._guard(), self._write() as connection:
            if self.term is not None:
                self.leadership.fence(connection, self.term)
            connection.execute(update(tables.jobs).where(c.id == job).values(**words))

    # --- the database itself ------------------------------------------------------------------

    def confirm(self) -> None:
        """It is the store that was opened, not another one in its place; this broker may write
        into it, and what it has written last is there. For the writer, between two transactions.

        Raises:
            LeadershipLost: it is not, or another broker leads: its opener must restart itself.
            CommitsLost: so it must, since the database is an older one.
        """
        with self._guard(), self._engine.connect() as connection:
            postgres.hurry(connection, postgres.SILENCE)
            found = self._fact(connection, "instance")
            if found != self.instance:
                raise LeadershipLost(f"the database is broker {found}'s now, not {self.instance}'s")
            if self.term is not None:
                self.leadership.fence(connection, self.term)
            self._batches.confirm(connection)

    def extent(self) -> Extent:
        """How far it has come, as it is now."""
        with self._guard(), self._engine.connect() as connection:
            return extent(connection)

    def move_in(self, source: Store, term: int, told: Told) -> Mapping[str, int]:
        """Everything of an SQLite store that nobody uses, into this empty one that is shared, in
        the term of whoever leads here; the rows by table. Afterwards nobody leads, and this is to
        be opened again.

        Raises:
            NotEmpty: it is not empty; nothing was changed.
            LeadershipLost: the same; another broker leads.
            StoreUnavailable: the same.
        """
        with self._guard(), source._engine.connect() as old, self._engine.begin() as new:
            return move(old, new, self.leadership, term, told)

    @property
    def shared(self) -> bool:
        """Whether several brokers may use it."""
        return self._engine.dialect.name == "postgresql"

    def listener(self, name: str) -> Listener:
        """Hears what other brokers notify of (see `requests`)."""
        return Listener(self._engine, self.requests.channel(name))

    def close(self) -> None:
        """Release all connections."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None
        self._engine.dispose()

    def new_instance(self) -> None:
        """Be another broker's from now on: nothing that is in a cluster is its own any more. It is
        to be opened again."""
        fact = {"name": "instance", "value": secrets.token_hex(4)}
        with self._guard(), self._write() as connection:
            self._upsert(connection, tables.facts, [fact])

    def _made_once(self, name: str, value: str) -> str:
        """A fact that every store has from the beginning."""
        with self._engine.begin() as connection:
            found = self._fact(connection, name)
            if found is None:
                # Another broker may be doing the same: whoever comes first has named them all.
                connection.execute(self._once(tables.facts), {"name": name, "value": value})
                found = self._fact(connection, name)
        assert found is not None, "it has just been written"
        return found

    @staticmethod
    def _fact(connection: Connection, name: str) -> str | None:
        query = select(tables.facts.c.value).where(tables.facts.c.name == name)
        found: str | None = connection.execute(query).scalar()
        return found

    @contextmanager
    def _write(self) -> Iterator[Connection]:
        """A transaction on the writer's own connection; after an error, on a new one."""
        new = self._writer is None
        self._writer = self._writer or self._engine.connect()
        try:
            if new and self.shared:
                postgres.prepare_writer(self._writer)
            with self._writer.begin():
                yield self._writer
        except MustRestart:
            raise  # rolled back: there is nothing wrong with the connection
        except BaseException:
            broken, self._writer = self._writer, None
            if broken is not None:
                broken.invalidate()
                broken.close()
            raise


def _readable(
    rows: Iterable[Mapping[str, Any]],
    number: str,
    made: Callable[[Mapping[str, Any], ClusterNames], T],
    names: ClusterNames,
    unreadable: dict[int, Exception],
) -> Iterator[T]:
    """Those rows that can be understood; of the others, whose they are and why not."""
    for row in rows:
        try:
            yield made(row, names)
        except Exception as error:
            unreadable[row[number]] = error


def _named(job: Job) -> frozenset[Named]:
    """Of which others it must be known what has become of them."""
    found = frozenset() if job.after is None else job.after.named
    if job.array is None or job.array.each is None:
        return found
    return found | job.array.each.named_by(job.array.left)


def _script_row(accepted: Accepted) -> dict[str, Any]:
    return {
        "job": accepted.job,
        "user": accepted.user,
        "request_id": accepted.request_id,
        "secret": f"2.{secrets.token_hex(12)}",
        "script": accepted.script,
        "spec": dict(accepted.spec),
    }


__all__ = ["Accepted", "Recovered", "Row", "Store", "StoreUnavailable", "Transaction"]
