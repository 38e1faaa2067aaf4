"""Our own experiment: co-allocated jobs that are planned ahead in clusters with local users."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from metabroker.experiments import registry
from metabroker.experiments.beyond_plan import HALF, IN_LINE, idle, response, run
from metabroker.experiments.output import write
from metabroker.experiments.result_cache import ResultCache
from metabroker.experiments.scale import TINY


def test_it_runs_and_writes(results: ResultCache, tmp_path: Path) -> None:
    result = registry.find("beyond-plan").result(results, replace(TINY, jobs=500))
    assert len(result.panels) == 8 and {value.x for value in result.values} == {0.75}
    assert {value.kind for value in result.values} == {
        "single", "co_allocated", "local_users", "idle",
    }  # fmt: skip
    assert len(write(result, tmp_path)) == 4


def test_planned_jobs_wait_less_than_those_that_stand_in_line() -> None:
    """A small part of BA-02 (all of it: `metabroker experiment beyond`)."""
    scale, minutes = replace(TINY, jobs=15000), response("co_allocated")
    planned, others = (
        [run("EASY", 0.75, way, scale).play(replication) for replication in range(3)]
        for way in (HALF, IN_LINE)
    )
    times = [[minutes(outcome) or 0 for outcome in outcomes] for outcomes in (planned, others)]
    assert sum(times[0]) < 0.8 * sum(times[1])
    assert all(idle(outcome) is not None for outcome in planned)
    assert all(idle(outcome) is None for outcome in others)
