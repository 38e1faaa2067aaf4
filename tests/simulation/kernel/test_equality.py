"""The kernel makes the starts of the readable policies, to the last bit."""

import os
from dataclasses import replace

import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

from metabroker.experiments.das import traced
from metabroker.experiments.four_clusters import EVEN, run
from metabroker.experiments.search import at
from metabroker.policy import Request
from metabroker.simulation import SimJob
from metabroker.simulation.kernel import play as kernel
from metabroker.simulation.system import Run, System
from metabroker.simulation.workloads.blocks import NotCovered, blocks_of, blocks_of_jobs
from metabroker.simulation.workloads.job_mix import JobMixStream
from tests.simulation.kernel.mistakes import MISTAKES, Mistake
from tests.simulation.kernel.plain import plain
from tests.simulation.kernel.worlds import by_kernel, by_readable, differ
from tests.simulation.playing import mean
from tests.simulation.traces import CTC, small, trace

EXAMPLES = int(os.environ.get("METABROKER_TEST_KERNEL_WORLDS", "0"))
"""Worlds for each policy that the compiled programs play; 0: a few of the plain ones."""


@pytest.mark.skipif(EXAMPLES > 0, reason="the compiled programs are looked at")
def test_random_worlds_by_the_programs_as_they_are_written() -> None:
    @seed(1)
    @settings(max_examples=60)
    @given(st.sampled_from(kernel.COVERED), st.integers(0, 10**6), st.integers(1, 40))
    def look(policy: str, number: int, jobs: int) -> None:
        assert not differ(policy, number, jobs)

    with plain():
        look()


@pytest.mark.skipif(EXAMPLES == 0, reason="`make kernel` looks at random worlds, compiled")
@pytest.mark.parametrize("policy", kernel.COVERED)
def test_random_worlds_by_the_compiled_programs(policy: str) -> None:
    @settings(max_examples=EXAMPLES)
    @given(st.integers(0, 10**9), st.integers(1, 120))
    def look(number: int, jobs: int) -> None:
        assert not differ(policy, number, jobs)

    look()


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda m: f"{m.module}: {m.old[:30]}")
def test_a_planted_mistake_is_found(mistake: Mistake) -> None:
    with plain(mistake.module, mistake.old, mistake.new):
        assert any(wrong(policy, number) for number in range(40) for policy in mistake.policies)


def wrong(policy: str, number: int) -> bool:
    """Does a world differ, or break?"""
    try:
        return bool(differ(policy, number, 40))
    except (AssertionError, IndexError, TypeError, ValueError):
        return True


@pytest.mark.xdist_group("kernel")
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "played",
    [
        run(EVEN, "LS-RD", 0.8, 20_000, 1),
        at(traced("SC", 16, 3000, 1), 0.7),
        at(traced("LP-GF", 16, 3000, 1), 0.5),
        Run(System((128,), "AFCFS-BS"), JobMixStream(8), 3000, gangs=True, most=2500),
        Run(System((128,), "LG-SS"), JobMixStream(4), 3000, gangs=True),
        Run(System((128,), "EASY"), JobMixStream(8), 3000, gangs=True),
        Run(System((128,), "FPFS"), JobMixStream(8), 3000, gangs=True),
    ],
    ids=lambda run: run.system.policy,
)
def test_what_a_run_measures_is_the_same(played: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiled; longer than the blocks, the random numbers and the finished jobs of one turn."""
    by_kernel = played.play(1)
    monkeypatch.setattr(kernel, "LEAST", played.jobs + 1)
    by_readable = played.play(1)
    assert by_kernel.kernel and not by_readable.kernel
    assert by_kernel == by_readable


@pytest.mark.xdist_group("kernel")
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("policy", "order", "expected"),
    [("FCFS", "batch", 17084.9246), ("EASY", "pyss", 3138.5070)],
)
def test_the_reference_figures(policy: str, order: str, expected: float) -> None:
    """The public ones of `test_reference_figures`, to every printed digit."""
    schedule = by_kernel(System((430,), policy, event_order=order), trace(CTC), 1)
    assert not isinstance(schedule, str)
    assert round(mean([start - submit for _, submit, start, _, _ in schedule]), 4) == expected


@pytest.mark.xdist_group("kernel")
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("policy", "order"), [("EASY", "batch"), ("EASY", "pyss"), ("FCFS", "batch")]
)
def test_the_first_jobs_of_kth(policy: str, order: str) -> None:
    jobs, _ = small()
    system = System((100,), policy, event_order=order)
    assert by_kernel(system, jobs, 1) == by_readable(system, jobs, 1)


@pytest.mark.parametrize(
    "workload",
    [
        run(EVEN, "GS", 0.8, 5000, 1).workload,
        traced("LS-DO", 16, 5000, 1).workload,
        JobMixStream(8),
    ],
)
def test_a_workload_draws_the_same_jobs_in_blocks(workload: JobMixStream) -> None:
    for one, other in zip(
        blocks_of(workload, 2, 1, 5000), blocks_of_jobs(workload.jobs(2, 1, 5000)), strict=True
    ):
        width = other.sizes.shape[1]
        assert not one.sizes[:, width:].any()
        one = one._replace(sizes=one.sizes[:, :width])
        assert all(
            (a == b).all()
            for a, b in zip(one, other, strict=True)
            if a is not None and b is not None
        )


def test_what_the_kernel_does_not_cover_is_played_by_the_readable_engine() -> None:
    covered = run(EVEN, "GS", 0.5, 2500, 1)
    assert covered.by_kernel()
    assert not replace(covered, jobs=100).by_kernel()
    for system in (
        System((32, 32), "EASY"),
        System((64, 32), "CONSERVATIVE"),
        System((32, 32), "MULTI-SITE"),
        System((32, 32), "GS", "best-fit"),
        System((32, 32), "LS-RD", event_order="pyss"),
    ):
        assert kernel.uncovered(system)
        assert not replace(covered, system=system).by_kernel()


def test_without_numba_the_readable_engine_plays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "installed", lambda: False)
    played = run(EVEN, "GS", 0.5, 2500, 1)
    assert not played.by_kernel()
    assert not played.play().kernel


def test_a_local_queue_that_does_not_exist_is_left_to_the_policies() -> None:
    jobs = [SimJob(float(key), Request((1,)), 3, 1.0, 1.0) for key in range(5)]
    with pytest.raises(NotCovered):
        by_kernel(System((2, 2), "LS-OR"), jobs, 1)
