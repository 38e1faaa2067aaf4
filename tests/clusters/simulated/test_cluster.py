"""A simulated cluster in real time: really running, played, and over a restart."""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from metabroker.broker.observation import NativeState, NodeKind, Snapshot
from metabroker.broker.states import Cause
from metabroker.clusters.gate import gate_path
from metabroker.clusters.operation import Operation, R, carry_out
from metabroker.clusters.port import (
    CleanRequest,
    CleanupResult,
    ComponentRecord,
    ComponentRequest,
    ReserveRequest,
    UnknownOutcome,
)
from metabroker.clusters.simulated import SimulatedCluster, SimulatedOptions, processes
from metabroker.clusters.transports.local import LocalTransport
from metabroker.submission.shape import Shape
from tests.clusters.gate.making import order as plain_order
from tests.clusters.refusals import refused
from tests.daemon.harness import eventually

LOCAL = LocalTransport({})
ROOT = Path(__file__).parents[3]


def do(operation: Operation[R]) -> R:
    return carry_out(operation, LOCAL)


def clean(cluster: SimulatedCluster, order: CleanRequest) -> CleanupResult:
    """Asked again, as the broker does, while it is not gone yet."""
    for _ in range(20):
        with contextlib.suppress(UnknownOutcome):
            return do(cluster.clean(order))
    return do(cluster.clean(order))


def token(number: int) -> str:
    return f"mb-abcdef01-{number}-1-0"


def order(folder: Path, number: int = 1, **given: object) -> ComponentRequest:
    it = replace(plain_order(folder, patience=None), processors=4, **given)  # type: ignore[arg-type]
    return replace(it, token=token(number), gate=gate_path(str(folder), token(number), "s"))


class Made:
    """Clusters made in a test, and closed after it."""

    def __init__(self, folder: Path) -> None:
        self.options = SimulatedOptions("lab", "abcdef01", 16, folder / "state" / "lab.simulated")
        self.clusters: list[SimulatedCluster] = []

    def __call__(self, **given: object) -> SimulatedCluster:
        self.options = replace(self.options, **given)  # type: ignore[arg-type]
        self.clusters.append(SimulatedCluster(self.options))
        return self.clusters[-1]

    def close(self) -> None:
        for number in range(1, 6):
            with_all = self.clusters[-1] if self.clusters else None
            if with_all is not None:
                clean(with_all, CleanRequest(token(number)))
        for cluster in self.clusters:
            cluster.close()


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Made]:
    found = Made(tmp_path)
    yield found
    found.close()


def look(cluster: SimulatedCluster) -> Snapshot:
    return do(cluster.observe(5.0))


def marks(cluster: SimulatedCluster, it: ComponentRequest) -> ComponentRecord:
    return cluster.look([it.gate]).get(it.gate, ComponentRecord())


@pytest.mark.parametrize("run", [True, False])
def test_a_job_from_its_submission_to_its_end(tmp_path: Path, made: Made, run: bool) -> None:
    cluster = made(run=run)
    it = order(
        tmp_path, script=b"#!/bin/sh\necho hello\n", environment={"METABROKER_RUN_TIME": "0"}
    )
    done = do(cluster.submit(it))
    eventually(lambda: marks(cluster, it).exit_code is not None)
    assert marks(cluster, it).exit_code == 0
    eventually(lambda: look(cluster).jobs[it.token].state is NativeState.ENDED)
    seen = look(cluster).jobs[it.token]
    assert (seen.native_id, seen.word, seen.cause) == (done.native_id, "COMPLETED", None)
    if run:
        assert (tmp_path / "out").read_text() == "hello\n"
    left = clean(cluster, CleanRequest(it.token, it.gate))
    assert (left.started, left.exit_code, left.cause) == (True, 0, None)
    cluster.discard(it.gate)
    assert not Path(it.gate).exists()


def test_processors_are_counted(tmp_path: Path, made: Made) -> None:
    cluster = made()
    assert (look(cluster).processors, look(cluster).usable, look(cluster).busy) == (16, 16, 0)
    do(cluster.reserve(ReserveRequest(token(1), 10, 60)))
    seen = look(cluster)
    assert (seen.busy, seen.ours, seen.reservations[token(1)].processors) == (
        10, {token(1): 10}, 10,
    )  # fmt: skip
    with refused(Cause.BUSY):
        do(cluster.reserve(ReserveRequest(token(2), 7, 60)))
    do(cluster.reserve(ReserveRequest(token(1), 10, 60)))
    assert look(cluster).busy == 10, "the same again is the same"
    clean(cluster, CleanRequest(token(1)))
    assert look(cluster).busy == 0


def test_of_whole_nodes_all_is_held(tmp_path: Path, made: Made) -> None:
    """By reservations too. Its user's words say on how many; a task is all on one node."""
    cluster = made(node=4, sole=True, run=False)
    do(cluster.reserve(ReserveRequest(token(1), 3, 60)))
    do(cluster.reserve(ReserveRequest(token(1), 3, 60)))
    pairs = order(tmp_path, 2, shape=Shape(cpus_per_task=2), native=("--nodes=2",))
    do(cluster.submit(pairs))
    eventually(lambda: look(cluster).jobs[token(2)].state is NativeState.RUNNING)
    seen = look(cluster)
    assert (seen.busy, seen.ours) == (12, {token(1): 4, token(2): 8})
    assert seen.reservations[token(1)].processors == 4
    threes = replace(order(tmp_path, 3), processors=6, shape=Shape(cpus_per_task=3))
    do(cluster.submit(threes))  # two nodes, and one is idle
    assert look(cluster).jobs[token(3)].state is NativeState.PENDING
    inside = order(tmp_path, 1, reservation=True)
    do(cluster.submit(inside))
    eventually(lambda: look(cluster).jobs[token(1)].state is NativeState.RUNNING)
    assert look(cluster).busy == 12
    cluster.close()
    assert look(made()).ours == {token(1): 4, token(2): 8}


def test_a_job_may_have_nodes_of_its_own_where_others_share_them(
    tmp_path: Path, made: Made
) -> None:
    cluster = made(node=4, run=False)
    alone = Shape(exclusive=True)
    do(cluster.reserve(ReserveRequest(token(1), 5, 60, 5, alone)))
    do(cluster.submit(order(tmp_path, 1, reservation=True, shape=alone)))
    do(cluster.submit(replace(order(tmp_path, 2), processors=3)))
    do(cluster.submit(replace(order(tmp_path, 3), processors=1, shape=alone)))
    do(cluster.submit(order(tmp_path, 4, shape=alone)))
    eventually(lambda: look(cluster).jobs[token(3)].state is NativeState.RUNNING)
    seen = look(cluster)
    assert seen.ours == {token(1): 8, token(2): 3, token(3): 4}
    assert seen.nodes == (NodeKind(4, gpus=None, count=4),)
    assert (seen.idle, seen.free) == ((NodeKind(1, gpus=None),), ())
    assert seen.jobs[token(4)].state is NativeState.PENDING


@pytest.mark.parametrize("run", [True, False])
def test_cancelled_nothing_of_it_is_left(tmp_path: Path, made: Made, run: bool) -> None:
    cluster = made(run=run)
    it = order(tmp_path, script=b"#!/bin/sh\necho $$ > pid\nsleep 300\n")
    do(cluster.submit(it))
    eventually(lambda: marks(cluster, it).started is not None)
    if run:
        eventually(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text() != "")
    left = clean(cluster, CleanRequest(it.token, it.gate))
    assert left.started and left.cause is Cause.KILLED
    assert look(cluster).busy == 0
    if run:
        pid = int((tmp_path / "pid").read_text())
        eventually(lambda: not Path(f"/proc/{pid}").exists())


def test_a_script_that_bears_with_sigterm_is_killed(tmp_path: Path, made: Made) -> None:
    cluster = made()
    script = b"#!/bin/sh\ntrap '' TERM\n: > up\nwhile :; do sleep 0.1; done\n"
    it = order(tmp_path, script=script)
    do(cluster.submit(it))
    eventually(lambda: (tmp_path / "up").exists())
    left = clean(cluster, CleanRequest(it.token, it.gate))
    assert left.started and left.exit_code is None and left.cause is Cause.KILLED


def test_a_job_over_its_time_limit(tmp_path: Path, made: Made) -> None:
    cluster = made()
    it = order(tmp_path, script=b"#!/bin/sh\nsleep 300\n", seconds=1)
    do(cluster.submit(it))
    eventually(lambda: look(cluster).jobs[it.token].state is NativeState.ENDED)
    assert look(cluster).jobs[it.token].cause is Cause.OVERTIME


def test_submitted_again_it_is_adopted(tmp_path: Path, made: Made) -> None:
    cluster = made()
    it = order(tmp_path, script=b"#!/bin/sh\nsleep 300\n")
    first = do(cluster.submit(it))
    assert do(cluster.submit(replace(it, again=True))).native_id == first.native_id


def test_an_output_that_cannot_be_written_is_a_failed_job(tmp_path: Path, made: Made) -> None:
    cluster = made()
    it = order(tmp_path, output="/no/such/folder/out")
    do(cluster.submit(it))
    eventually(lambda: look(cluster).jobs[it.token].state is NativeState.ENDED)
    assert look(cluster).jobs[it.token].word == "FAILED"
    assert marks(cluster, it).started is None


def test_a_gate_that_vanishes_does_not_disturb_other_jobs(tmp_path: Path, made: Made) -> None:
    cluster = made(run=False)
    first, second = (order(tmp_path, n, environment={"METABROKER_RUN_TIME": "1"}) for n in (1, 2))
    do(cluster.submit(first))
    eventually(lambda: marks(cluster, first).started is not None)
    cluster.discard(first.gate)
    do(cluster.submit(second))
    for it in (first, second):
        eventually(lambda it=it: look(cluster).jobs[it.token].state is NativeState.ENDED)  # type: ignore[misc]


@pytest.mark.parametrize("words", ["²", "9" * 400, "soon"])
def test_a_run_time_that_is_none_is_that_of_its_limit(
    tmp_path: Path, made: Made, words: str
) -> None:
    """Its user wrote it: the cluster must not fail of it."""
    cluster = made(run=False)
    do(cluster.submit(order(tmp_path, environment={"METABROKER_RUN_TIME": words})))
    (job,) = cluster._controller.model.jobs.values()
    assert job.extra["run_time"] == order(tmp_path).seconds


def test_options_of_its_own_it_has_none(made: Made) -> None:
    assert made().check_native(("--mem=1G",)) == "lab is simulated and has no native options"


# --- restarts ---------------------------------------------------------------------------------


def test_after_a_restart_it_is_as_it_was(tmp_path: Path, made: Made) -> None:
    cluster = made()
    it = order(
        tmp_path, script=b"#!/bin/sh\n: > up\nuntil [ -e go ]; do sleep 0.02; done\nexit 3\n"
    )
    do(cluster.submit(it))
    do(cluster.reserve(ReserveRequest(token(2), 6, 600)))
    eventually(lambda: (tmp_path / "up").exists())
    before = look(cluster)
    cluster.close()
    cluster = made()
    assert look(cluster) == before
    (tmp_path / "go").write_text("")
    eventually(lambda: look(cluster).jobs[it.token].state is NativeState.ENDED)
    assert marks(cluster, it).exit_code == 3
    assert look(cluster).busy == 6


@pytest.mark.parametrize("run", [True, False])
def test_what_waits_at_the_barrier_waits_on(tmp_path: Path, made: Made, run: bool) -> None:
    cluster = made(run=run)
    it = order(tmp_path, barrier_seconds=60, environment={"METABROKER_RUN_TIME": "0"})
    do(cluster.submit(it))
    eventually(lambda: marks(cluster, it).arrived)
    cluster.close()
    cluster = made()
    cluster.arm(it.gate)
    cluster.open(it.gate, it.peers)
    eventually(lambda: marks(cluster, it).exit_code == 0)


def test_clusters_may_differ_in_what_is_behind_the_point_of_their_states(
    tmp_path: Path, made: Made
) -> None:
    """The scripts of `sim.leiden` were written over those of `sim.delft`."""
    folder, script = tmp_path / "state", b"#!/bin/sh\nuntil [ -e go ]; do sleep 0.02; done\n"
    for number, name in enumerate(("sim.delft", "sim.leiden"), 1):
        cluster = made(name=name[4:], state=folder / name)
        do(cluster.submit(order(tmp_path, number, script=script)))
    (tmp_path / "go").write_text("")
    assert {path.name for path in folder.iterdir() if path.is_dir()} == {
        "sim.delft.jobs", "sim.leiden.jobs",
    }  # fmt: skip


def test_a_job_that_an_older_release_has_taken_still_finds_its_script(
    tmp_path: Path, made: Made
) -> None:
    cluster = made()
    do(cluster.reserve(ReserveRequest(token(2), 16, 600)))
    it = order(tmp_path, script=b"#!/bin/sh\nexit 3\n")
    do(cluster.submit(it))
    cluster.close()
    state = made.options.state
    kept = json.loads(state.read_text())
    (job,) = kept["jobs"]
    del job["extra"]["folder"]
    state.write_text(json.dumps(kept))
    state.with_name("lab.simulated.jobs").rename(state.with_name("lab.jobs"))
    cluster = made()
    clean(cluster, CleanRequest(token(2)))
    eventually(lambda: marks(cluster, it).exit_code == 3)


DAEMON = """
import sys, time
from pathlib import Path
from metabroker.clusters.operation import carry_out
from metabroker.clusters.simulated import SimulatedCluster, SimulatedOptions, processes
from metabroker.clusters.transports.local import LocalTransport
from tests.clusters.simulated.test_cluster import order
folder = Path(sys.argv[1])
cluster = SimulatedCluster(SimulatedOptions("lab", "abcdef01", 16, folder / "state/lab.simulated"))
it = order(folder, script=(folder / "script").read_bytes())
carry_out(cluster.submit(it), LocalTransport({}))
time.sleep(300)
"""


def test_processes_of_a_daemon_that_was_killed_are_adopted(tmp_path: Path, made: Made) -> None:
    script = b"#!/bin/sh\necho $$ >> pids\nuntil [ -e go ]; do sleep 0.02; done\nexit 5\n"
    (tmp_path / "script").write_bytes(script)
    daemon = subprocess.Popen([sys.executable, "-c", DAEMON, str(tmp_path)], cwd=ROOT)
    try:
        eventually(lambda: (tmp_path / "pids").exists())
    finally:
        daemon.send_signal(signal.SIGKILL)
        daemon.wait()
    cluster = made()
    it = order(tmp_path)
    eventually(lambda: look(cluster).jobs[it.token].state is NativeState.RUNNING)
    (tmp_path / "go").write_text("")
    eventually(lambda: look(cluster).jobs[it.token].state is NativeState.ENDED)
    assert (tmp_path / "pids").read_text().count("\n") == 1, "it was not started again"
    assert clean(cluster, CleanRequest(it.token, it.gate)).exit_code == 5


def test_a_child_of_the_shell_is_not_taken_for_the_process(tmp_path: Path) -> None:
    script = tmp_path / "1.sh"
    # Two shells with one command line; then only the child has it.
    script.write_text("(: > up; sleep 300; :) &\nuntil [ -e on ]; do :; done\nexec sleep 300\n")
    own = processes.start(script, cwd=str(tmp_path), output="/dev/null", error=None, env={})
    try:
        eventually((tmp_path / "up").exists)
        assert processes.find(script) == own
        (tmp_path / "on").touch()
        command = Path(f"/proc/{own.pid}/cmdline")
        eventually(lambda: command.read_bytes() == b"sleep\x00300\0")
        assert processes.find(script) is None
    finally:
        own.signal(signal.SIGKILL)
        eventually(lambda: not own.alive())
        processes.reap()


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"next_id": 1, "jobs": [{}]}', "\0" * 9])
def test_a_damaged_state_file_is_an_empty_cluster(tmp_path: Path, made: Made, content: str) -> None:
    state = tmp_path / "state" / "lab.simulated"
    state.parent.mkdir()
    state.write_text(content)
    cluster = made()
    assert (look(cluster).processors, look(cluster).busy) == (16, 0)
    do(cluster.reserve(ReserveRequest(token(1), 4, 60)))
    cluster.close()
    assert look(made()).busy == 4


def test_what_cannot_be_ended_is_not_gone_yet(
    tmp_path: Path, made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    from metabroker.clusters.simulated import cluster as module

    monkeypatch.setattr(module, "_PATIENCE", 2)
    monkeypatch.setattr(processes, "_GRACE", 600.0)
    cluster = made()
    it = order(tmp_path, script=b"#!/bin/sh\ntrap '' TERM\n: > up\nwhile :; do sleep 0.1; done\n")
    do(cluster.submit(it))
    eventually(lambda: (tmp_path / "up").exists())
    with pytest.raises(UnknownOutcome) as caught:
        do(cluster.clean(CleanRequest(it.token, it.gate)))
    assert not caught.value.fenced
    monkeypatch.undo()
