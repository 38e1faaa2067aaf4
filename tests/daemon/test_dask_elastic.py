"""Workers of Dask that join a running job and leave it, on two real Slurm clusters."""

from __future__ import annotations

import shutil

import pytest

from tests.daemon.harness import Site, eventually
from tests.daemon.test_examples import EXAMPLES, needs, site

__all__ = ["site"]

pytestmark = pytest.mark.slurm


def test_a_component_that_joins_and_leaves_a_dask_job_loses_no_task(site: Site) -> None:
    needs("dask", "distributed")
    shutil.copytree(EXAMPLES, site.work, dirs_exist_ok=True)
    tasks = 600
    script = str(site.work / "dask_elastic.sh")
    done = site.cli("submit", "--on", "delft:1", script, str(tasks))
    assert done.returncode == 0, done.stderr
    job = int(done.stdout)
    output = site.work / f"metabroker-{job}.out"

    def printed() -> list[str]:
        return output.read_text().splitlines() if output.exists() else []

    def works(number: int, nodes: int) -> None:
        def all_do() -> bool:
            lines = [line for line in printed() if line.startswith("leiden-")]
            return sum(f"-{number} has done" in line for line in lines) == nodes

        eventually(all_do, f"the workers of job {number} do tasks")

    eventually(lambda: any("has done" in line for line in printed()), "tasks are done")

    def joins(nodes: int) -> int:
        size = "-N", str(nodes), "--ntasks-per-node", "2", "--cluster", "leiden"
        return int(site.cli("submit", "--join", str(job), *size, script, str(tasks)).stdout)

    leaves, stays = joins(1), joins(2)
    works(leaves, 1)
    works(stays, 2)
    assert site.cli("cancel", str(leaves)).returncode == 0
    site.wait_end(leaves, "CANCELLED")
    assert site.job(job)["state"] == "RUNNING", "it has gone in the middle of the work"
    ended = site.wait_end(job)
    told = f"{ended['reason']}\n{printed()}\n{site.story()}"
    assert ended["state"] == "COMPLETED", told
    total = sum(n * n for n in range(tasks))
    assert f"{tasks} tasks by 4 workers: {total}" in printed(), told
    site.wait_end(stays, "COMPLETED", "CANCELLED")
    left = (site.work / f"metabroker-{leaves}.out").read_text()
    assert "Closing worker gracefully" in left, left
    site.wait_clean()
