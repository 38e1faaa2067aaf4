"""Ernemann et al. 2002: machine configurations, on the log's extracts or without the log."""

from __future__ import annotations

import gzip
from dataclasses import replace
from pathlib import Path

import pytest

from metabroker.experiments import ctc, ernemann_2002_claims, grids, registry
from metabroker.experiments.claims import claims, decide
from metabroker.experiments.output import write
from metabroker.experiments.result_cache import ResultCache
from metabroker.experiments.scale import FULL, TINY

SCALE = replace(TINY, jobs=40)
NAMES = [f"er-fig{n}" for n in range(2, 9)] + ["er-table3", "er-table4"]


@pytest.fixture(autouse=True)
def no_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("METABROKER_SHARED", str(tmp_path))


@pytest.fixture
def some_log(no_log: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """A short log in the place of the real one; its extracts begin early."""
    jobs = ctc.stand_in(200, 7).jobs
    ctc.log(TINY).parent.mkdir(parents=True)
    with gzip.open(ctc.log(TINY), "wt") as file:
        file.writelines(" ".join(map(str, job)) + "\n" for job in jobs)
    firsts = zip(list(ctc.EXTRACTS), (1, 50, 100), strict=True)
    for name, first in firsts:
        monkeypatch.setitem(ctc.EXTRACTS, name, first)


@pytest.mark.parametrize("name", NAMES)
def test_it_runs_without_the_log(name: str, results: ResultCache) -> None:
    result = registry.find(name).result(results, SCALE)
    assert result.values and all(value.interval is not None for value in result.values)
    assert any("is not there" in note for note in result.notes)
    assert all("k_" not in value.panel + value.series for value in result.values)


def test_figure_3_is_figure_2_as_a_part_of_m512(results: ResultCache, tmp_path: Path) -> None:
    plain, related = (registry.find(f"er-fig{n}").result(results, SCALE) for n in (2, 3))
    assert len(write(related, tmp_path)) == 4
    means = {v[:4]: v.interval.mean for v in plain.values if v.interval}
    for value in related.values:
        assert value.interval is not None
        whole = means[value._replace(series="m512")[:4]]
        assert value.interval.mean == pytest.approx(means[value[:4]] / whole)


def test_without_the_log_claims_are_undecided(results: ResultCache) -> None:
    decided = decide(results, SCALE, ["ER-"])
    assert [found.claim.id for found in decided] == [
        claim.id for claim in claims() if claim.id.startswith("ER-")
    ]
    for claim, (result, evidence) in decided:
        assert claim.id in registry.checks()
        if claim.id != "ER-16":
            assert result == "undecided" and "is missing" in evidence[-1]


def test_the_papers_own_table_4() -> None:
    result, evidence = ernemann_2002_claims.CLAIMS["ER-16"].decide(ResultCache(), SCALE)
    signs = [line.partition(":")[0] for line in evidence[:4]]
    assert result == "fails" and signs == ["yes", "yes", "yes", "no"]


@pytest.mark.usefixtures("some_log")
def test_with_a_log_every_claim_is_compared_but_not_decided_by_a_part_of_the_extracts() -> None:
    results = ResultCache()
    for claim, (result, evidence) in decide(results, SCALE, ["ER-"]):
        assert evidence[0].startswith(("yes: ", "no: ")), claim.id
        assert evidence[-1].startswith("likely reason: ")
        if claim.id != "ER-16":
            assert result == "undecided" and "leave out --quick" in evidence[-1]


@pytest.mark.usefixtures("some_log")
def test_whole_extracts_decide_it_and_each_system_is_played_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ernemann_2002_claims, "EXTRACT_JOBS", grids.extract_jobs(SCALE))
    check = ernemann_2002_claims.CLAIMS["ER-12"]
    scale = replace(SCALE, replications=3, looks=2)
    assert {replication for _, replication in check.trials(scale)} == {0}
    assert check.decide(ResultCache(), scale).result in ("holds", "fails")


@pytest.mark.usefixtures("some_log")
def test_the_charts_of_job_sharing_have_every_workload() -> None:
    results = ResultCache()
    workloads = {v.panel for v in registry.find("er-fig7").result(results, SCALE).values}
    assert workloads == {"10_20k_max64", "30_40k_max64", "60_70k_max64", "syn_max64"}


def test_configurations_are_those_of_the_paper() -> None:
    assert {sum(machines) for machines in grids.CONFIGURATIONS.values()} == {512}
    assert grids.overheads(FULL)[-1] == 60 and len(grids.overheads(FULL)) == 13
    assert grids.extract_jobs(FULL) == 10_000
    assert set(grids.overheads(TINY)) < set(grids.overheads(FULL))


def test_one_machine_is_the_same_for_every_overhead() -> None:
    runs = {grids.multi_site("syn_org", "m512", p, SCALE) for p in (0, 30, 60)}
    assert len(runs) == 1
    assert {run.policy for run in runs} == {"EASY"}  # as the paper has it: nothing is split there


def test_the_stand_in_offers_its_load() -> None:
    jobs = ctc.stand_in(3000, 1).jobs
    work = sum(job.size * job.run for job in jobs)
    assert work / (jobs[-1].submit * ctc.PROCESSORS) == pytest.approx(ctc.LOAD)
    assert all(job.run <= job.estimate <= ctc.LONGEST for job in jobs)
    assert max(job.size for job in jobs) == 336
