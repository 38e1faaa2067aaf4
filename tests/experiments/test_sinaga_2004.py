"""Sinaga, Mohamed and Epema 2004: batches of 40 jobs on two and four clusters."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from metabroker.experiments import registry, sinaga_2004
from metabroker.experiments.claims import decide
from metabroker.experiments.output import write
from metabroker.experiments.result_cache import ResultCache
from metabroker.experiments.scale import TINY


@pytest.mark.parametrize(("name", "panels"), [("dcs-fig2", 1), ("dcs-fig3", 2), ("dcs-fig4", 2)])
def test_it_runs_and_writes(name: str, panels: int, tmp_path: Path) -> None:
    result = registry.find(name).result(ResultCache(), TINY)
    assert len(result.panels) == panels and len(write(result, tmp_path)) == 4
    assert any("makespan" in note for note in result.notes)
    means = [value.interval.mean for value in result.values if value.interval]
    assert 0.5 < max(means) <= 1


def test_equal_times_fill_the_clusters_in_rounds() -> None:
    """26 components of 8 fit on 144 + 64: six jobs of four at a time, so 40 jobs in 7 rounds.
    Ordered ones are four at a time: 10 rounds."""
    unordered = replace(sinaga_2004.UNORDERED_TWO, time=100.0, deviation=1e-6).play(0)
    assert unordered.makespan == pytest.approx(700, abs=0.01)
    assert unordered.load == pytest.approx(192 / 208, abs=0.001)
    ordered = replace(sinaga_2004.ORDERED_TWO, time=100.0, deviation=1e-6).play(0)
    assert ordered.makespan == pytest.approx(1000, abs=0.01)
    assert ordered.load == pytest.approx(128 / 208, abs=0.001)


def test_the_same_seed_gives_the_same_batch() -> None:
    setup = sinaga_2004.MIXED_TWO
    assert setup.play(1) == setup.play(1) != setup.play(0)


def test_every_claim_is_decided_and_holds() -> None:
    decided = decide(ResultCache(), replace(TINY, replications=10), ["DCS-"])
    assert [found.claim.id for found in decided] == [f"DCS-0{n}" for n in range(1, 5)]
    assert {found.decision.result for found in decided} == {"holds"}
