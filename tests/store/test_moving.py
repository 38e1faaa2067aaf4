"""A store that is moved into another database is there as it was, or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import create_engine, select

from metabroker.access.secret import Scope
from metabroker.broker.states import JobState
from metabroker.store import LeadershipLost, Store
from metabroker.store.access_tokens import TokenRow
from metabroker.store.ended import Archived, What
from metabroker.store.moving import TABLES, NotEmpty
from metabroker.store.tables import metadata

from .making import NAMES, accepted, batch, component, entry, job

TOKEN = TokenRow("t1", "anna", "laptop", Scope.READ, "digest", 1.0, "anna", 2e9)


@pytest.fixture
def old(tmp_path: Path) -> Store:
    """One that holds something in every table, and more of one than is written at once."""
    store = Store(f"sqlite:///{tmp_path}/metabroker.db")
    jobs = [job(1, JobState.COMPLETED, exit_code=0), job(2, JobState.RUNNING), job(3)]
    seen = [{"name": "delft", "processors": 64, "version": "22.05", "seen": 5.0}]
    said = [entry(1 + n % 3, time=50.0 + n, number=n, words="a 'b' \u00e9") for n in range(2500)]
    scripts = [accepted(n, request_id=f"r{n}") for n in (1, 2, 3)]
    parts = [component(2), component(2, 1, started=True, detail="Ünïcode")]
    written = batch(*jobs, components=parts, journal=said, accepted=scripts)
    store.commit(type(written)(written.ready, scripts, seen, {"last": [1, 2]}), NAMES)
    store.access_tokens.add(TOKEN)
    store.ended.remove(What.JOB, [], Archived("1970-01", "/a", 1.0, 1.0, 1, 9, 9), None)
    store.leadership.raise_to(1_700_000_000)  # as after a restore
    return store


def rows(url: str, name: str) -> list[tuple[object, ...]]:
    table = metadata.tables[name]
    engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    with engine.connect() as connection:
        found = connection.execute(select(table).order_by(*table.primary_key)).all()
    engine.dispose()
    return [tuple(row) for row in found]


def test_everything_is_there_as_it_was(old: Store, database: str, tmp_path: Path) -> None:
    new = Store(database)
    term = new.leadership.take("mover", 60.0)
    assert term is not None
    told: list[tuple[int, int]] = []
    counts = new.move_in(old, term, lambda written, total: told.append((written, total)))
    for table in TABLES:
        assert rows(database, table.name) == rows(f"sqlite:///{tmp_path}/metabroker.db", table.name)
        assert counts[table.name] == len(rows(database, table.name)) > 0
    assert told[-1] == (sum(counts.values()), sum(counts.values()))
    assert [written for written, _ in told] == sorted(written for written, _ in told)
    assert {table.name for table in metadata.sorted_tables} - {table.name for table in TABLES} == {
        "leadership",
        "requests",
    }
    assert new.extent() == old.extent()
    new.close()


def test_a_broker_goes_on_with_it(old: Store, database: str) -> None:
    new = Store(database)
    new.move_in(old, new.leadership.take("mover", 60.0) or 0, lambda *_: None)
    with pytest.raises(LeadershipLost, match=old.instance):
        new.confirm()  # who has opened it before must open it anew
    new.close()
    again = Store(database)
    again.confirm()
    assert again.instance == old.instance
    assert again.leadership.leader() is None, "nobody leads"
    term = again.leadership.take("first", 5.0)
    assert term == 1_700_000_001, "above all that there were"
    again.term = term
    again.commit(batch(job(4), journal=[entry(4)], accepted=[accepted(4)]), NAMES)
    assert again.extent().last_event == old.extent().last_event + 1
    recovered, before = again.recover(NAMES), old.recover(NAMES)
    assert {job.id for job in recovered.jobs} == {2, 3, 4}
    assert recovered.components[0].ref == before.components[0].ref
    assert recovered.memory == before.memory == {"last": [1, 2]}
    assert again.jobs.find_request("anna", "r2") == 2 and again.jobs.script(2) == old.jobs.script(2)
    assert again.jobs.meeting_place(2) == old.jobs.meeting_place(2)
    assert again.access_tokens.all() == [TOKEN]
    again.close()


def test_what_is_not_empty_is_left_alone(old: Store, database: str) -> None:
    new = Store(database)
    new.commit(batch(job(9), accepted=[accepted(9)]), NAMES)
    before = new.extent()
    term = new.leadership.take("mover", 60.0) or 0
    with pytest.raises(NotEmpty):
        new.move_in(old, term, lambda *_: None)
    assert new.extent() == before and new.extent().instance != old.instance
    new.close()


def test_nothing_is_there_if_it_is_cut_off_or_another_leads(old: Store, database: str) -> None:
    new = Store(database)
    term = new.leadership.take("mover", 60.0) or 0

    def cut(written: int, _total: int) -> None:
        if written > 2000:
            raise KeyboardInterrupt

    before = new.extent()
    with pytest.raises(KeyboardInterrupt):
        new.move_in(old, term, cut)
    assert new.extent() == before
    new.leadership.release(term)
    assert new.leadership.take("another", 60.0) == term + 1
    with pytest.raises(LeadershipLost):
        new.move_in(old, term, lambda *_: None)
    assert new.extent() == before
    new.close()
