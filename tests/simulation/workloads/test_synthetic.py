"""Synthetic workloads have the distributions and the utilization that they are asked for."""

from __future__ import annotations

import math
import os
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metabroker.policy import Limits
from metabroker.simulation.workloads import distributions as laws
from metabroker.simulation.workloads import tables
from metabroker.simulation.workloads.errors import WorkloadError
from metabroker.simulation.workloads.shapes import Composition, Shapes, SplitRule
from metabroker.simulation.workloads.synthetic import Synthetic, rate_for

SHARED = Path(os.environ.get("METABROKER_SHARED", "../shared"))
CLUSTERS = (32, 32, 32, 32)
D = laws.power_law(0.9, 1, 8)
MIX = Composition((25, 25, 25, 25), D)


def workload(utilization: float = 0.8, shapes: Shapes = MIX, extension: float = 1.0) -> Synthetic:
    service = laws.Exponential(1.0)
    rate = rate_for(utilization, shapes, service, 128, extension)
    return Synthetic(shapes, service, laws.shares([1, 1, 1, 1]), rate, extension)


def test_the_power_law_by_hand() -> None:
    weights = [3 * 0.9, 3 * 0.9**2, 0.9**3, 3 * 0.9**4, 0.9**5, 0.9**6, 0.9**7, 3 * 0.9**8]
    expected = [w / sum(weights) for w in weights]
    assert D.values == tuple(range(1, 9))
    assert D.probabilities == pytest.approx(expected)
    with pytest.raises(ValueError, match="q is above 0"):
        laws.power_law(0, 1, 8)
    with pytest.raises(ValueError, match="min <= max"):
        laws.power_law(0.9, 9, 8)


LAWS: list[tuple[laws.Law, float]] = [
    (laws.Exponential(3.0), 1.0),
    (laws.Constant(3.0), 0.0),
    (laws.Lognormal(3.0, 2.0), 2.0),
    (laws.Hyperexponential(3.0, 2.5), 2.5),
]


@pytest.mark.parametrize(("law", "cv"), LAWS, ids=lambda v: type(v).__name__)
def test_service_laws_have_their_mean_and_cv(law: laws.Law, cv: float) -> None:
    times = law.times(np.random.default_rng(1).random(2_000_000))
    assert law.mean == pytest.approx(3.0)
    assert times.mean() == pytest.approx(3.0, rel=0.01)
    assert times.std() / times.mean() == pytest.approx(cv, rel=0.05, abs=1e-9)
    assert times.min() > 0


def test_a_cut_lognormal_knows_its_own_mean() -> None:
    law = laws.Lognormal(356.45, 5.37, cut=900)
    times = law.times(np.random.default_rng(1).random(1_000_000))
    assert times.max() <= 900
    assert times.mean() == pytest.approx(law.mean, rel=0.01)
    assert law.mean < 356.45


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: laws.Exponential(0),
        lambda: laws.Lognormal(1, -1),
        lambda: laws.Lognormal(1, 1, cut=0),
        lambda: laws.Hyperexponential(1, 0.5),
        lambda: laws.Discrete((1, 2), (0.5, 0.4)),
        lambda: laws.shares([0, 0]),
        lambda: laws.shares([1, -1]),
        lambda: Composition((50, 40), D),
        lambda: rate_for(0, MIX, laws.Exponential(), 128),
        lambda: Synthetic(MIX, laws.Exponential(), laws.shares([1]), -1.0),
        lambda: Synthetic(MIX, laws.Exponential(), laws.shares([1]), 1.0, extension=0.5),
        lambda: SplitRule(laws.Discrete((129,), (1.0,)), Limits(), CLUSTERS),
    ],
)
def test_what_cannot_be_is_refused(wrong: object) -> None:
    with pytest.raises(ValueError):
        wrong()  # type: ignore[operator]


@pytest.mark.parametrize("extension", [1.0, 1.25])
def test_the_offered_utilization_is_the_one_asked_for(extension: float) -> None:
    it = workload(0.7, extension=extension)
    assert it.utilization(128)[0] == pytest.approx(0.7)
    jobs = list(it.jobs(3, 0, 200_000))
    work = sum(j.request.total * j.run_time for j in jobs)
    assert work / jobs[-1].submit / 128 == pytest.approx(0.7, rel=0.02)
    net = sum(j.request.total * j.run_time / (1 if j.request.single else extension) for j in jobs)
    assert net / jobs[-1].submit / 128 == pytest.approx(it.utilization(128)[1], rel=0.02)


def test_shapes_of_a_composition() -> None:
    jobs = list(workload().jobs(1, 0, 100_000))
    counts = [len(j.request.sizes) for j in jobs]
    for number in (1, 2, 3, 4):
        assert counts.count(number) / len(jobs) == pytest.approx(0.25, abs=0.01)
    sizes = [s for j in jobs for s in j.request.sizes]
    assert sum(sizes) / len(sizes) == pytest.approx(D.mean, rel=0.01)


def test_equal_shapes_share_one_request() -> None:
    jobs = list(workload().jobs(1, 0, 5000))
    assert len({id(j.request) for j in jobs}) == len({j.request.sizes for j in jobs})


def test_the_same_jobs_at_every_load_and_in_any_number() -> None:
    low, high = workload(0.4), workload(0.8)
    first, second = list(low.jobs(5, 2, 6000)), list(high.jobs(5, 2, 9000))
    for a, b in zip(first, second, strict=False):
        assert (a.request, a.local, a.run_time) == (b.request, b.local, b.run_time)
        assert a.submit == pytest.approx(2 * b.submit)
    assert list(low.jobs(5, 2, 6000)) == first
    assert list(islice(low.jobs(5, 2, 9000), 6000)) == first
    assert list(low.jobs(5, 3, 10)) != first[:10]


@given(st.integers(0, 2**32), st.integers(0, 1000))
def test_any_seed_will_do(seed: int, replication: int) -> None:
    jobs = list(workload().jobs(seed, replication, 50))
    assert [j.submit for j in jobs] == sorted(j.submit for j in jobs)
    assert all(j.run_time > 0 and 0 <= j.local < 4 for j in jobs)


# --- the sizes of the DAS (a stand-in; models, section 3) ----------------------------------------


@pytest.mark.skipif(not (SHARED / "data").exists(), reason="needs METABROKER_SHARED's data")
@pytest.mark.parametrize(
    ("limit", "multi", "ratio"), [(16, 0.487, 1.218), (24, 0.262, 1.173), (32, 0.220, 1.159)]
)
def test_the_das_sizes_split_as_the_paper_says(limit: int, multi: float, ratio: float) -> None:
    sizes = tables.sizes(SHARED / "data" / "das-s-128-standin.csv")
    assert sizes.mean == pytest.approx(23.34, abs=0.01)
    split = SplitRule(sizes, Limits(component=limit), CLUSTERS)
    parts = zip(split.all, sizes.probabilities, strict=True)
    several = sum(part for request, part in parts if not request.single)
    assert several == pytest.approx(multi, abs=0.001)
    assert split.work(1.25) / split.work(1) == pytest.approx(ratio, abs=0.001)
    cut = sizes.limited(64)
    assert max(cut.values) == 64 and sum(cut.probabilities) == pytest.approx(1)


# --- tables ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "wrong"),
    [
        ("size,prob\n1,0.5\n2,0.4\n", "add up to 0.9"),
        ("size,prob\n1,0.5\n1,0.5\n", ":3: size: 1 is given twice"),
        ("size,prob\n1,x\n", ":2: prob: must be a number"),
        ("size,prob\n1,-1\n", ":2: prob: must be a number"),
        ("size,prob\n0,1\n", ":2: size: must be a whole number"),
        ("size,prob\n1\n", ":2: a value is missing"),
        ("sizes,prob\n1,1\n", ":1: has no column 'size'"),
        ("", ":1: has no column 'size'"),
        ("size,prob\n", "add up to 0"),
    ],
)
def test_a_wrong_table_is_told_by_file_and_line(tmp_path: Path, content: str, wrong: str) -> None:
    path = tmp_path / "sizes.csv"
    path.write_text(content)
    with pytest.raises(WorkloadError) as caught:
        tables.sizes(path)
    assert str(path) in str(caught.value) and wrong in str(caught.value)


def test_a_table_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(WorkloadError, match="cannot be read"):
        tables.sizes(tmp_path / "none.csv")
    assert math.isclose(laws.Discrete((1,), (1.0,)).mean, 1.0)
