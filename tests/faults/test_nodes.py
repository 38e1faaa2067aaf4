"""Node daemons are frozen, killed and restarted while a co-allocated job is being submitted, is at
the barrier, or runs. Nothing starts twice or in part, and nothing is left behind.

What runs on a node does not need its slurmd; starting it does, and so does ending it from outside.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.daemon.fixtures import MakeSite
from tests.daemon.harness import Site, eventually, recording
from tests.daemon.kinds import Slurm
from tests.faults.aftermath import PATIENT, UNTIL_END, whole
from tests.testbed import SlurmCluster
from tests.testbed.processes import job_processes, kill_all

pytestmark = pytest.mark.slurm
Clusters = dict[str, SlurmCluster]
UNTIL = recording(UNTIL_END)
FOR_LONG = recording("exec sleep 600")
TOGETHER = "--on delft:4,lab:4"


@pytest.fixture
def site(clusters: Clusters, make_site: MakeSite) -> Site:
    made = make_site(Slurm(clusters), PATIENT)
    made.module = "tests.faults.pausing"
    return made


@pytest.fixture
def lab(clusters: Clusters) -> Iterator[SlurmCluster]:
    """Its nodes are up again after the test."""
    yield clusters["lab"]
    heal(clusters["lab"])


def hurt(cluster: SlurmCluster, how: str) -> None:
    """What happens to all nodes of a cluster."""
    for node in cluster.nodes:
        if how == "frozen":
            cluster.freeze_node(node)
        else:
            cluster.kill_node(node)


def heal(cluster: SlurmCluster) -> None:
    for node in cluster.nodes:
        cluster.thaw_node(node)
        cluster.start_node(node)


def hold(site: Site, *points: str) -> None:
    """Start a daemon that holds up job 1, 2, ... at these points."""
    words = [w for job, point in enumerate(points, 1) for w in ("--hold", f"{point}:{job}")]
    site.start_and_look(*words)


def held(site: Site, job: int) -> None:
    eventually((site.folder / f"held-{job}").exists, f"job {job} is at its moment")


def go_on(site: Site, *jobs: int) -> None:
    for job in jobs:
        (site.folder / f"go-{job}").touch()


def states(cluster: SlurmCluster) -> dict[str, str]:
    """The states of the broker's jobs in a cluster, by the cluster's own word."""
    return {job.name: job.state for job in cluster.active_jobs()}


@pytest.mark.parametrize("how", ["frozen", "killed"])
def test_while_it_is_submitted(how: str, lab: SlurmCluster, site: Site) -> None:
    """The controller has started the job, and its node does not know of that."""
    hold(site, "before:submit:lab")
    job = site.submit(TOGETHER)
    held(site, job)
    hurt(lab, how)
    go_on(site, job)
    eventually(lambda: "RUNNING" in states(lab).values(), "the controller believes it runs")
    eventually(lambda: site.job(job)["state"] == "WAITING", "the others wait for it")
    assert site.runs(job) == []
    # Somebody who needs no node of that cluster is not delayed.
    other = site.submit("--on delft:4,leiden:4")
    site.wait_end(other, "COMPLETED")
    assert site.job(job)["state"] == "WAITING"
    heal(lab)
    site.wait_end(job, "COMPLETED", seconds=120)
    whole(site)


@pytest.mark.parametrize("how", ["frozen", "killed"])
def test_at_the_barrier_and_while_it_runs(how: str, lab: SlurmCluster, site: Site) -> None:
    hold(site, "before:arm:lab")
    waiting = site.submit(TOGETHER)
    held(site, waiting)
    running, cancelled = site.submit(TOGETHER, UNTIL), site.submit(TOGETHER, FOR_LONG)
    for job in (running, cancelled):
        site.wait_state(job, "RUNNING")
    eventually(lambda: len(site.runs()) == 4, "the scripts of both start")
    hurt(lab, how)
    # The barrier and the script need no slurmd: only what follows has to wait for it.
    go_on(site, waiting)
    assert site.wait_end(waiting, "COMPLETED")["attempts"] == 1
    assert site.cli("cancel", str(cancelled)).returncode == 0
    (site.work / "end").touch()
    assert site.wait_end(running, "COMPLETED")["attempts"] == 1
    heal(lab)
    assert site.wait_end(cancelled, "CANCELLED")["attempts"] == 1
    assert len(site.runs()) == 6
    whole(site)


@pytest.mark.parametrize("loss", ["power", "memory"])
def test_what_a_node_ends_is_told_with_its_place(lab: SlurmCluster, site: Site, loss: str) -> None:
    """Nodes lose their power, or kill all of a component, as for want of memory: the others end
    too, and are not to blame."""
    hold(site)
    job = site.submit(TOGETHER, UNTIL)
    site.wait_state(job, "RUNNING")
    eventually(lambda: len(site.runs(job)) == 2, "both scripts start")
    if loss == "power":
        hurt(lab, "killed")
        lab.kill_jobs()
        lab.call_down(*lab.nodes)
    else:
        kill_all(job_processes(lab.folder))
    found = site.wait_end(job, "FAILED")
    assert found["attempts"] == 1
    assert "lab" in found["reason"] and "delft" not in found["reason"], found["reason"]
    whole(site)
