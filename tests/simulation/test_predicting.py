"""What would have been told in a run that is over: from nothing that was not known then."""

from __future__ import annotations

from dataclasses import replace

import pytest

from metabroker.policy import Request, make, make_planner
from metabroker.simulation import SimJob
from metabroker.simulation.engine import simulate
from metabroker.simulation.local_users import Line, SharedCluster
from metabroker.simulation.predicting import Told, replay
from metabroker.simulation.shared_engine import simulate_shared
from metabroker.simulation.stream import Finished
from tests.simulation.traces import small


def told(jobs: list[SimJob]) -> list[Told]:
    done: list[Finished] = []
    simulate(make_planner("EASY", (100,)), jobs, (100,), done.extend)
    return list(replay(done, (), (100,), [str(n % 9) for n in range(len(jobs))]))


def test_only_what_is_known_at_the_time_is_used() -> None:
    jobs = small()[0][:400]
    done: list[Finished] = []
    simulate(make_planner("EASY", (100,)), jobs, (100,), done.extend)
    then = sorted(job[6] for job in done)[300]
    later = {job[2] for job in done if job[0] > then}
    other = [
        job._replace(run_time=job.run_time + max(1.0, job.estimate)) if key in later else job
        for key, job in enumerate(jobs)
    ]
    first, second = ([t for t in told(each) if t.submit < then] for each in (jobs, other))
    assert len(first) > 60 and any(each.estimate for each in first)
    assert [replace(each, wait=0.0) for each in first] == [
        replace(each, wait=0.0) for each in second
    ]


def test_baselines_by_hand() -> None:
    jobs = [
        SimJob(0.0, Request((60,)), 0, 50.0, 100.0),
        SimJob(1.0, Request((60,)), 0, 50.0, 200.0),
        SimJob(2.0, Request((60,)), 0, 50.0, 100.0),
    ]
    first, second = told(jobs)
    assert (first.submit, first.wait, first.by_limits, first.by_running) == (1.0, 49.0, 99.0, 99.0)
    assert (second.wait, second.by_limits, second.by_running) == (98.0, 298.0, 98.0)
    assert (first.by_test_only, second.by_test_only) == (99.0, 98.0 + 60 * 200 / 100)
    assert first.estimate is None and second.estimate is None


@pytest.mark.parametrize("line", [None, Line(4, 2)])
def test_of_local_users_only_what_they_hold_is_known(line: Line | None) -> None:
    local = [SimJob(0.0, Request((100,)), 0, 80.0, 500.0)]
    clusters = [SharedCluster(100, "EASY", local), SharedCluster(100, "EASY", local)]
    jobs = [SimJob(1.0, Request((10,)), 0, 5.0, 10.0), SimJob(90.0, Request((10,)), 0, 5.0, 10.0)]
    ours: list[Finished] = []
    theirs: list[Finished] = []
    simulate_shared(make("FPFS", 2), jobs, clusters, ours.extend, theirs.extend, line)
    (found,) = replay(ours, theirs, (100, 100), ["anna"] * 2)
    assert found.wait == 79.0 and found.by_limits == float("inf") and found.estimate is None
