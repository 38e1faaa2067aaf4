"""The actor makes the same moves at a gate as the wrapper that a shell runs."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from metabroker.clusters.port import CleanRequest, ComponentRecord
from metabroker.clusters.simulated.actor import Actor
from metabroker.clusters.transports.local_files import LocalFiles
from tests.clusters.gate.making import TOKEN, gates, order, positions
from tests.clusters.gate.running import Running

Move = Callable[[str], object]
SH = ["/bin/sh"]


def arm_and_open(gate: str) -> None:
    gates().arm(gate)
    gates().open(gate, ())


def put(position: str) -> Move:
    def move(gate: str) -> None:
        for old in positions(gate):
            (Path(gate) / old).rename(Path(gate) / position)

    return move


def nothing(_gate: str) -> None:
    pass


SITUATIONS: dict[str, tuple[int | None, int, Move, Move]] = {
    # name: patience, exit code, what happened before it came, and once it had arrived
    "single": (None, 0, nothing, nothing),
    "single, fails": (None, 3, nothing, nothing),
    "single, undone": (None, 0, put("abort"), nothing),
    "single, twin": (None, 0, put("run"), nothing),
    "single, gone": (None, 0, shutil.rmtree, nothing),
    "opened": (60, 0, nothing, arm_and_open),
    "opened, fails": (60, 7, nothing, arm_and_open),
    "undone": (60, 0, nothing, lambda gate: gates().shut(CleanRequest(TOKEN, gate))),
    "gone": (60, 0, nothing, shutil.rmtree),
    "another ran": (60, 0, nothing, put("run")),
    "gives up": (0, 0, nothing, nothing),
    "came late: armed": (60, 0, put("armed"), nothing),
    "came late: open": (60, 0, put("go"), nothing),
    "came late: undone": (60, 0, put("abort"), nothing),
    "came late: gone": (60, 0, shutil.rmtree, nothing),
}


def what_is_left(gate: str) -> tuple[set[str], ComponentRecord | None]:
    found = gates().look([gate]).get(gate)
    if found is not None:
        times = {"started": found.started is not None, "ended": found.ended is not None}
        found = replace(
            found,
            hosts=(),
            started=1.0 if times["started"] else None,
            ended=1.0 if times["ended"] else None,
        )
    return (positions(gate) if Path(gate).exists() else set(), found)


def played(
    folder: Path, situation: str
) -> tuple[int | None, tuple[set[str], ComponentRecord | None]]:
    patience, code, before, then = SITUATIONS[situation]
    folder.mkdir()
    it = order(folder, patience=patience)
    gates().prepare(it)
    before(it.gate)
    actor = Actor(it.gate, "n1", 0.0, patience, run_time=1.0, exit_code=code)
    now = 0.0
    acted = False
    while actor.over is None and now < 100:
        actor.step(LocalFiles(), now)
        if actor.arrived and not acted and actor.over is None:
            acted = True
            then(it.gate)
        now += 0.5
    return actor.over, what_is_left(it.gate)


def really_run(
    folder: Path, situation: str
) -> tuple[int | None, tuple[set[str], ComponentRecord | None]]:
    patience, code, before, then = SITUATIONS[situation]
    folder.mkdir()
    it = order(folder, script=f"#!/bin/sh\nexit {code}\n".encode(), patience=patience)
    gates().prepare(it)
    before(it.gate)
    running = Running(it, SH, {})
    try:
        if then is not nothing:
            running.until("arrived")
            then(it.gate)
        return running.end()[0], what_is_left(it.gate)
    finally:
        running.kill()


@pytest.mark.parametrize("situation", SITUATIONS)
def test_actor_and_wrapper_leave_the_same(tmp_path: Path, situation: str) -> None:
    assert played(tmp_path / "a", situation) == really_run(tmp_path / "b", situation)


def test_a_folder_that_goes_while_it_runs(tmp_path: Path) -> None:
    it = order(tmp_path, patience=None)
    gates().prepare(it)
    actor = Actor(it.gate, "n1", 0.0, None, run_time=5.0, exit_code=4)
    actor.step(LocalFiles(), 0.0)
    assert actor.running_since == 0.0
    shutil.rmtree(it.gate)
    actor.step(LocalFiles(), 4.0)
    assert actor.over is None
    actor.step(LocalFiles(), 5.0)
    assert actor.over == 4


def test_its_patience_counts_from_its_start(tmp_path: Path) -> None:
    it = order(tmp_path)
    gates().prepare(it)
    actor = Actor(it.gate, "n1", 100.0, 30.0, run_time=1.0)
    for now in (100.0, 129.9):
        actor.step(LocalFiles(), now)
        assert actor.over is None and actor.arrived
    actor.step(LocalFiles(), 130.0)
    assert actor.over == 75
    assert positions(it.gate) == {"abort"}
