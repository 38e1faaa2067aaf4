"""The daemon put together: that it knows when it must be started anew."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from metabroker.api.service import ServiceError, read
from metabroker.broker.states import JobState
from metabroker.config import load
from metabroker.config.errors import ConfigRefusal
from metabroker.daemon.daemon import Daemon
from metabroker.store.rows import ClusterNames
from tests.daemon.harness import eventually
from tests.store.making import accepted, batch, job


@pytest.fixture
def daemon(folder: Path) -> Iterator[Daemon]:
    config = {
        "store": f"sqlite:///{folder}/metabroker.db",
        "socket": str(folder / "mb.sock"),
        "metrics": None,
        "clusters": {"delft": {"system": "simulated", "processors": 4}},
    }
    (folder / "metabroker.yaml").write_text(yaml.safe_dump(config))
    made = Daemon(load(folder / "metabroker.yaml"))
    made.start()
    yield made
    made.stop()


def test_one_that_serves_nobody_is_not_alive(daemon: Daemon) -> None:
    assert daemon.alive
    loop = daemon._api._loop
    assert loop is not None
    loop.call_soon_threadsafe(loop.stop)  # as an error in it does that nobody has foreseen
    eventually(lambda: not daemon.alive, "it is not alive")
    assert daemon.leader is not None and daemon.leader.loop.alive, "this is not about the core"


def test_one_whose_api_hangs_does_not_answer(daemon: Daemon) -> None:
    """So its watchdog has it restarted."""
    assert daemon.answers()
    loop, go_on = daemon._api._loop, threading.Event()
    assert loop is not None
    loop.call_soon_threadsafe(go_on.wait, 60)
    try:
        assert not daemon.answers(0.2) and daemon.alive
    finally:
        go_on.set()
    assert daemon.answers()


def test_it_archives_and_removes_what_is_over_its_time(daemon: Daemon, folder: Path) -> None:
    """And goes on where it cannot."""
    names = ClusterNames(["delft"])
    old = [job(n, JobState.FAILED, queue=0, end_time=n + 0.0) for n in (1, 2, 3)]
    written = batch(*old, accepted=[accepted(n) for n in (1, 2, 3)])
    assert daemon.leader is not None
    # By its core, as all that is written: it would notice what another store of its own wrote.
    daemon.leader.loop.ask(lambda: daemon.store.commit(written, names))
    runs, service = daemon.leader.retention, daemon.leader.service
    (folder / "archive").write_text("in the way")
    runs.run(lambda _seconds: False)
    told = read(service, "status")["history"]
    assert "archive" in told["trouble"] and told["failures"] == 1
    assert read(service, "job", job=1)["state"] == "FAILED"
    (folder / "archive").unlink()
    runs.run(lambda _seconds: False)
    told = read(service, "status")["history"]
    assert (told["trouble"], told["removed"]["job"]) == (None, 2), "the newest stays"
    with pytest.raises(ServiceError, match="job 1 is no longer kept") as refused:
        read(service, "job", job=1)
    (file,) = (folder / "archive").glob("*.jsonl")
    assert str(file) in refused.value.advice and len(file.read_text().splitlines()) == 2


def test_who_may_submit_is_not_taken_over_into_clusters_where_they_would_be_the_daemon(
    daemon: Daemon, folder: Path
) -> None:
    """The file is right as a whole, and its other clusters need a restart."""
    file = folder / "metabroker.yaml"
    before = yaml.safe_load(file.read_text())
    far = {"system": "slurm", "via": "ssh", "host": "far.example", "user": "x"}
    file.write_text(yaml.safe_dump({**before, "submitters": ["nobody"], "clusters": {"far": far}}))
    after = load(file)
    assert after.submitters == ("nobody",) and not after.shared_with_submitters
    with pytest.raises(ConfigRefusal, match="own account in delft, still in force"):
        daemon.reconfigure(after)
    assert not daemon._config.submitters
    daemon.reconfigure(load(file).model_copy(update={"submitters_share_everything": True}))
    assert daemon._config.submitters == ("nobody",)


def test_nor_are_they_offline_where_scripts_run_on_the_daemon_s_host(folder: Path) -> None:
    far = {"system": "slurm", "via": "ssh", "host": "far.example", "user": "x"}
    config = {
        "store": f"sqlite:///{folder}/metabroker.db",
        "socket": str(folder / "mb.sock"),
        "metrics": None,
        "submitters": ["nobody"],
        "clusters": {"far": far},
    }
    (folder / "metabroker.yaml").write_text(yaml.safe_dump(config))
    with pytest.raises(ConfigRefusal, match="own account in far, where scripts run on this host"):
        Daemon(load(folder / "metabroker.yaml"), offline=True)


def test_it_ends_though_no_thread_can_be_started(
    daemon: Daemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where `pids.max` or memory for a thread is used up: it would stay half dead."""

    def start(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    leader = daemon.leader
    assert leader is not None
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", start)
        daemon.stop()
    assert not leader.loop.alive and not daemon.alive
