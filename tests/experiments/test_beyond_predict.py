"""Start times told in replays: the experiment, and how its claims are decided."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from metabroker.experiments import beyond_predict, registry
from metabroker.experiments.beyond_predict import Kept, _kept
from metabroker.experiments.evidence import NO, NOTHING, YES
from metabroker.experiments.result_cache import ResultCache
from metabroker.experiments.scale import TINY
from metabroker.prediction import Estimate
from metabroker.simulation.predicting import Told


def test_it_runs_without_the_logs_and_says_so(
    results: ResultCache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("METABROKER_SHARED", str(tmp_path))
    result = registry.find("beyond-predict").result(results, replace(TINY, jobs=1200))
    assert {panel.split(":")[0] for panel in result.panels} == {"syn"}
    assert any("a stand-in of ours" in note for note in result.notes)
    told = result.panels["syn: part of jobs that are told"]
    assert len(told) == len(beyond_predict.SYSTEMS)
    assert all(value.interval is not None for value in told)


def told(submit: float, wait: float, low: float, high: float) -> Told:
    return Told(submit, wait, Estimate(low, (low + high) / 2, high), 4 * wait, None, 7 * wait)


def test_what_is_kept_by_hand() -> None:
    jobs = [told(10.0 * n, 50.0, 40.0 if n % 4 else 60.0, 80.0) for n in range(100)]
    found = _kept([*jobs, Told(2000.0, 5.0, None, 1.0, 1.0, 1.0)])
    assert (found.waited, found.told, found.coverage) == (101, 100, 0.75)
    assert (found.width, found.error) == (40.0, 10.0)
    assert (found.by_limits, found.by_running, found.by_test_only) == (150.0, None, 300.0)
    assert found.after is None and _kept([]) == Kept(0, 0)


def test_a_change_of_load_is_judged_once_jobs_of_after_it_have_started() -> None:
    jobs = [told(float(n), 30.0, 0.0, 10.0 if 100 <= n < 180 else 90.0) for n in range(400)]
    assert _kept(jobs).after is None
    assert _kept(jobs, [99.5]).after == 1.0, "the 50th of them starts at 179"
    assert _kept(jobs, [19.5]).after == 120 / 200
    assert _kept(jobs, [19.5, 99.5]).after == 1.0, "none between was told after 99.5"


@pytest.mark.parametrize(("value", "sign"), [(0.9, YES), (0.84, NO), (None, NOTHING)])
def test_coverage_is_judged_between_its_bounds(value: float | None, sign: str) -> None:
    task = beyond_predict.Predicted("kth", "", "EASY", 1, 1)
    judged = beyond_predict.Judged(task, beyond_predict._covered(lambda kept: kept.coverage))

    class Cache(ResultCache):
        def outcomes(self, *_: object) -> tuple[Kept, ...]:
            return (Kept(1, 1, value),)

    assert judged.judge(Cache(), 1).sign == sign
