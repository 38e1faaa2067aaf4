"""The daemon put together: that it knows when it must be started anew."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from metabroker.config import load
from metabroker.daemon.daemon import Daemon


@pytest.fixture
def daemon() -> Iterator[Daemon]:
    folder = Path(tempfile.mkdtemp(prefix="mb-"))
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
    shutil.rmtree(folder)


def test_one_that_serves_nobody_is_not_alive(daemon: Daemon) -> None:
    states = [daemon.alive]
    loop = daemon._api._loop
    assert loop is not None
    loop.call_soon_threadsafe(loop.stop)  # as an error in it does that nobody has foreseen
    give_up = time.monotonic() + 30
    while states[-1] and time.monotonic() < give_up:
        time.sleep(0.02)
        states.append(daemon.alive)
    assert states[0] and not states[-1]
    assert daemon.leader is not None and daemon.leader.loop.alive, "this is not about the core"
