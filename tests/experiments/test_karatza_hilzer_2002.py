"""Karatza and Hilzer 2002: short and long runs of a job mix."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from metabroker.experiments import karatza_hilzer_2002, registry
from metabroker.experiments.claims import claims, decide
from metabroker.experiments.output import write
from metabroker.experiments.result_cache import ResultCache
from metabroker.experiments.scale import TINY

SCALE = replace(TINY, jobs=100)


@pytest.mark.parametrize("number", range(2, 9))
def test_it_runs(number: int, results: ResultCache) -> None:
    result = registry.find(f"kh-fig{number}").result(results, SCALE)
    assert set(karatza_hilzer_2002.READINGS) <= set(result.panels)
    assert {value.x for value in result.values} == {8.0, 4.0, 2.0}
    assert any("swaps" in note for note in result.notes)


def test_it_writes(results: ResultCache, tmp_path: Path) -> None:
    result = registry.find("kh-fig7").result(results, SCALE)
    assert len(write(result, tmp_path)) == 4


def test_every_claim_is_decided(results: ResultCache) -> None:
    decided = {found.claim.id: found for found in decide(results, SCALE, ["KH-"])}
    assert list(decided) == [claim.id for claim in claims() if claim.id.startswith("KH-")]
    for name, (_, (result, evidence)) in decided.items():
        assert name in registry.checks()
        assert result == "holds" or evidence[-1].startswith(("likely reason: ", "reason, tested: "))
        if name != "KH-30":
            assert evidence[0].startswith("beside it, short run cut")


def test_the_text_swaps_two_shares() -> None:
    result, evidence = karatza_hilzer_2002.checks()["KH-30"].decide(ResultCache(), SCALE)
    assert result == "fails"
    assert [line.partition(":")[0] for line in evidence[:3]] == ["no", "yes", "no"]


def test_a_short_run_counts_every_job_and_a_cut_one_the_first_departures() -> None:
    whole = karatza_hilzer_2002.short_run("AFCFS", 8, SCALE).play(0)
    cut = karatza_hilzer_2002.cut_run("AFCFS", 8, SCALE).play(0)
    assert (whole.jobs, whole.warmup) == (cut.jobs, cut.warmup) == (100, 0)
    assert whole.max_others > cut.max_others  # large gangs starve while jobs arrive
    long = replace(TINY, jobs=40_000)
    assert karatza_hilzer_2002.short_run("AFCFS", 4, long).run.jobs == 2500
    assert karatza_hilzer_2002.cut_run("AFCFS", 4, long).run.most == 2500
