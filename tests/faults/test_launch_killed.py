"""A program over two real clusters loses a rank, the slurmd of a node, or one cluster's slurmctld,
while it is brought up and while it runs: all of it ends with one reason, or goes on.

Nothing is healed before the job has ended, where it is said to end.
"""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Iterator

import pytest

from tests.daemon.fixtures import MakeSite
from tests.daemon.harness import Json, Site, eventually, until
from tests.daemon.kinds import Slurm
from tests.testbed import SlurmCluster
from tests.testbed.mpi import compiled

pytestmark = pytest.mark.slurm
Clusters = dict[str, SlurmCluster]
RANKS = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv) {
    int rank, size, end, any;
    char name[64];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    snprintf(name, sizeof name, "rank.%d", rank);
    FILE *file = fopen(name, "w");
    fprintf(file, "%d\n", (int)getpid());
    fclose(file);
    do {  /* asks now and then: who waits in MPI_Allreduce itself takes a processor */
        MPI_Request request;
        int done = 0;
        end = access("end", F_OK) == 0;
        MPI_Iallreduce(&end, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &request);
        while (!done) {
            usleep(20000);
            MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        }
    } while (!any);
    MPI_Finalize();
    return 0;
}
"""
SLOTS = "sh -c 'echo $$ > rank.$METABROKER_RANK; until [ -e end ]; do sleep 0.1; done'"
# Which component loses something: with MPI the leading one, which has most to lose.
VICTIMS = {"slots": 1, "mpich": 0}


@pytest.fixture
def site(clusters: Clusters, make_site: MakeSite) -> Iterator[Site]:
    made = make_site(Slurm({name: clusters[name] for name in ("delft", "leiden")}))
    made.kind.sizes = {"delft": 144, "leiden": 64}
    made.start_and_look()
    yield made
    for cluster in clusters.values():
        for node in cluster.nodes:
            cluster.start_node(node)


@pytest.fixture(params=VICTIMS)
def program(request: pytest.FixtureRequest, site: Site) -> tuple[str, int]:
    """What is launched, and the component that loses something."""
    kind: str = request.param
    if kind == "slots":
        return SLOTS, VICTIMS[kind]
    source = site.work / "ranks.c"
    source.write_text(RANKS)
    compiled("mpicc.mpich", "mpiexec.hydra", source, site.work / "ranks")
    return "--with mpich ./ranks", VICTIMS[kind]


def submit(site: Site, program: str) -> int:
    """It is launched, once the file `go` is there."""
    script = f"#!/bin/sh\necho > here.$METABROKER_COMPONENT\n{until('go')}\n"
    job = site.submit("--on delft:4,leiden:2", f"{script}metabroker-launch {program}\n")
    eventually(lambda: len([*site.work.glob("here.*")]) == 2, "both scripts run")
    return job


def launch(site: Site) -> list[int]:
    """It goes on; the processes of its ranks, when they all run."""
    (site.work / "go").touch()
    files = [site.work / f"rank.{n}" for n in range(6)]
    eventually(lambda: all(f.exists() and f.read_text().endswith("\n") for f in files), "all ranks")
    return [int(file.read_text()) for file in files]


def hurt(cluster: SlurmCluster, what: str) -> None:
    if what == "slurmctld":
        cluster.kill_controller()
        return
    for node in cluster.nodes:
        cluster.kill_node(node)


def ends(site: Site, job: int, victim: str) -> Json:
    """All components end, though nothing is healed, and one of them is to blame."""
    began = time.monotonic()
    found = site.wait_end(job, "FAILED")
    print(f"ended after {time.monotonic() - began:.1f} s: {found['reason']}")
    assert f"in {victim}:" in site.show(job)["reason"]
    assert found["attempts"] == 1
    return found


def nothing_is_left(site: Site) -> None:
    site.wait_clean()
    assert "Traceback" not in site.log.read_text()


def test_a_rank_is_killed(site: Site, program: tuple[str, int]) -> None:
    line, victim = program
    job = submit(site, line)
    rank = launch(site)[5 if victim else 1]
    os.kill(rank, signal.SIGKILL)
    found = site.wait_end(job, "FAILED")
    number, code = blamed(found)
    assert found["exit_code"] == code != 0
    if line == SLOTS:  # MPICH ends both parts of its own, and either may be the first to be seen
        assert number == victim and code in (None, 128 + signal.SIGKILL)
        (other,) = [part for part in found["components"] if part["index"] != number]
        assert other["state"] == "CANCELLED", "it was ended since the other one has failed"
    nothing_is_left(site)


def blamed(job: Json) -> tuple[int, int | None]:
    """The component that the job's reason names, with the exit code: one that has failed so; None:
    its cluster told first that it was killed."""
    pattern = r"component (\d) in (\w+): (?:its script ended with exit code (\d+)|killed)"
    named = re.fullmatch(pattern, job["reason"])
    assert named is not None, job["reason"]
    number, cluster, code = int(named[1]), named[2], int(named[3]) if named[3] else None
    part = job["components"][number]
    assert part["cluster"] == cluster, job
    told = {("FAILED", code)} if code else {("CANCELLED", None), ("CANCELLED", 137)}
    assert (part["state"], part["exit_code"]) in told, job
    return number, code


@pytest.mark.parametrize("what", ["slurmd", "slurmctld"])
def test_while_it_is_brought_up(
    site: Site, clusters: Clusters, program: tuple[str, int], what: str
) -> None:
    """Nothing more can be started there: the component fails, and that ends the others."""
    line, victim = program
    name = ("delft", "leiden")[victim]
    job = submit(site, line)
    hurt(clusters[name], what)
    (site.work / "go").touch()
    ends(site, job, name)
    heal(clusters[name])
    nothing_is_left(site)


@pytest.mark.parametrize("what", ["slurmd", "slurmctld"])
def test_while_it_runs(site: Site, clusters: Clusters, program: tuple[str, int], what: str) -> None:
    """It goes on, and needs neither to end well."""
    line, victim = program
    cluster = clusters[("delft", "leiden")[victim]]
    job = submit(site, line)
    launch(site)
    if what == "slurmctld":
        saved = cluster.folder / "state" / "job_state"
        now = time.time()
        eventually(lambda: saved.exists() and saved.stat().st_mtime > now, "its state is saved")
    hurt(cluster, what)
    if what == "slurmctld":
        eventually(lambda: not site.clusters()[cluster.name]["reachable"], "it is missed")
    assert site.job(job)["state"] == "RUNNING"
    (site.work / "end").touch()
    if what == "slurmctld":
        eventually(lambda: not site.component_processes(), "the program ends")
    heal(cluster)
    found = site.wait_end(job, "COMPLETED")
    assert found["attempts"] == 1
    nothing_is_left(site)


def heal(cluster: SlurmCluster) -> None:
    for node in cluster.nodes:
        cluster.start_node(node)
    if not cluster.controller.running():
        cluster.start_controller()
