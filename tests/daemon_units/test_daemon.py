"""The daemon put together: that it knows when it must be started anew."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from metabroker.config import load
from metabroker.daemon.daemon import Daemon
from tests.daemon.harness import eventually


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
