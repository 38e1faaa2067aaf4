"""submitit, unmodified: functions run as jobs in both clusters, and end as on plain Slurm."""

from __future__ import annotations

import json

import pytest

from tests.daemon.harness import Site
from tests.tools.conftest import Run

pytestmark = pytest.mark.slurm

PROGRAM = """
import json, os, sys, time
import submitit

def square(number):
    time.sleep(3)
    where = os.environ["METABROKER_CLUSTER"]
    return number * number, submitit.JobEnvironment().job_id, where

def fail():
    raise ValueError("as it should")

def stay():
    time.sleep(600)

executor = submitit.AutoExecutor(folder="logs", cluster="slurm")
executor.update_parameters(timeout_min=5, nodes=1, tasks_per_node=1, cpus_per_task=16, name="sq")
jobs = [executor.submit(square, number) for number in range(6)]
executor.update_parameters(cpus_per_task=1)
bad, long = executor.submit(fail), executor.submit(stay)
found = {"results": [job.result() for job in jobs], "ids": [job.job_id for job in jobs]}
error = bad.exception()
found["error"] = str(error)[-200:]
found["bad"] = bad.watcher.get_state(bad.job_id, mode="force")
while long.watcher.get_state(long.job_id, mode="force") != "RUNNING":
    time.sleep(0.5)
long.cancel()
while not (state := long.watcher.get_state(long.job_id, mode="force")).startswith("CANCELLED"):
    time.sleep(0.5)
found["states"] = [job.watcher.get_state(job.job_id, mode="force") for job in jobs]
print(json.dumps(found))
"""


def test_functions_run_in_both_clusters_and_end_as_on_plain_slurm(site: Site, run: Run) -> None:
    found = json.loads(run(PROGRAM).splitlines()[-1])
    assert [result[0] for result in found["results"]] == [0, 1, 4, 9, 16, 25]
    assert [result[1] for result in found["results"]] == found["ids"]
    assert {result[2] for result in found["results"]} == {"leiden", "lab"}
    assert "as it should" in found["error"] and found["bad"] == "FAILED"
    assert set(found["states"]) == {"COMPLETED"}


ARRAY = """
import json, os, time
import submitit

def square(number):
    time.sleep(2)
    if number == 3:
        raise ValueError("as it should")
    return number * number, submitit.JobEnvironment().job_id, os.environ["METABROKER_CLUSTER"]

executor = submitit.AutoExecutor(folder="logs", cluster="slurm")
executor.update_parameters(timeout_min=5, nodes=1, tasks_per_node=1, cpus_per_task=8, name="sq",
                           slurm_array_parallelism=6)
found = []
for job in executor.map_array(square, range(8)):
    error = job.exception()  # from its file, which is there before its job has ended
    while (state := job.watcher.get_state(job.job_id, mode="force")) == "RUNNING":
        time.sleep(0.5)
    found.append([job.job_id, None if error is not None else job.result(), state])
print(json.dumps(found))
"""


def test_an_array_runs_in_both_clusters_and_one_of_its_tasks_fails(site: Site, run: Run) -> None:
    found = json.loads(run(ARRAY).splitlines()[-1])
    assert [state for _, _, state in found] == ["COMPLETED"] * 3 + ["FAILED"] + ["COMPLETED"] * 4
    results = [(id, result) for id, result, _ in found if result is not None]
    assert [result[0] for _, result in results] == [0, 1, 4, 16, 25, 36, 49]
    assert all(result[1] == id for id, result in results)
    assert {result[2] for _, result in results} == {"leiden", "lab"}
