"""What is told of runs: contract C5's JSON, rounds until it is precise, tables and lines."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import yaml

from metabroker.cli.simulated import print_run, print_sweep
from metabroker.simulation.executor import InProcess, Processes
from metabroker.simulation.replications import Summary
from metabroker.simulation.rounds import Played, play_rounds
from metabroker.simulation.scenario import sweeps
from metabroker.simulation.scenario.jobs_out import JobsOut
from metabroker.simulation.scenario.loader import Plan, load, parse_text
from metabroker.simulation.scenario.results import as_data, scenario_data, stop_of
from tests.simulation.scenario.making import FOUR, LEAST, SMALL, plan

CONFIGS = Path(__file__).parents[3] / "configs" / "simulate"


def played(found: Plan) -> Played:
    (one,) = play_rounds(
        [(found.run, found.scenario.replications or 1, stop_of(found))], InProcess()
    )
    return one


def told(found: Plan) -> dict[str, Any]:
    data = as_data(found, played(found))
    parsed: dict[str, Any] = json.loads(json.dumps(data, allow_nan=False))
    return parsed


def numbers(data: object) -> Iterator[float]:
    if isinstance(data, dict):
        for value in data.values():
            yield from numbers(value)
    elif isinstance(data, int | float):
        yield data


def test_the_contract() -> None:
    result = told(plan(SMALL))
    assert (result["jobs"], result["replications"], result["saturated"]) == (400, 2, False)
    assert set(result["response_time"]) == {"total", "local", "global"}
    for interval in (*result["response_time"].values(), result["waiting_time"]):
        assert set(interval) == {"mean", "ci95"} and interval["ci95"] > 0
    assert set(result["utilization"]) == {"gross", "net"}
    assert result["jobs_per_second"] > 0
    assert result["engine"] == "readable"  # so few jobs are over before the kernel is loaded
    assert 20 <= result["warmup"] <= 200
    assert result["scenario"]["policy"] == "GS"
    total = result["response_time"]["total"]["mean"]
    assert total - result["waiting_time"]["mean"] == pytest.approx(1, abs=0.1)


def test_it_says_what_has_played_it() -> None:
    found = plan(SMALL)
    both = played(found)
    outcomes = [replace(outcome, kernel=True) for outcome in both.summary.outcomes]
    assert as_data(found, replace(both, summary=Summary(tuple(outcomes))))["engine"] == "kernel"
    mixed = Summary((outcomes[0], *both.summary.outcomes[1:]))
    assert as_data(found, replace(both, summary=mixed))["engine"] == "both"


def test_one_replication_has_no_interval_and_a_kind_without_jobs_no_mean() -> None:
    result = told(plan(SMALL, "replications=1", "workload.synthetic.composition=[0,100]"))
    response = result["response_time"]
    assert response["total"]["ci95"] is None and response["total"]["mean"] > 0
    assert response["local"] == {"mean": None, "ci95": None}
    assert response["global"]["mean"] == response["total"]["mean"]


@pytest.mark.parametrize("file", sorted(CONFIGS.glob("*.yaml")), ids=lambda file: file.name)
def test_every_example_plays(file: Path) -> None:
    (found,) = load(file, ["jobs=500", "replications=2"])
    result = told(found)
    assert 0 < result["jobs"] <= 500
    assert result["replications"] == (
        2
        if "swf" not in str(result["scenario"]) and "batch" not in result["scenario"]["workload"]
        else 1
    )
    assert all(math.isfinite(number) for number in numbers(result))
    utilization = result["utilization"]
    if "runtimes" in result["scenario"]["workload"]:
        assert utilization.pop("net") is None, "nobody knows what of it is communication"
    assert 0 < utilization.get("net", 1e-9) <= utilization["gross"] <= 1


def test_gs_at_080_has_the_published_response_time() -> None:
    """1.594 +- 0.006 (models, section 4)."""
    found = plan(f"{FOUR}policy: GS\nworkload: {{synthetic: {{utilization: 0.8}}}}\n",
                 "jobs=100000", "replications=8")  # fmt: skip
    with Processes(2) as executor:
        (result,) = play_rounds([(found.run, 8, None)], executor)
    interval = result.summary.response
    assert interval.half < 0.06
    assert abs(interval.mean - 1.594) <= interval.half + 0.006


SHARED = """clusters:
  c1: {processors: 32, local: {workload: {synthetic: {utilization: 0.7}}, scheduler: FCFS}}
  c2: {processors: 32, local: {workload: {swf: {file: log.swf}}}}
  c3: 32
policy: FPFS
workload: {synthetic: {utilization: 0.3, composition: [60, 40]}}
jobs: 300
replications: 2
"""


def test_jobs_of_local_users_of_one_component_and_of_several_are_told_apart(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = "{} {} -1 4 20 -1 -1 20 4 -1 1 1 1 -1 1 1 -1 -1\n"
    (tmp_path / "log.swf").write_text("".join(line.format(n, n) for n in range(1, 30)))
    found = plan(SHARED, folder=tmp_path)
    again = plan(yaml.safe_dump(scenario_data(found)))
    assert again.scenario == found.scenario and again.run == found.run
    result = told(found)
    kinds = result["by_kind"]
    assert list(kinds) == ["local_users", "single", "co_allocated"]
    assert kinds["single"]["jobs"] + kinds["co_allocated"]["jobs"] == 300
    assert kinds["single"]["response_time"]["mean"] == pytest.approx(
        result["response_time"]["local"]["mean"], rel=0.05
    )
    for of in kinds.values():
        wait, response = of["waiting_time"]["mean"], of["response_time"]["mean"]
        assert 0 <= wait < response and of["bounded_slowdown"]["mean"] >= 1
    assert result["saturated"] is False
    swept = [{"set": {"jobs": 300}, **result}] * 2
    file = io.StringIO()
    sweeps.write_csv(swept, file)
    (row, _) = csv.DictReader(io.StringIO(file.getvalue()))
    mean = kinds["local_users"]["waiting_time"]["mean"]
    assert float(row["local_users_waiting_time"]) == mean
    print_run(result)
    print_sweep(swept)
    out = capsys.readouterr().out
    assert "3, 96 processors; 2 with local users" in out and "WAIT LOCAL USERS" in out


def test_a_line_changes_what_the_broker_waits_and_nothing_where_it_is_not(tmp_path: Path) -> None:
    shared = SHARED.replace("swf: {file: log.swf}", "synthetic: {utilization: 0.8}")

    def waits(*sets: str) -> list[float]:
        by_kind = told(plan(shared, "clusters.c3=8", *sets))["by_kind"]
        return [of["waiting_time"]["mean"] for of in by_kind.values()]

    assert waits() == waits("line={depth: 0}") == waits("line=null")
    assert waits() != waits("line={}") == waits("line={depth: 8, siblings: 2}")
    assert plan(SMALL, "line={}").run == plan(SMALL).run


def test_local_users_have_the_same_jobs_whatever_the_broker_does(tmp_path: Path) -> None:
    text = SHARED.replace("swf: {file: log.swf}", "synthetic: {utilization: 0.7}")
    streams = []
    for sets in (["policy=GS"], ["policy=LP-GF", "workload.synthetic.utilization=0.1"]):
        run = plan(text, *sets).run
        users = [of for of in run.system.local if of is not None]
        streams.append([list(islice(of.jobs(c, run.seed, 1), 50)) for c, of in enumerate(users)])
    assert streams[0] == streams[1] and streams[0][0] != streams[0][1]


@pytest.mark.parametrize(("utilization", "replications"), [(1.5, 1), (1.5, 2), (0.98, 3)])
def test_saturation_is_said(utilization: float, replications: int) -> None:
    offered = f"workload.synthetic.utilization={utilization}"
    result = told(plan(SMALL, offered, "jobs=9000", f"replications={replications}"))
    assert result["saturated"] is True


def test_a_log_tells_of_waits_weights_and_splits(tmp_path: Path) -> None:
    (tmp_path / "log.swf").write_text(
        "1 0 -1 10 4 -1 -1 4 10 -1 1 1 1 -1 1 1 -1 -1\n"
        "2 0 -1 20 6 -1 -1 6 20 -1 1 1 1 -1 1 1 -1 -1\n"
        "3 0 -1 -1 6 -1 -1 6 20 -1 1 1 1 -1 1 1 -1 -1\n"
        "4 5 -1 10 8 -1 -1 8 10 -1 1 1 1 -1 1 1 -1 -1\n"
    )
    text = "clusters: {a: 4, b: 4}\npolicy: MULTI-SITE\noverhead: 0.5\nevent_order: batch\n"
    result = told(plan(f"{text}workload: {{swf: {{file: log.swf}}}}\n", folder=tmp_path))
    # Job 1 runs 0-10; job 2 is split, and runs 10-40; job 4 is split, and runs 40-55.
    assert result["mean_wait"] == pytest.approx((0 + 10 + 35) / 3)
    assert result["mean_response"] == pytest.approx((10 + 40 + 50) / 3)
    assert result["awrt"] == pytest.approx((4 * 10 + 6 * 40 + 8 * 50) / 18)
    assert result["awwt"] == pytest.approx((6 * 10 + 8 * 35) / 18)
    assert result["bounded_slowdown"] == pytest.approx((1 + 40 / 30 + 50 / 15) / 3)
    assert result["multi_site"] == {
        "jobs": 2,
        "area_share": pytest.approx((6 * 30 + 8 * 15) / (40 + 6 * 30 + 8 * 15)),
    }
    assert result["skipped"] == [{"reason": "its run time is unknown", "count": 1, "first_line": 3}]
    assert result["warmup"] == 0 and result["waiting_time"]["ci95"] is None


def test_a_job_mix_tells_of_its_classes() -> None:
    result = told(plan("clusters: {k: 128}\npolicy: AFCFS\nworkload: {job_mix: }\njobs: 900\n",
                       "replications=2"))  # fmt: skip
    for kind in ("sequential", "gang"):
        of = result["classes"][kind]
        assert 0 < of["mean_response"] < of["max_response"]


def test_rounds_go_on_until_it_is_precise() -> None:
    found = plan(SMALL, "precision={relative: 0.03, most: 60}")
    result = told(found)
    assert 2 < result["replications"] <= 60 and result["replications"] % 2 == 0
    half = result["response_time"]["total"]["ci95"]
    assert half <= 0.03 * result["response_time"]["total"]["mean"]
    assert result["precision"]["reached"] and not result["precision"]["maximum_hit"]


def test_a_maximum_that_is_hit_is_said() -> None:
    result = told(plan(SMALL, "precision={relative: 0.0001, most: 5}"))
    assert result["replications"] == 5
    assert result["precision"]["maximum_hit"] and not result["precision"]["reached"]


def test_more_rounds_begin_with_the_same_replications() -> None:
    few, many = played(plan(SMALL)), played(plan(SMALL, "replications=4"))
    assert many.summary.outcomes[:2] == few.summary.outcomes


def test_processes_and_rounds_change_nothing() -> None:
    plans = parse_text(SMALL, ["policy=[GS,LS-RD]", "precision={relative: 0.05, most: 8}"])
    runs = [(p.run, p.scenario.replications or 1, stop_of(p)) for p in plans]
    with Processes(2) as executor:
        there = play_rounds(runs, executor)
    here = play_rounds(runs, InProcess())
    assert [p.summary for p in there] == [p.summary for p in here]


def test_the_jobs_agree_with_the_summary() -> None:
    found = plan(SMALL, "replications=1", "warmup=none")
    file = io.StringIO()
    (one,) = play_rounds([(found.run, 1, None)], InProcess(), JobsOut(found, file))
    rows = list(csv.DictReader(io.StringIO(file.getvalue())))
    assert list(rows[0]) == ["job", "submit", "start", "end", "processors", "clusters"]
    assert sorted(int(row["job"]) for row in rows) == list(range(1, 401))
    ends = [float(row["end"]) for row in rows]
    assert ends == sorted(ends)
    response = sum(float(row["end"]) - float(row["submit"]) for row in rows) / len(rows)
    assert response == pytest.approx(one.summary.response.mean, rel=1e-9)
    area = sum(int(r["processors"]) * (float(r["end"]) - float(r["start"])) for r in rows)
    assert area / (128 * max(ends)) == pytest.approx(one.summary.outcomes[0].gross, rel=1e-9)
    for row in rows:
        names = row["clusters"].split(";")
        assert len(set(names)) == len(names) and set(names) <= set(found.scenario.clusters)


def test_the_jobs_of_a_log_have_its_numbers(tmp_path: Path) -> None:
    (tmp_path / "log.swf").write_text(
        "7 0 -1 10 6 -1 -1 6 10 -1 1 1 1 -1 1 1 -1 -1\n"
        "9 50 -1 20 2 -1 -1 2 20 -1 1 1 1 -1 1 1 -1 -1\n"
    )
    text = "clusters: {a: 4, b: 4}\npolicy: EASY\nworkload: {swf: {file: log.swf, max_size: 4}}\n"
    found = plan(text, folder=tmp_path)
    file = io.StringIO()
    play_rounds([(found.run, 1, None)], InProcess(), JobsOut(found, file))
    rows = list(csv.DictReader(io.StringIO(file.getvalue())))
    assert [(row["job"], row["processors"]) for row in rows] == [("7", "4"), ("7", "2"), ("9", "2")]


def sweep() -> list[dict[str, Any]]:
    plans = parse_text(LEAST, ["policy=[GS,LS-DO]", "workload.synthetic.utilization=[0.7,0.4,1.4]",
                               "jobs=1500", "replications=2"])  # fmt: skip
    return [told(found) for found in plans]


def test_a_sweep_as_a_table_and_as_lines() -> None:
    runs = sweep()
    file = io.StringIO()
    sweeps.write_csv(runs, file)
    rows = list(csv.DictReader(io.StringIO(file.getvalue())))
    assert [(r["policy"], r["workload.synthetic.utilization"]) for r in rows][:2] == [
        ("GS", "0.7"),
        ("GS", "0.4"),
    ]
    assert float(rows[0]["response_total"]) == runs[0]["response_time"]["total"]["mean"]
    assert [row["saturated"] for row in rows[:3]] == ["false", "false", "true"]
    found = sweeps.lines(runs)
    assert [line.label for line in found] == ["GS", "LS-DO"]
    assert [point[0] for point in found[0].points] == [0.4, 0.7]
    assert found[0].saturated == [1.4]
