"""Our own experiments: jobs in line in clusters with local users, and what we claim of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from metabroker.experiments import beyond_plan, beyond_predict, registry
from metabroker.experiments.beyond_line import (
    IDLE_ONLY,
    USUAL,
    checks,
    run,
    waits,
)
from metabroker.experiments.claims import claims, decide
from metabroker.experiments.evidence import HOLDS, Below, Quantity
from metabroker.experiments.output import write
from metabroker.experiments.result_cache import ResultCache
from metabroker.experiments.scale import TINY


@pytest.mark.parametrize("name", ["beyond-line", "beyond-line-siblings"])
def test_it_runs_and_writes(name: str, results: ResultCache, tmp_path: Path) -> None:
    result = registry.find(name).result(results, replace(TINY, jobs=100))
    assert len(result.panels) == 6 and {value.x for value in result.values} == {0.75}
    kinds = {"single", "co_allocated", "local_users"}
    assert {value.kind for value in result.values} == kinds
    assert any(value.interval is not None and value.interval.mean > 0 for value in result.values)
    if name == "beyond-line":
        assert len(write(result, tmp_path)) == 4


def test_each_claim_of_ours_is_decided_in_a_table_of_its_own(
    results: ResultCache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("METABROKER_SHARED", str(tmp_path))  # reading whole logs takes long
    decided = decide(results, replace(TINY, jobs=20), table=registry.BEYOND)
    assert [found.claim.id for found in decided] == [
        *checks(),
        *beyond_predict.checks(),
        *beyond_plan.checks(),
    ]
    assert not {found.claim.id for found in decided} & {claim.id for claim in claims()}
    for _, (result, evidence) in decided:
        assert result in {"holds", "fails", "undecided"} and evidence
        assert result == HOLDS or evidence[-1].startswith("likely reason: ")


def test_single_jobs_wait_less_in_line(results: ResultCache) -> None:
    """A small part of BL-01 (all of it: `metabroker experiment beyond`)."""
    first, second = (
        Quantity(str(line), (run("EASY", 0.7, line, 300, 1),), waits("single"))
        for line in (USUAL, IDLE_ONLY)
    )
    assert Below(first, second).judge(results, 5).sign == "yes"
