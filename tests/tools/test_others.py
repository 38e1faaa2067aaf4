"""PSI/J, dask-jobqueue and Parsl, unmodified, by their executors for Slurm."""

from __future__ import annotations

import json

import pytest

from tests.daemon.harness import Site
from tests.tools.conftest import Run

pytestmark = pytest.mark.slurm

PSIJ = """
import json
from datetime import timedelta
from psij import Job, JobAttributes, JobExecutor, JobSpec, ResourceSpecV1

executor = JobExecutor.get_instance("slurm")

def job(script, processes=1):
    spec = JobSpec(executable="/bin/sh", arguments=["-c", script], launcher="single")
    spec.resources = ResourceSpecV1(process_count=processes, exclusive_node_use=False)
    spec.attributes = JobAttributes(duration=timedelta(minutes=5), queue_name="batch")
    return Job(spec)

jobs = [job("sleep 2; exit 0"), job("exit 3"), job("sleep 300"), job("sleep 1", 4)]
for each in jobs:
    executor.submit(each)
jobs[2].wait(target_states=[type(jobs[2].status.state).ACTIVE], timeout=timedelta(seconds=100))
jobs[2].cancel()
found = [each.wait(timeout=timedelta(seconds=120)) for each in jobs]
print(json.dumps([[each.state.name, each.exit_code] for each in found]))
"""

DASK = """
import json, os
from dask.distributed import Client
from dask_jobqueue import SLURMCluster

def where(number):
    import time
    time.sleep(1)
    return os.environ["METABROKER_JOB_ID"], number + 1

with SLURMCluster(cores=1, memory="500MB", walltime="00:10:00", queue="batch",
                  interface="lo", job_extra_directives=["-n 1"]) as cluster:
    cluster.scale(jobs=2)
    with Client(cluster) as client:
        client.wait_for_workers(2, timeout=120)
        found = client.gather(client.map(where, range(8), pure=False))
print(json.dumps(found))
"""

PARSL = """
import json, os
import parsl
from parsl import python_app
from parsl.config import Config
from parsl.executors import HighThroughputExecutor
from parsl.launchers import SrunLauncher
from parsl.providers import SlurmProvider

@python_app
def where(number):
    import os, time
    time.sleep(1)
    return os.environ["METABROKER_JOB_ID"], number + 1

provider = SlurmProvider(partition="batch", nodes_per_block=1, cores_per_node=1, init_blocks=2,
                         max_blocks=2, walltime="00:10:00", exclusive=False,
                         launcher=SrunLauncher())
executor = HighThroughputExecutor(address="127.0.0.1", max_workers_per_node=1, provider=provider)
with parsl.load(Config(executors=[executor])):
    print(json.dumps([future.result() for future in [where(n) for n in range(8)]]))
"""


def told(run: Run, program: str) -> list[list[object]]:
    """What its last line of JSON says."""
    lines = [line for line in run(program).splitlines() if line.startswith("[[")]
    found: list[list[object]] = json.loads(lines[-1])
    return found


def test_psij_sees_how_jobs_end(site: Site, run: Run) -> None:
    found = told(run, PSIJ)
    assert [state for state, _code in found] == ["COMPLETED", "FAILED", "CANCELED", "COMPLETED"]
    assert [code for _state, code in found][:2] == [0, 3]


def test_dask_has_workers(site: Site, run: Run) -> None:
    found = told(run, DASK)
    assert [number for _job, number in found] == [1, 2, 3, 4, 5, 6, 7, 8]
    assert len({job for job, _number in found}) == 2


def test_parsl_has_blocks(site: Site, run: Run) -> None:
    found = told(run, PARSL)
    assert [number for _job, number in found] == [1, 2, 3, 4, 5, 6, 7, 8]
