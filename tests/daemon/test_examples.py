"""The files of `examples/`, as a user submits them, on real Slurm clusters.

MPI, PyTorch and Ray are not of the package: what is not in the jobs' PATH is left out by name.
METABROKER_TEST_PROGRAMS names the `bin` of a Python that has them, which every job can run.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.daemon.fixtures import MakeSite
from tests.daemon.harness import REPOSITORY, Site
from tests.daemon.kinds import Slurm
from tests.testbed import SlurmCluster
from tests.testbed.mpi import compiled
from tests.testbed.testbed import SYSTEM_PATH

pytestmark = pytest.mark.slurm
EXAMPLES = REPOSITORY / "examples"
PROGRAMS = os.environ.get("METABROKER_TEST_PROGRAMS") or str(Path(sys.executable).parent)
PATH = f"{PROGRAMS}{os.pathsep}{SYSTEM_PATH}"
# All nodes of the test-bed are one host, which Open MPI's shared memory takes for one node.
MPIS = {
    "mpich": ("mpicc.mpich", "mpiexec.hydra", "MPI=mpich"),
    "openmpi": ("mpicc.openmpi", "mpirun.openmpi", "MPI=openmpi,OMPI_MCA_btl='self,tcp'"),
}
SQUARES = "328350"  # of 0 to 99, their sum


@pytest.fixture
def site(clusters: dict[str, SlurmCluster], make_site: MakeSite) -> Site:
    made = make_site(Slurm({name: clusters[name] for name in ("delft", "leiden")}))
    made.kind.sizes = {"delft": 144, "leiden": 64}
    with made.changing() as text:
        for name, cluster in text["clusters"].items():
            cluster["env"]["PATH"] = f"{clusters[name].bin}{os.pathsep}{PATH}"
    made.start_and_look()
    return made


def needs(program: str, module: str = "") -> None:
    """Leave a test out whose program, or whose module of Python, jobs do not have."""
    if shutil.which(program, path=PATH) is None:
        pytest.skip(f"there is no {program} in the jobs' PATH")
    if module:
        python = shutil.which("python3", path=PATH) or sys.executable
        asked = subprocess.run([python, "-c", f"import {module}"], capture_output=True)
        if asked.returncode:
            pytest.skip(f"{python} has no {module}")


def run(site: Site, example: str, *options: str) -> list[list[str]]:
    """Submit that file with its own options, in a copy of its folder; what each component
    printed."""
    shutil.copytree(EXAMPLES, site.work, dirs_exist_ok=True)
    done = site.cli("submit", "--strict", *options, str(EXAMPLES / example))
    assert done.returncode == 0, done.stderr
    job = int(done.stdout)
    ended = site.wait_end(job)
    outputs = [site.work / f"metabroker-{job}.{n}.out" for n in range(2)]
    printed = [path.read_text().splitlines() if path.exists() else [] for path in outputs]
    assert ended["state"] == "COMPLETED", (ended["reason"], printed, site.story())
    assert {part["cluster"] for part in ended["components"]} == {"delft", "leiden"}
    return printed


def in_clusters(lines: list[str], printed: list[list[str]]) -> None:
    """What the ranks say of their clusters: four are in the one, and two in the other."""
    assert sorted(lines) == sorted(line for part in printed for line in part)
    where = [line.rpartition(" ")[2] for line in sorted(lines)]
    assert where in (["delft"] * 4 + ["leiden"] * 2, ["leiden"] * 4 + ["delft"] * 2)


def test_exchange(site: Site) -> None:
    first, second = run(site, "exchange.sh")
    assert first == second
    assert sorted(line.split()[0] for line in first) == ["delft", "leiden"]


def test_slots(site: Site) -> None:
    printed = run(site, "slots.sh")
    lines = [line for part in printed for line in part]
    in_clusters(lines, printed)
    assert [line.rpartition(" in ")[0] for line in sorted(lines)] == [
        f"[{n}] rank {n} of 6" for n in range(6)
    ]


@pytest.mark.parametrize("kind", MPIS)
def test_mpi(site: Site, kind: str) -> None:
    compiler, launcher, variables = MPIS[kind]
    compiled(compiler, launcher, EXAMPLES / "allreduce.c", site.work / "allreduce")
    printed = run(site, "mpi.sh", "--export", variables)
    lines = [line for part in printed for line in part]
    in_clusters(lines, printed)
    assert [line.rpartition(" in ")[0] for line in sorted(lines)] == [
        f"rank {n} of 6: sum 21" for n in range(6)
    ]


def test_torchrun(site: Site) -> None:
    needs("torchrun", "torch")
    printed = run(site, "torchrun.sh")
    lines = [line for part in printed for line in part if line.startswith("rank ")]
    assert sorted(line.rpartition(" in ")[0] for line in lines) == [
        f"rank {n}: sum 21" for n in range(6)
    ]
    assert {line.rpartition(" ")[2] for line in lines} == {"delft", "leiden"}


def test_dask(site: Site) -> None:
    needs("dask", "distributed")
    first, _ = run(site, "dask.sh")
    assert SQUARES in first
    workers = next(line for line in first if line.startswith("["))
    assert "'delft-" in workers and "'leiden-" in workers


def test_ray(site: Site) -> None:
    needs("ray", "ray")
    first, _ = run(site, "ray.sh")
    assert SQUARES in first
