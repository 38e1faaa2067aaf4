"""Every released schema is brought up to date, and nothing in it is lost on the way."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine

from metabroker.broker.job import Goal
from metabroker.broker.states import JobState, Phase, Step
from metabroker.store import Store
from metabroker.store.rows import ClusterNames
from metabroker.store.schema import MIGRATIONS
from metabroker.store.tables import metadata
from metabroker.submission.shape import Shape
from tests.store.schemas import KEPT, lay
from tests.store.test_schema import described

Rows = dict[str, list[dict[str, Any]]]


def everything(path: Path) -> Rows:
    """All rows of all tables, past metabroker."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.row_factory = sqlite3.Row
        listed = "select name from sqlite_master where type = 'table' order by name"
        names = [row["name"] for row in connection.execute(listed)]
        return {
            name: [dict(row) for row in connection.execute(f"select * from {name}")]
            for name in names
            if name not in ("alembic_version", "sqlite_sequence")
        }


def test_there_is_a_store_of_every_schema_that_has_a_successor() -> None:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    scripts = ScriptDirectory.from_config(config)
    older = {script.revision for script in scripts.walk_revisions()} - {scripts.get_current_head()}
    missing = older - set(KEPT)
    assert not missing, f"make them as tests/store/schemas/making.py says: {sorted(missing)}"


@pytest.mark.parametrize("revision", KEPT)
def test_a_store_of_each_schema_becomes_one_of_the_newest(revision: str, tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    lay(revision, path, tmp_path)
    before = everything(path)
    Store(f"sqlite:///{path}").close()
    after = everything(path)
    had = {fact["name"] for fact in before["facts"]}
    after["facts"] = [f for f in after["facts"] if f["name"] in had]  # a key, which it is given
    for table, rows in before.items():
        assert len(after[table]) == len(rows), table
        for old, new in zip(rows, after[table], strict=True):
            assert old.items() <= new.items(), "what was there is as it was"
    Store(f"sqlite:///{tmp_path}/new.db").close()
    assert described(path) == described(tmp_path / "new.db")
    with create_engine(f"sqlite:///{path}").connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []


@pytest.mark.parametrize("revision", KEPT)
def test_what_has_not_ended_in_it_is_found_again(revision: str, tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    lay(revision, path, tmp_path)
    store = Store(f"sqlite:///{path}")
    found = store.recover(ClusterNames(["delft", "leiden"]))
    named = {job.name for job in found.jobs}
    assert named == {"job.sh"}
    by_state = {state: {j.id for j in found.jobs if j.state is state} for state in JobState}
    waits = [job.id for job in found.jobs if job.after is not None]
    assert len(waits) == (revision >= "0012")
    numbers = [len(by_state[s]) for s in (JobState.RUNNING, JobState.QUEUED, JobState.HELD)]
    assert numbers == [4, 3 + len(waits), 1]
    parts = {part.ref.job: part for part in found.components if part.phase is not Phase.GONE}
    assert parts.keys() == by_state[JobState.RUNNING]
    keyed = revision >= "0008"  # since then a token proves that it is the store's
    assert all((part.ref.term == 0) is not keyed for part in found.components)
    assert all(job.shape == Shape() for job in found.jobs)
    (cancelled,) = (job for job in found.jobs if job.goal is not None)
    assert cancelled.goal is Goal.CANCEL and parts[cancelled.id].step is Step.CLEAN
    assert found.next_job == max(job.id for job in found.jobs) + 1
    for job in found.jobs:
        script, spec = store.jobs.script(job.id)
        assert script.startswith(b"#!/bin/sh") and store.jobs.meeting_place(job.id)[1]
        assert spec["chdir"] == str(tmp_path)
        assert store.jobs.events(job.id)[0]["what"] == "submitted"
    store.close()


def test_attempts_that_stood_in_a_backup_are_marked(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    lay("0005", path, tmp_path)
    restored = [{"when": "Sunday", "term": 7}, {"when": "Monday", "term": 9}]
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("insert into facts values ('restored', ?)", [json.dumps(restored)])
        running = "select id, attempt from jobs where state = 'RUNNING' order by id"
        (afterwards, attempt), *others = connection.execute(running).fetchall()
        begun = "update components set term = 9 where job = ? and attempt = ?"
        connection.execute(begun, (afterwards, attempt))
    store = Store(f"sqlite:///{path}")
    marks = {job.id: job.uncertain for job in store.recover(ClusterNames(["delft", "leiden"])).jobs}
    store.close()
    assert {number for number, mark in marks.items() if mark is not None} == {n for n, _ in others}
    assert {mark for mark in marks.values() if mark is not None} == {"Monday"}


def test_how_many_siblings_an_attempt_had_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    lay("0017", path, tmp_path)
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        waits = "select id, attempt from jobs where state = 'QUEUED' order by id"
        ((number, attempt), *_) = connection.execute(waits).fetchall()
        line = "insert into events (time, job, attempt, what, detail) values (1, ?, ?, ?, '{}')"
        said = [(attempt, "in line"), (attempt, "in line"), (attempt, "withdrawn")]
        said.append((attempt + 1, "in line"))  # of another attempt
        connection.executemany(line, [(number, *each) for each in said])
    store = Store(f"sqlite:///{path}")
    counted = {
        job.id: job.siblings for job in store.recover(ClusterNames(["delft", "leiden"])).jobs
    }
    store.close()
    assert counted.pop(number) == 2 and not any(counted.values())


def test_the_nodes_that_jobs_were_asked_for_are_known_again(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    lay("0018", path, tmp_path)
    asked = [{"option": "nodes", "value": "2-4"}, {"option": "ntasks-per-node", "value": "5"}]
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        waits = "select jobs.id, spec from jobs join scripts on job = jobs.id where sizes = '[16]'"
        ((number, spec),) = connection.execute(waits).fetchall()
        changed = json.dumps({**json.loads(spec), "asked": asked})
        connection.execute("update scripts set spec = ? where job = ?", [changed, number])
    store = Store(f"sqlite:///{path}")
    nodes = {job.id: job.nodes for job in store.recover(ClusterNames(["delft", "leiden"])).jobs}
    store.close()
    assert nodes.pop(number) == (4, 4) and {*nodes.values()} == {(0, 0)}
