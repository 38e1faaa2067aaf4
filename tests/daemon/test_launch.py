"""`metabroker-launch`: one program over two real Slurm clusters that share no files."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import pytest

from tests.daemon.apart import Apart, apart
from tests.daemon.fixtures import MakeSite
from tests.daemon.harness import Site, eventually
from tests.testbed.mpi import compiled

__all__ = ["apart"]

pytestmark = pytest.mark.slurm

TURNS = int(os.environ.get("METABROKER_TEST_LAUNCHES", "1"))
ALLREDUCE = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv) {
    int rank, size, sum = 0, one;
    char host[64];
    gethostname(host, sizeof host);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    one = rank + 1;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("rank %d of %d: sum %d in %s on %s\n", rank, size, sum, getenv("METABROKER_CLUSTER"),
           host);
    fflush(stdout);
    if (argc > 1 && atoi(argv[1]) == rank) _exit(7);
    if (argc > 1) sleep(600);
    MPI_Finalize();
    return 0;
}
"""
# All nodes of the test-bed are one host, which Open MPI's shared memory takes for one node.
ONE_HOST = "export OMPI_MCA_btl=self,tcp"
MPIS = {
    "mpich": ("mpicc.mpich", "mpiexec.hydra"),
    "openmpi": ("mpicc.openmpi", "mpirun.openmpi"),
}


@pytest.fixture
def site(apart: Apart, make_site: MakeSite) -> Site:
    made = apart.site(make_site)
    made.start_and_look()
    return made


def run(
    site: Site,
    apart: Apart,
    line: str,
    *,
    ends: str = "COMPLETED",
    places: str = "--on delft:4,leiden:2",
) -> tuple[int, list[str]]:
    """A job of 6 tasks, and all that it printed, component 0 first."""
    for file in apart.jobs.glob("*.*.[0-9]"):  # of another daemon, whose jobs have these numbers
        file.unlink()
    options = f"{places} -D {apart.jobs} -o out.%j.%c -e err.%j.%c"
    job = site.submit(options, f"#!/bin/sh\n{line}\n")
    ended = site.wait_end(job)
    components = range(len(ended["components"]))
    printed = [(apart.jobs / f"out.{job}.{n}").read_text() for n in components]
    wrong = [(apart.jobs / f"err.{job}.{n}").read_text() for n in components]
    story = "\n".join((ended["reason"], *printed, *wrong))
    assert ended["state"] == ends, f"{story}\n{site.story()}"
    return job, "".join(printed).splitlines()


@pytest.fixture(params=MPIS)
def mpi(request: pytest.FixtureRequest, apart: Apart) -> tuple[str, Path]:
    """A kind of MPI, and a program of it."""
    compiler, launcher = MPIS[request.param]
    program = apart.jobs / f"allreduce-{request.param}"
    if not program.exists():
        source = apart.jobs / "allreduce.c"
        source.write_text(ALLREDUCE)
        compiled(compiler, launcher, source, program)
        program.chmod(0o755)
    return request.param, program


def test_one_mpi_world(site: Site, apart: Apart, mpi: tuple[str, Path]) -> None:
    kind, program = mpi
    for _ in range(TURNS):
        _, lines = run(site, apart, f"{ONE_HOST}; metabroker-launch --with {kind} {program}")
        here = os.uname().nodename
        clusters = ["delft"] * 4 + ["leiden"] * 2
        wanted = [f"rank {n} of 6: sum 21 in {c} on {here}" for n, c in enumerate(clusters)]
        assert sorted(lines) == wanted
    site.wait_clean()


def test_a_rank_that_dies_ends_all(site: Site, apart: Apart, mpi: tuple[str, Path]) -> None:
    kind, program = mpi
    line = f"{ONE_HOST}; metabroker-launch --with {kind} {program} 5"
    job, _ = run(site, apart, line, ends="FAILED")
    assert site.show(job)["exit_code"] == 7
    site.wait_clean()


def test_a_process_for_each_slot(site: Site, apart: Apart) -> None:
    line = (
        "metabroker-launch --label sh -c 'echo \"$METABROKER_RANK $METABROKER_WORLD_SIZE"
        " $METABROKER_CLUSTER it'\"'\"'s\"; cat $METABROKER_HOSTFILE >&2'"
    )
    job, lines = run(site, apart, line)
    assert sorted(lines) == [f"[{n}] {n} 6 {'delft' if n < 4 else 'leiden'} it's" for n in range(6)]
    hosts = (apart.jobs / f"err.{job}.1").read_text().splitlines()
    assert {line.partition(" ")[0] for line in hosts} == {"[4]", "[5]"}
    assert sum(int(line.split("=")[1]) for line in hosts) == 12, "each sees the slots of all"


def test_a_process_that_fails_ends_all(site: Site, apart: Apart) -> None:
    # What its shell has started has a number of its own.
    rest = f"600.{os.getpid()}"  # for longer than anybody waits here
    line = f"metabroker-launch sh -c 'if [ $METABROKER_RANK = 2 ]; then exit 9; fi; sleep {rest}'"
    job, _ = run(site, apart, line, ends="FAILED")
    assert site.show(job)["exit_code"] == 9
    site.wait_clean()
    eventually(lambda: not called("sleep", rest), "what the processes have started ends, too")


def called(*words: str) -> list[int]:
    """Processes of exactly this command line."""
    wanted = "\0".join((*words, "")).encode()
    found = []
    for path in (p / "cmdline" for p in Path("/proc").iterdir() if p.name.isdigit()):
        with contextlib.suppress(OSError):
            if path.read_bytes() == wanted:
                found.append(int(path.parent.name))
    return found
