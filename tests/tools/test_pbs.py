"""PSI/J, dask-jobqueue and Parsl, unmodified, by their executors for PBS: over two Slurm clusters,
where `qsub`'s words are translated."""

from __future__ import annotations

import pytest

from tests.daemon.harness import Site
from tests.tools.conftest import Run
from tests.tools.test_others import DASK, PARSL, PSIJ, told

pytestmark = pytest.mark.slurm

DASK_PBS = DASK.replace("SLURMCluster", "PBSCluster").replace(
    'job_extra_directives=["-n 1"]', 'resource_spec="select=1:ncpus=1:mem=500mb"'
)
PARSL_PBS = (
    PARSL.replace("import SlurmProvider", "import PBSProProvider")
    .replace("SlurmProvider(partition=", "PBSProProvider(queue=")
    .replace("cores_per_node=1,", "cpus_per_node=1,")
    .replace("exclusive=False,", "worker_init='export PATH=' + os.environ['PATH'],")
    .replace("SrunLauncher", "SimpleLauncher")
)


def test_psij_sees_how_jobs_end(site: Site, run: Run) -> None:
    found = told(run, PSIJ.replace('get_instance("slurm")', 'get_instance("pbs")'))
    # It takes a job that qdel has ended for failed, as over a real PBS: both say exit status 271,
    # and it knows 265 alone.
    assert [state for state, _code in found] == ["COMPLETED", "FAILED", "FAILED", "COMPLETED"]
    assert [code for _state, code in found][:2] == [0, 3]


def test_dask_has_workers(site: Site, run: Run) -> None:
    found = told(run, DASK_PBS)
    assert [number for _job, number in found] == [1, 2, 3, 4, 5, 6, 7, 8]
    assert len({job for job, _number in found}) == 2


def test_parsl_has_blocks(site: Site, run: Run) -> None:
    found = told(run, PARSL_PBS)
    assert [number for _job, number in found] == [1, 2, 3, 4, 5, 6, 7, 8]
