"""A component at the barrier: it waits, answers, gives up or goes, and starts its script once."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

import pytest

from metabroker.clusters.port import CleanRequest
from tests.clusters.gate.running import MV, SLEEP, Wrappers, with_tool
from tests.daemon.harness import eventually

from .making import TOKEN, gates, order, positions


def test_it_waits_until_the_gate_is_opened(tmp_path: Path, wrappers: Wrappers) -> None:
    it = order(tmp_path, script=b'#!/bin/sh\ncat "$METABROKER_PEERS_FILE"\n')
    running = wrappers.waiting(it)
    gates().arm(it.gate)
    time.sleep(0.15)
    assert running.process.poll() is None
    assert positions(it.gate) == {"armed"}
    gates().open(it.gate, it.peers)
    code, out, err = running.end()
    assert (code, err, positions(it.gate)) == (0, b"", {"run"})
    assert [part["cluster"] for part in json.loads(out)["components"]] == ["delft", "leiden"]


def test_it_answers_when_its_gate_is_armed_and_not_before(
    tmp_path: Path, wrappers: Wrappers
) -> None:
    it = order(tmp_path, script=b"#!/bin/sh\n")
    running = wrappers.waiting(it)
    before = gates().look([it.gate])[it.gate]
    assert before.arrived and not gates().ready(it.gate)
    gates().arm(it.gate)
    running.until("ready")
    assert gates().ready(it.gate)
    assert gates().look([it.gate])[it.gate] == before, "it is still at the barrier, on its hosts"
    gates().open(it.gate, it.peers)
    assert running.end()[0] == 0 and gates().ready(it.gate)


def test_its_arrival_is_seen_with_its_hosts_or_not_at_all(
    tmp_path: Path, wrappers: Wrappers
) -> None:
    """Peers are told of hosts that were seen with the arrival: a note that is there before it is
    whole would leave them out."""
    it = order(tmp_path, script=b"#!/bin/sh\n")
    waits = f"until [ -e '{tmp_path}/on' ]; do {SLEEP} 0.01; done"
    gates().prepare(it)
    running = wrappers.start(it, PATH=with_tool(tmp_path, "mv", f'{waits}\nexec {MV} "$@"\n'))
    eventually(
        lambda: any(note.read_text().endswith("\n") for note in running.gate.glob(".arrived*")),
        "it has written down its hosts",
    )
    assert not gates().look([it.gate])[it.gate].arrived
    (tmp_path / "on").touch()
    running.until("arrived")
    seen = gates().look([it.gate])[it.gate]
    assert seen.arrived and len(seen.hosts) == 1


def test_one_that_was_killed_at_the_barrier_does_not_answer(
    tmp_path: Path, wrappers: Wrappers
) -> None:
    it = order(tmp_path, script=b"#!/bin/sh\n")
    wrappers.waiting(it).kill()
    gates().arm(it.gate)
    assert gates().look([it.gate])[it.gate].arrived
    assert not gates().ready(it.gate)


def test_alone_it_gives_up_at_its_deadline(tmp_path: Path, wrappers: Wrappers) -> None:
    it = order(tmp_path, script=b"#!/bin/sh\ntouch ran\n", patience=0)
    gates().prepare(it)
    code, _out, err = wrappers.start(it).end()
    assert code == 75 and b"gave up" in err
    assert positions(it.gate) == {"abort"}
    assert gates().look([it.gate])[it.gate].gave_up
    assert not (tmp_path / "ran").exists()


def test_armed_it_does_not_give_up(tmp_path: Path, wrappers: Wrappers) -> None:
    """Its patience is counted in naps: here it takes as many as it likes, once it is armed."""
    it = order(tmp_path, script=b"#!/bin/sh\n", patience=1)
    naps = tmp_path / "naps"
    nap = f"echo >> '{naps}'\nuntil [ -e '{tmp_path}/armed' ]; do {SLEEP} 0.01; done\n"
    running = wrappers.waiting(it, PATH=with_tool(tmp_path, "sleep", nap))
    gates().arm(it.gate)
    (tmp_path / "armed").touch()
    naps.touch()
    eventually(lambda: len(naps.read_text()) > 3 * 20, "it has napped for three seconds")
    assert positions(it.gate) == {"armed"}
    gates().open(it.gate, it.peers)
    assert running.end()[0] == 0


@pytest.mark.parametrize("how", ["shut", "removed"])
def test_undone_it_leaves_and_runs_nothing(tmp_path: Path, wrappers: Wrappers, how: str) -> None:
    it = order(tmp_path, script=b"#!/bin/sh\ntouch ran\n")
    running = wrappers.waiting(it)
    if how == "shut":
        assert gates().shut(CleanRequest(TOKEN, it.gate))
    else:
        while Path(it.gate).exists():  # it may lay its tools there at this moment
            gates().remove(it.gate)
    assert running.end()[0] == 75
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("patience", "position"),
    [
        *((60, position) for position in ("armed", "go", "run", "abort", None)),
        *((None, position) for position in ("run", "abort", None)),  # a single component's
    ],
)
def test_a_twin_that_comes_late_ends_at_once(
    tmp_path: Path, wrappers: Wrappers, patience: int | None, position: str | None
) -> None:
    """The first one has been here already: whatever became of it, the script is not started."""
    it = order(tmp_path, script=b"#!/bin/sh\ntouch ran\n", patience=patience)
    gates().prepare(it)
    if position is None:
        gates().remove(it.gate)
    else:
        (first,) = positions(it.gate)
        (Path(it.gate) / first).rename(Path(it.gate) / position)
    code, out, err = wrappers.start(it).end()
    assert code == 75 and not (tmp_path / "ran").exists()
    if patience is None:
        assert (out, err) == (b"", b"")  # its output goes to the file of the one that runs
    if position is not None:
        assert positions(it.gate) == {position}


def test_of_twins_at_the_barrier_exactly_one_runs_the_script(
    tmp_path: Path, wrappers: Wrappers
) -> None:
    it = order(tmp_path, script=b"#!/bin/sh\necho ran >> count\n")
    gates().prepare(it)
    started = [wrappers.start(it) for _ in range(4)]
    started[0].until("arrived")
    time.sleep(0.1)
    gates().arm(it.gate)
    gates().open(it.gate, it.peers)
    codes = sorted(running.end()[0] for running in started)
    assert codes == [0, 75, 75, 75]
    assert (tmp_path / "count").read_text() == "ran\n"


def test_killed_at_the_barrier_the_gate_stays_shut(tmp_path: Path, wrappers: Wrappers) -> None:
    it = order(tmp_path, script=b"#!/bin/sh\ntouch ran\n")
    running = wrappers.waiting(it)
    os.killpg(running.process.pid, signal.SIGTERM)
    assert running.end()[0] == -signal.SIGTERM
    assert positions(it.gate) == {"wait"}
    assert not (tmp_path / "ran").exists()
