"""Every experiment of the contract runs and writes its files; known results come out."""

from __future__ import annotations

import csv
import functools
import os
from dataclasses import replace
from pathlib import Path

import pytest

from metabroker.experiments import das, registry, tables
from metabroker.experiments.claims import claims, decide
from metabroker.experiments.evidence import HOLDS, Below, Quantity
from metabroker.experiments.experiment import Result, Value
from metabroker.experiments.four_clusters import EVEN, run
from metabroker.experiments.output import write, write_claims
from metabroker.experiments.result_cache import ResultCache
from metabroker.experiments.scale import TINY
from metabroker.experiments.search import Search, at
from metabroker.simulation.executor import Processes
from metabroker.simulation.statistics.intervals import Interval, paired
from metabroker.simulation.system import Run, System
from metabroker.simulation.workloads.batch import Batch

SHARED = Path(os.environ.get("METABROKER_SHARED", "../shared")) / "design" / "claims.csv"
OURS = ("BE-", "BT-", "CO-")
NAMES = [f"be03-fig{n}" for n in range(3, 19)] + [f"be07-fig{n}" for n in range(2, 12)]
STAND_INS = {f"be07-fig{n}" for n in range(8, 12)}


def test_the_names_of_the_contract_are_there() -> None:
    assert [name for name in registry.experiments() if name.startswith(("be03", "be07"))] == NAMES


@functools.cache
def drawn() -> frozenset[str]:
    """The first experiment of each layout: to draw them all takes longer than to play them."""
    first: dict[tuple[object, ...], str] = {}
    for name in NAMES:
        it = registry.find(name)
        panels = {point.panel for point in it.points(TINY)}
        first.setdefault((it.form, it.columns, it.steep, len(panels)), name)
    return frozenset(first.values())


@pytest.mark.parametrize("name", NAMES)
def test_it_runs_and_writes(name: str, results: ResultCache, tmp_path: Path) -> None:
    result = registry.find(name).result(results, TINY)
    table = tmp_path / "new" / name / f"{name}.csv"
    if name in drawn():
        written, png, svg, pdf = write(result, table.parent)
        assert written == table
        assert png.read_bytes().startswith(b"\x89PNG") and b"<svg" in svg.read_bytes()
        assert pdf.read_bytes().startswith(b"%PDF") and b"/Type3" not in pdf.read_bytes()
        assert name not in STAND_INS or "stand-in" in svg.read_text()
    else:
        table.parent.mkdir(parents=True)
        tables.write(result, table)
    lines = [line for line in table.read_text().splitlines() if not line.startswith("#")]
    found = list(csv.DictReader(lines))
    assert len(found) == len(result.values) > 0
    assert {line["panel"] for line in found} == set(result.panels)
    assert any(float(line["mean"]) > 0 for line in found if line["mean"])
    assert name in "\n".join(tables.text(result))
    if name in STAND_INS:
        assert "stand-in" in table.read_text()


def test_panels_are_those_of_the_paper() -> None:
    def panels(name: str) -> int:
        return len({point.panel for point in registry.find(name).points(TINY)})

    expected = {"be03-fig3": 8, "be03-fig5": 6, "be03-fig9": 2, "be07-fig2": 8, "be07-fig4": 6}
    expected |= {"be07-fig8": 6, "be07-fig9": 3, "be07-fig10": 1, "be07-fig11": 9}
    assert {name: panels(name) for name in expected} == expected


def test_unknown_names() -> None:
    with pytest.raises(registry.UnknownExperiment, match="no experiment 'be03fig9'") as caught:
        registry.find("be03fig9")
    assert caught.value.nearest == "be03-fig9"


# Claims


def test_every_claim_of_ours_is_decided(results: ResultCache, tmp_path: Path) -> None:
    scale = replace(TINY, jobs=60, search_jobs=60)
    decided = decide(results, scale, OURS)
    assert [found.claim.id for found in decided] == [c.id for c in claims() if c.id[:3] in OURS]
    assert {c for c in registry.checks() if c[:3] in OURS} == {f.claim.id for f in decided}
    for _, (result, evidence) in decided:
        assert result in {"holds", "fails", "undecided"} and evidence
        assert result == HOLDS or evidence[-1].startswith(("likely reason: ", "reason, tested: "))
    for path, head in zip(write_claims(decided, scale, tmp_path), (2, 4), strict=True):
        assert len(path.read_text().splitlines()) == len(decided) + head


def test_a_claim_that_nobody_decides_is_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "checks", dict)
    (found,) = decide(ResultCache(), TINY, ["BE-01"])
    assert found.as_json()["result"] == "undecided"


@pytest.mark.skipif(not SHARED.exists(), reason="needs the project's list of claims")
def test_the_claims_are_those_of_the_project() -> None:
    with open(SHARED, newline="", encoding="utf-8") as file:
        assert [tuple(c) for c in claims()] == [
            tuple(line.values()) for line in csv.DictReader(file)
        ]


# Runs


def test_the_same_results_on_processes() -> None:
    here, there = ResultCache(), None
    experiment = registry.find("be03-fig4")
    with Processes(2) as processes:
        there = ResultCache(processes)
        assert experiment.result(there, TINY) == experiment.result(here, TINY)


def test_the_stand_in_is_what_the_paper_says_of_the_log() -> None:
    sizes = das.total_sizes(128)
    assert len(sizes.values) == 58 and sizes.mean == pytest.approx(23.34, abs=0.01)
    assert max(das.total_sizes(64).values) == 64
    for limit, ratio, multi in ((16, 1.218, 0.487), (24, 1.173, 0.262), (32, 1.159, 0.220)):
        shapes = das.traced("GS", limit, 10, 1).workload.shapes  # type: ignore[attr-defined]
        assert shapes.work(1.25) / shapes.work(1) == pytest.approx(ratio, abs=0.001)
        parts = zip(shapes.all, shapes.totals.probabilities, strict=True)
        several = sum(part for request, part in parts if not request.single)
        assert several == pytest.approx(multi, abs=0.001)


def test_the_single_cluster_neither_splits_nor_extends() -> None:
    run = das.traced("SC", 16, 10, 1)
    assert run.system == System((128,), "GS") and run.extension == 1


@pytest.mark.parametrize("workload", das.WORKLOADS)
@pytest.mark.parametrize(("rule", "most"), [("no", 1), ("co", 4), ("rco", 4), ("fco", 2)])
def test_coallocation_rules(workload: str, rule: str, most: int) -> None:
    table = das.measured(workload, rule, "GS", 10, 1).workload.table  # type: ignore[attr-defined]
    assert max(entry.components for entry in table) == most
    assert (max(entry.sizes[0] for entry in table) <= 16) == (rule in {"rco", "fco"})


def test_a_run_is_offered_what_is_asked_for() -> None:
    unit = das.traced("GS", 16, 10, 1)
    workload = at(unit, 0.5).workload
    assert workload.utilization(128)[0] == pytest.approx(0.5)  # type: ignore[attr-defined]
    with pytest.raises(TypeError, match="Batch has no arrival rate"):
        at(Run(System((1,), "GS"), Batch(()), 1), 0.5)


# Known results


def test_the_search_finds_the_limit_of_independent_processors() -> None:
    """One queue for four whole clusters of one processor each is stable up to utilization 1."""
    unit = replace(run(EVEN, "GS", 1.0, 6000, 1), system=System((10_000,) * 4, "GS"))
    assert Search(unit, 0.05).play(0) > 0.9


def test_gs_at_utilization_0_8() -> None:
    """The public reference figure (models, section 4): 1.594 +- 0.006."""
    interval = ResultCache().summary(run(EVEN, "GS", 0.8, 400_000, 1), 8).response
    assert interval.half < 0.03
    assert abs(interval.mean - 1.594) < 0.006 + interval.half


def test_ls_is_better_than_gp_at_utilization_0_8() -> None:
    results = ResultCache()
    first, second = (run(EVEN, policy, 0.8, 10_000, 1) for policy in ("LS-DO", "GP"))
    one, other = (results.summary(played, 4) for played in (first, second))
    ours, theirs = ([o.response for o in summary.outcomes] for summary in (one, other))
    assert paired(ours, theirs).high < 0
    pair = [Quantity(p.system.policy, (p,), lambda o: o.response, True) for p in (first, second)]
    assert Below(pair[0], pair[1]).judge(results, 4).sign == "yes"


# Figures


def test_a_saturated_system_is_shown_as_such(tmp_path: Path) -> None:
    """Bars say SAT, points of curves are left out; the CSV says it in a column of its own."""
    slow, fine = Interval(90.0, 1.0, 3), Interval(2.0, 0.1, 3)
    values = (Value("a", "GS", "total", 0.8, fine), Value("a", "GS", "total", 0.9, slow, True))
    curves = Result("x", "title", "source", "curves", values, "u", "time")
    bars = replace(
        curves, name="y", form="bars", values=(values[0], values[1]._replace(series="Q"))
    )
    for result in (curves, bars):
        table, _, svg, _ = write(result, tmp_path)
        text = table.read_text().splitlines()
        assert text[0] == f"# {result.name}: title"
        assert [line[-1] for line in text if not line.startswith("#")] == ["d", "0", "1"]
        assert ("SAT" in svg.read_text()) == (result is bars)
        assert "SAT" in "\n".join(tables.text(result))


def test_nothing_to_measure_leaves_a_gap(tmp_path: Path) -> None:
    values = (Value("a", "GS", "local", "GS", None), Value("a", "GS", "total", "GS", None))
    for form in ("bars", "curves"):
        result = Result("x", "title", "source", form, values, "u", "time")
        assert len(write(result, tmp_path)) == 4
        assert tables.rows(result)[0]["mean"] is None
