"""The test-bed itself: what tests against real Slurm rest on."""

from __future__ import annotations

import os
import pwd
import shutil
import sys
from pathlib import Path

import pytest

from tests.testbed import ClusterSpec, Installation, SlurmCluster, Testbed
from tests.testbed.packages import REPOSITORY
from tests.testbed.processes import captured, job_processes, owned_processes, start_time, wait_until

pytestmark = pytest.mark.slurm


def reserve(cluster: SlurmCluster, name: str, nodes: int, cores: int) -> None:
    cluster.run(
        *("scontrol", "create", "reservation", f"reservationname={name}", "starttime=now"),
        *("duration=10", f"users={pwd.getpwuid(os.geteuid()).pw_name}"),
        *(f"nodecnt={nodes}", f"corecnt={cores}"),
        check=True,
    )


def test_processors(clusters: dict[str, SlurmCluster]) -> None:
    sizes = {}
    for name, cluster in clusters.items():
        done = cluster.run("sinfo", "-h", "-o", "%C", check=True)
        allocated, idle, other, total = map(int, done.stdout.strip().split("/"))
        assert (allocated, idle, other) == (0, total, 0)
        sizes[name] = total
    assert sizes == {"delft": 144, "leiden": 64, "lab": 32}


def test_job_runs(clusters: dict[str, SlurmCluster], tmp_path: Path) -> None:
    output = tmp_path / "out"
    script = 'echo "$SLURM_CLUSTER_NAME $SLURM_CPUS_ON_NODE"; squeue -h -j $SLURM_JOB_ID -o %u'
    lab = clusters["lab"]
    job = lab.submit("-n", "4", "-N", "1", f"--output={output}", script=script)
    assert lab.wait_job(job).state == "COMPLETED"
    name, processors, user = output.read_text().split()
    assert (name, processors) == ("lab", "4")
    assert user == lab.job(job).user  # type: ignore[union-attr]


def test_reservation_is_exact(clusters: dict[str, SlurmCluster]) -> None:
    delft = clusters["delft"]
    reserve(delft, "exact", nodes=2, cores=60)
    (found,) = delft.reservations()
    assert (found.name, found.processors, found.node_count) == ("exact", 60, 2)
    delft.delete_reservations()
    assert delft.reservations() == []


def test_killed_controller_comes_back(clusters: dict[str, SlurmCluster]) -> None:
    lab = clusters["lab"]
    lab.kill_controller()
    assert not lab.controller.running()
    lab.start_controller()
    assert lab.wait_job(lab.submit(script="true")).state == "COMPLETED"


def test_killed_controller_brings_back_nothing_that_was_removed_before_its_state_was_saved(
    clusters: dict[str, SlurmCluster], testbed: Testbed
) -> None:
    lab = clusters["lab"]
    reserve(lab, "removed", nodes=2, cores=30)
    lab.save_state()
    testbed.reset()
    lab.save_state()
    lab.kill_controller()
    lab.start_controller()
    assert lab.reservations() == []


def test_frozen_controller_goes_on(clusters: dict[str, SlurmCluster]) -> None:
    lab = clusters["lab"]
    lab.freeze_controller()
    assert lab.controller.running()
    lab.thaw_controller()
    assert lab.jobs() is not None


def test_reset_cleans(clusters: dict[str, SlurmCluster], testbed: Testbed) -> None:
    lab = clusters["lab"]
    reserve(lab, "mine", nodes=1, cores=4)
    inside = lab.submit("--reservation=mine")
    outside = lab.submit("-n", "4")
    lab.wait_job(inside, "RUNNING")
    lab.wait_job(outside, "RUNNING")
    lab.run("scontrol", "update", "nodename=lab2", "state=down", "reason=test", check=True)
    lab.kill_node("lab1")
    testbed.reset()
    assert lab.active_jobs() == []
    assert lab.reservations() == []
    assert set(lab.node_states().values()) == {"idle"}


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root: jobs of several users")
def test_several_users(clusters: dict[str, SlurmCluster], open_folder: Path) -> None:
    lab = clusters["lab"]
    output = open_folder / "out"
    job = lab.submit(f"--output={output}", script="id -un", user="nobody", cwd=open_folder)
    assert lab.wait_job(job).user == "nobody"
    assert output.read_text() == "nobody\n"
    assert output.owner() == "nobody"


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root: several users")
def test_closed_cache_is_opened(installation: Installation, tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    shutil.copytree(installation.prefix, closed, symlinks=True)
    hidden = Installation(installation.suite, installation.version, closed)
    with Testbed([ClusterSpec("small", 1, 4)], installation=hidden) as testbed:
        assert testbed.installation.prefix.is_relative_to(testbed.folder)
        assert testbed["small"].run("sinfo", user="nobody").returncode == 0


def test_killed_owner(installation: Installation) -> None:
    """A guard ends the clusters of a test run that was killed."""
    script = (
        "import os, signal\n"
        "from tests.testbed import ClusterSpec, Testbed\n"
        "testbed = Testbed([ClusterSpec('small', 1, 4)]).__enter__()\n"
        "print(testbed.folder, testbed['small'].controller.pid, flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = captured([sys.executable, "-c", script], cwd=REPOSITORY)
    folder, pid = done.stdout.split()
    wait_until(lambda: not Path(folder).exists(), 120, "the guard removes the folder")
    assert start_time(int(pid)) is None
    assert list(owned_processes(Path(folder))) == []


def test_reset_makes_nodes_forget(installation: Installation, tmp_path: Path) -> None:
    """A node that knows a job's id from before would not launch another job of that id."""
    go = tmp_path / "go"
    with Testbed([ClusterSpec("small", 1, 4)], installation=installation) as testbed:
        small = testbed["small"]
        job = small.submit(script=f"until [ -e '{go}' ]; do sleep 0.05; done")
        small.wait_job(job, "RUNNING")
        small.kill_controller()
        go.touch()
        wait_until(lambda: not list(job_processes(testbed.folder)), 60, "end of the script")
        small.lose_state()
        small.start_controller()
        testbed.reset()
        assert small.submit(script="true") == job
        assert small.wait_job(job).state == "COMPLETED"


def test_stop_leaves_nothing(installation: Installation) -> None:
    with Testbed([ClusterSpec("small", 1, 4)], installation=installation) as testbed:
        small = testbed["small"]
        job = small.submit(script="trap '' TERM; sleep 600 & wait; sleep 600")
        small.wait_job(job, "RUNNING")
        before: list[int] = []

        def all_run() -> bool:
            before[:] = owned_processes(testbed.folder)
            return len(before) == 7

        # munged, slurmctld and its slurmscriptd, slurmd, slurmstepd, the script, its sleep
        wait_until(all_run, 60, "seven processes")
    assert [pid for pid in before if start_time(pid) is not None] == []
    assert not testbed.folder.exists()
