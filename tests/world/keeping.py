"""Retention in a world: the daemon's own, with periods of minutes and an archive in memory.

When the world has come to rest all that was archived is put back. So whatever was removed is held
against what the world knows of it, as if it had never been removed; and what was removed without
having been archived is missed.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlalchemy import insert, select, update

from metabroker.runtime.retention import Behind, Periods, Retention
from metabroker.store import tables
from metabroker.store.ended import Archived, EndedJob, What

from . import virtual
from .oracle import Violation

if TYPE_CHECKING:
    from .life import Life
    from .stores import WorldStore

_EVERY = 20.0  # seconds
_LATENCY = (0.001, 0.5)


class WorldArchive:
    """What stands in the files, of all brokers together."""

    def __init__(self) -> None:
        self.jobs: dict[int, EndedJob] = {}

    def add(self, what: What, jobs: Sequence[EndedJob]) -> None:
        """Some more, as far as it is written down; of a job that is there already what is new."""
        for whole in jobs:
            job = whole
            if what is What.SCRIPT:
                job = replace(whole, events=())
            elif what is What.EVENTS:
                job = replace(whole, script=None)
            before = self.jobs.get(job.number)
            if before is None:
                self.jobs[job.number] = job
                continue
            events = {event["id"]: event for event in (*before.events, *job.events)}
            # One that has gone before has left its row, without what was in it.
            script = before.script or job.script
            self.jobs[job.number] = EndedJob(
                job.row, job.components, [events[id] for id in sorted(events)], script
            )

    def put_back(self, store: WorldStore) -> set[int]:
        """Let the store be as if nothing had been removed; which jobs had been.

        Raises:
            Violation: a job was removed that was not over.
        """
        there = {row["id"] for row in store.jobs.rows()}
        gone = [job for job in self.jobs.values() if job.number not in there]
        with store._engine.begin() as connection:
            parts = set(connection.execute(select(tables.components.c.job)).scalars())
            again = sorted(parts & {job.number for job in gone})
            if again:
                raise Violation(f"retention: of jobs {again} something came after their removal")
            known = set(connection.execute(select(tables.events.c.id)).scalars())
            for job in gone:
                connection.execute(insert(tables.jobs).values(job.row))
                for part in job.components:
                    connection.execute(insert(tables.components).values(part))
                if job.row["of"]:
                    continue  # a task's script is its array's
                assert job.script is not None, "its row stays as long as the job"
                connection.execute(insert(tables.scripts).values(job.script))
            for job in self.jobs.values():
                for event in job.events:
                    # A store that went back by itself gives numbers again that stand here.
                    if event["id"] not in known:
                        known.add(event["id"])
                        connection.execute(insert(tables.events).values(event))
                if job.script is not None and job.script["script"]:
                    its = update(tables.scripts).where(tables.scripts.c.job == job.number)
                    connection.execute(its.values(job.script))
        return {job.number for job in gone}


class _Files:
    """The archive as one broker writes it."""

    def __init__(self, life: Life) -> None:
        self._life = life
        self._rng = random.Random(f"{life.world.scenario.seed} {life.host.name} archive")

    def append(self, what: What, jobs: Sequence[EndedJob], now: float) -> Archived:
        """See `metabroker.store.archive.Archive`."""
        life = self._life
        virtual.sleep(self._rng.uniform(*_LATENCY))
        life.world.archive.add(what, jobs)
        life.host.comes_to("archived")
        return Archived(f"of {life.host.term}", "/archive", now, now)

    def settle(self, known: Iterable[Archived], latest: int | None) -> None:
        """Nothing is cut here: what is told twice is one job's (`tests/runtime` has the files)."""


def retention_of(life: Life, kept: float) -> Retention:
    """The retention of one life, which keeps a job for so many seconds."""
    lease = life.host.lease

    def spared() -> Collection[int]:
        view = life.engine.broker.view
        if view.behind:
            raise Behind(view.behind)
        return frozenset(orphan.ref.job for orphan in view.unclaimed)

    return Retention(
        life.host.store,
        _Files(life),  # type: ignore[arg-type]
        Periods(kept, kept / 2, kept / 4),
        life.clock,
        spared,
        (lambda: None) if lease is None else lease.permit,
    )


def goes_on(life: Life, kept: float) -> None:
    """Run it now and then, as long as the broker lives."""
    its = retention_of(life, kept)

    def rest(seconds: float) -> bool:
        virtual.sleep(seconds)
        return False

    while True:
        virtual.sleep(_EVERY)
        before = its.state.removed
        its.run(rest)
        for what, count in its.state.removed.items():
            life.world.tally.add(f"retention {what}", count - before[what])
        if its.state.trouble:
            life.world.tally.add("retention in trouble")
