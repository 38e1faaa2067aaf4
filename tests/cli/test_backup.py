"""`metabroker backup`, `restore` and `leftovers`, as an operator uses them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from metabroker import accounts
from metabroker.store import Store
from tests.api.fake import FakeService
from tests.cli.conftest import Run
from tests.store.making import NAMES, accepted, batch, entry, job

LOST = {
    "name": "mb-abcdef01-7-1-0",
    "cluster": "delft",
    "job": 7,
    "attempt": 1,
    "component": 0,
    "known": False,
    "state": "RUNNING",
    "processors": 4,
    "native_id": "12",
    "hosts": "n1",
    "start_time": 1000.0,
    "since": 1000.0,
    "removing": False,
}


@pytest.fixture
def configured(folder: Path) -> Path:
    """A configuration, and a store with two jobs that wait."""
    file = folder / "metabroker.yaml"
    file.write_text(
        f"store: sqlite:///{folder}/a.db\n"
        "clusters: {delft: {system: simulated, processors: 9}}\n"
    )
    store = Store(f"sqlite:///{folder}/a.db")
    both = [job(1), job(2)]
    store.commit(batch(*both, accepted=[accepted(1)], journal=[entry(1)]), NAMES)
    store.close()
    return folder


def test_there_and_back(run: Run, configured: Path) -> None:
    config = ("--config", "metabroker.yaml")
    done = run("backup", *config, "--to", "b.db")
    assert done.returncode == 0 and done.stdout.startswith("b.db: 2 jobs (2 QUEUED) at ")
    told = json.loads(run("backup", *config, "--to", "b.db", "--force", "--json").stdout)
    assert (told["file"], told["jobs"], told["last_job"]) == ("b.db", {"QUEUED": 2}, 2)
    done = run("restore", *config, "b.db")
    assert done.returncode == 0
    assert "2 jobs that waited are held" in done.stdout
    assert f"is {configured}/a.db.before-restore-" in done.stdout
    assert "the next new job gets number 10003" in done.stdout
    told = json.loads(run("restore", *config, "--in-place", "--json").stdout)
    assert (told["held"], told["under_way"], told["next_job"]) == (2, 0, 20_003)
    assert told["backup"] is None and told["aside"] is None


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("restore", "--config", "metabroker.yaml"), 2, "either a BACKUP or --in-place"),
        (("restore", "--config", "metabroker.yaml", "b.db"), 1, "there is no file b.db"),
        (("backup", "--config", "gone.yaml", "--to", "b.db"), 2, "gone.yaml"),
    ],
)
def test_what_is_wrong_is_one_line(
    run: Run, configured: Path, words: tuple[str, ...], code: int, said: str
) -> None:
    done = run(*words)
    assert done.returncode == code and said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_leftovers_are_listed_and_removed_by_administrators(run: Run, service: FakeService) -> None:
    assert json.loads(run("leftovers", "--json").stdout) == {"restored": None, "leftovers": []}
    service.lost = [dict(LOST), {**LOST, "name": "mb-abcdef01-8-1-0", "job": 8, "known": True}]
    lines = run("leftovers").stdout.splitlines()
    assert lines[0].split()[:4] == ["NAME", "CLUSTER", "JOB", "STATE"]
    assert lines[1].split()[0] == LOST["name"] and lines[1].endswith("its job is lost")
    assert lines[2].endswith("of a job that is known")
    done = run("leftovers", "--remove", "all")
    assert done.returncode == 1 and "may not remove leftovers" in done.stderr
    service.admins.add(accounts.own().name)
    lines = run("leftovers", "--remove", str(LOST["name"])).stdout.splitlines()
    assert len(lines) == 2 and lines[1].endswith("is being removed")
    assert len(run("leftovers", "--remove", "all").stdout.splitlines()) == 3
