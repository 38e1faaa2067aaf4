"""What `sbatch --test-only` says of a job on a real cluster, the simulator says as well.

Of jobs that need less than a node Slurm counts a whole one; in the logs' machines a node is one
processor. So the jobs here need a node, 16 processors, at least.
"""

from __future__ import annotations

import pytest

from metabroker.policy import Request, make_planner
from metabroker.simulation import SimJob
from metabroker.simulation.engine import simulate
from metabroker.simulation.predicting import replay
from metabroker.simulation.stream import Finished
from tests.testbed.cluster import SlurmCluster
from tests.testbed.reading import parse_estimate

_ROUNDED = 90.0  # seconds: Slurm counts in minutes, and looks at ends in steps of 30 seconds
RUNS, WAIT, ASKED = (24, 10), [(32, 20), (16, 25), (16, 24)], (16, 5)  # processors, minutes


def simulated(waiting: list[tuple[int, int]]) -> float:
    """Seconds from the start of what runs to what is said of the last job."""
    jobs = [
        SimJob(float(number), Request((size,)), 0, 60.0 * minutes, 60.0 * minutes)
        for number, (size, minutes) in enumerate([RUNS, *waiting, ASKED])
    ]
    done: list[Finished] = []
    simulate(make_planner("EASY", (32,)), jobs, (32,), done.extend)
    last = list(replay(done, (), (32,), ["anna"] * len(jobs)))[-1]
    assert last.by_test_only is not None
    return last.submit + last.by_test_only


def asked(cluster: SlurmCluster) -> float:
    """The moment that Slurm says, in Unix seconds."""
    words = ("--test-only", f"-n{ASKED[0]}", f"-t{ASKED[1]}")
    found = parse_estimate(cluster.run("sbatch", *words, stdin="#!/bin/sh\n").stderr)
    assert found is not None
    return found


@pytest.mark.slurm
def test_of_those_that_run_and_of_the_work_that_waits(clusters: dict[str, SlurmCluster]) -> None:
    cluster = clusters["lab"]
    size, minutes = RUNS
    first = cluster.submit(f"-n{size}", f"-t{minutes}", script="sleep 600")
    start = cluster.wait_job(first, "RUNNING").started
    assert start is not None
    assert asked(cluster) - start == pytest.approx(simulated([]), abs=_ROUNDED)
    for number, (size, minutes) in enumerate(WAIT, 1):
        cluster.submit(f"-n{size}", f"-t{minutes}")
        expected = simulated(WAIT[:number])
        assert asked(cluster) - start == pytest.approx(expected, abs=_ROUNDED), number
    assert simulated(WAIT) - simulated([]) > 60.0 * 30
