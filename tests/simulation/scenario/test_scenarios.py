"""Scenarios that are right: their defaults, what `--set` does to them, and the runs they are."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from pydantic import BaseModel

from metabroker.config.keys import kind_at
from metabroker.policy import PLANNERS, POLICIES
from metabroker.simulation.engine import EVENT_ORDERS
from metabroker.simulation.scenario.loader import load, parse_text
from metabroker.simulation.scenario.model import (
    BatchWorkload,
    ComponentSizes,
    InputFiles,
    JobMixWorkload,
    Kind,
    Latency,
    Line,
    Local,
    LocalWorkload,
    Policy,
    Precision,
    Readings,
    RuntimesWorkload,
    Scenario,
    ServiceTime,
    SharedCluster,
    SwfWorkload,
    SyntheticWorkload,
    Workload,
)
from metabroker.simulation.scenario.results import scenario_data
from metabroker.simulation.workloads.job_mix import JobMixStream
from metabroker.simulation.workloads.replay import SITES, Replay
from metabroker.simulation.workloads.shapes import SplitRule
from metabroker.simulation.workloads.synthetic import Synthetic
from tests.simulation.scenario.making import FOUR, LEAST, plan

CONFIGS = Path(__file__).parents[3] / "configs" / "simulate"


def test_the_defaults() -> None:
    data = scenario_data(plan(LEAST))
    assert data == {
        "clusters": {"c1": 32, "c2": 32, "c3": 32, "c4": 32},
        "policy": "LP-GF",
        "discipline": "FCFS",
        "placement": "worst-fit",
        "workload": {
            "synthetic": {
                "utilization": 0.6,
                "arrival_rate": None,
                "composition": [25, 25, 25, 25],
                "component_sizes": {"q": 0.9, "min": 1, "max": 8},
                "total_sizes": None,
                "service": {"distribution": "exponential", "mean": 1, "cv": None, "cut": None},
                "local_shares": [1, 1, 1, 1],
                "extension_factor": 1,
            }
        },
        "limits": {"component": None, "components": None, "total": None},
        "overhead": 0,
        "options": {"ls_do": "all", "gp": "same-pass", "lq": "start", "ties": "lowest"},
        "event_order": "batch",
        "jobs": 100000,
        "warmup": "auto",
        "replications": 10,
        "precision": None,
        "seed": 1,
    }


@pytest.mark.parametrize("policy", [*POLICIES, *PLANNERS])
def test_every_policy_has_the_placement_of_its_paper(policy: str) -> None:
    clusters = 1 if policy.startswith(("AFCFS", "LG-SS")) else 4
    text = f"policy: {policy}\nclusters: {{{', '.join(f'c{n}: 32' for n in range(clusters))}}}\n"
    found = plan(f"{text}workload: {{synthetic: {{utilization: 0.5}}}}\njobs: 50\n")
    assert found.run.play().jobs == 50
    others = {
        "FCFS": "worst-fit-reuse",
        "FPFS": "worst-fit-reuse",
        "JOB-SHARING": "best-fit",
        "MULTI-SITE": "fewest-clusters",
    }
    assert found.scenario.placement == others.get(policy, "worst-fit")


def test_what_the_models_know_is_what_there_is() -> None:
    assert set(Policy.__args__) == {*POLICIES, *PLANNERS}  # type: ignore[attr-defined]
    assert kind_at(Scenario, ("event_order",)).__args__ == EVENT_ORDERS
    assert kind_at(Scenario, ("workload", "swf", "sites")).__args__ == SITES


MODELS: tuple[type[BaseModel], ...] = (
    *(
        Scenario,
        Workload,
        SyntheticWorkload,
        ComponentSizes,
        ServiceTime,
        JobMixWorkload,
        SwfWorkload,
    ),
    *(BatchWorkload, Kind, RuntimesWorkload, Readings, Precision),
    *(SharedCluster, Local, LocalWorkload, Line, InputFiles, Latency),
)


def test_every_key_is_documented_and_in_the_commented_example() -> None:
    text = (CONFIGS / "every-key.yaml").read_text()
    for model in MODELS:
        for name, field in model.model_fields.items():
            assert field.description, f"{model.__name__}.{name} has no description"
            assert f"{name}:" in text, name


def test_the_commented_example_gives_the_true_defaults() -> None:
    (commented,) = load(CONFIGS / "every-key.yaml")
    assert commented.scenario == plan(LEAST, "workload.synthetic.utilization=0.85").scenario


@pytest.mark.parametrize("file", sorted(CONFIGS.glob("*.yaml")), ids=lambda file: file.name)
def test_every_example_is_right_and_its_full_form_means_the_same(file: Path) -> None:
    (found,) = load(file, ["jobs=500", "replications=2"])
    (again,) = parse_text(yaml.safe_dump(scenario_data(found)))
    assert again.scenario == found.scenario and again.run == found.run


def test_set_replaces_adds_and_reaches_deep() -> None:
    found = plan(
        LEAST,
        "policy=GS",
        "clusters.c4=64",
        "workload.synthetic.service={distribution: hyperexponential, cv: 3}",
        "workload.synthetic.service.mean=2",
        "limits.component=16",
        "workload.synthetic.local_shares=[4,2,2,2]",
    )
    scenario = found.scenario
    assert (scenario.policy, scenario.clusters["c4"], scenario.limits.component) == ("GS", 64, 16)
    assert isinstance(found.run.workload, Synthetic)
    assert found.run.workload.service.mean == 2
    assert found.run.workload.queues.probabilities == (0.4, 0.2, 0.2, 0.2)


def test_lists_are_swept_where_a_key_takes_none() -> None:
    found = parse_text(
        LEAST,
        [
            "policy=[GS,LS-DO]",
            "workload.synthetic.composition=[[100],[50,50]]",
            "workload.synthetic.local_shares=[2,1,1,1]",
        ],
    )
    key = "workload.synthetic.composition"
    assert [p.swept for p in found] == [
        {"policy": "GS", key: [100]},
        {"policy": "GS", key: [50, 50]},
        {"policy": "LS-DO", key: [100]},
        {"policy": "LS-DO", key: [50, 50]},
    ]
    assert found[0].swept is not found[1].swept


def test_a_list_of_one_is_a_sweep_of_one() -> None:
    (found,) = parse_text(LEAST, ["policy=[GS]"])
    assert found.swept == {"policy": "GS"}


def test_paths_start_at_the_files_folder_and_those_of_set_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    for folder, size in ((tmp_path, 3), (inner, 5)):
        (folder / "t.csv").write_text(f"size,prob\n{size},1\n")
    (inner / "s.yaml").write_text(f"{LEAST}    total_sizes: t.csv\n")
    monkeypatch.chdir(tmp_path)
    for sets, size in (((), 5), (("workload.synthetic.total_sizes=t.csv",), 3)):
        (found,) = load("inner/s.yaml", sets)
        assert isinstance(found.run.workload, Synthetic)
        shapes = found.run.workload.shapes
        assert isinstance(shapes, SplitRule) and shapes.totals.values == (size,)


def test_total_sizes_are_split_by_the_limits(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("size,prob\n64,1\n")
    text = f"{LEAST}    total_sizes: t.csv\nlimits: {{component: 24}}\n"
    found = plan(text, folder=tmp_path)
    (job,) = found.run.workload.jobs(1, 0, 1)
    assert job.request.sizes == (22, 21, 21)


def test_a_job_mix_is_of_its_cluster() -> None:
    found = plan("clusters: {k: 64}\npolicy: AFCFS-BS\nworkload: {job_mix: {nmax: 4}}\n")
    assert found.run.workload == JobMixStream(4, 64, 0.280, 1.0)
    assert found.run.gangs


LOG = "".join(
    f"{n} {n * 10} -1 100 {size} -1 -1 {size} 200 -1 1 1 1 -1 1 {n % 2 + 1} -1 -1\n"
    for n, size in enumerate([4, 100, 8, 2, 16], 1)
)


def test_a_log_is_played_once_whole_or_in_part(tmp_path: Path) -> None:
    (tmp_path / "log.swf").write_text(LOG)
    text = "clusters: {a: 32, b: 16}\npolicy: EASY\nworkload: {swf: {file: log.swf, max_size: 16}}"
    found = plan(f"{text}\nreplications: 7", folder=tmp_path)
    assert isinstance(found.run.workload, Replay)
    scenario = found.scenario
    assert (scenario.jobs, scenario.replications, scenario.warmup) == (5, 1, "none")
    assert found.run.play().jobs == 4 + 7
    part = plan(text, "workload.swf.first=2", "jobs=1", folder=tmp_path)
    assert (part.scenario.jobs, part.run.play().jobs) == (1, 7)


def test_a_log_under_a_policy_of_chance_can_be_played_several_times(tmp_path: Path) -> None:
    (tmp_path / "log.swf").write_text(LOG.replace("100", "10"))
    text = "clusters: {a: 32, b: 16}\npolicy: LS-RD\nworkload: {swf: {file: log.swf}}\n"
    assert plan(text, folder=tmp_path).scenario.replications == 1
    assert plan(text, "replications=3", folder=tmp_path).scenario.replications == 3


def test_a_batch_names_clusters_and_takes_turns() -> None:
    kinds = "[{components: [4, 4], time: 9}, {components: [2], on: [c3], time: 7}]"
    found = plan(f"{FOUR}policy: FCFS\nworkload: {{batch: {{kinds: {kinds}, count: 3}}}}\n")
    jobs = list(found.run.workload.jobs(1, 0, 3))
    assert [job.request.sizes for job in jobs] == [(4, 4), (2,), (4, 4)]
    assert jobs[1].request.clusters == (2,)
    assert {job.submit for job in jobs} == {0.0}


def test_names_of_clusters_that_yaml_takes_for_other_things() -> None:
    found = plan("clusters: {no: 8, 007: 8}\nworkload: {synthetic: {utilization: 0.5}}\n")
    assert list(found.scenario.clusters) == ["no", "007"]
    found = plan(
        "clusters: {no: 8, 007: 8}\nworkload: {synthetic: {utilization: 0.5}}\n", "clusters.007=9"
    )
    assert found.scenario.clusters["007"] == 9
