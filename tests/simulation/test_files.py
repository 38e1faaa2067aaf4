"""Files that simulated jobs read: where they lie, what they cost, and what a placement gains."""

from __future__ import annotations

import csv
import io
from collections import Counter
from dataclasses import replace

import pytest

from metabroker.cli.simulated import print_run
from metabroker.policy import Request, make, make_planner
from metabroker.simulation import Finished, SimJob, simulate
from metabroker.simulation.scenario import sweeps
from metabroker.simulation.workloads.blocks import NotCovered, blocks_of_jobs
from metabroker.simulation.workloads.distributions import Constant, Exponential
from metabroker.simulation.workloads.inputs import Files
from tests.simulation.scenario.making import FOUR, LEAST, plan
from tests.simulation.scenario.test_results import played, told

EQUAL = (1.0, 1.0, 1.0, 1.0)


def jobs(number: int) -> list[SimJob]:
    return [SimJob(float(n), Request((2,)), 0, 1.0, 1.0) for n in range(number)]


def finished(placement: str, *todo: SimJob, policy: str = "GS") -> list[Finished]:
    done: list[Finished] = []
    simulate(make(policy, 2, placement=placement), todo, [8, 4], done.extend)
    return sorted(done, key=lambda each: each.key)


def test_a_job_holds_its_processors_while_its_files_come_and_starts_then() -> None:
    read = SimJob(1.0, Request((8,), costs=(5.0, 0.0)), 0, 2.0, 2.0)
    other = SimJob(2.0, Request((8,)), 0, 1.0, 1.0)
    first, second = finished("close-to-files", read, other)
    assert (first.start, first.end, first.clusters) == (6.0, 8.0, (0,))
    assert (second.start, second.end) == (8.0, 9.0)


def test_the_script_of_a_co_allocated_job_starts_once_all_its_components_have_their_files() -> None:
    read = SimJob(0.0, Request((4, 2), costs=(5.0, 1.0)), 0, 2.0, 2.0)
    (only,) = finished("worst-fit", read)
    assert (only.start, only.end) == (5.0, 7.0)


def test_worst_fit_pays_for_files_and_close_to_files_goes_to_them() -> None:
    read = SimJob(0.0, Request((2,), costs=(5.0, 0.0)), 0, 2.0, 2.0)
    for placement, clusters, start in (("worst-fit", (0,), 5.0), ("close-to-files", (1,), 0.0)):
        (only,) = finished(placement, read)
        assert (only.clusters, only.start) == (clusters, start)


def test_planners_go_by_files_too() -> None:
    read = SimJob(0.0, Request((2,), costs=(5.0, 0.0)), 0, 2.0, 2.0)
    done: list[Finished] = []
    easy = make_planner("EASY", [8, 4], placement="close-to-files")
    simulate(easy, [read], [8, 4], done.extend)
    assert [each.clusters for each in done] == [(1,)]


def test_files_are_drawn_by_themselves_and_the_same_again() -> None:
    files = Files(0.5, Exponential(100.0), (3.0, 1.0, 0.0, 0.0), bandwidth=10.0)
    plain = jobs(5000)
    once, again = (list(files.given_to(plain, 1, 0)) for _ in range(2))
    assert once == again != list(files.given_to(plain, 1, 1))
    assert [job._replace(request=Request((2,))) for job in once] == plain
    costs = [job.request.costs for job in once if job.request.costs]
    assert len(costs) == pytest.approx(2500, rel=0.1)
    homes = Counter(cost.index(0.0) for cost in costs)
    assert set(homes) == {0, 1} and homes[0] == pytest.approx(3 * homes[1], rel=0.2)
    assert sum(max(cost) for cost in costs) / len(costs) == pytest.approx(10.0, rel=0.1)


def test_a_file_comes_from_the_copy_that_is_soonest_there() -> None:
    files = Files(1.0, Constant(100.0), EQUAL, 2, 10.0, {(0, 2): 100.0})
    assert files.costs(100.0, [0, 1]) == (0.0, 0.0, 1.0, 10.0)
    for job in files.given_to(jobs(200), 1, 0):
        assert job.request.costs.count(0.0) == 2
    (everywhere,) = replace(files, copies=4).given_to(jobs(1), 1, 0)
    assert everywhere.request == Request((2,))


def test_jobs_that_read_the_same_share_a_request() -> None:
    found = list(Files(1.0, Constant(5.0), EQUAL).given_to(jobs(100), 1, 0))
    assert len({id(job.request) for job in found}) == 4


@pytest.mark.parametrize(("copies", "bandwidth"), [(5, 1.0), (0, 1.0), (1, 0.0)])
def test_files_that_cannot_be(copies: int, bandwidth: float) -> None:
    with pytest.raises(ValueError, match=r"copies|bandwidth"):
        Files(1.0, Constant(1.0), EQUAL, copies, bandwidth)


SCENARIO = LEAST + (
    "policy: GS\njobs: 3000\nreplications: 2\n"
    "inputs: {size: {distribution: constant, mean: 50}, bandwidth: 100}\n"
)


def test_the_kernel_leaves_jobs_with_files_to_the_readable_policies() -> None:
    found = plan(SCENARIO)
    assert not found.run.by_kernel()
    assert told(found)["engine"] == "readable"
    read = SimJob(0.0, Request((2,), costs=(5.0, 0.0)), 0, 1.0, 1.0)
    with pytest.raises(NotCovered, match="files"):
        list(blocks_of_jobs([read]))


def test_what_files_cost_and_what_going_to_them_gains() -> None:
    """Half of the mean service time to come from another cluster, at 60 % of the processors."""
    worst = told(plan(SCENARIO, "placement=worst-fit"))
    close = told(plan(SCENARIO, "placement=close-to-files"))
    without = told(plan(SCENARIO, "inputs=null"))
    assert "transfer_time" not in without
    mean = {name: run["transfer_time"]["mean"] for name, run in (("w", worst), ("c", close))}
    # A job of one component is where its file is in one of four cases, one of four always is not.
    assert 0.35 < mean["w"] < 0.5 and mean["c"] < mean["w"]
    waits = [run["waiting_time"]["mean"] for run in (without, close, worst)]
    assert waits == sorted(waits) and waits[0] < waits[1] < waits[2]
    # What is held while files come is gross; the work itself is the same.
    assert worst["utilization"]["gross"] > 1.2 * worst["utilization"]["net"]
    assert without["utilization"]["gross"] == pytest.approx(without["utilization"]["net"])


def test_without_files_the_placement_is_worst_fit_to_the_last_bit() -> None:
    plain = f"{LEAST}jobs: 1000\nreplications: 1\npolicy: GS\n"
    outcomes = [
        plan(plain, f"placement={name}").run.play()
        for name in ("worst-fit", "close-to-files", "worst-fit-reuse", "close-to-files-reuse")
    ]
    assert outcomes[0] == outcomes[1] and outcomes[2] == outcomes[3]


def test_the_files_are_the_same_whatever_the_placement() -> None:
    runs = [plan(SCENARIO, f"placement={name}").run for name in ("worst-fit", "close-to-files")]
    drawn = [
        list(run.files.given_to(run.workload.jobs(1, 0, 50), 1, 0)) for run in runs if run.files
    ]
    assert len(drawn) == 2 and drawn[0] == drawn[1]


def test_a_batch_with_files_is_drawn_and_a_log_keeps_its_jobs() -> None:
    batch = f"{FOUR}workload: {{batch: {{kinds: [{{components: [2], time: 1}}]}}}}\ninputs: {{}}\n"
    assert plan(batch + "replications: 3\n").scenario.replications == 3


def test_figures_are_printed_and_in_the_table_of_a_sweep(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = plan(SCENARIO, "jobs=300")
    result = told(found)
    print_run(result)
    assert "files to come, mean time" in capsys.readouterr().out
    assert played(found).summary.outcomes[0].transfer > 0
    file = io.StringIO()
    sweeps.write_csv([{**result, "set": {"policy": "GS"}}], file)
    (row,) = csv.DictReader(io.StringIO(file.getvalue()))
    assert float(row["transfer"]) == pytest.approx(result["transfer_time"]["mean"])
