"""A site that began with one broker goes on with two: its store moves into PostgreSQL while jobs
run, wait, and are about to be started together, and nobody's job notices."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from metabroker.api.client import Client
from tests.daemon.brokers import Broker, Brokers
from tests.daemon.fixtures import LONGEST
from tests.daemon.harness import recording, until

pytestmark = [pytest.mark.slurm, pytest.mark.timeout(LONGEST)]


def move(broker: Broker, file: Path) -> subprocess.CompletedProcess[str]:
    return broker.cli("move-store", "--config", str(broker.config), "--from", str(file), "--json")


def refused(broker: Broker, file: Path, *words: str) -> None:
    done = move(broker, file)
    assert done.returncode == 1 and len(done.stderr.splitlines()) == 1, done.stderr
    assert all(word in done.stderr for word in words), done.stderr


def test_from_one_broker_to_two_while_jobs_run(
    group: Brokers, database: str, tmp_path: Path
) -> None:
    file = tmp_path / "metabroker.db"
    (first,) = group.start(f"sqlite:///{file}")
    refused(first, file, "SQLite file", "PostgreSQL")
    runs = first.submit("--on lab:30 --request-id mine", recording(until("go-on")))
    waits = first.submit("--on lab:20,leiden:4")
    first.wait_state(runs, "RUNNING")
    held = first.submit("--on lab:4")
    first.cli("hold", str(held))
    first.configure({"store": database})
    refused(first, file, "another daemon uses the store")
    assert first.stop() == 0

    done = move(first, file)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert sum(told["jobs"].values()) == told["rows"]["jobs"] == told["rows"]["scripts"] == 3
    assert Path(told["aside"]).exists() and not file.exists()
    refused(first, file, "there is no file")
    # Cut off before the file was put aside, it is done again.
    Path(told["aside"]).rename(file)
    again = move(first, file)
    assert again.returncode == 0 and json.loads(again.stdout)["rows"] == {}, again.stderr

    first.start()
    first.wait_role("leader")
    assert first.instance == told["instance"]
    second = group.make(database)
    second.start()
    second.wait_role("standby")
    refused(first, Path(json.loads(again.stdout)["aside"]), "leads in that database")
    assert second.submit("--on lab:30 --request-id mine", recording(until("go-on"))) == runs
    first.kill()
    second.wait_role("leader")
    assert Client(second.socket).get(f"jobs/{held}")["state"] == "HELD"
    second.cli("release", str(held))
    (second.work / "go-on").touch()
    for job in (runs, waits, held):
        found = second.wait_end(job, "COMPLETED")
        # What waited may be refused once, by a cluster that is still cleaning up after another job.
        most = 1 if job == runs else 3
        assert found["exit_code"] == 0 and 1 <= found["attempts"] <= most, found
    started = second.runs()
    assert len({(run.job, run.component) for run in started}) == len(started) == 4, started
    second.wait_clean()


def test_a_backup_is_not_moved_as_if_it_were_the_store(
    group: Brokers, database: str, tmp_path: Path
) -> None:
    (broker,) = group.start(f"sqlite:///{tmp_path}/metabroker.db")
    backup = tmp_path / "backup.db"
    made = broker.cli("backup", "--config", str(broker.config), "--to", str(backup))
    assert made.returncode == 0, made.stderr
    broker.configure({"store": database})
    refused(broker, backup, "is a backup", "restore")
    assert backup.exists()
    assert broker.stop() == 0
    # Nor into the database of another broker.
    other = group.make(database)
    other.start()
    other.wait_role("leader")
    other.submit("--on lab:1", recording("true"))
    assert other.stop() == 0
    refused(broker, tmp_path / "metabroker.db", "not empty", "1 jobs of broker")
    assert (tmp_path / "metabroker.db").exists()
