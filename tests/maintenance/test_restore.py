"""A backup in the place of the store: when it may, and what is then in it."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from metabroker.access.secret import Scope
from metabroker.broker.outbox import OutboxEntry
from metabroker.broker.states import JobState, Phase, Step
from metabroker.broker.tokens import Ref
from metabroker.config import load
from metabroker.config.model import Config
from metabroker.daemon.lock_file import LockFile
from metabroker.maintenance.restore import RestoreOptions, RestoreReport, restore, restore_in_place
from metabroker.store import Store, StoreUnavailable
from metabroker.store.access_tokens import TokenRow
from metabroker.store.backups import BackupError, content_of, make
from tests.store.making import NAMES, batch, component, entry, job
from tests.store.schemas import KEPT, lay
from tests.testbed.postgres import Postgres

NOW = 1_800_000_000.0


@pytest.fixture
def config(tmp_path: Path) -> Config:
    file = tmp_path / "metabroker.yaml"
    file.write_text(
        f"store: sqlite:///{tmp_path}/a.db\n"
        "clusters: {delft: {system: simulated, processors: 9}}\n"
    )
    return load(file)


@pytest.fixture
def backup(tmp_path: Path, config: Config) -> Path:
    """Of a store with a job that runs, one that waits, one held by its user, and one that ended."""
    store = Store(config.store)
    jobs = [
        job(1, JobState.COMPLETED),
        job(2, JobState.WAITING, attempt=2, deadline=90.0),
        job(3, attempt=1),
        job(4, JobState.HELD, reason="held by anna"),
    ]
    parts = [component(2, 0, 2, phase=Phase.ARRIVED, step=Step.ARM), component(2, 1, 2)]
    store.commit(batch(*jobs, components=parts, journal=[entry(4, time=80.0)]), NAMES)
    for id in ("good", "gone"):
        row = TokenRow(id, "anna", "", Scope.READ, "x", 1.0, "anna", NOW + 100)
        store.access_tokens.add(row)
    store.access_tokens.revoke("gone", 70.0)
    store.close()
    return make(tmp_path / "a.db", tmp_path / "b.db", force=False, now=100.0, version="1").path


def come_back(
    config: Config, backup: Path, now: float = NOW, **wanted: bool | int
) -> RestoreReport:
    return restore(config, backup, RestoreOptions(**wanted), now)  # type: ignore[arg-type]


def refused(config: Config, backup: Path) -> BackupError:
    before = Path(f"{backup.parent}/a.db").read_bytes()
    with pytest.raises(BackupError) as caught:
        come_back(config, backup)
    assert Path(f"{backup.parent}/a.db").read_bytes() == before
    assert caught.value.advice
    return caught.value


def go_on(config: Config) -> None:
    """Something happens after the backup."""
    store = Store(config.store)
    store.commit(batch(job(5), journal=[entry(5, time=200.0)]), NAMES)
    store.close()


def test_what_the_lost_time_means_is_in_the_store(config: Config, backup: Path) -> None:
    done = come_back(config, backup)
    assert (done.held, done.under_way) == (2, 1)
    with closing(Store(config.store)) as store:
        found = store.recover(NAMES)
        by_number = {job.id: job for job in found.jobs}
        assert by_number.keys() == {2, 3, 4}
        assert by_number[2].state is JobState.WAITING and by_number[2].deadline is None
        assert by_number[3].state is by_number[4].state is JobState.HELD
        assert "it may have run since" in by_number[3].reason
        assert by_number[4].reason.startswith("held by anna; restored from the backup of")
        assert [c.step for c in found.components] == [Step.NONE, Step.NONE]
        assert [c.phase for c in found.components] == [Phase.ARRIVED, Phase.SUBMITTED]
        assert store.jobs.events(3)[-1]["what"] == "restored"
        history = store.restorations.history()
        latest = history.latest
        assert latest is not None and latest == done.restored
        assert (latest.backup_time, latest.last_job, latest.next_job) == (100.0, 4, 10_005)
        assert latest.attempts == {2: 2, 3: 1, 4: 0}
        assert store.leadership.term() == latest.term == NOW
        assert not history.unknown(Ref(2, 2, 0)) and history.unknown(Ref(2, 3, 0))
        assert history.unknown(Ref(5, 1, 0)) and not history.unknown(Ref(1, 1, 0))


def test_waiting_jobs_go_on_waiting_by_order(config: Config, backup: Path) -> None:
    assert come_back(config, backup, release=True, gap=5).held == 0
    with closing(Store(config.store)) as store:
        states = {job.id: job.state for job in store.recover(NAMES).jobs}
        assert states[3] is JobState.QUEUED and states[4] is JobState.HELD
        assert store.restorations.history().next_job == 10


def test_each_return_has_a_term_and_numbers_of_its_own(config: Config, backup: Path) -> None:
    first = come_back(config, backup, now=50.0)
    again = make(backup.parent / "a.db", backup.parent / "c.db", force=False, now=60.0, version="1")
    second = come_back(config, again.path, now=50.0)
    assert first.restored.term == 50 and second.restored.term == 51
    assert second.restored.next_job == first.restored.next_job + 10_000
    with closing(Store(config.store)) as store:
        assert store.restorations.history().unknown(Ref(7, 1, 0)), "of the first lost time"


def test_revoked_tokens_do_not_come_back(config: Config, backup: Path) -> None:
    assert come_back(config, backup).tokens_revoked == 1
    with closing(Store(config.store)) as store:
        assert not any(row.live(NOW + 1) for row in store.access_tokens.all())
    come_back(config, backup, force=True, keep_tokens=True)
    with closing(Store(config.store)) as store:
        assert [row.id for row in store.access_tokens.all() if row.live(NOW + 1)] == ["good"]


def test_a_store_that_knows_more_is_only_left_by_order(config: Config, backup: Path) -> None:
    go_on(config)
    told = refused(config, backup)
    assert "is newer than the backup of" in told.message and "--force" in told.advice
    done = come_back(config, backup, force=True)
    assert done.aside is not None and content_of(done.aside).last_job == 5
    assert content_of(backup.parent / "a.db").last_job == 4


def test_the_store_of_another_broker_is_only_left_by_order(config: Config, backup: Path) -> None:
    (backup.parent / "a.db").unlink()
    Store(config.store).close()
    assert "another broker" in refused(config, backup).message


def test_a_store_that_cannot_be_read_is_put_aside(config: Config, backup: Path) -> None:
    (backup.parent / "a.db").write_bytes(b"no database any more" * 1000)
    done = come_back(config, backup)
    assert done.aside is not None and done.aside.read_bytes().startswith(b"no database")
    assert content_of(backup.parent / "a.db").last_job == 4


def test_not_while_a_daemon_runs(config: Config, backup: Path) -> None:
    with closing(LockFile(config.store)), pytest.raises(StoreUnavailable, match="another daemon"):
        come_back(config, backup)


def test_a_newer_backup_is_refused(config: Config, backup: Path) -> None:
    with closing(sqlite3.connect(backup)) as other, other:
        other.execute("update alembic_version set version_num = '9999'")
    assert "its schema (9999) is newer" in refused(config, backup).message


@pytest.mark.parametrize("revision", KEPT)
def test_an_older_backup_is_brought_up_to_date(
    config: Config, tmp_path: Path, revision: str
) -> None:
    lay(revision, tmp_path / "old.db", tmp_path)
    before = (tmp_path / "old.db").read_bytes()
    done = come_back(config, tmp_path / "old.db")
    waiting = 4 + (revision >= "0012")  # one waits for others
    assert (done.held, done.under_way) == (waiting, 4)
    assert (tmp_path / "old.db").read_bytes() == before
    with closing(Store(config.store)) as store:
        assert store.restorations.history().latest == done.restored


def test_what_has_come_back_by_other_means_is_settled_in_place(
    config: Config, backup: Path
) -> None:
    done = restore_in_place(config, RestoreOptions(), NOW)
    assert (done.held, done.under_way, done.restored.backup_time) == (2, 1, 80.0)
    with closing(Store(config.store)) as store:
        assert store.leadership.term() == NOW
        assert {j.state for j in store.recover(NAMES).jobs} == {JobState.HELD, JobState.WAITING}


def test_a_database_that_came_back_by_its_own_means_is_settled_in_place(
    tmp_path: Path, postgres: Postgres
) -> None:
    name = postgres.database()
    file = tmp_path / "metabroker.yaml"
    file.write_text(
        f"store: {postgres.url(name)}\nclusters: {{delft: {{system: simulated, processors: 9}}}}\n"
    )
    config = load(file)
    with closing(Store(config.store)) as store:
        assert store.leadership.take("a broker", 0.0) == 1
        store.commit(batch(job(2), journal=[entry(2, time=80.0)]), NAMES)
        backup = postgres.dump(name)
        store.commit(batch(job(5), journal=[entry(5, time=200.0)]), NAMES)
    postgres.bring_back(name, backup)
    done = restore_in_place(config, RestoreOptions(), NOW)
    assert (done.held, done.restored.backup_time, done.restored.term) == (1, 80.0, NOW)
    with closing(Store(config.store)) as store:
        assert {j.id: j.state for j in store.recover(NAMES).jobs} == {2: JobState.HELD}
        assert store.leadership.take("a broker", 60.0) == NOW + 1, "it was let go"
        with pytest.raises(BackupError, match="a broker leads"):
            restore_in_place(config, RestoreOptions(), NOW + 2)


def test_nothing_is_settled_in_an_empty_store(config: Config) -> None:
    with pytest.raises(BackupError, match="the store is empty"):
        restore_in_place(config, RestoreOptions(), NOW)


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="not root")
def test_root_makes_nothing_that_the_daemon_could_not_open(config: Config, backup: Path) -> None:
    os.chown(backup.parent / "a.db", 1, 1)
    told = refused(config, backup)
    assert "could not open" in told.message and "sudo -u daemon" in told.advice


def test_an_entry_is_written_for_every_job(config: Config, backup: Path) -> None:
    come_back(config, backup)
    with closing(Store(config.store)) as store:
        for number in (2, 3, 4):
            last = store.jobs.events(number)[-1]
            assert (last["what"], last["time"]) == (
                OutboxEntry(NOW, 0, 0, "restored", {}).what,
                NOW,
            )


def test_a_copy_is_another_broker_from_then_on(config: Config, backup: Path) -> None:
    with closing(Store(config.store)) as store:
        before = store.instance
    restore_in_place(config, RestoreOptions(new_instance=True), NOW)
    with closing(Store(config.store)) as store:
        assert store.instance != before
        assert {j.state for j in store.recover(NAMES).jobs} == {JobState.HELD, JobState.WAITING}
