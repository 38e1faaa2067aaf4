"""Simulated jobs that want clusters near to each other."""

from __future__ import annotations

from metabroker.policy import Request
from metabroker.simulation import Finished, SimJob
from metabroker.simulation.workloads.latency import near_each_other
from tests.simulation.scenario.making import FOUR, plan
from tests.simulation.scenario.test_results import told

LINKS = "links: {c1: {c2: 1, c3: 20, c4: 20}, c2: {c3: 20, c4: 20}, c3: {c4: 2}}"
SCENARIO = FOUR + (
    "policy: GS\njobs: 3000\nreplications: 1\n"
    "workload: {synthetic: {utilization: 0.5, composition: [50, 50]}}\n"
)
NEAR = {(0, 1), (2, 3)}


def places(text: str, *sets: str) -> list[tuple[int, ...]]:
    """Where each job of two components was, in increasing order of clusters."""
    done: list[Finished] = []
    plan(text, *sets).run.play(also=done.extend)
    return [tuple(sorted(each.clusters)) for each in done if len(each.clusters) > 1]


def test_components_are_in_clusters_that_are_near_and_known_to_be() -> None:
    assert set(places(SCENARIO, f"latency={{most: 5, {LINKS}}}")) == NEAR
    assert len(set(places(SCENARIO))) == 6
    assert len(set(places(SCENARIO, f"latency={{most: 20, {LINKS}}}"))) == 6
    only = "latency={most: 5, links: {c1: {c2: 1}}}"
    assert set(places(SCENARIO, only)) == {(0, 1)}


def test_what_it_costs_to_be_near() -> None:
    free = told(plan(SCENARIO, "workload.synthetic.utilization=0.7"))
    near = told(
        plan(SCENARIO, "workload.synthetic.utilization=0.7", f"latency={{most: 5, {LINKS}}}")
    )
    assert near["engine"] == "readable"
    assert near["response_time"]["global"]["mean"] > free["response_time"]["global"]["mean"]
    assert near["scenario"]["latency"]["most"] == 5


def test_jobs_of_one_component_are_as_they_were() -> None:
    one, two = SimJob(0.0, Request((2,)), 0, 1.0, 1.0), SimJob(0.0, Request((2, 2)), 0, 1.0, 1.0)
    groups = ((0, 1), (2,))
    found = list(near_each_other([one, two, two], groups))
    assert found[0] is one
    assert found[1].request is found[2].request
    assert found[1].request == Request((2, 2), groups=groups)


def test_near_clusters_and_files_go_together() -> None:
    sets = (
        f"latency={{most: 5, {LINKS}}}",
        "placement=close-to-files",
        "inputs={homes: [0, 0, 0, 1]}",
    )
    where = places(SCENARIO, *sets)
    assert set(where) == NEAR
    assert where.count((2, 3)) > 2 * where.count((0, 1))
