"""A job over its time limit is ended and says so. (Slurm counts in minutes and looks every 30 s;
so all these lives are begun at once, and looked at after the other tests of their worker.)"""

from __future__ import annotations

import pytest

from tests.contract.conftest import Overtime
from tests.daemon.fixtures import LONGEST
from tests.daemon.harness import eventually

# With others that take long, so that something is done meanwhile.
pytestmark = [pytest.mark.timeout(LONGEST), pytest.mark.xdist_group("long")]


@pytest.fixture(params=["simulated", pytest.param("slurm", marks=pytest.mark.slurm)])
def life(overtime: dict[str, Overtime], request: pytest.FixtureRequest) -> Overtime:
    if request.param == "slurm":
        request.getfixturevalue("installation")  # skips, and says why
    return overtime[request.param]


def test_jobs_begin_that_will_take_too_long(life: Overtime) -> None:
    eventually(lambda: len(life.site.runs(life.alone)) == 1, "the script runs")
    eventually(lambda: len(life.site.runs(life.together)) == 2, "both scripts run")


@pytest.mark.late
def test_a_co_allocated_job_is_ended_everywhere(life: Overtime) -> None:
    found = life.site.wait_end(life.together, "TIMEOUT")
    assert found["exit_code"] is None
    assert found["attempts"] == 1
    assert len(life.site.runs(life.together)) == 2


@pytest.mark.late
def test_a_single_job_is_ended(life: Overtime) -> None:
    found = life.site.wait_end(life.alone, "TIMEOUT", seconds=300)
    assert found["exit_code"] is None
    assert found["attempts"] == 1
    assert [part["state"] for part in found["components"]] == ["TIMEOUT"]


@pytest.mark.late
def test_nothing_is_left_of_them(life: Overtime) -> None:
    for job in (life.alone, life.together):
        life.site.wait_end(job, "TIMEOUT", seconds=300)
    life.site.wait_clean()
    assert life.site.stop() == 0
